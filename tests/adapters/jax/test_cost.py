"""Nothing for nothing: compiled derivatives are those of hand-written custom rules."""

import re
from collections import Counter

import jax
import jax.numpy as jnp
import pytest

import rules_core as rc
from rules_core import NoTangent, Pullback

X = jnp.linspace(0.0, 1.0, 64)


def logsumexp_body(x):
    m = jnp.max(x)
    return m + jnp.log(jnp.sum(jnp.exp(x - m)))


def handwritten_vjp():
    f = jax.custom_vjp(logsumexp_body)

    def fwd(x):
        y = logsumexp_body(x)
        return y, (x, y)

    def bwd(residuals, dy):
        x, y = residuals
        return (dy * jnp.exp(x - y),)

    f.defvjp(fwd, bwd)
    return f


def handwritten_jvp():
    f = jax.custom_jvp(logsumexp_body)

    @f.defjvp
    def jvp(primals, tangents):
        (x,), (dx,) = primals, tangents
        y = logsumexp_body(x)
        return y, jnp.sum(dx * jnp.exp(x - y))

    return f


def closure(x, y):
    return lambda dy: (NoTangent(), dy * jnp.exp(x - y))


def explicit(x, y):
    def fn(x, y, dy):
        return NoTangent(), dy * jnp.exp(x - y)

    return Pullback(fn, x, y)


def wrapped(pull):
    @rc.primitive
    def logsumexp(x):
        return logsumexp_body(x)

    @rc.rrule.define(logsumexp)
    def logsumexp_rrule(x):
        y = logsumexp(x)
        return y, pull(x, y)

    @rc.frule.define(logsumexp)
    def logsumexp_frule(tangents, x):
        y = logsumexp(x)
        return y, jnp.sum(tangents[1] * jnp.exp(x - y))

    return logsumexp


def compiled(f, *args):
    return jax.jit(f).lower(*args).compile()


def operations(program):
    """How often each operation with each result type stands in the optimised HLO."""
    found = re.findall(r"= (\S+) ([a-z][a-z-]*)\(", program.as_text())
    return Counter(found)


CASES = {
    "grad": jax.grad,
    "value_and_grad": jax.value_and_grad,
    "vmap(grad)": lambda f: jax.vmap(jax.grad(f)),
    "scan": lambda f: jax.grad(
        lambda x: jax.lax.scan(lambda c, _: (c + f(c), None), x, None, length=5)[
            0
        ].sum()
    ),
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("pull", [closure, explicit])
@pytest.mark.parametrize("name", list(CASES))
def test_reverse_mode_costs_what_custom_vjp_costs(name, pull):
    x = jnp.stack([X, 2 * X]) if name == "vmap(grad)" else X
    ours = compiled(CASES[name](wrapped(pull)), x)
    theirs = compiled(CASES[name](handwritten_vjp()), x)
    assert ours.cost_analysis()["flops"] == theirs.cost_analysis()["flops"]
    found, want = ours.memory_analysis(), theirs.memory_analysis()
    assert found.temp_size_in_bytes == want.temp_size_in_bytes
    assert operations(ours) == operations(theirs)


def test_forward_mode_costs_what_custom_jvp_costs():
    run = lambda f: lambda x, dx: jax.jvp(f, (x,), (dx,))
    ours = compiled(run(wrapped(closure)), X, X)
    theirs = compiled(run(handwritten_jvp()), X, X)
    assert ours.cost_analysis()["flops"] == theirs.cost_analysis()["flops"]
    assert operations(ours) == operations(theirs)


def test_a_wrong_rule_would_show():
    """The comparison can fail: JAX's own derivative is another program."""
    ours = compiled(jax.grad(wrapped(closure)), X)
    plain = compiled(jax.grad(logsumexp_body), X)
    assert operations(ours) != operations(plain)


def test_unwanted_arguments_cost_nothing():
    @rc.primitive
    def matmul(A, B):
        return A @ B

    @rc.rrule.define(matmul)
    def matmul_rrule(A, B):
        return matmul(A, B), lambda dy: (NoTangent(), dy @ B.T, A.T @ dy)

    A = jnp.ones((16, 16))
    total = lambda A, B: matmul(A, B).sum()
    one = compiled(jax.grad(total, 0), A, A).cost_analysis()["flops"]
    both = compiled(jax.grad(total, (0, 1)), A, A).cost_analysis()["flops"]
    assert one < 0.6 * both
