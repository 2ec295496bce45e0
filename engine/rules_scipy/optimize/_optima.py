r"""Optima: one equation, whose rule is the implicit function theorem.

A minimum of $f(x)$ with $l \le x \le u$ and $l_c \le c(x) \le u_c$ satisfies the
conditions of Karush, Kuhn and Tucker. With the Lagrangian $L = f - \lambda c$ they are

$$ x = P(x - \nabla_x L), \qquad c = P(c - \lambda) , $$

where $P$ clips to the limits. Every minimiser and fit is differentiated by them, in
what its functions take and capture and in the limits; how it found the minimum does not
matter.
"""

from __future__ import annotations

from typing import Any

from array_api_compat import device

import rules_core as rc
from rules_core import (
    HasForwardsMode,
    HasReverseMode,
    RuleConfig,
    frule_via_ad,
    rrule_via_ad,
)
from rules_scipy._axes import concat
from rules_scipy._functions import known
from rules_scipy._weights import uneven

__all__ = ["best_value", "called", "directions", "gradient", "optimum", "with_formula"]

_REVERSE, _FORWARD = RuleConfig[HasReverseMode], RuleConfig[HasForwardsMode]


# the equation


def number(y: Any) -> Any:
    """The result of an objective, as a number."""
    return y.reshape(()) if getattr(y, "shape", ()) else y


def slope(f: Any, x: Any) -> Any:
    """The gradient of a function of one array."""
    y, pull = rc.vjp(f, x)
    # The one has no tangent: torch would make it one in double.
    g = pull(rc.ignore_derivatives(y) * 0.0 + 1.0)[0]
    return x * 0.0 if isinstance(g, rc.AbstractZero) else g


def conditions(y: Any, functions: Any, args: Any, n: int) -> tuple[Any, Any]:
    """The bounded quantities, and the multipliers of their limits.

    Args:
        y: The `n` unknowns, and the multipliers of the constraints.
        functions: The objective, and the constraints as one vector or None.
        args: The arguments of both after the first.
        n: How many unknowns there are.
    """
    objective, constraints = functions
    multipliers = y[n:]

    def lagrangian(x: Any) -> Any:
        value = number(objective(x, *args))
        if constraints is None:
            return value
        return value - (multipliers * constraints(x, *args)).sum()

    g = slope(lagrangian, y[:n])
    if constraints is None:
        return y, g
    c = value_of_call(constraints, y[:n], args)
    return concat([y[:n], c]), concat([g, multipliers])


def value_of_call(f: Any, x: Any, args: Any) -> Any:
    """`f(x, *args)` apart from the program that made `f`, which may be running."""
    return rc.vjp(lambda x: f(x, *args), x)[0]


def _chosen(u: Any, v: Any, lower: Any, upper: Any, at: tuple[Any, Any, Any]) -> Any:
    """One of three values for each entry: at its lower limit, its upper one, free."""
    xp = rc.array_namespace(u)
    return xp.where(u - lower < v, at[0], xp.where(u - upper > v, at[1], at[2]))


def _misfit(u: Any, v: Any, lower: Any, upper: Any) -> Any:
    """`u - P(u - v)`."""
    return _chosen(u, v, lower, upper, (u - lower, u - upper, v))


def _equation(
    y: Any, found: Any, functions: Any, args: Any, lower: Any, upper: Any, n: int
) -> Any:
    return _misfit(*conditions(y, functions, args, n), lower, upper)


def _found(
    found: Any, functions: Any, args: Any, lower: Any, upper: Any, n: int
) -> Any:
    return found * 1.0  # another array, whose derivative is not that of `found`


_solution: rc.Primitive = rc.implicit(_found, _equation)


def _multipliers(
    x: Any, functions: Any, args: Any, lower: Any, upper: Any, n: int
) -> Any:
    """The multipliers of the constraints, as a smooth function of the unknowns.

    They explain the gradient, where each may be the smaller the farther its limit is:
    those of limits that are not met vanish at an optimum.
    """
    objective, constraints = functions
    xp = rc.array_namespace(x)
    g = slope(lambda x: number(objective(x, *args)), x)
    J = _jacobian(lambda x: constraints(x, *args), x)
    c = value_of_call(constraints, x, args)
    free = 1.0 - 1.0 / (1.0 + _slack(x, lower[:n], upper[:n]) ** 2)
    far = _slack(c, lower[n:], upper[n:]) ** 2
    matrix = (J * free) @ J.T + _eye(xp, c) * far
    # Singular where constraints follow from one another.
    return xp.linalg.pinv(matrix) @ ((J * free) @ g)


_FAR = 1e8


