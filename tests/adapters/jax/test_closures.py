"""Pullbacks that are closures of every kind, in every context that carries them."""

from contextlib import nullcontext
from functools import lru_cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent
from rules_jax._rules.open_closures import is_open


class Held:
    """An object that JAX does not know."""

    def __init__(self, x):
        self.x = x

    def pull(self, dy):
        return NoTangent(), 2 * self.x * dy


def plain(x):
    return lambda dy: (NoTangent(), 2 * x * dy)


def nested(x):
    def slope():
        return 2 * x

    return lambda dy: (NoTangent(), slope() * dy)


def defaults(x):
    def pullback(dy, a=x, *, b=(2, None, "s")):
        return NoTangent(), b[0] * a * dy

    return pullback


def recursive(x):
    def pullback(dy, n=3):
        return (NoTangent(), 2 * x * dy) if n == 0 else pullback(dy, n - 1)

    return pullback


def multiply(a, b):
    return a * b


def partial_of(x):
    scale = partial(multiply, 2 * x)
    return lambda dy: (NoTangent(), scale(dy))


def numpy_beside(x):
    two = np.asarray(2.0)
    return lambda dy: (NoTangent(), two * x * dy)


def list_of_pullbacks(x):
    pulls = [jax.vjp(lambda x: x * x, x)[1], None]
    return lambda dy: (NoTangent(), pulls[0](dy)[0])


def writer(x):
    cached = None

    def pullback(dy):
        nonlocal cached
        if cached is None:
            cached = 2 * x
        return NoTangent(), cached * dy

    return pullback


def writer_within(x):
    cached = None

    def pullback(dy):
        def slope():
            nonlocal cached
            cached = 2 * x
            return cached

        return NoTangent(), slope() * dy

    return pullback


def method(x):
    return Held(x).pull


def thunk(x):
    slope = rc.thunk(lambda: 2 * x)
    return lambda dy: (NoTangent(), rc.unthunk(slope) * dy)


def cache(x):
    slope = lru_cache(lambda: 2 * x)
    return lambda dy: (NoTangent(), slope() * dy)


def diary(x, seen=[]):  # noqa: B006 (one list for every call, on purpose)
    def pullback(dy):
        seen.append(x)
        return NoTangent(), 2 * x * dy

    return pullback


TAKEN_APART = [plain, nested, defaults, recursive, partial_of, numpy_beside]
TRACED = [list_of_pullbacks, writer, writer_within, method, thunk, cache]
# These keep a tracer themselves: it is JAX's duty to say so, where it is asked to.
KEEPING = [writer, writer_within, thunk, cache, diary]
CONTEXTS = {
    "grad": jax.grad,
    "jit(grad)": lambda f: jax.jit(jax.grad(f)),
    "grad(jit)": lambda f: jax.grad(jax.jit(f)),
    "vmap(grad)": lambda f: lambda x: jax.vmap(jax.grad(f))(x[None])[0],
    "jit(grad(vmap))": lambda f: jax.jit(
        jax.grad(lambda x: jax.vmap(f)(x[None]).sum())
    ),
    "grad(checkpoint)": lambda f: jax.grad(jax.checkpoint(f)),
    "grad(scan)": lambda f: jax.grad(
        lambda x: jax.lax.scan(lambda c, _: (c + f(x), None), 0.0, None, length=1)[0]
    ),
    "grad(cond)": lambda f: jax.grad(lambda x: jax.lax.cond(x > 0, f, jnp.sin, x)),
    "two pullbacks": lambda f: lambda x: _in_turn(f, x),
}


def _in_turn(f, x):
    """Each of two pullbacks that are alive together keeps what it captured."""
    _, first = jax.vjp(jax.jit(f), x)
    _, second = jax.vjp(jax.jit(f), 10 * x)
    assert float(second(1.0)[0]) == pytest.approx(20 * float(x))
    return first(1.0)[0]


def square(pullback_at):
    @rc.primitive
    def square(x):
        return x * x

    @rc.rrule.define(square)
    def square_rrule(x):
        return square(x), pullback_at(x)

    return square


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("context", CONTEXTS.values(), ids=CONTEXTS)
@pytest.mark.parametrize("kind", [*TAKEN_APART, *TRACED, diary])
def test_every_closure_everywhere(kind, context):
    with nullcontext() if kind in KEEPING else jax.checking_leaks():
        found = context(square(kind))(jnp.asarray(1.5))
    assert float(found) == pytest.approx(3.0)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("kind", TAKEN_APART)
def test_second_order(kind):
    f = square(kind)
    assert float(jax.jit(jax.hessian(f))(1.5)) == pytest.approx(2.0)
    assert float(jax.grad(jax.grad(f))(1.5)) == pytest.approx(2.0)


def test_what_may_be_taken_apart():
    x = jnp.asarray(1.5)
    assert [kind for kind in (*TAKEN_APART, *TRACED) if is_open(kind(x))] == TAKEN_APART
    assert is_open(diary(x, []))
    assert not is_open(diary(x, [x]))
    assert not is_open(diary(x, [{1}]))
    assert not is_open(len)


def test_a_closure_that_is_taken_apart_is_not_traced():
    """Its code may look at values, and at which cotangents are zero."""
    seen = []

    @rc.primitive
    def both(x):
        return x * x, 3 * x

    @rc.rrule.define(both, symbolic_zeros=True)
    def both_rrule(x):
        def both_pullback(dy):
            seen.append([isinstance(d, rc.ZeroTangent) for d in dy])
            return NoTangent(), 2 * x * dy[0] + 3 * dy[1]

        return both(x), both_pullback

    found = jax.jit(jax.grad(lambda x: both(x)[0]))(1.5)
    assert float(found) == 3
    assert seen == [[False, True]]


def test_a_cell_without_arrays_stays_the_same():
    """What a pullback counts in a list of its rule is counted there."""
    calls = []

    def counting(x):
        def pullback(dy):
            calls.append(1)
            return NoTangent(), 2 * x * dy

        return pullback

    f = square(counting)
    jax.jit(jax.grad(f))(1.5)
    assert calls == [1]


def test_a_recursive_function_that_captures_a_tracer():
    """As an argument of a rule that calls back into AD."""

    @rc.primitive
    def apply(f, x):
        return f(x)

    @rc.rrule.define(apply, config=rc.RuleConfig[rc.HasReverseMode])
    def apply_rrule(config, f, x):
        y, pull = rc.rrule_via_ad(config, f, x)
        return y, lambda dy: (NoTangent(), *pull(dy))

    def total(c, x):
        def power(n, x):
            return x if n == 0 else c * power(n - 1, x)

        return apply(lambda x, *, by=c: by * power(2, x), x)

    for run in (jax.grad(total, (0, 1)), jax.jit(jax.grad(total, (0, 1)))):
        assert [float(d) for d in run(1.5, 2.0)] == pytest.approx([13.5, 3.375])
