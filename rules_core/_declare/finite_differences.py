"""`finite_difference_rule`: the last resort."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from rules_core._base.arrays import array_namespace, is_array
from rules_core._base.errors import RuleDefinitionError, UnsupportedError
from rules_core._base.frameworks import framework_of
from rules_core._dispatch.call_site import caller_location
from rules_core._dispatch.rule import Location
from rules_core._dispatch.rule_key import describe
from rules_core._primitives.declare import primitive
from rules_core._primitives.ignore_derivatives import ignore_derivatives
from rules_core._rules.frule_rrule import frule, rrule
from rules_core._tangents.canonical import has_tangent
from rules_core._tangents.leaves import is_complex
from rules_core._tangents.zeros import NoTangent, ZeroTangent, not_implemented

from .rule_pair import called, register_pair

__all__ = ["finite_difference_rule"]

# The relative step that balances truncation and rounding: eps to this power.
_POWERS = {"central": 1 / 3, "forward": 1 / 2}


def finite_difference_rule(
    f: Any,
    *,
    scheme: str = "central",
    step: float | None = None,
    tolerance: float | None = 1e-2,
) -> None:
    """Define frule and rrule of `f` by finite differences: a last resort.

    `∂f/∂xᵢ ≈ (f(x + h eᵢ) - f(x - h eᵢ)) / 2h`. Rounding adds an error of about
    `1e-10 |f|` in double precision, `1e-8 |f|` if `"forward"`, so that what is small
    beside `f` has no derivative left. At second order five digits are left, at third
    one or two; `"forward"` has no second order. Each derivative calls `f` four times
    for each entry of each argument. Waves and peaks much narrower than `h` may stand
    between all points. Prefer a formula, `implicit`, or the derived rule of plain
    Python code. `explain` names these rules.

    Args:
        f: The function: real arrays or numbers to one real array or number. Other
            arguments are constants.
        scheme: `"central"`, with an error of order `h²`, or `"forward"`, of order `h`
            with half of the calls and no second derivative, for a function that is not
            defined beyond a bound.
        step: `h`, relative to `max(1, |xᵢ|)`; by default the one that balances
            truncation and rounding.
        tolerance: Entries whose estimated error, from twice the step, exceeds this part
            of the largest one are NaN: at kinks, jumps and poles, of noisy functions,
            and where the function bends within a step, as of arguments much smaller
            than 1, for which it should be scaled. They are 0 where the function varies
            as a power of the step, as `x³` at 0. None: no estimate, and half of the
            calls.

    Raises:
        RuleDefinitionError: There is no such scheme, or the step or the tolerance is
            not positive.
        RuleClashError: `f` has a rule from another place.

    >>> import numpy as np
    >>> import rules_core as rc
    >>> def black_box(x):
    ...     return np.stack([x[0] * x[1], x[1] ** 3])
    >>> rc.finite_difference_rule(black_box)
    >>> y, pullback = rc.rrule(black_box, np.asarray([2.0, 3.0]))
    >>> pullback(np.asarray([1.0, 1.0]))[1].round(6)
    array([ 3., 29.])
    """
    positive = all(x is None or x > 0 for x in (step, tolerance))
    if scheme not in _POWERS or not positive:
        message = (
            f"finite_difference_rule({describe(f)}): scheme must be "
            f"{' or '.join(map(repr, _POWERS))}, the step and the tolerance positive, "
            f"but got {scheme!r}, {step!r} and {tolerance!r}."
        )
        raise RuleDefinitionError(message)
    table = rrule.table_to_define(f)
    found = caller_location("finite_difference_rule")
    where = Location(
        found.file, found.line, found.module, f"{scheme} finite differences"
    )
    differences = _Differences(table.key, scheme, step, tolerance)
    head = () if table.method else (NoTangent(),)

    def difference_frule(tangents: Any, *args: Any, needs: Any, **kw: Any) -> Any:
        own = tangents[len(head) :]
        y, columns = differences.at(args, kw, needs)
        dy: Any = ZeroTangent()
        for i, column in columns:
            for k, slope in enumerate(column):
                dy = dy + slope * _entry(own[i], k)
        return y, dy

    def difference_rrule(*args: Any, needs: Any, **kw: Any) -> tuple[Any, Any]:
        y, columns = differences.at(args, kw, needs)

        def difference_pullback(dy: Any) -> tuple[Any, ...]:
            dxs = [ZeroTangent() if has_tangent(x) else NoTangent() for x in args]
            for i, column in columns:
                dxs[i] = _gathered(args[i], column, dy)
            return (*head, *dxs)

        return y, difference_pullback

    register_pair(
        table,
        where,
        difference_frule,
        difference_rrule,
        (),
        variadic=(object,),
        opened=True,
        needs=True,
    )


class _Differences(NamedTuple):
    """The Jacobian of a function by differences."""

    key: Any
    scheme: str
    step: float | None
    tolerance: float | None

    def at(
        self, args: tuple[Any, ...], kw: dict[str, Any], needs: tuple[bool, ...]
    ) -> tuple[Any, list[tuple[int, list[Any]]]]:
        """The value, and for each wanted argument one slope per entry."""
        f = _keeping(called(self.key))
        y = f(*args, **kw)
        self.check(y)

        def along(i: int) -> Callable[[Any], Any]:
            return lambda x: f(*args[:i], x, *args[i + 1 :], **kw)

        moving = [i for i, x in enumerate(args) if needs[i] and has_tangent(x)]
        for i in moving:
            self.check(args[i])
        return y, [(i, list(self.slopes(along(i), args[i], y))) for i in moving]

    def slopes(self, f: Callable[[Any], Any], x: Any, y: Any) -> Iterator[Any]:
        """The derivative of the value with respect to each entry of `x`."""
        xp = array_namespace(x, y)
        dtype = x.dtype if is_array(x) else xp.float64
        relative = self.step or float(xp.finfo(dtype).eps) ** _POWERS[self.scheme]
        for h, move in _moves(xp, x, relative):
            near = self.beside(f, x, y, move)
            slope = self.quotient(near, h)
            if self.scheme == "forward":
                slope = of_first_order(slope)
            if self.tolerance is None:
                yield slope
                continue
            far = self.beside(f, x, y, 2 * move)
            error = abs(slope - self.quotient(far, 2 * h))
            bound = self.tolerance * _largest(xp, slope) + _rounding(xp, y, h)
            bad = error > bound
            if self.scheme == "central":  # the other one errs where a function bends
                bad = bad | (_unresolved(near, far, y) / h > bound)
            zero = _vanishing(near, far, y)
            yield slope + ignore_derivatives(_corrected(xp, bad, zero, slope))

    def beside(self, f: Callable[[Any], Any], x: Any, y: Any, move: Any) -> Any:
        """The values after a step, and before one or at the point."""
        return f(x + move), (y if self.scheme == "forward" else f(x - move))

    def quotient(self, values: Any, h: Any) -> Any:
        return (values[0] - values[1]) / (h if self.scheme == "forward" else 2 * h)

    def check(self, x: Any) -> None:
        if (is_array(x) or isinstance(x, (int, float))) and not is_complex(x):
            return
        message = (
            f"finite_difference_rule({describe(self.key)}): arguments with a "
            "derivative and the result must be real arrays or numbers, but got "
            f"{'complex numbers' if is_complex(x) else type(x).__name__}. Take "
            "containers apart, and complex numbers as their two parts."
        )
        raise UnsupportedError(message)


@primitive
def of_first_order(slope: Any) -> Any:
    """A one-sided quotient, whose own quotient has no digits left."""
    return slope


_SECOND = (
    "second derivative of finite_difference_rule(scheme='forward'), whose differences "
    "have no digits left; scheme='central' has five"
)


@frule.define(of_first_order)
def of_first_order_frule(tangents: Any, slope: Any) -> Any:
    """No tangent is known."""
    return of_first_order(slope), not_implemented(_SECOND)


@rrule.define(of_first_order)
def of_first_order_rrule(slope: Any) -> Any:
    """No cotangent is known."""
    y = of_first_order(slope)
    return y, lambda dy: (NoTangent(), not_implemented(_SECOND))


def _keeping(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f`, whose results are copies: it may return one array in every call."""

    def kept(*args: Any, **kw: Any) -> Any:
        y = f(*args, **kw)
        is_numpy = is_array(y) and framework_of(type(y)) is None
        return y.copy() if is_numpy else y

    return kept


