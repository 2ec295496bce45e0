"""Calls that are compared with the last one: what differs must never be taken for it.

The references are torch's own derivatives of the formulas.
"""

from __future__ import annotations

import pytest
import torch

import rules_core as rc
from rules_torch._errors import UnconvertibleClosureError
from tests.adapters.torch.quickly import is_quick, points, ruled, slope, square


def test_from_the_third_call_on_calls_are_quick():
    f, x = ruled(square), points(1.0, 2.0)
    assert [is_quick(f(x)) for _ in range(4)] == [False, False, True, True]


@pytest.mark.parametrize("order", [1, 2, 3])
def test_orders_of_quick_calls(order):
    """Captured: an argument, the result, and what is neither."""

    def rule(x: rc.Array):
        y, c = torch.exp(x**2), 2 * x
        return y, lambda dy: (rc.NoTangent(), y * c * dy + 0 * x)

    f, g, x = ruled(rule), (lambda x: torch.exp(x**2)), points(0.5, -0.3)
    for _ in range(4):
        got, expected = f(x), g(x)
        quick = is_quick(got)
        for _ in range(order):
            (got,) = torch.autograd.grad(got.sum(), x, create_graph=True)
            (expected,) = torch.autograd.grad(expected.sum(), x, create_graph=True)
        torch.testing.assert_close(got, expected)
    assert quick


def test_several_arguments_in_every_order_of_capture():
    @rc.primitive
    def f(x, y, z):
        return x * y + z

    @rc.rrule.define(f)
    def rule(x, y, z):
        return x * y + z, rc.Pullback(pull, y, x)

    def pull(y, x, dy):
        return rc.NoTangent(), y * dy, x * dy, dy

    xs = points(1.0, 2.0), points(3.0, 5.0), points(7.0, 11.0)
    for i in range(4):
        out = f(*xs)
        got = torch.autograd.grad(out.sum(), xs, create_graph=True)
        assert [g.tolist() for g in got] == [[3, 5], [1, 2], [1, 1]]
        assert torch.autograd.grad(got[0].sum(), xs[1])[0].tolist() == [1, 1]
        (alone,) = torch.autograd.grad(f(xs[0].detach(), *xs[1:]).sum(), xs[1])
        assert alone.tolist() == [1, 2]
        assert is_quick(out) == (i > 0)
    for _ in range(3):
        out = f(xs[0], xs[0], xs[2])
        assert torch.autograd.grad(out.sum(), xs[0])[0].tolist() == [2, 4]
    assert is_quick(out)


def test_another_pullback_is_another():
    def rule(x: rc.Array):
        if x[0] > 0:
            return x**2, lambda dy: (rc.NoTangent(), 2 * x * dy)
        return x**3, lambda dy: (rc.NoTangent(), 3 * x**2 * dy)

    f, positive, negative = ruled(rule), points(2.0), points(-2.0)
    for x, expected in [(positive, 4), (positive, 4), (negative, 12)] * 3:
        for _ in range(2):
            assert slope(f, x)[0].tolist() == [expected]
    later = [f(x) for x in (positive, negative, positive)]
    found = [torch.autograd.grad(y, x)[0].item() for y, x in zip(later, [
        positive, negative, positive], strict=True)]  # fmt: skip
    assert found == [4, 12, 4]


