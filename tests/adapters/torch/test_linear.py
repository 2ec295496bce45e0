"""Rules that are not linear, where the other mode is derived from them."""

import pytest
import torch
from torch.autograd import forward_ad
from torch.func import grad, jacfwd, jvp, vjp, vmap

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


def product(kind):
    @rc.primitive
    def multiply(a, b):
        return a @ b

    if kind == "rrule":

        @rc.rrule.define(multiply)
        def multiply_rrule(a, b):
            return multiply(a, b), lambda dy: (NoTangent(), dy @ b.mT, a.mT @ dy)

    else:

        @rc.frule.define(multiply)
        def multiply_frule(tangents, a, b):
            _, da, db = tangents
            return multiply(a, b), da @ b + a @ db

    return multiply


def both_modes(f, a, b):
    y, dy = jvp(f, (a, b), (b, a))
    return [y, dy, *vjp(f, a, b)[1](torch.ones_like(y))]


HALVES = [torch.float16, torch.bfloat16]
WIDE = [torch.float32, torch.float64]


@pytest.mark.parametrize("kind", ["rrule", "frule"])
@pytest.mark.parametrize("narrow", HALVES)
def test_rounding_inside_is_no_mistake(kind, narrow):
    """Under autocast a rule computes with numbers that are coarser than its own."""
    a, b = (
        torch.randn(5, 5, generator=torch.Generator().manual_seed(i)) for i in (0, 1)
    )
    with torch.autocast("cpu", dtype=narrow):
        found = both_modes(product(kind), a, b)
        expected = both_modes(torch.matmul, a, b)
    for x, y in zip(found, expected, strict=True):
        torch.testing.assert_close(x, y, rtol=0.1, atol=0.1)


@pytest.mark.parametrize("narrow", HALVES)
@pytest.mark.parametrize("wide", [*WIDE, torch.float16])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("kind", ["rrule", "frule"])
def test_arguments_of_two_precisions(kind, turned, wide, narrow):
    """The coarser one rounds its share of the result."""

    @rc.primitive
    def scale(a, b):
        return a * b

    if kind == "rrule":
        rc.rrule.define(scale)(
            lambda a, b: (scale(a, b), lambda dy: (NoTangent(), dy * b, dy * a))
        )
    else:
        rc.frule.define(scale)(lambda t, a, b: (scale(a, b), t[1] * b + a * t[2]))
    a = torch.linspace(-2, 3, 40).to(narrow if turned else wide)
    b = torch.linspace(0.3, 4, 40).to(wide if turned else narrow)
    expected = both_modes(torch.mul, a, b)
    for x, y in zip(both_modes(scale, a, b), expected, strict=True):
        assert x.dtype == y.dtype
        torch.testing.assert_close(x, y, rtol=0.05, atol=0.05)


def test_a_coarse_call_does_not_vouch_for_a_fine_one():
    """What halves hide is seen once the same shapes come without autocast."""
    f = pulling(lambda x, t: 2 * x * t + 1e-3 * (x * t).abs())
    x = torch.linspace(1, 3, 8)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        jvp(f, (x,), (x,))
    with pytest.raises(NotLinearError):
        jvp(f, (x,), (x,))


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
    monkeypatch.setattr("rules_torch._rules.linearity._agree", None)
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