def _moves(xp: Any, x: Any, relative: float) -> Iterator[tuple[Any, Any]]:
    """Per entry its step, and the change of the whole argument."""
    x = ignore_derivatives(x)
    if getattr(x, "shape", ()) == ():
        h = relative * (abs(x) if _is_number(x) and abs(x) > 1 else _scale(xp, x))
        yield h, h
        return
    h = relative * _scale(xp, x)
    flat = xp.reshape(h, (-1,))
    places = xp.reshape(xp.arange(flat.shape[0], device=_device(x)), x.shape)
    for k in range(flat.shape[0]):
        yield flat[k], xp.where(places == k, h, xp.zeros_like(h))


def _is_number(x: Any) -> bool:
    return not is_array(x)


def _scale(xp: Any, x: Any) -> Any:
    if _is_number(x):
        return 1.0
    size = xp.abs(x)
    return xp.where(size > 1, size, xp.ones_like(size))


def _largest(xp: Any, slope: Any) -> Any:
    return abs(slope) if 0 in getattr(slope, "shape", (0,)) else xp.max(abs(slope))


def _rounding(xp: Any, y: Any, h: Any) -> Any:
    """The error of rounding in a quotient."""
    if not is_array(y):
        return 1e-14 * (1 + abs(y)) / h
    return 100 * float(xp.finfo(y.dtype).eps) * _largest(xp, y) / h


