"""Pullbacks that return `{"x": dx}`, in each AD system and transformation."""

from collections import OrderedDict

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import rules_core as rc
from rules_autodiff import grad, hessian, hvp, jacfwd, jvp, value_and_grad
from rules_core import rrule
from rules_core.testing import check_rule, isolated_rules


@pytest.fixture(autouse=True)
def _isolated():
    with isolated_rules():
        yield


def scaled(x, scale, mode="up", *, power=2):
    return scale * x**power if mode == "up" else -scale * x**power


def with_rule(**flags):
    f = rc.primitive(scaled)

    @rrule.define(f, **flags)
    def scaled_rrule(x, scale, *rest, power):
        def scaled_pullback(dy):
            return {"x": dy * f(x, scale * power, *rest, power=power - 1)}

        return f(x, scale, *rest, power=power), scaled_pullback

    return f


X, SCALE = 1.5, 3.0
SLOPE, SECOND = 2 * SCALE * X, 2 * SCALE


def test_by_hand():
    _, pullback = rrule(with_rule(), X, SCALE)
    raw = pullback(1.0)
    assert list(raw) == ["x"]
    call = rrule.resolve(scaled, (X, SCALE))
    _, dx, dscale, dmode = call.check_cotangents(raw)
    assert dx == SLOPE
    assert isinstance(dscale, rc.NotImplementedTangent)
    assert isinstance(dmode, rc.NoTangent)
    assert "scaled_rrule" in dscale.info
    assert "'scale'" in dscale.info


def summed(x, *weights):
    return x * sum(weights)


def with_star(cotangents):
    """`summed` with a rule that returns these cotangents for `dy = 1`."""
    f = rc.primitive(summed)

    @rrule.define(f)
    def summed_rrule(x, *weights):
        return f(x, *weights), lambda dy: cotangents(dy, x, weights)

    return f


def by_star(dy, x, weights):
    return OrderedDict(weights=tuple(dy * x for _ in weights), x=dy * sum(weights))


STAR_HOSTS = {
    "engine": lambda f, *xs: grad(f, argnums=(0, 1, 2))(*xs),
    "jax": lambda f, *xs: jax.grad(f, argnums=(0, 1, 2))(*xs),
    "torch": lambda f, *xs: torch.autograd.grad(
        f(*(ts := [torch.tensor(x, requires_grad=True) for x in xs])), ts
    ),
}


@pytest.mark.parametrize("host", STAR_HOSTS)
def test_star_arguments_have_one_name(host):
    """And a subclass of dict is a dict."""
    found = STAR_HOSTS[host](with_star(by_star), 2.0, 3.0, 4.0)
    np.testing.assert_allclose(np.array(found), [7.0, 2.0, 2.0])


@pytest.mark.parametrize(
    ("cotangents", "says"),
    [
        (lambda dy, x, ws: {"weights": (dy,)}, r"weights must be a tuple of 2 cotang"),
        (lambda dy, x, ws: {"weights": dy}, r"weights must be a tuple of 2 cotang"),
        (lambda dy, x, ws: {0: dy}, r"arguments \(x, \*weights\), but got 0"),
        (lambda dy, x, ws: {"ws": ws}, r"arguments \(x, \*weights\), but got 'ws'"),
    ],
    ids=["few", "one", "position", "typo"],
)
def test_wrong_star_arguments_are_refused(cotangents, says):
    with pytest.raises(rc.RulesCoreError, match=says):
        grad(with_star(cotangents), argnums=(0, 1))(2.0, 3.0, 4.0)


ENGINE = {
    "grad": lambda f: grad(f)(X),
    "tape": lambda f: value_and_grad(f)(np.asarray(X))[1],
    "jvp": lambda f: jvp(f, (X,), (1.0,))[1],
    "jacfwd": lambda f: jacfwd(f)(X),
}
ENGINE_SECOND = {
    "grad of grad": lambda f: grad(grad(f))(X),
    "hessian": lambda f: hessian(f)(X),
    "hvp": lambda f: hvp(f, (X,), (1.0,)),
    "jvp of grad": lambda f: jvp(grad(f), (X,), (1.0,))[1],
}
JAX = {
    "grad": lambda f: jax.grad(f)(X),
    "jit": lambda f: jax.jit(jax.grad(f))(X),
    "jvp": lambda f: jax.jvp(f, (X,), (1.0,))[1],
    "vmap": lambda f: jax.vmap(jax.grad(f))(jnp.array([X]))[0],
}
JAX_SECOND = {"hessian": lambda f: jax.jit(jax.hessian(f))(X)}
T = torch.tensor(X, dtype=torch.float64)
TORCH = {
    "grad": lambda f: torch.autograd.functional.jacobian(f, T),
    "func": lambda f: torch.func.grad(f)(T),
    "jvp": lambda f: torch.func.jvp(f, (T,), (torch.ones_like(T),))[1],
    "vmap": lambda f: torch.func.vmap(torch.func.grad(f))(T[None])[0],
}
TORCH_SECOND = {"hessian": lambda f: torch.func.hessian(f)(T)}
FIRST = {**{f"engine {k}": v for k, v in ENGINE.items()}}
FIRST |= {f"jax {k}": v for k, v in JAX.items()}
FIRST |= {f"torch {k}": v for k, v in TORCH.items()}
LATER = {**{f"engine {k}": v for k, v in ENGINE_SECOND.items()}}
LATER |= {f"jax {k}": v for k, v in JAX_SECOND.items()}
LATER |= {f"torch {k}": v for k, v in TORCH_SECOND.items()}


