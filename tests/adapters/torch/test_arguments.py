"""What may be passed and returned: containers, keywords, dtypes, subclasses."""

from __future__ import annotations

import copy
import pickle
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from torch.func import functional_call, grad, jacfwd, jvp, vjp, vmap

import rules_core as rc
from rules_core import NoTangent, ZeroTangent
from rules_torch import CotangentError, KeywordDerivativeError, to_torch
from tests.adapters.torch.formulas import cube, expo, marker, sinmul, weighted

Pair = namedtuple("Pair", "w b")


@dataclass(frozen=True)
class Params:
    w: Any
    name: str = "p"


@dataclass
class Mutable:
    w: Any


class Plain:
    def __init__(self, w):
        self.w = w


def leaf(*values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


CONTAINERS = {
    "tuple": lambda w: (w, "a"),
    "list": lambda w: [None, w],
    "dict": lambda w: {"w": w, "n": 3},
    "named": lambda w: Pair(w, 1),
    "frozen": Params,
    "mutable": Mutable,
    "instance": Plain,
    "nested": lambda w: {"a": [(w, {"b": None})]},
    "partial": lambda w: __import__("functools").partial(max, w),
}


def tensors(value):
    found = []

    def visit(v):
        if isinstance(v, torch.Tensor):
            found.append(v)
        elif (level := rc.structure(v)) is not None:
            for item in level.values:
                visit(item)

    visit(value)
    return found


def like(value, new):
    """A bare container of the same kind with the tensor replaced."""
    if isinstance(value, torch.Tensor):
        return new
    level = rc.structure(value)
    if level is None:
        return NoTangent()
    items = [like(item, new) for item in level.values]
    if level.keyed == "field":
        return rc.Tangent(level.primal, **dict(zip(level.names, items, strict=True)))
    if level.keyed == "key":
        return dict(zip(level.names, items, strict=True))
    return tuple(items)


@pytest.mark.parametrize("name", CONTAINERS)
def test_containers_in_both_modes(name):
    """`5 w²` with a rule that says 10 w exactly, by any spelling of the tangent."""
    make = CONTAINERS[name]

    @rc.primitive
    def square(box):
        (w,) = tensors(box)
        return w * w

    @rc.rrule.define(square)
    def square_rrule(box):
        (w,) = tensors(box)

        def square_pullback(dy):
            return NoTangent(), like(box, 10 * w * dy)

        return w * w, square_pullback

    @rc.frule.define(square)
    def square_frule(dxs, box):
        (w,) = tensors(box)
        (dw,) = tensors(dxs[1])
        return w * w, 10 * w * dw

    w = leaf(2.0)
    square(make(w)).backward(torch.ones(1, dtype=torch.float64))
    assert w.grad.item() == 20
    x = w.detach()
    assert grad(lambda w: square(make(w)).sum())(x).item() == 20
    assert jvp(lambda w: square(make(w)), (x,), (x,))[1].item() == 40
    assert vmap(grad(lambda w: square(make(w))))(x).item() == 20


def test_keywords_defaults_and_positions_reach_the_rule_in_one_form():
    seen = []

    @rc.primitive
    def scale(x, factor=2.0, *, mode="plain"):
        return x * factor

    @rc.rrule.define(scale)
    def scale_rrule(x, factor, *, mode="plain"):
        seen.append((factor, mode))

        def scale_pullback(dy):
            return NoTangent(), dy * factor, NoTangent()

        return x * factor, scale_pullback

    x = leaf(1.0)
    for call in (
        lambda: scale(x),
        lambda: scale(x=x, factor=3.0),
        lambda: scale(x, 3.0, mode="b"),
    ):
        x.grad = None
        call().sum().backward()
        assert x.grad.item() == seen[-1][0]
    assert seen == [(2.0, "plain"), (3.0, "plain"), (3.0, "b")]


def test_a_keyword_that_is_differentiated_is_an_error():
    @rc.primitive
    def shifted(x, *, by):
        return x + by

    @rc.rrule.define(shifted)
    def shifted_rrule(x, *, by):
        return x + by, lambda dy: (NoTangent(), dy)

    @rc.frule.define(shifted)
    def shifted_frule(tangents, x, *, by):
        return x + by, tangents[1]

    x, by = leaf(1.0), leaf(2.0)
    shifted(x, by=by.detach()).sum().backward()
    assert x.grad.item() == 1
    with pytest.raises(KeywordDerivativeError) as info:
        shifted(x, by=by).sum().backward()
    assert str(info.value) == (
        f"{shifted.table.label}: the derivative with respect to the keyword-only "
        "argument 'by' is wanted, but rules have no cotangent for keywords. Pass "
        "by.detach(), or make 'by' a positional argument."
    )
    with pytest.raises(KeywordDerivativeError):
        jvp(lambda by: shifted(x.detach(), by=by), (by.detach(),), (by.detach(),))


def test_integer_and_boolean_tensors_strings_and_none_have_no_tangent():
    @rc.primitive
    def pick(x, index, mask, name, nothing):
        return x[index] * mask

    @rc.rrule.define(pick)
    def pick_rrule(x, index, mask, name, nothing):
        assert (name, nothing) == ("n", None)

        def pick_pullback(dy):
            dx = torch.zeros_like(x).index_add(0, index, dy * mask)
            return NoTangent(), dx, NoTangent(), NoTangent(), NoTangent(), NoTangent()

        return pick(x, index, mask, name, nothing), pick_pullback

    @rc.frule.define(pick)
    def pick_frule(dxs, x, index, mask, name, nothing):
        assert all(isinstance(dx, NoTangent) for dx in dxs[2:])
        return pick(x, index, mask, name, nothing), dxs[1][index] * mask

    x, index = leaf(1.0, 2.0, 3.0), torch.tensor([0, 0, 2])
    mask = torch.tensor([True, True, False])
    pick(x, index, mask, "n", None).sum().backward()
    assert x.grad.tolist() == [2, 0, 0]

    def f(x):
        return pick(x, index, mask, "n", None)

    torch.testing.assert_close(jacfwd(f)(x.detach()), torch.func.jacrev(f)(x.detach()))
    rows = torch.stack([index, index.flip(0)])
    batched = vmap(
        lambda i: grad(lambda x: pick(x, i, mask, "n", None).sum())(x.detach())
    )
    assert batched(rows).shape == (2, 3)


def several():
    """Two floats, an integer, a string; the integer output has no derivative."""

    @rc.primitive
    def several(x):
        return {"a": x * 2, "n": x.argmax(), "b": (x.sum(), "text")}

    @rc.rrule.define(several)
    def several_rrule(x):
        def several_pullback(dy):
            assert isinstance(dy["n"], NoTangent)
            return NoTangent(), 2 * dy["a"] + dy["b"][0]

        return several(x), several_pullback

    @rc.frule.define(several)
    def several_frule(tangents, x):
        dx = tangents[1]
        return several(x), {"a": 2 * dx, "n": NoTangent(), "b": (dx.sum(), None)}

    return several


def test_several_outputs_some_unused_some_integer():
    f = several()
    x = leaf(1.0, 2.0)
    y = f(x)
    assert (y["n"].item(), y["n"].requires_grad, y["b"][1]) == (1, False, "text")
    y["b"][0].backward()
    assert x.grad.tolist() == [1, 1]
    assert grad(lambda x: f(x)["a"].sum())(x.detach()).tolist() == [2, 2]
    _, dy = jvp(lambda x: (f(x)["a"], f(x)["b"][0]), (x.detach(),), (x.detach(),))
    assert (dy[0].tolist(), dy[1].item()) == ([2, 4], 3)
    assert vmap(lambda x: f(x)["n"])(torch.rand(3, 2)).shape == (3,)


def test_symbolic_zeros_are_handed_on_to_rules_that_ask():
    seen = []

    @rc.primitive
    def two(x):
        return x * 1, x * 2

    @rc.rrule.define(two, symbolic_zeros=True)
    def two_rrule(x):
        def two_pullback(dy):
            seen.append(tuple(dy))
            return NoTangent(), dy[0] * 1 + dy[1] * 2

        return two(x), two_pullback

    x = leaf(1.0)
    two(x)[1].sum().backward()
    assert isinstance(seen[0][0], ZeroTangent)
    assert x.grad.item() == 2


def test_an_input_that_is_returned_and_the_same_tensor_twice():
    @rc.primitive
    def same(x, y):
        return x, y, x

    @rc.rrule.define(same)
    def same_rrule(x, y):
        def same_pullback(dy):
            return NoTangent(), dy[0] + 10 * dy[2], dy[1]

        return (x, y, x), same_pullback

    x = leaf(1.0)
    a, b, c = same(x, x)
    (a + 2 * b + 3 * c).sum().backward()
    assert x.grad.item() == 1 + 30 + 2

    def total(x):
        a, b, c = same(x, x)
        return (a + 2 * b + 3 * c).sum()

    assert grad(total)(x.detach()).item() == 33


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


def wrong(answer):
    @rc.primitive
    def wrong(x, y):
        return x * y

    @rc.rrule.define(wrong)
    def wrong_rrule(x, y):
        return x * y, lambda dy: answer(dy, x, y)

    return wrong


@pytest.mark.parametrize("transform", ["backward", "grad"])
def test_wrong_answers_of_a_pullback_are_named(transform):
    def run(answer):
        f, x = wrong(answer), leaf(1.0, 2.0)
        if transform == "backward":
            f(x, x * 1).sum().backward()
        else:
            grad(lambda x: f(x, x).sum())(x.detach())

    with pytest.raises(rc.CotangentCountError, match="tuple of 3 cotangents"):
        run(lambda dy, x, y: (NoTangent(), dy))
    with pytest.raises(
        CotangentError, match=r"wrong_rrule .* argument 'y' does not fit"
    ):
        run(lambda dy, x, y: (NoTangent(), dy, torch.ones(3, 5)))
    with pytest.raises(
        rc.DerivativeNotImplemented, match=r"wrong_rrule .*argument 'y'"
    ):
        run(lambda dy, x, y: (NoTangent(), dy, rc.not_implemented("nobody knows")))


def test_a_not_implemented_cotangent_that_nobody_wants_is_dropped():
    f = wrong(lambda dy, x, y: (NoTangent(), dy, rc.not_implemented("nobody knows")))
    x = leaf(1.0, 2.0)
    f(x, x.detach()).sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_a_rule_that_returns_no_pair_is_named():
    @rc.primitive
    def single(x):
        return x

    @rc.rrule.define(single)
    def single_rrule(x):
        return x * 1

    with pytest.raises(Exception, match="must return the pair"):
        single(leaf(1.0))


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


def test_tensors_hidden_in_an_argument_are_refused():
    @rc.primitive
    def first(box, x):
        return next(box) * x

    x = leaf(2.0)
    with pytest.raises(rc.UnsupportedError, match="of type generator holds tensors"):
        first((t for t in [x]), x)