def _unresolved(near: Any, far: Any, y: Any) -> Any:
    """The bend of a function that is narrower than a step, 0 of other functions.

    That of a smooth function is four times as large at twice the step, that of a kink
    twice as large, that of a peak between the points as large as before.
    """
    bend, wide = (abs(ahead + behind - 2 * y) for ahead, behind in (near, far))
    return bend * (wide < 3 * bend)


def _vanishing(near: Any, far: Any, y: Any) -> Any:
    """Whether a function varies as one whose slope is 0, and is smooth in the step.

    Its odd and even parts then grow as powers of the step, beside which one of them may
    be small. Parts of what is narrower than a step do not grow.
    """
    odd, even = zip(*((a - b, a + b - 2 * y) for a, b in (near, far)), strict=True)
    odd_grows, even_grows = _grows(*odd), _grows(*even)
    only_odd, only_even = _beside(even, odd), _beside(odd, even)
    return odd_grows & (even_grows | only_odd) | even_grows & only_even


def _grows(near: Any, far: Any) -> Any:
    """Whether twice the step gives 2ᵏ as much, k ≥ 2: 4 of `x²`, 8 of `x³`."""
    close = [abs(far - 2**k * near) <= 1e-3 * abs(far) for k in range(2, 12)]
    return reduce(or_, close)


def _beside(small: Any, large: Any) -> Any:
    """Whether one part is small beside the other at both steps."""
    near, far = (abs(a) <= 1e-3 * abs(b) for a, b in zip(small, large, strict=True))
    return near & far


def _corrected(xp: Any, bad: Any, zero: Any, slope: Any) -> Any:
    """What makes bad slopes 0 or NaN."""
    if not is_array(slope):
        return 0.0 if not bad else -slope if zero else float("nan")
    repair = xp.where(zero, -slope, xp.full_like(slope, float("nan")))
    return xp.where(bad, repair, xp.zeros_like(slope))


def _entry(dx: Any, k: int) -> Any:
    if getattr(dx, "shape", ()) == ():
        return dx
    return array_namespace(dx).reshape(dx, (-1,))[k]


def _gathered(x: Any, column: list[Any], dy: Any) -> Any:
    """`Σ slope · dy` for each entry, in the shape of the argument."""
    xp = array_namespace(x, dy)
    sums = [xp.sum(s * dy) if is_array(s * dy) else s * dy for s in column]
    if getattr(x, "shape", ()) == ():
        return sums[0]
    return xp.reshape(xp.stack(sums), x.shape) if sums else xp.zeros_like(x)


def _device(x: Any) -> Any:
    """That of a framework's array; NumPy's may stand beside one."""
    from array_api_compat import device

    return None if framework_of(type(x)) is None else device(x)