def _slack(u: Any, lower: Any, upper: Any) -> Any:
    """The distance to the nearer limit; one that is far for none."""
    xp = rc.array_namespace(u)
    below = xp.where(lower > -float("inf"), u - lower, 0.0 * u + _FAR)
    above = xp.where(upper < float("inf"), upper - u, 0.0 * u + _FAR)
    return xp.where(below < above, below, above)


def _eye(xp: Any, x: Any) -> Any:
    return xp.eye(x.shape[0], dtype=x.dtype, device=device(x))


def _jacobian(f: Any, x: Any) -> Any:
    """The matrix of the derivatives of a vector in a vector."""
    y, pull = rc.vjp(f, x)
    xp = rc.array_namespace(y)
    unit = _eye(xp, y)
    return xp.stack([0.0 * x + pull(unit[i])[0] for i in range(y.shape[0])])


def directions(f: Any, x: Any) -> list[Any]:
    """The derivatives of a vector in each entry of another, which has few."""
    unit = _eye(rc.array_namespace(x), x)
    return [rc.jvp(f, (x,), (unit[i],))[1] for i in range(x.shape[0])]


# whether the equation has a derivative


# A step of Newton's method reaches the solution but for a part of this size.
_LEFT = 0.1
# It may also be this small against the solution,
_SHORT = 1e-4
# but not if this part of the gradient nearby is left where the equation is singular;
_FLAT = 1e-9
# and the gradient is zero from this part of the size that it has near the solution.
_ZERO = 1e-6
# A step of Newton's method leaves this part of its square.
_SQUARED = 10.0
# Beside the solution, by this power of the rounding error, the gradient changes as its
# derivative says, but for this part: at a kink that is the derivative of one side, or
# of none.
_ASIDE, _BENT = 0.4, 0.2
# Rounding errors of the gradient.
_NOISE = 1e3


@rc.primitive
def _checks(
    found: Any, functions: Any, args: Any, lower: Any, upper: Any, n: int
) -> tuple[Any, Any, Any]:
    """Whether a solution is smooth, regular and not degenerate."""
    xp = rc.array_namespace(found)
    y = _with_multipliers(found, functions, args, lower, upper)
    u, v = conditions(y, functions, args, n)
    A = _jacobian(lambda y: conditions(y, functions, args, n)[1], y)
    B = _eye(xp, y)
    if n < y.shape[0]:
        B = _jacobian(lambda y: conditions(y, functions, args, n)[0], y)
    of_limit = (u - lower < v) | (u - upper > v)
    K = xp.where(of_limit[:, None], B, A)
    K, rows, columns = _balanced(xp, K)
    U, sizes, Vh = xp.linalg.svd(K)
    tiny = sizes <= 100 * sizes.shape[0] * xp.finfo(y.dtype).eps
    inverse = xp.where(tiny, 0.0 * sizes, 1.0 / xp.where(tiny, sizes * 0 + 1.0, sizes))
    r = _misfit(u, v, lower, upper)
    step = ((U.T @ (r / rows)) * inverse) @ Vh / columns
    left = _equation(y - step, y, functions, args, lower, upper, n)
    good = (_most(xp, left) <= _LEFT * _most(xp, r)) | (
        _most(xp, left) <= xp.finfo(y.dtype).eps ** 0.5
    )
    short = _most(xp, step) <= _SHORT * _most(xp, y)
    # What no step can mend: at a kink between straight lines, all of the gradient.
    rest = (U @ xp.where(tiny, U.T @ (r / rows), 0.0 * sizes)) * rows
    aside = conditions(y + _SHORT * (xp.abs(y) + 1.0), functions, args, n)[1]
    settled = good | (short & (_most(xp, rest) <= _FLAT * _most(xp, aside)))
    size = xp.sum(xp.abs(A) * (xp.abs(y) + 1.0), axis=1)
    # A more accurate optimum, too: a method that stays inside, or stops early, has
    # neither met a limit nor lost its multiplier.
    off = _most(xp, step) / (1.0 + _most(xp, y))
    corrected = conditions(y - step, functions, args, n)
    weak = _is_weak(xp, (u, v), lower, upper, size, 0.0 * off)
    weak = weak | _is_weak(xp, corrected, lower, upper, size, off)
    eps = xp.finfo(y.dtype).eps
    far = float(eps) ** _ASIDE
    ends = [_beside(xp, y, far * sign, lower[:n], upper[:n]) for sign in (1.0, -1.0)]
    rises = [conditions(end, functions, args, n)[1] for end in ends]
    bend = rises[0] - rises[1] - A @ (ends[0] - ends[1])
    usual = _BENT * (xp.abs(A) @ xp.abs(ends[0] - ends[1])) + _NOISE * eps * size
    kinked = xp.any(xp.abs(bend) > usual)
    return settled & ~kinked, ~xp.any(tiny), ~xp.any(weak)


