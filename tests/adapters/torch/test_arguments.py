"""What kinds of tensors may be passed: dtypes, subclasses, modules, NumPy's arrays."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch
from torch.func import functional_call, grad, jvp, vjp, vmap

import rules_core as rc
from rules_core import NoTangent
from rules_torch import to_torch
from tests.adapters.torch.formulas import cube, expo, marker, sinmul, weighted


def leaf(*values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


def test_broadcast_cotangents_and_python_scalars_are_fitted():
    @rc.primitive
    def plus(a, b, c):
        return a + b + c

    @rc.rrule.define(plus)
    def plus_rrule(a, b, c):
        def plus_pullback(dy):
            return NoTangent(), dy, dy, NoTangent()

        return a + b + c, plus_pullback

    a, b = leaf(1.0, 2.0), torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    plus(a, b, 2.0).sum().backward()
    assert (a.grad.tolist(), b.grad.item()) == ([1, 1], 2)

    @rc.primitive
    def half(x):
        return x / 2

    @rc.rrule.define(half)
    def half_rrule(x):
        return x / 2, lambda dy: (NoTangent(), 0.5)

    half(b).backward()
    assert b.grad.item() == 2.5


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_dtypes_are_kept_in_both_modes(dtype):
    x = torch.tensor([0.5, 1.0], dtype=dtype, requires_grad=True)
    y = sinmul().f(x)
    y.sum().backward()
    assert y.dtype is x.grad.dtype is dtype
    _, dy = jvp(sinmul().f, (x.detach(),), (x.detach(),))
    assert dy.dtype is dtype


def test_a_wider_cotangent_is_cast_to_its_primal():
    @rc.primitive
    def wide(x):
        return x * 2

    @rc.rrule.define(wide)
    def wide_rrule(x):
        return x * 2, lambda dy: (NoTangent(), (2 * dy).double())

    x = torch.tensor([1.0], requires_grad=True)
    wide(x).sum().backward()
    assert x.grad.dtype is torch.float32
    assert grad(lambda x: wide(x).sum())(x.detach()).dtype is torch.float32


def test_complex_cotangents_follow_the_conjugate_convention():
    """`x̄ = conj(f') ȳ`, which is torch's own."""
    z = torch.tensor(1 + 2j, dtype=torch.complex128, requires_grad=True)
    made = cube("rrule")

    @rc.primitive
    def square(z):
        return z * z

    @rc.rrule.define(square)
    def square_rrule(z):
        def square_pullback(dy):
            return NoTangent(), dy * rc.array_namespace(z).conj(2 * z)

        return z * z, square_pullback

    seed = torch.tensor(0.5 + 1j, dtype=torch.complex128)
    (mine,) = torch.autograd.grad(square(z), z, seed)
    (theirs,) = torch.autograd.grad(z * z, z, seed)
    torch.testing.assert_close(mine, theirs)
    _, dz = jvp(square, (z.detach(),), (seed,))
    torch.testing.assert_close(dz, 2 * z.detach() * seed)
    assert torch.autograd.gradcheck(square, (z,), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(square, (z,))
    assert made.f(z).is_complex()


def test_a_real_argument_gets_a_real_cotangent():
    """`1j x` at real 2: the cotangents 1j and 1 give 1 and 0, both real."""

    @rc.primitive
    def turn(x):
        return 1j * x

    @rc.rrule.define(turn)
    def turn_rrule(x):
        return 1j * x, lambda dy: (NoTangent(), -1j * dy)

    x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    for seed, expected in ((1j, 1.0), (1.0, 0.0)):
        dy = torch.tensor(seed, dtype=torch.complex128)
        (dx,) = torch.autograd.grad(turn(x), x, dy)
        assert (dx.dtype, dx.item()) == (torch.float64, expected)
        (dx,) = vjp(turn, x.detach())[1](dy)
        assert (dx.dtype, dx.item()) == (torch.float64, expected)


def test_numpy_arrays_beside_tensors_become_tensors():
    made = weighted()
    b = leaf(0.5, 1.0)
    made.f(np.array([2.0, 3.0]), b).sum().backward()
    torch.testing.assert_close(b.grad, torch.tensor([2.0, 3.0]) * b.detach().cos())
    assert isinstance(made.f(np.ones(2), b.detach()), torch.Tensor)


class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor([0.5, 1.0], dtype=torch.float64))

    def forward(self, x):
        return SHARED(self.w * x)


