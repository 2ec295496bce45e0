"""`jvp`, `linearize` and `hvp`, with JAX's argument order."""

from collections.abc import Callable
from typing import Any

import numpy as np

from rules_autodiff._boundary.directions import (
    check_function,
    check_tangents,
    is_constant,
)
from rules_autodiff._boundary.enter import Const
from rules_autodiff._boundary.leave import as_given
from rules_autodiff._boundary.whole_results import with_zeros
from rules_autodiff._callbacks.chosen_tangents import check_choice
from rules_autodiff._callbacks.one_pass import OnePass, is_nothing
from rules_autodiff._forward.forward import ForwardRun
from rules_autodiff._forward.watched_run import WatchedRun
from rules_autodiff._python.leaves import leaves
from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._refusals import name_of, refused
from rules_autodiff._tape.recording import Recording
from rules_autodiff._transforms.derived_function import on_plain
from rules_autodiff._transforms.linear_map import Kept, agree, refuse_other_value
from rules_autodiff._transforms.recorded_point import check_adjoint, generic_like
from rules_autodiff.straight._tier.arguments import (
    check_any,
    check_flat,
    differentiated,
    unshared,
)
from rules_autodiff.straight._tier.forward import Push, directions
from rules_autodiff.straight._tier.left import PINNED, asked, leave
from rules_autodiff.straight._tier.tier import (
    Left,
    check_plain,
    check_tier,
    not_straight,
)
from rules_core import NoTangent
from rules_core.extend import CHOSEN, strong_zeros_met

from .grad import grad
from .vjp import VJP, by_tier

__all__ = ["HOOKS", "forward", "hvp", "jvp", "linearize"]

HOOKS = "Use tier='auto', which runs it by hooks then."


@on_plain
def jvp(
    _below: Any,
    f: Callable[..., Any],
    primals: Any,
    tangents: Any,
    has_aux: bool = False,
    tier: str = "auto",
) -> Any:
    """`(y, dy)` with `y = f(*primals)` and `dy = f'(primals) tangents`.

    Args:
        f: The function.
        primals: Its arguments, a tuple or list.
        tangents: One tangent for each; `None` or `NoTangent()` for a constant.
        has_aux: Whether `f` returns `(y, aux)`; the result is `(y, dy, aux)`.
        tier: As in `grad`; `"tape"` runs the program by hooks, without generated code.

    Raises:
        TypeError: Their numbers differ.
        UnsupportedProgram: There is no generated code, and `tier` requires it.

    >>> from rules_autodiff import jvp
    >>> jvp(lambda x, y: x * y, (3.0, 2.0), (1.0, 0.0))
    (6.0, 2.0)
    """
    check_function(f, "jvp")
    check_tier(tier, "jvp")
    if tier != "tape":
        try:
            check_plain(_below, has_aux=has_aux)
            active, dots = directions(primals, tangents)
            now = asked(tier)
            push = Push(f, tuple(primals), {}, active, now=now, writing=False)
            return push.push(dots)
        except Left as error:
            if tier in PINNED:
                raise not_straight(f, error, HOOKS) from None
    check_tangents(primals, tangents, "jvp")
    out, dys = forward(_below, f, primals, [tuple(tangents)], has_aux=has_aux)
    if has_aux:
        return out[0], dys[0], out[1]
    return out, dys[0]


def forward(
    below: Any,
    f: Any,
    primals: Any,
    lanes: list[Any],
    *,
    has_aux: bool = False,
    callables: bool = False,
    apart: bool = False,
) -> tuple[Any, list[Any]]:
    """One forward pass with several tuples of tangents: the output and its tangents.

    With `apart` the function's writes to its arguments have no effect outside.
    """
    options = {"callables": callables, "apart": apart}
    before, choices = strong_zeros_met(), CHOSEN.tangents
    with CHOSEN.turned(0.0):
        one = OnePass(ForwardRun(below, len(lanes)), f, primals, lanes, **options)
        defined = strong_zeros_met() == before and not one.is_undefined(has_aux)
        if CHOSEN.tangents != choices:
            check_choice(one, has_aux, options)
            one = OnePass(ForwardRun(below, len(lanes)), f, primals, lanes, **options)
        if defined:
            return one.finish(has_aux)
        one.take_back()
        return watched(one, below, has_aux, options)


