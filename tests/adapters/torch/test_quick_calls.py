"""Quick calls: cotangents, memory, modes and threads are as in the general way."""

from __future__ import annotations

import gc
import threading

import pytest
import torch

import rules_core as rc
from rules_torch._autograd import repeated_call
from rules_torch._errors import CotangentError, UnconvertibleClosureError
from tests.adapters.torch.quickly import (
    is_quick,
    points,
    ruled,
    slope,
    square,
    square_pullback,
)

# A pullback that reads or captures a value of the program would not be quick.
CURRENT = vars(torch.testing)


def current_pullback(x, dy):
    return torch.testing.cotangents(x)


@pytest.fixture(autouse=True)
def _as_before():
    yield
    CURRENT.pop("cotangents", None)


def current(x: rc.Array):
    return x**2, rc.Pullback(current_pullback, x)


def right(x):
    return rc.NoTangent(), 2 * x


COTANGENTS = {
    "count": (lambda x: (rc.NoTangent(), x, x), rc.CotangentCountError),
    "one": (lambda x: x, rc.CotangentCountError),
    "shape": (lambda x: (rc.NoTangent(), x.new_ones(7)), CotangentError),
    "integer": (lambda x: (rc.NoTangent(), x.long()), CotangentError),
}


@pytest.mark.parametrize("case", COTANGENTS)
def test_cotangents_that_do_not_fit(case):
    wrong, error = COTANGENTS[case]
    f, x = ruled(current), points(3.0, 4.0)
    for made in (right, right, right, wrong, right):
        CURRENT["cotangents"] = made
        y = f(x)
        if made is right:
            assert torch.autograd.grad(y.sum(), x)[0].tolist() == [6, 8]
        else:
            assert is_quick(y)
            with pytest.raises(error):
                torch.autograd.grad(y.sum(), x)


BENT = {
    "zero": (lambda x: rc.ZeroTangent(), [0, 0]),
    "thunk": (lambda x: rc.Thunk(lambda: 2 * x), [6, 8]),
    "single": (lambda x: (2 * x).float(), [6, 8]),
    "batched": (lambda x: torch.stack([x, x]), [6, 8]),
}


@pytest.mark.parametrize("case", BENT)
def test_cotangents_that_are_made_to_fit(case):
    made, expected = BENT[case]
    CURRENT["cotangents"] = lambda x: (rc.NoTangent(), made(x))
    f, x = ruled(current), points(3.0, 4.0)
    for _ in range(4):
        y = f(x)
        y.sum().backward()
        assert x.grad.tolist() == expected
        x.grad = None
    assert is_quick(y)


def test_torch_owns_what_is_captured():
    """Hooks see each tensor once, writes are noticed, memory is freed."""
    f, x = ruled(lambda x: square(x + 0)), points(3.0)
    for _ in range(3):
        f(x)
    packed = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: packed.append(t) or t, lambda t: t
    ):
        y = f(x)
    assert is_quick(y)
    assert len(packed) == 2  # the argument, for second derivatives, and `x + 0`
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()
    z = x * 1
    y = f(z)
    z.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_arguments_that_are_not_captured_are_not_kept():
    def rule(x: rc.Array):
        y = torch.exp(x)
        return y, rc.Pullback(lambda y, dy: (rc.NoTangent(), y * dy), y)

    f, x = ruled(rule), points(0.5)
    for _ in range(4):
        z = x * 1
        y = f(z)
        z.add_(1)  # nobody needs it
        (dx,) = torch.autograd.grad(y, x)
        torch.testing.assert_close(dx, torch.exp(x))
    assert is_quick(y)


def test_views_of_an_argument_and_constants_with_gradients():
    w = points(3.0)
    captured = ["copy"]

    def rule(x: rc.Array):
        c = {"copy": x + 0, "view": x.view(1), "weight": w}[captured[0]]
        return x**2, rc.Pullback(lambda c, dy: (rc.NoTangent(), 2 * c * dy), c)

    f, x = ruled(rule), points(5.0)
    for captured[0] in ("copy", "copy", "copy", "view", "copy"):
        (dx,) = torch.autograd.grad(f(x), x, create_graph=True)
        assert dx.item() == 10
        assert torch.autograd.grad(dx, x)[0].item() == 2
    captured[0] = "weight"
    with pytest.raises(UnconvertibleClosureError):
        f(x)