SHARED = rc.primitive(lambda x: x * 1)
SHARED.__qualname__ = "SHARED"


@rc.rrule.define(SHARED)
def shared_rrule(x):
    return x * 1, rc.Pullback(shared_pullback)


def shared_pullback(dy):
    return NoTangent(), 3 * dy


def test_modules_parameters_deepcopy_pickle_and_functional_call():
    x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    for module in (
        Module(),
        copy.deepcopy(Module()),
        pickle.loads(pickle.dumps(Module())),
    ):
        module(x).sum().backward()
        assert module.w.grad.tolist() == [3, 6]
    parameters = {"w": torch.ones(2, dtype=torch.float64)}
    found = grad(lambda p: functional_call(module, p, (x,)).sum())(parameters)
    assert found["w"].tolist() == [3, 6]
    stacked = {"w": torch.ones(3, 2, dtype=torch.float64)}
    batched = vmap(grad(lambda p: functional_call(module, p, (x,)).sum()))(stacked)
    assert batched["w"].tolist() == [[3, 6]] * 3


class Tagged(torch.Tensor):
    """A user's subclass."""


def test_tensor_subclasses_and_parameters():
    made = marker()
    for x in (torch.nn.Parameter(torch.ones(2)), torch.ones(2).as_subclass(Tagged)):
        x.requires_grad_()
        made.f(x).sum().backward()
        assert x.grad.tolist() == [3, 3]


@pytest.mark.parametrize("kind", ["both", "rrule", "frule"])
def test_ignored_derivatives_are_dropped_in_both_modes(kind):
    made = expo(kind)
    x = torch.tensor(0.5, dtype=torch.float64)

    def f(x):
        return made.f(x) * rc.ignore_derivatives(x) + made.f(rc.ignore_derivatives(x))

    expected = made.native(x) * x
    torch.testing.assert_close(grad(f)(x), expected)
    torch.testing.assert_close(jvp(f, (x,), (torch.ones_like(x),))[1], expected)
    leafx = x.clone().requires_grad_()
    f(leafx).backward()
    torch.testing.assert_close(leafx.grad, expected)
    assert grad(lambda x: rc.ignore_derivatives(lambda: made.f(x)) * x)(
        x
    ) == made.native(x)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, torch.ones_like(x))
        dy = torch.autograd.forward_ad.unpack_dual(f(dual)).tangent
    torch.testing.assert_close(dy, expected)


def test_to_torch_wraps_functions_of_others_and_checks_its_flags():
    f = to_torch(np.cosh, host=True, elementwise=True)
    assert f(torch.zeros(2)).tolist() == [1, 1]
    with pytest.raises(rc.UnsupportedError) as info:
        to_torch(np.cosh, via="tape")
    assert str(info.value) == (
        "to_torch: via must be 'autograd.Function', but got 'tape'. Leave it out."
    )
    with pytest.raises(rc.PrimitiveError):
        to_torch(marker().f, host=True)


def test_generated_rules_of_others_functions_reach_the_handle():
    """`scalar_rule` for a NumPy-only function: its rules call the handle at work."""

    def cube(x):
        return np.asarray(x) ** 3

    rc.scalar_rule(cube, lambda y, x: (3 * x**2,))
    f = to_torch(cube, host=True, elementwise=True)
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(f, (x,), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(f, (x,))
    assert vmap(grad(grad(f)))(x.detach()).tolist() == [6, 12]
    assert jvp(f, (x.detach(),), (x.detach(),))[1].tolist() == [3, 24]