def watched(
    first: OnePass, below: Any, has_aux: bool, options: Any
) -> tuple[Any, list[Any]]:
    """The pass once more, which tells zeros that do not move from others."""
    run = WatchedRun(below, len(first.lanes))
    again = OnePass(run, first.f, first.primals, first.lanes, **options)
    out, dys = again.finish(has_aux)
    if not agree(first.out, out):
        refused("watched", name_of(first.f))
    return out, dys


@on_plain
def linearize(
    _below: Any,
    f: Callable[..., Any],
    *primals: Any,
    has_aux: bool = False,
    tier: str = "auto",
) -> Any:
    """`(y, f_jvp)` with `f_jvp(*tangents) = f'(primals) tangents`.

    The function runs once, here: `f_jvp` is the linear map at this run, its tape
    transposed, and costs about as much as two pullbacks. The function's writes are
    undone, as by `grad`. Where the function is written out as code, `f_jvp` runs that
    code at the arguments and captured arrays of this call.

    The pullback of an integral or of a differential equation solves another problem,
    whose integrand is a pullback; its transpose solves that again with a pullback of
    the pullback at each node. A call of `f_jvp` of `scipy.integrate.quad` or
    `solve_ivp` costs some hundred times as much as one of `jvp`, which is the one to
    use there.

    Args:
        f: The function.
        *primals: Its arguments; all are differentiated.
        has_aux: Whether `f` returns `(y, aux)`; the result is `(y, f_jvp, aux)`.
        tier: As in `jvp`.

    >>> from rules_autodiff import linearize
    >>> y, f_jvp = linearize(lambda x: x * x, 3.0)
    >>> y, f_jvp(1.0), f_jvp(2.0)
    (9.0, 6.0, 12.0)
    """
    check_function(f, "linearize")
    check_tier(tier, "linearize")
    f_jvp = Linearized(f, primals, {})
    f_jvp.has_aux, f_jvp.tier = has_aux, tier
    value = f_jvp.begin(_below)
    return (value[0], f_jvp, value[1]) if has_aux else (value, f_jvp)


NONLINEAR = (
    "linearize: the pullback of every rule in the function must be linear, but the "
    "derivative of one is another map. Use jvp, and define an frule beside that rrule."
)