def test_parameters_and_what_is_undefined():
    f, w = ruled(square), torch.nn.Parameter(torch.tensor([3.0]))
    for _ in range(4):
        y = f(w)
        assert torch.autograd.grad(y, w)[0].item() == 6
    assert is_quick(y)


def test_gradcheck_of_quick_calls():
    f, x = ruled(square), points(3.0, -2.0)
    for _ in range(3):
        f(x)
    assert torch.autograd.gradcheck(f, x, check_undefined_grad=True)
    assert torch.autograd.gradcheck(f, x, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(f, x)
    assert is_quick(f(x))


class Nothing(torch.autograd.Function):
    """Says that nothing depends on its argument."""

    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, dy):
        return None


def test_pullbacks_do_not_run_for_nothing():
    seen = []
    CURRENT["cotangents"] = lambda x: (rc.NoTangent(), seen.append(x) or 2 * x)
    f, x = ruled(current), points(3.0)
    for _ in range(4):
        y = f(x)
        assert torch.autograd.grad(Nothing.apply(y), x, allow_unused=True) == (None,)
    assert is_quick(y)
    assert not seen


def product_pullback(x, dy):
    return rc.NoTangent(), (x.unsqueeze(0) @ dy.unsqueeze(1)).reshape(1)


def test_autocast_and_debug_mode_after_quick_calls():
    f = ruled(lambda x: (x**2, rc.Pullback(product_pullback, x)))
    x = torch.tensor([1.001], requires_grad=True)  # no number of bfloat16
    for _ in range(3):
        y = f(x)
    with torch.autocast("cpu"):  # a pullback runs as its forward pass did
        cast = f(x)
        assert torch.autograd.grad(y, x) == (x,)
    (rounded,) = torch.autograd.grad(cast, x)
    assert (rounded.item(), rounded.dtype) == (1.0, torch.float32)
    with rc.debug_mode():
        assert not is_quick(f(x))
    assert is_quick(f(x))


def test_handles_without_a_claim_on_their_function():
    """A rule calls the handle that is at work, also in a second derivative."""

    def cube(x):
        return x**3

    first, second = rc.as_primitive(cube), rc.as_primitive(cube)
    rc.scalar_rule(cube, lambda y, x: (3 * x**2,))
    x = points(2.0)
    for handle in (first, second) * 4:
        (dx,) = torch.autograd.grad(handle(x), x, create_graph=True)
        assert (dx.item(), torch.autograd.grad(dx, x)[0].item()) == (12, 12)


def test_a_rule_that_is_defined_again_is_learnt_again():
    @rc.primitive
    def f(x):
        return x**2

    def define(factor):
        @rc.rrule.define(f)  # from the same place, so it replaces the one before
        def rule(x: rc.Array):
            c = torch.tensor(factor)
            return x**2, lambda dy: (rc.NoTangent(), c * x * dy)

    x = points(3.0)
    for factor in (2, 7):
        define(factor)
        assert [slope(f, x)[0].item() for _ in range(4)] == [3 * factor] * 4
        assert is_quick(f(x))


def test_threads_that_call_in_different_ways():
    def rule(x: rc.Array):
        if len(x) == 1:
            return x**2, rc.Pullback(square_pullback, x)
        c = 2 * x
        return x**2, lambda dy: (rc.NoTangent(), c * dy)

    f, wrong = ruled(rule), []

    def work(n):
        x = torch.arange(1.0, n + 1).requires_grad_()
        for _ in range(100):
            (dx,) = torch.autograd.grad(f(x).sum(), x)
            if not torch.equal(dx, 2 * x):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(1 + i % 2,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_habit_holds_no_tensors():
    f, x = ruled(square), points(3.0)
    for _ in range(3):
        f(x)
    slots = [s for s in gc.get_objects() if type(s) is repeated_call.Slot]
    mine = [s for s in slots if s.primitive is f]
    assert mine[0].habit is not None
    model = mine[0].habit.model
    held = [getattr(model, name, None) for name in ("found", "plan", "inputs")]
    assert not [t for t in gc.get_referents(*held) if isinstance(t, torch.Tensor)]
