"""Rules that turn tensors into numbers: right at first order, refused beyond."""

from __future__ import annotations

import copy
import math
import pickle
from functools import partial

import numpy as np
import pytest
import torch
import torch.autograd.forward_ad as fwd
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vjp

import rules_core as rc
from rules_core import NoTangent
from rules_torch import LostDerivativeError

X = torch.tensor(0.7, dtype=torch.float64)
FIRST, SECOND = math.cos(0.7), -math.sin(0.7)


def without_recording(x):
    with torch.no_grad():
        return torch.cos(x)


@torch.no_grad()
def decorated(x):
    return torch.cos(x)


def by_autograd(x, create_graph):
    with torch.enable_grad():
        y = torch.sin(x)
        return torch.autograd.grad(y, x, create_graph=create_graph)[0]


def by_functional(x, create_graph):
    return torch.autograd.functional.vjp(torch.sin, x, create_graph=create_graph)[1]


def helper(x):
    return math.cos(x)


def without_formula(x):
    """A function that PyTorch does not differentiate, and does not say so."""
    return torch.special.spherical_bessel_j0(x)


J0 = without_formula(X).item()


def written(x):
    places = torch.zeros(2, dtype=x.dtype)
    with torch.no_grad():
        places[1] = x
    return places[1]


CUTS = {
    "math": math.cos,
    "float": lambda x: math.cos(float(x)),
    "item": lambda x: math.cos(x.item()),
    "tolist": lambda x: math.cos(x.tolist()),
    "complex": lambda x: math.cos(complex(x).real),
    "detach": lambda x: torch.cos(x.detach()),
    "torch.detach": lambda x: torch.cos(torch.detach(x)),
    "a helper": lambda x: helper(x),
    "data": lambda x: torch.cos(x.data),
    "torch.tensor": lambda x: torch.cos(torch.tensor([x.item()]))[0],
    "a list": lambda x: torch.cos(torch.as_tensor([x]))[0],
    "full": lambda x: torch.full((), math.cos(x), dtype=x.dtype),
    "new_tensor": lambda x: x.new_tensor(math.cos(x)),
    "after an operation": lambda x: float(torch.cos(x)),
    "an operator": lambda x: torch.cos(torch.ops.aten.detach.default(x)),
    "no formula": lambda x: torch.cos(x) * without_formula(x) / J0,
}
UNRECORDED = {
    "no_grad": without_recording,
    "decorated": decorated,
    "an entry": lambda x: torch.cos(written(x)),
}


def in_the_pullback(number):
    @rc.primitive
    def sine(x):
        return torch.sin(x)

    @rc.rrule.define(sine)
    def cutting(x):
        return sine(x), lambda dy: (NoTangent(), dy * number(x))

    return sine


def in_the_forward_half(number):
    @rc.primitive
    def sine(x):
        return torch.sin(x)

    @rc.rrule.define(sine)
    def cutting(x):
        c = number(x)
        return sine(x), lambda dy: (NoTangent(), dy * c)

    return sine


def in_a_container(number):
    @rc.primitive
    def sine(x):
        return torch.sin(x)

    @rc.rrule.define(sine)
    def cutting(x):
        kept = {"c": [number(x)]}
        return sine(x), lambda dy: (NoTangent(), dy * kept["c"][0])

    return sine


def as_a_residual(number):
    @rc.primitive
    def sine(x):
        return torch.sin(x)

    def pull(c, dy):
        return NoTangent(), dy * c

    @rc.rrule.define(sine)
    def cutting(x):
        return sine(x), rc.Pullback(pull, number(x))

    return sine


def in_a_thunk(number):
    @rc.primitive
    def sine(x):
        return torch.sin(x)

    @rc.rrule.define(sine)
    def cutting(x):
        return sine(x), lambda dy: (NoTangent(), rc.thunk(lambda: dy * number(x)))

    return sine


def in_an_frule(number):
    @rc.primitive
    def sine(x):
        return torch.sin(x)

    @rc.frule.define(sine)
    def cutting(tangents, x):
        return sine(x), tangents[1] * number(x)

    return sine


def in_partials(number):
    @rc.primitive
    def sine(x):
        return torch.sin(x)

    rc.scalar_rule(sine, lambda y, x: (number(x),))
    return sine


RULES = [
    in_the_pullback, in_the_forward_half, in_a_container, as_a_residual, in_a_thunk,
    in_an_frule, in_partials,
]  # fmt: skip


def by_backward(f, x):
    x = x.clone().requires_grad_()
    f(x).backward()
    return x.grad


def by_jvp(f, x):
    return jvp(f, (x,), (torch.ones_like(x),))[1]


def by_vjp(f, x):
    return vjp(f, x)[1](torch.ones_like(x))[0]


def by_graph(f, x):
    x = x.clone().requires_grad_()
    (dx,) = torch.autograd.grad(f(x), x, create_graph=True)
    return torch.autograd.grad(dx, x)[0]