class Linearized(Kept):
    """The result of `linearize`: the adjoint of a pullback, which is linear."""

    has_aux = False
    checked = False
    finite = True  # the pullback at the point where it is recorded
    met = 0
    tier = "tape"
    passed: Push | None = None  # straight-line code, instead of a recording

    start = by_tier

    def start_straight(self, level: Any) -> Any:
        check_plain(level, has_aux=self.has_aux)
        now, args = asked(self.tier), unshared(tuple(self.args))
        active = differentiated(args)
        check_any(active, args)
        check_flat(args)
        push = Push(self.f, args, self.kwargs, active, now=now, writing=False)
        push.caps = unshared(push.caps)
        value, _ = push.push([zero_like(args[i]) for i in active])
        self.passed, self.active = push, active
        return value

    def push_straight(self, passed: Push, level: Any, tangents: Any) -> Any:
        check_plain(level)
        dots = [tangents[i] for i in self.active]
        args = [self.args[i] for i in self.active]
        dots = [
            zero_like(x) if is_nothing(dx) else dx
            for x, dx in zip(args, dots, strict=True)
        ]
        _, checked = directions(args, dots)
        return with_zeros(*passed.push(checked))

    def record(self, level: Any) -> Any:
        self.met = strong_zeros_met()
        pullback = VJP(self.f, self.args, self.kwargs)
        pullback.has_aux = self.has_aux
        value = pullback.begin(level)
        seed = generic_like(as_given(pullback.out, None, level))
        self.adjoint = Recording(level, pullback, (seed,), {}, (0,))
        self.adjoint.decides = False  # a linear map, whose cotangents do not move
        self.out, self.recorded = pullback.out, self.adjoint.value()
        found = leaves(self.recorded)
        self.finite = all(np.isfinite(leaf).all() for leaf in found)
        return value

    def apply(self, level: Any, *tangents: Any) -> Any:
        check_tangents(self.args, tangents, "f_jvp")
        if self.passed is not None:
            try:
                return self.push_straight(self.passed, level, tangents)
            except Left as error:
                if self.tier in PINNED:
                    raise not_straight(self.f, error) from None
            known, self.passed = self.value, None
            if not agree(known, self.record(PLAIN)):
                refuse_other_value(self.f)
        (dy,) = self.adjoint.pull(self.adjoint.output, tangents, level)
        dy = with_zeros(self.out, dy)
        if level is PLAIN and (strong_zeros_met() != self.met or not self.finite):
            return self.by_forward_mode(tangents)
        self.checked = self.checked or self.check(tangents, dy)
        if self.adjoint.run.changes:  # the original arguments
            self.adjoint.again(self.adjoint.output, level)
        return dy

    def by_forward_mode(self, tangents: Any) -> Any:
        """The tangent where a zero met infinity: of what moves, or not."""
        self.adjoint.again(self.adjoint.output, PLAIN)  # the original arguments

        def program(*args: Any) -> Any:
            return self.f(*args, **self.kwargs)

        out, (dy,) = forward(
            PLAIN, program, self.args, [tangents], has_aux=self.has_aux, apart=True
        )
        if not agree(self.value, out):
            refuse_other_value(self.f)
        return dy

    def check(self, tangents: Any, found: Any) -> bool:
        """Raise an error if the recorded pullback was not linear in its cotangent.

        All arguments are one value: an instance in two of them has one tangent.
        """
        sides = (tuple(self.args), tuple(self.recorded), tuple(tangents))
        other = (self.out, self.adjoint.args[0], found)
        return check_adjoint(NONLINEAR, [sides], [other])


def zero_like(x: Any) -> Any:
    return np.zeros(x.shape) if type(x) is np.ndarray else 0.0


@on_plain
def hvp(
    _below: Any,
    f: Callable[..., Any],
    primals: Any,
    tangents: Any,
    tier: str = "auto",
) -> Any:
    """The Hessian of `f` times `tangents`: forward over reverse, `∂²f(primals) v`.

    Args:
        f: A function with one real number as its result.
        primals: Its arguments, a tuple or list.
        tangents: One tangent for each; `None` or `NoTangent()` for a constant, such as
            an integer, whose entry of the result is `NoTangent()`.
        tier: As in `jvp`. Generated code is reverse over forward mode.

    >>> import numpy as np
    >>> from rules_autodiff import hvp
    >>> def f(x):
    ...     return x[0] * x[0] * x[1]
    >>> hvp(f, (np.array([1.0, 2.0]),), (np.array([1.0, 0.0]),))
    array([4., 2.])
    """
    check_function(f, "hvp")
    check_tier(tier, "hvp")
    if tier != "tape":
        try:
            check_plain(_below)
            active, dots = directions(primals, tangents)
            if len(active) < len(primals):
                leave("not every argument has a tangent")
            now = asked(tier)
            push = Push(f, tuple(primals), {}, active, now=now, writing=False)
            found = push.gradient(dots)
            return found[0] if len(primals) == 1 else found
        except Left as error:
            if tier in PINNED:
                raise not_straight(f, error, HOOKS) from None
    check_tangents(primals, tangents, "hvp")
    places = [
        i for i, x in enumerate(primals) if not (isinstance(x, Const) or is_constant(x))
    ]
    if not places:
        message = (
            "hvp: a primal must be real or complex to be differentiated, but all are "
            "constants. Convert one to float."
        )
        raise TypeError(message)
    gradient = grad(f, tuple(places))
    _, (found,) = forward(_below, gradient, primals, [tuple(tangents)])
    products = dict(zip(places, found, strict=True))
    every = tuple([products.get(i, NoTangent()) for i in range(len(primals))])
    return every[0] if len(primals) == 1 else every
