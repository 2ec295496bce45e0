"""Rules that are not linear, where the other mode is derived from them."""

import pytest
import torch
from torch.autograd import forward_ad
from torch.func import grad, jacfwd, jvp, vmap

import rules_core as rc
from rules_core import NoTangent
from rules_torch import NotLinearError, ResultShapeError

X = torch.tensor([1.0, 3.0, -4.0], dtype=torch.float64)


def backward(f):
    x = X.clone().requires_grad_()
    return torch.autograd.grad(f(x).sum(), x)[0]


def dual(f):
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(f(forward_ad.make_dual(X, X))).tangent


REVERSE = {
    "backward": backward,
    "grad": lambda f: grad(lambda x: f(x).sum())(X),
    "vmap(grad)": lambda f: vmap(grad(lambda x: f(x).sum()))(torch.stack([X, X])),
}
FORWARD = {
    "dual": dual,
    "jvp": lambda f: jvp(f, (X,), (X,))[1],
    "jacfwd": lambda f: jacfwd(f)(X),
    "vmap(jvp)": lambda f: vmap(lambda x: jvp(f, (x,), (x,))[1])(torch.stack([X, X])),
}
# Maps of a tangent or cotangent that are not linear, as mistakes make them.
MAPS = {
    "squared": lambda x, t: 2 * x * t**2,
    "constant": lambda x, t: 2 * x * t + 1,
    "product": lambda x, t: 2 * x * t * t,
    "sine": lambda x, t: torch.sin(2 * x * t),
    "absolute": lambda x, t: (2 * x * t).abs(),
    "cut": lambda x, t: 2 * x * t.detach(),
}


def linear(x, t):
    return 2 * x * t


def pushing(of):
    @rc.primitive
    def square(x):
        return x**2

    @rc.frule.define(square)
    def square_frule(tangents, x):
        return x**2, of(x, tangents[1])

    return square


def pulling(of):
    @rc.primitive
    def square(x):
        return x**2

    @rc.rrule.define(square)
    def square_rrule(x):
        return x**2, lambda dy: (NoTangent(), of(x, dy))

    return square


@pytest.mark.parametrize("way", REVERSE)
@pytest.mark.parametrize("name", MAPS)
def test_an_frule_that_is_not_linear(name, way):
    with pytest.raises(rc.UnsupportedError) as info:
        REVERSE[way](pushing(MAPS[name]))
    assert "frule pushing.<locals>.square_frule for pushing" in str(info.value)
    if name != "cut":
        assert isinstance(info.value, NotLinearError)
        assert "Define an rrule for pushing.<locals>.square too" in str(info.value)


@pytest.mark.parametrize("way", FORWARD)
@pytest.mark.parametrize("name", MAPS)
def test_a_pullback_that_is_not_linear(name, way):
    with pytest.raises(rc.UnsupportedError) as info:
        FORWARD[way](pulling(MAPS[name]))
    assert "rrule pulling.<locals>.square_rrule for pulling" in str(info.value)
    if name != "cut":
        assert isinstance(info.value, NotLinearError)
        assert "Define an frule for pulling.<locals>.square too" in str(info.value)


@pytest.mark.parametrize("made", [pushing, pulling])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_rounding_is_no_mistake(made, dtype):
    f, x = made(linear), torch.linspace(-3, 2, 1000, dtype=dtype)
    torch.testing.assert_close(jvp(f, (x,), (x,))[1], 2 * x * x)
    torch.testing.assert_close(grad(lambda x: f(x).sum())(x), 2 * x)


def test_what_tells_nothing_is_asked_again():
    """At zero all maps without a constant look alike."""
    f = pushing(MAPS["squared"])
    x = torch.zeros(3, requires_grad=True)
    torch.autograd.grad(f(x).sum(), x)
    with pytest.raises(NotLinearError):
        torch.autograd.grad(f(x + 1).sum(), x)


@pytest.mark.parametrize("made", [pushing, pulling])
def test_a_rule_that_passed_is_not_asked_again(made, monkeypatch):
    f = made(linear)
    way = backward if made is pushing else FORWARD["jvp"]
    way(f)
    monkeypatch.setattr("rules_torch._linear._agree", None)
    way(f)


@pytest.mark.parametrize("way", FORWARD)
def test_the_shape_of_the_result_in_forward_mode(way):
    """Its cotangents fit, so that nothing else shows it."""

    @rc.primitive
    def square(x):
        return x**2

    @rc.rrule.define(square)
    def square_rrule(x):
        return square(x).sum(), lambda dy: (NoTangent(), 2 * x * dy)

    with pytest.raises(ResultShapeError, match=r"\(3,\) here, but got shape \(\)"):
        FORWARD[way](square)