@pytest.mark.covering(every=2)
@pytest.mark.parametrize("derivative", FIRST.values(), ids=FIRST)
def test_first_order(derivative):
    f = with_rule()
    assert float(derivative(lambda x: f(x, SCALE))) == pytest.approx(SLOPE)


@pytest.mark.covering(every=2)
@pytest.mark.parametrize("derivative", LATER.values(), ids=LATER)
def test_second_order(derivative):
    f = with_rule()
    assert float(derivative(lambda x: f(x, SCALE))) == pytest.approx(SECOND)


def test_torch_backward_often():
    """Also by the path of repeated calls."""
    f, x = with_rule(), torch.tensor([X, X], dtype=torch.float64, requires_grad=True)
    for _ in range(4):
        (dx,) = torch.autograd.grad(f(x, SCALE).sum(), x)
        assert dx.tolist() == [SLOPE, SLOPE]


def test_compiled():
    f = with_rule()

    @torch.compile(backend="aot_eager", fullgraph=True)
    def loss(x):
        return f(x, SCALE).sum()

    x = torch.tensor([X, X], dtype=torch.float64, requires_grad=True)
    loss(x).backward()
    assert x.grad.tolist() == [SLOPE, SLOPE]


MISSING = {
    "engine": lambda f: grad(lambda s: f(X, s))(SCALE),
    "engine forward": lambda f: jvp(lambda s: f(X, s), (SCALE,), (1.0,)),
    "jax": lambda f: jax.grad(lambda s: f(X, s))(SCALE),
    "jax forward": lambda f: jax.jvp(lambda s: f(X, s), (SCALE,), (1.0,)),
    "torch": lambda f: torch.func.grad(lambda s: f(X, s))(T),
    "torch forward": lambda f: torch.func.jvp(lambda s: f(X, s), (T,), (T,)),
}


@pytest.mark.parametrize("derivative", MISSING.values(), ids=MISSING)
def test_what_is_left_out_is_not_implemented(derivative):
    with pytest.raises(rc.DerivativeNotImplemented, match="no cotangent of .*'scale'"):
        derivative(with_rule())


WRONG = {
    "engine": lambda f: grad(f)(X),
    "jax": lambda f: jax.grad(f)(X),
    "torch": lambda f: torch.func.grad(f)(T),
}


@pytest.mark.parametrize("derivative", WRONG.values(), ids=WRONG)
def test_a_wrong_name(derivative):
    def double(x):
        return 2 * x

    f = rc.primitive(double)

    @rrule.define(f)
    def double_rrule(x):
        return f(x), lambda dy: {"y": 2 * dy}

    with pytest.raises(
        rc.CotangentNameError, match=r"double_rrule .*\(x\), but got 'y'"
    ):
        derivative(f)


def test_functions_without_names():
    f = rc.primitive(np.hypot, host=True)
    with isolated_rules():
        rrule.undefine(np.hypot)

        @rrule.define(np.hypot)
        def hypot_rrule(x, y):
            return f(x, y), lambda dy: {"x": dy}

        with pytest.raises(rc.CotangentNameError, match="return a tuple"):
            rrule.resolve(np.hypot, (X, X)).check_cotangents({"x": 1.0})


def test_methods_name_the_instance():
    class Line:
        def __init__(self, slope):
            self.slope = slope

        def at(self, x):
            return self.slope * x

    @rrule.define(Line.at)
    def at_rrule(self, x):
        return self.slope * x, lambda dy: {"x": self.slope * dy, "self": None}

    assert grad(lambda x: Line(SCALE).at(x))(X) == SCALE


def test_host_rules():
    def cube(x, n):
        return x**3

    f = rc.primitive(cube, host=True, out="x")

    @rrule.define(f, host=True)
    def cube_rrule(x, n):
        return x**3, lambda dy: {"x": 3 * dy * np.square(x)}

    assert float(jax.jit(jax.grad(f), static_argnums=1)(X, 1)) == 3 * X**2
    assert float(torch.func.grad(f)(T, 1)) == 3 * X**2


def test_debug_mode():
    f = with_rule()
    with rc.debug_mode():
        assert grad(lambda x: f(x, SCALE))(X) == SLOPE


def test_the_tester():
    report = check_rule(with_rule(), X, SCALE, level="quick", hosts=())
    assert report.passed
