"""Tangents and cotangents of integers that rules return are an error in every host."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import rules_core as rc
from rules_autodiff import grad, jvp
from rules_core import NoTangent, ZeroTangent, frule, rrule

X = np.array([1.1, 1.2, 1.3])

WHOLE = {
    "truncated": lambda x, dx, xp: xp.astype(2 * x * dx, xp.int64),
    "compared": lambda x, dx, xp: x * dx > 0,
    "zeros": lambda x, dx, xp: xp.zeros(x.shape, dtype=xp.int32),
    "NumPy's": lambda x, dx, xp: np.array([1, 2, 3]),
}
VALID = {
    "zero": (lambda x, dx, xp: 0 * dx, 0.0),
    "ZeroTangent": (lambda x, dx, xp: ZeroTangent(), 0.0),
    "single": (lambda x, dx, xp: xp.astype(2 * dx, xp.float32), 2.0),
}


def with_rule(mode, part, host):
    def f(x):
        return x * x

    handle = rc.primitive(f, host=True, out="x") if host else rc.primitive(f)
    space = rc.array_namespace
    if mode == "rrule":
        pull = lambda x: lambda dy: (NoTangent(), part(x, dy, space(x)))
        rrule.define(handle)(
            lambda x: (handle.fun(x) if not host else handle(x), pull(x))
        )
    else:
        frule.define(handle)(
            lambda dxs, x: (
                handle.fun(x) if not host else handle(x),
                part(x, dxs[1], space(x)),
            )
        )
    return lambda x: handle(x).sum()


def backward(g):
    x = torch.tensor(X, requires_grad=True)
    g(x).backward()
    return x.grad


HOSTS = {
    "NumPy programs": lambda g: grad(g)(X),
    "NumPy programs, forward": lambda g: jvp(g, (X,), (np.ones(3),))[1],
    "backward": backward,
    "func.grad": lambda g: torch.func.grad(g)(torch.tensor(X)),
    "func.jvp": lambda g: torch.func.jvp(
        g, (torch.tensor(X),), (torch.ones(3, dtype=torch.float64),)
    )[1],
    "jax.grad": lambda g: jax.grad(g)(X),
    "jit": lambda g: jax.jit(jax.grad(g))(X),
    "jax.jvp": lambda g: jax.jvp(g, (X,), (jnp.ones(3),))[1],
}


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("on_host", [True, False])
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("mode", ["rrule", "frule"])
@pytest.mark.parametrize("name", WHOLE)
def test_whole_tangents_are_an_error_that_names_the_rule(name, mode, host, on_host):
    g = with_rule(mode, WHOLE[name], on_host)
    with pytest.raises(rc.RulesCoreError, match=mode) as info:
        HOSTS[host](g)
    text = str(info.value)
    assert "for with_rule.<locals>.f" in text
    assert "must be floating or complex" in text.replace("It must", "must")
    assert "argument" in text or "the tangent" in text
    assert "ZeroTangent()" in text


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("mode", ["rrule", "frule"])
@pytest.mark.parametrize("name", VALID)
def test_other_tangents_are_taken(name, mode, host):
    part, slope = VALID[name]
    found = np.asarray(HOSTS[host](with_rule(mode, part, True)))
    np.testing.assert_allclose(found, slope if found.shape else 3 * slope)


PLAIN = {
    "NumPy programs": lambda g: grad(g)(1.5),
    "func.grad": lambda g: torch.func.grad(g)(torch.tensor(1.5)),
    "jax.grad": lambda g: jax.grad(g)(1.5),
}


@pytest.mark.parametrize("host", PLAIN)
def test_integers_of_python_are_numbers_and_truth_values_are_not(host):
    def f(x):
        return x * 2

    handle, slope = rc.primitive(f), [2]
    rrule.define(handle)(lambda x: (x * 2, lambda dy: (NoTangent(), slope[0])))
    assert float(PLAIN[host](handle)) == 2
    slope[0] = True
    with pytest.raises(rc.RulesCoreError, match="floating or complex"):
        PLAIN[host](lambda x: handle(x) * 1)


def test_an_entry_of_a_container_is_named():
    def f(pair):
        return pair[0] * pair[1]

    handle = rc.primitive(f)
    rrule.define(handle)(
        lambda pair: (f(pair), lambda dy: (NoTangent(), (dy, np.array([1, 2, 3]))))
    )
    with pytest.raises(rc.ProjectionError, match=r"entry 1 of argument 0 \(rrule"):
        grad(lambda x: handle((x, x)).sum())(X)


def test_another_shape_names_the_rule_in_numpy_programs():
    g = with_rule("rrule", lambda x, dx, xp: xp.ones((5,)), True)
    with pytest.raises(
        rc.ProjectionError, match=r"argument 0 \(rrule .* for with_rule"
    ):
        grad(g)(X)