CAPTURES = {
    "argument": lambda x, y, c: (x, c),
    "copy": lambda x, y, c: (x.clone(), c),
    "result": lambda x, y, c: (x, y),
    "twice": lambda x, y, c: (x, x),
    "swapped": lambda x, y, c: (c, x),
    "equal": lambda x, y, c: (c, c),
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("second", CAPTURES)
@pytest.mark.parametrize("first", CAPTURES)
def test_the_same_code_may_capture_something_else(first, second):
    """The derivative is `a b`, whatever they are; so is that of a captured result."""
    chosen = [first]

    def rule(x: rc.Array):
        y, c = x**2, torch.sin(x)
        a, b = CAPTURES[chosen[0]](x, y, c)
        return y, rc.Pullback(lambda a, b, dy: (rc.NoTangent(), a * b * dy), a, b)

    f, x = ruled(rule), points(0.7, -0.4)
    for name in (first, first, first, second, first, second, second, second):
        chosen[0] = name
        x0, y0 = x.detach(), x.detach() ** 2
        y = y0 + x0 * y0 * (x - x0) if name == "result" else x**2
        a, b = CAPTURES[name](x, y, torch.sin(x))
        (dx,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
        torch.testing.assert_close(dx, a * b)
        (again,) = torch.autograd.grad(dx.sum(), x)
        torch.testing.assert_close(again, torch.autograd.grad((a * b).sum(), x)[0])


def test_more_residuals_than_last_time():
    count = [2]

    def pull(*values):
        *residuals, dy = values
        return rc.NoTangent(), sum(residuals) * dy

    def rule(x: rc.Array):
        s = x + 1
        return x**2, rc.Pullback(pull, x, *[s] * (count[0] - 1))

    f, x = ruled(rule), points(3.0)
    for count[0] in (2, 2, 2, 3, 3, 2, 4, 2):
        assert slope(f, x)[0].item() == 3 + 4 * (count[0] - 1)


def test_numbers_are_part_of_a_call():
    factor = [2.0]

    def rule(x: rc.Array):
        c = factor[0]
        return x**2, lambda dy: (rc.NoTangent(), c * x * dy)

    for factors in ((2.0, 2.0, 2.0, 5.0), (torch.tensor(3.0),) * 3 + (5.0, 7.0)):
        f, x = ruled(rule), points(1.0)
        for factor[0] in factors:
            assert slope(f, x)[0].item() == factor[0]


def test_code_with_defaults():
    def pull(x, dy, c=2.0):
        return rc.NoTangent(), c * x * dy

    f, x = ruled(lambda x: (x**2, rc.Pullback(pull, x))), points(1.0)
    for c in (2.0, 2.0, 2.0, 5.0):
        pull.__defaults__ = (c,)
        assert slope(f, x)[0].item() == c


def test_code_with_other_globals():
    scopes = [{"rc": rc, "c": float(c)} for c in (2, 3)]
    code = (lambda x, dy: (rc.NoTangent(), c * x * dy)).__code__  # noqa: F821  theirs
    chosen = [0]

    def rule(x: rc.Array):
        return x**2, rc.Pullback(type(rule)(code, scopes[chosen[0]]), x)

    f, x = ruled(rule), points(1.0)
    for chosen[0] in (0, 0, 0, 1, 0, 1, 1):
        assert slope(f, x)[0].item() == chosen[0] + 2


def test_a_pullback_and_a_closure_of_the_same_code():
    """What a `Pullback` is given is not what its function captures."""

    def closing(x):
        return lambda *args: (rc.NoTangent(), len(args) * x * args[-1])

    def rule(x: rc.Array):
        fn = closing(x)
        return x**2, rc.Pullback(fn, x) if wrapped[0] else fn

    wrapped, x = [False], points(3.0)
    f = ruled(rule)
    for wrapped[0] in (False, False, False, True, True, False):
        assert slope(f, x)[0].item() == (6 if wrapped[0] else 3)


def first_of(dy):
    return dy if isinstance(dy, torch.Tensor) else dy[0]


def test_results_of_other_kinds():
    kind = ["tensor"]

    def rule(x: rc.Array):
        y = x**2
        made = {"tensor": y, "pair": (y, x + 1), "list": [y], "argument": x}
        return made[kind[0]], lambda dy: (rc.NoTangent(), 2 * x * first_of(dy))

    f, x = ruled(rule), points(3.0)
    for kind[0] in ("tensor",) * 3 + ("pair", "list", "argument", "tensor", "pair"):
        y = f(x)
        assert type(y) is {"pair": tuple, "list": list}.get(kind[0], torch.Tensor)
        first = y[0] if kind[0] in ("pair", "list") else y
        assert torch.autograd.grad(first.sum(), x)[0].item() == 6


def test_what_a_rule_must_not_return_is_refused_as_ever():
    wrong = [False]

    def rule(x: rc.Array):
        return (x**2, x, x) if wrong[0] else square(x)

    f, x = ruled(rule), points(3.0)
    for wrong[0] in (False, False, False, True, False):
        if wrong[0]:
            with pytest.raises(rc.RuleResultError):
                f(x)
        else:
            assert slope(f, x)[0].item() == 6


def test_closures_that_cannot_be_converted_are_refused_as_ever():
    hidden = [False]

    def rule(x: rc.Array):
        if hidden[0]:
            it = iter([x])
            return x**2, lambda dy: (rc.NoTangent(), 2 * next(it) * dy)
        return square(x)

    f, x = ruled(rule), points(3.0)
    for hidden[0] in (False, False, False, True, False):
        if hidden[0]:
            with pytest.raises(UnconvertibleClosureError) as caught:
                f(x)
            assert caught.value.__context__ is None
        else:
            assert slope(f, x)[0].item() == 6
