"""Rules that call back into PyTorch's own AD; `tests/interop` has more of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from torch.func import grad, jvp

import rules_core as rc
from rules_core import HasForwardsMode, HasReverseMode, NoTangent, RuleConfig
from rules_torch import NotGenericError, TorchConfig

A = torch.tensor([0.3, 0.5], dtype=torch.float64)


def applied():
    """`app(f, x) = f(x)`, whose rules are what the configuration finds."""

    @rc.primitive
    def app(f, x):
        return f(x)

    @rc.rrule.define(app, config=RuleConfig[HasReverseMode])
    def app_rrule(config, f, x):
        y, back = rc.rrule_via_ad(config, f, x)
        return y, lambda dy: (NoTangent(), *back(dy))

    @rc.frule.define(app, config=RuleConfig[HasForwardsMode])
    def app_frule(config, tangents, f, x):
        return rc.frule_via_ad(config, tangents[1:], f, x)

    return app


def quartic(captured, kind):
    """`x⁴/4`, whose pullback calls `app` on a closure over x³."""
    app = applied()

    @rc.primitive
    def quartic(x):
        return x * x * x * x / 4

    @rc.rrule.define(quartic)
    def quartic_rrule(x):
        y, cube = quartic(x), x * x * x

        def quartic_pullback(dy):
            ways = {
                "argument": lambda w: x * x * x * w,
                "result": lambda w: 4 * y / x * w,
                "intermediate": lambda w: cube * w,
            }
            return NoTangent(), app(ways[captured], dy)

        return y, quartic_pullback

    if kind == "both":

        @rc.frule.define(quartic)
        def quartic_frule(tangents, x):
            return quartic(x), x * x * x * tangents[1]

    return quartic


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("kind", ["both", "rrule"])
@pytest.mark.parametrize("captured", ["argument", "result", "intermediate"])
def test_every_third_derivative_through_a_rule_that_calls_back(captured, kind):
    """A tensor shows only at its innermost level whether it requires a gradient."""
    f, x = quartic(captured, kind), A[0]

    def forward(f):
        return lambda x: jvp(f, (x,), (torch.ones_like(x),))[1]

    wrong = []
    for word in itertools.product((grad, forward), repeat=3):
        made = f
        for step in word:
            made = step(made)
        if not torch.allclose(made(x), 6 * x):
            wrong.append([step.__name__ for step in word])
    assert not wrong


def test_a_module_as_callable_argument():
    @rc.primitive
    def apply_twice(f, x):
        return f(f(x))

    @rc.rrule.define(apply_twice, config=RuleConfig[HasReverseMode])
    def apply_twice_rrule(config, f, x):
        y, back = rc.rrule_via_ad(config, lambda g, u: g(g(u)), f, x)

        def apply_twice_pullback(dy):
            _, df, dx = back(dy)
            return NoTangent(), df, dx

        return y, apply_twice_pullback

    module = torch.nn.Linear(2, 2, dtype=torch.float64)
    apply_twice(module, A).sum().backward()
    mine = [p.grad.clone() for p in module.parameters()]
    module.zero_grad()
    module(module(A)).sum().backward()
    for got, parameter in zip(mine, module.parameters(), strict=True):
        torch.testing.assert_close(got, parameter.grad)


def test_via_ad_of_several_outputs_and_integers():
    config = TorchConfig()

    def f(x, n):
        return {"y": x * n, "n": n, "i": torch.tensor(3)}

    y, back = rc.rrule_via_ad(config, f, A, 2)
    assert y["n"] == 2
    _, dx, dn = back(rc.Tangent(dict, {"y": torch.ones(2), "n": NoTangent()}))
    assert dx.tolist() == [2, 2]
    assert isinstance(dn, NoTangent)
    _, dy = rc.frule_via_ad(config, (NoTangent(), A, NoTangent()), f, A, 2)
    assert torch.equal(dy["y"], 2 * A)
    y, _ = rc.frule_via_ad(config, (NoTangent(), A, NoTangent()), f, A, 2)
    assert torch.equal(y["y"], 2 * A)
    assert (y["n"], y["i"].item()) == (2, 3)
    assert not torch._C._functorch.is_functorch_wrapped_tensor(y["y"])


def test_via_ad_without_tensors():
    y, back = rc.rrule_via_ad(TorchConfig(), lambda n: n + 1, 2)
    assert (y, back(NoTangent())) == (3, (NoTangent(), NoTangent()))


def scaled(c):
    return lambda x: rc.array_namespace(x).sin(x) * c


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
@pytest.mark.parametrize("captured", [2.0, np.array([2.0, 3.0])], ids=["a", "array"])
def test_arrays_of_numpy_have_derivatives_in_numpy(captured, dtype):
    """A solver that runs in NumPy calls back with the arrays that it has."""
    x, dy = np.array([1.0, 2.0], dtype), np.array([3.0, 5.0], dtype)
    expected = np.conj(np.cos(x) * captured) * dy
    f = scaled(captured)
    y, pullback = rc.rrule_via_ad(TorchConfig(), f, x)
    for _ in range(2):
        df, dx = pullback(dy)
        assert (type(y), type(dx), dx.dtype) == (np.ndarray, np.ndarray, dtype)
        np.testing.assert_allclose(dx, expected, rtol=1e-6)
    if isinstance(captured, np.ndarray):
        np.testing.assert_allclose(df["c"], np.sin(x) * dy, rtol=1e-6)
    y, moved = rc.frule_via_ad(TorchConfig(), (NoTangent(), dy), f, x)
    assert (type(y), type(moved)) == (np.ndarray, np.ndarray)
    np.testing.assert_allclose(moved, np.cos(x) * captured * dy, rtol=1e-6)


def test_a_numpy_only_rule_calls_back_with_its_arrays():
    def apply(f, x):
        return f(x)

    f = rc.primitive(apply, host=True)

    @rc.rrule.define(f, config=rc.RuleConfig[rc.HasReverseMode], host=True)
    def apply_rrule(config, f, x):
        y, pullback = rc.rrule_via_ad(config, f, x)
        return y, lambda dy: (NoTangent(), *pullback(dy))

    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    f(scaled(3.0), x).sum().backward()
    torch.testing.assert_close(x.grad, 3 * torch.cos(x.detach()))


def test_a_function_that_needs_numpy_is_named_where_torch_differentiates_it():
    _, pullback = rc.rrule_via_ad(TorchConfig(), lambda x: np.sin(x), np.ones(2))
    with pytest.raises(NotGenericError, match="lambda>, which rrule_via_ad"):
        pullback(np.ones(2))


def test_a_python_number_is_a_constant_whose_derivative_is_an_error():
    """PyTorch has no tensor for it: zero would be wrong in silence."""
    x = 2.0
    y, pullback = rc.rrule_via_ad(TorchConfig(), lambda x, a: x * x * a.sum(), x, A)
    dx, da = pullback(torch.ones_like(y))[1:]
    torch.testing.assert_close(da, torch.full_like(da, x * x))
    with pytest.raises(rc.DerivativeNotImplemented, match="a constant in PyTorch"):
        dx.throw("a rule needs it")
    moved = (None, 1.0, torch.ones_like(A))
    with pytest.raises(rc.UnsupportedError, match="give frule_via_ad an array"):
        rc.frule_via_ad(TorchConfig(), moved, lambda x, a: x * a, x, A)
    _, dy = rc.frule_via_ad(
        TorchConfig(), (None, 0.0, moved[2]), lambda x, a: x * a, x, A
    )
    torch.testing.assert_close(dy, x * torch.ones_like(A))


def test_a_numpy_number_has_a_derivative():
    y, pullback = rc.rrule_via_ad(TorchConfig(), lambda x: x * x, np.float64(3.0))
    assert (y, pullback(1.0)[1]) == (9.0, 6.0)
    two = rc.frule_via_ad(TorchConfig(), (None, 1.0), lambda x: x * x, np.float64(3.0))
    assert two == (9.0, 6.0)