def by_warm_graph(f, x):
    by_backward(f, x)
    by_backward(f, x)
    return by_graph(f, x)


def by_duals(f, x):
    with fwd.dual_level():
        x = fwd.make_dual(x.clone().requires_grad_(), torch.ones_like(x))
        return fwd.unpack_dual(torch.autograd.grad(f(x), x)[0]).tangent


FIRSTS = [by_backward, by_jvp, by_vjp, lambda f, x: grad(f)(x)]
SECONDS = {
    "create_graph": by_graph,
    "warm": by_warm_graph,
    "grad(grad)": lambda f, x: grad(grad(f))(x),
    "hessian": lambda f, x: hessian(f)(x),
    "jacfwd(jacfwd)": lambda f, x: jacfwd(jacfwd(f))(x),
    "jacrev(jacfwd)": lambda f, x: jacrev(jacfwd(f))(x),
    "jacrev(jacrev)": lambda f, x: jacrev(jacrev(f))(x),
    "forward_ad": by_duals,
}


def same(x: float) -> object:
    return pytest.approx(x, rel=1e-12)


@pytest.mark.covering
@pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad")
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("how", CUTS)
def test_a_rule_with_numbers_is_right_at_first_order(rule, how):
    for first in FIRSTS:
        assert float(first(rule(CUTS[how]), X)) == pytest.approx(FIRST, rel=1e-6)


@pytest.mark.covering
@pytest.mark.parametrize("second", SECONDS)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("how", CUTS)
def test_a_second_derivative_through_numbers_is_refused_by_name(how, rule, second):
    words = r"rule .* for .*sine at .*test_watch.py.* ignore_derivatives\(x\)"
    with pytest.raises(LostDerivativeError, match=words):
        SECONDS[second](rule(CUTS[how]), X)


@pytest.mark.covering
@pytest.mark.parametrize("second", SECONDS)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("how", UNRECORDED)
def test_what_is_not_recorded_is_refused_or_pushed_forward(rule, how, second):
    try:
        found = SECONDS[second](rule(UNRECORDED[how]), X)
    except LostDerivativeError as error:
        found = error
    assert "by torch.no_grad()" in str(found) or float(found) == same(SECOND)


def inferred(x):
    with torch.inference_mode():
        c = torch.cos(x)
    return c * torch.ones_like(x)


def kept_as_bytes(x):
    return torch.cos(pickle.loads(pickle.dumps(x)))


# What torch itself refuses under some of its transforms, and loses in the others.
ODD = {
    "inference_mode": inferred,
    "pickle": kept_as_bytes,
    "copy": lambda x: torch.cos(copy.copy(x)),
    "asarray": lambda x: torch.cos(torch.asarray(x * 1, requires_grad=False)),
    "assigned": lambda x: torch.cos(assigned(x)),
    "linspace": lambda x: torch.cos(torch.linspace(x, 1, 2, dtype=x.dtype)[0]),
    "alpha": lambda x: torch.cos(torch.add(x - x, torch.ones_like(x), alpha=x)),
    "init": lambda x: torch.cos(torch.nn.init.constant_(torch.empty_like(x), x)),
}


def assigned(x):
    held = torch.zeros_like(x)
    held.data = x
    return held


@pytest.mark.covering
@pytest.mark.parametrize("second", SECONDS)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("how", ODD)
def test_what_is_lost_otherwise_is_never_a_number(how, rule, second):
    def f(x):
        return rule(lambda x: ODD[how](x) + x - x)(x)

    try:
        found = SECONDS[second](f, X)
    except (RuntimeError, TypeError):  # ours are RuntimeErrors too
        return
    assert float(found) == same(SECOND)


def answers(name):
    """Whether a function of torch.special takes a number and gives another."""
    try:
        found = getattr(torch.special, name)(X)
    except (TypeError, RuntimeError):
        return False
    return isinstance(found, torch.Tensor) and found.is_floating_point()


SPECIAL = [name for name in torch.special.__all__ if answers(name)]


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("second", SECONDS)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", SPECIAL)
def test_a_function_is_refused_where_torch_has_no_derivative_of_it(name, rule, second):
    special = getattr(torch.special, name)
    f = rule(lambda x: x * special(x))
    x = X.clone().requires_grad_()
    if not special(x).requires_grad:
        with pytest.raises(LostDerivativeError, match=f"a constant by .*{name}"):
            SECONDS[second](f, X)
    else:
        (expected,) = torch.autograd.grad(x * special(x), x)
        assert float(SECONDS[second](f, X)) == same(float(expected))