rc.non_differentiable(_checks)


def _beside(xp: Any, y: Any, far: float, lower: Any, upper: Any) -> Any:
    """A point beside another, inside the limits; no two entries move alike."""
    weights = uneven(xp, y.shape[0], dtype=y.dtype)
    aside = y + far * weights * (1.0 + xp.abs(y))
    n = lower.shape[0]
    inside = xp.where(aside[:n] < lower, lower, aside[:n])
    inside = xp.where(inside > upper, upper, inside)
    return concat([inside, aside[n:]])


def _most(xp: Any, x: Any) -> Any:
    return xp.max(xp.abs(x))


def _is_weak(xp: Any, at: Any, lower: Any, upper: Any, size: Any, off: Any) -> Any:
    """Whether limits are met with a multiplier of zero; `off` is a step of Newton's."""
    (u, v), zero = at, _ZERO + _SQUARED * off * off
    far = xp.where(xp.abs(u - lower) < xp.abs(u - upper), u - lower, u - upper)
    near = xp.abs(far) <= zero * (1.0 + xp.abs(u))
    return (xp.abs(v) <= zero * size) & near & (lower < upper)


def _balanced(xp: Any, A: Any) -> tuple[Any, Any, Any]:
    """A matrix with rows and columns of one size, and the old sizes."""
    rows = xp.max(xp.abs(A), axis=1)
    rows = xp.where(rows == 0, rows * 0 + 1.0, rows)
    A = A / rows[:, None]
    columns = xp.max(xp.abs(A), axis=0)
    columns = xp.where(columns == 0, columns * 0 + 1.0, columns)
    return A / columns, rows, columns


_KINK = (
    "found a point that is no smooth optimum: the gradient is not zero there, or "
    "jumps, or has no slope, so that the derivative is not known. Minimize to a "
    "smaller tolerance, or make the objective smooth"
)
_SINGULAR = (
    "found an optimum that is not isolated, where the matrix of second derivatives is "
    "singular, so that the solution has no derivative. Fix a parameter that does not "
    "matter, or leave out a constraint that follows from others"
)
_DEGENERATE = (
    "found an optimum on a limit that does not hold it back (strict complementarity "
    "fails), where the solution has a kink, and no derivative. Move the limit, or "
    "leave it out"
)


_REASONS = _KINK, _SINGULAR, _DEGENERATE


def _if_regular(
    d: Any, reasons: Any, found: Any, functions: Any, args: Any, lower: Any,
    upper: Any, n: int, solver: str,
) -> Any:  # fmt: skip
    """A derivative, if there is one: else an error, or NaN in traced code."""
    if isinstance(d, rc.AbstractZero):
        return d
    checks = _checks(found, functions, args, lower, upper, n)
    for check, reason in zip(checks, reasons, strict=False):
        d = known(d, check, reason, solver)
    return d


# the optimum


@rc.primitive
def optimum(
    found: Any, functions: Any, args: Any, lower: Any, upper: Any, n: int, solver: str
) -> Any:
    """A minimum that a solver found, differentiated by its conditions.

    Args:
        found: The minimum, a vector, and perhaps the multipliers of the constraints;
            its own derivative does not matter.
        functions: The objective and, as one vector or None, the constraints.
        args: Their arguments after the first.
        lower: The lower limits of the unknowns, followed by those of the constraints.
        upper: The upper limits.
        n: How many unknowns there are.
        solver: Its name, for errors.
    """
    return found


def _with_multipliers(x: Any, functions: Any, args: Any, lower: Any, upper: Any) -> Any:
    """The unknowns of the equation."""
    if x.shape[0] == lower.shape[0]:
        return x
    multipliers = _multipliers(x, functions, args, lower, upper, x.shape[0])
    return concat([x, multipliers])


def _by_equation(
    found: Any, functions: Any, args: Any, lower: Any, upper: Any, n: int, solver: str
) -> Any:
    y = _with_multipliers(found, functions, args, lower, upper)
    y = rc.ignore_derivatives(y)
    return _solution(y, functions, args, lower, upper, n)[: found.shape[0]]


@rc.rrule.define(optimum, config=_REVERSE)
def optimum_rrule(config: Any, found: Any, *call: Any) -> Any:
    """That of the solution of the conditions."""
    y, pull = rrule_via_ad(config, _by_equation, found, *call)

    def optimum_pullback(dy: Any) -> Any:
        return pull(_if_regular(dy, _REASONS, found, *call))

    return y, optimum_pullback


@rc.frule.define(optimum, config=_FORWARD)
def optimum_frule(config: Any, tangents: Any, found: Any, *call: Any) -> Any:
    """That of the solution of the conditions."""
    # First, since the equation of a singular solution cannot be solved.
    factor = _if_regular(found * 0.0 + 1.0, _REASONS, found, *call)
    given = rc.NoTangent(), *tangents[1:]
    y, dy = frule_via_ad(config, given, _by_equation, found, *call)
    return y, dy if isinstance(dy, rc.AbstractZero) else dy * factor


# the value at the optimum


@rc.primitive
def best_value(
    value: Any, x: Any, functions: Any, args: Any, lower: Any, upper: Any, solver: str
) -> Any:
    """The objective at an optimum, differentiated by the envelope theorem.

    The derivative is that of the Lagrangian at a fixed optimum. It exists where the
    optimum itself has none.
    """
    return value


def _lagrangian(
    x: Any, v: Any, functions: Any, args: Any, lower: Any, upper: Any
) -> Any:
    """The objective less the multipliers of active limits times what they bound."""
    objective, constraints = functions
    value, n = number(objective(x, *args)), x.shape[0]
    u = x
    if constraints is not None:
        c = constraints(x, *args)
        value = value - (v[n:] * c).sum()
        u = concat([x, c])
    zero = u * 0.0
    limits = _chosen(u, v, lower, upper, (lower + zero, upper + zero, zero))
    return value + (v * limits).sum()


def _pressures(x: Any, functions: Any, args: Any, lower: Any, upper: Any) -> Any:
    """The multipliers of all limits, zero for those that are not met."""
    n = x.shape[0]
    y = _with_multipliers(x, functions, args, lower, upper)
    u, v = conditions(y, functions, args, n)
    return _chosen(u, v, lower, upper, (v, v, v * 0.0))


@rc.rrule.define(best_value, config=_REVERSE)
def best_value_rrule(
    config: Any, value: Any, x: Any, functions: Any, args: Any, lower: Any, upper: Any,
    solver: str,
) -> Any:  # fmt: skip
    none, zero = rc.NoTangent(), rc.ZeroTangent()
    # The primitive again: what the rule returns is differentiated at higher orders.
    y = best_value(value, x, functions, args, lower, upper, solver)

    def best_value_pullback(dy: Any) -> Any:
        given = x, functions, args, lower, upper, x.shape[0], solver
        dy = _if_regular(dy, _REASONS[:1], *given)
        v = _pressures(x, functions, args, lower, upper)
        call = x, v, functions, args, lower, upper
        _, pull = rrule_via_ad(config, _lagrangian, *call)
        _, _, _, *rest = pull(dy)
        return none, zero, zero, *rest, none

    return y, best_value_pullback


@rc.frule.define(best_value, config=_FORWARD)
def best_value_frule(
    config: Any, tangents: Any, value: Any, x: Any, functions: Any, args: Any,
    lower: Any, upper: Any, solver: str,
) -> Any:  # fmt: skip
    none, zero = rc.NoTangent(), rc.ZeroTangent()
    y = best_value(value, x, functions, args, lower, upper, solver)
    v = _pressures(x, functions, args, lower, upper)
    call = x, v, functions, args, lower, upper
    given = none, zero, zero, *tangents[3:7]
    _, dy = frule_via_ad(config, given, _lagrangian, *call)
    where = x, functions, args, lower, upper, x.shape[0], solver
    return y, _if_regular(dy, _REASONS[:1], *where)


# other results


@rc.primitive
def with_formula(value: Any, formula: Any, functions: Any, args: Any) -> Any:
    """SciPy's result, with the derivative of `formula(functions, *args)`."""
    return value


def _by_formula(value: Any, formula: Any, functions: Any, args: Any) -> Any:
    return formula(functions, *args)


@rc.rrule.define(with_formula, config=_REVERSE)
def with_formula_rrule(
    config: Any, value: Any, formula: Any, functions: Any, args: Any
) -> Any:
    def with_formula_pullback(dy: Any) -> Any:
        if isinstance(dy, rc.AbstractZero):
            return rc.NoTangent(), *[rc.ZeroTangent()] * 4
        _, pull = rrule_via_ad(config, _by_formula, value, formula, functions, args)
        return pull(dy)

    return with_formula(value, formula, functions, args), with_formula_pullback


@rc.frule.define(with_formula, config=_FORWARD)
def with_formula_frule(config: Any, tangents: Any, value: Any, *args: Any) -> Any:
    zero = rc.ZeroTangent()
    given = rc.NoTangent(), zero, *tangents[2:]
    y = with_formula(value, *args)
    return y, frule_via_ad(config, given, _by_formula, value, *args)[1]


# formulas


def called(functions: Any, x: Any, args: Any) -> Any:
    """The function."""
    return functions[0](x, *args)


def gradient(functions: Any, x: Any, args: Any) -> Any:
    """The gradient of the function, whose result is a number."""
    return slope(lambda x: number(functions[0](x, *args)), x)