def of_shape(x):
    """What has the shape of `x`, or jumps where it does."""
    made = torch.zeros_like(x) + torch.ones_like(x) + torch.empty_like(x).fill_(0)
    made = made + x.new_zeros(()) + x.new_ones(()) + torch.full_like(x, 2.0)
    with torch.no_grad():
        nothing = torch.zeros_like(x)
    return torch.round(x) + torch.floor(x) + torch.sign(x) + made / made + nothing - 2


@pytest.mark.parametrize("second", ["create_graph", "grad(grad)", "jacrev(jacrev)"])
@pytest.mark.parametrize("rule", RULES)
def test_shapes_and_jumps_are_no_cuts(rule, second):
    f = rule(lambda x: torch.cos(x) * of_shape(x))
    assert float(SECONDS[second](f, X)) == same(SECOND)


@pytest.mark.parametrize("taken", [by_autograd, by_functional])
def test_autograd_inside_a_rule_needs_create_graph(taken):
    with pytest.raises(LostDerivativeError):
        by_graph(in_the_pullback(partial(taken, create_graph=False)), X)
    recorded = in_the_pullback(partial(taken, create_graph=True))
    assert float(by_graph(recorded, X)) == same(SECOND)


def test_numpy_in_a_second_derivative_names_the_rule():
    f = in_the_pullback(lambda x: float(np.cos(np.asarray(x.detach()))))
    for second in SECONDS.values():
        with pytest.raises(rc.UnsupportedError, match="cutting for"):
            second(f, X)


CONSTANTS = {
    "value": lambda x: torch.cos(rc.ignore_derivatives(x)),
    "number": lambda x: math.cos(rc.ignore_derivatives(x)),
    "function": lambda x: rc.ignore_derivatives(lambda: math.cos(x)),
    "afterwards": lambda x: math.cos(rc.ignore_derivatives(x) * 1.0),
}


@pytest.mark.covering
@pytest.mark.parametrize("second", ["grad(grad)", "hessian", "jacfwd(jacfwd)"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("how", CONSTANTS)
def test_what_is_constant_on_purpose_may_be_cut(rule, how, second):
    def f(x):
        return rule(CONSTANTS[how])(x) * x  # (c x)' + c, with the product rule

    expected = 2 * FIRST
    assert float(SECONDS[second](f, X)) == same(expected)


def counting(x):
    """What depends on values without a derivative: sizes, signs, places, branches."""
    assert bool(x > 0)
    assert int(x) == 0
    assert x.shape == ()
    f"{x} {x!r}"
    scale = float(torch.sign(rc.ignore_derivatives(x)))
    return torch.cos(x) * scale * (x > 0).item() * torch.zeros_like(x).add(1)


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("second", SECONDS)
@pytest.mark.parametrize("rule", RULES)
def test_branches_and_sizes_are_no_cuts(rule, second):
    assert float(SECONDS[second](rule(counting), X)) == same(SECOND)


class Cosine(torch.autograd.Function):
    """Its halves run without recording, which is its own affair."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x.detach().cos()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, dy):
        return -dy * ctx.saved_tensors[0].sin()


@rc.primitive(host=True, elementwise=True)
def host_cosine(x):
    return np.cos(x)


@rc.rrule.define(host_cosine)
def host_cosine_rrule(x):
    return host_cosine(x), lambda dy: (NoTangent(), -dy * torch.sin(x))


INSIDE = {"Function": Cosine.apply, "host": host_cosine}


@pytest.mark.parametrize("inside", INSIDE)
def test_what_a_rule_calls_minds_its_own_derivatives(inside):
    for rule in (in_the_pullback, in_the_forward_half, in_a_container):
        for second in ("create_graph", "warm", "grad(grad)", "jacrev(jacrev)"):
            assert float(SECONDS[second](rule(INSIDE[inside]), X)) == same(SECOND)


def test_a_cotangent_that_becomes_a_number_is_refused_where_it_is_transposed():
    @rc.primitive
    def double(x):
        return 2 * x

    @rc.rrule.define(double)
    def cutting(x):
        return 2 * x, lambda dy: (NoTangent(), torch.full_like(x, 2 * float(dy)))

    assert float(by_backward(double, X)) == 2
    with pytest.raises(LostDerivativeError):
        by_jvp(double, X)


def test_the_number_of_another_level_does_not_count():
    """Inside `grad` over what is no argument of the call."""

    def f(a):
        return a * grad(in_the_pullback(math.cos))(X)

    assert float(grad(f)(torch.tensor(2.0, dtype=torch.float64))) == same(FIRST)


def test_numbers_that_a_rule_was_given_do_not_run_it_again():
    runs = []

    @rc.primitive
    def power(x, n):
        return x**n

    @rc.rrule.define(power)
    def power_rrule(x, n):
        runs.append(n)
        return x**n, lambda dy: (NoTangent(), dy * n * x ** (n - 1), NoTangent())

    assert float(by_graph(lambda x: power(x, 2.5), X)) == same(3.75 * 0.7**0.5)
    assert runs == [2.5]
