"""SciPy's linear programs: their solutions by the limits that hold them.

The value is differentiated by the multipliers, which are those that SciPy finds; the
solution by the conditions of every optimum, where the objective is linear.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.optimize as _sp

import rules_core as rc
from rules_scipy._arrays import concrete, vector
from rules_scipy._axes import concat
from rules_scipy._functions import Run, arrays_in, if_converged, like
from rules_scipy._solvers import but, result_of, without_formula

from ._arguments import DECLARED
from ._optima import optimum
from ._searches import pairs_of, search

__all__ = ["linear_sum_assignment", "linprog", "milp"]

_FIELD = (
    "derivative of a linear program of scipy.optimize in a field of its result other "
    "than x, fun and the marginals of constraints; compute it from x"
)


def _objective(x: Any, c: Any, A: Any) -> Any:
    return (c * x).sum()


def _rows(x: Any, c: Any, A: Any) -> Any:
    return A @ x


@rc.primitive
def linear_value(
    value: Any, x: Any, pressures: Any, c: Any, A: Any, lower: Any, upper: Any
) -> Any:
    """The value of a linear program, differentiated by its multipliers.

    Args:
        value: The value.
        x: The solution.
        pressures: The multipliers of the limits, first of the unknowns.
        c: The costs.
        A: The matrix of the constraints, or None.
        lower: The lower limits of the unknowns and constraints.
        upper: The upper limits.
    """
    return value


def _sides(pressures: Any) -> tuple[Any, Any]:
    """Those of lower limits, which are positive, and those of upper ones."""
    xp = rc.array_namespace(pressures)
    zero = pressures * 0.0
    return xp.where(pressures > 0, pressures, zero), xp.where(
        pressures < 0, pressures, zero
    )


@rc.rrule.define(linear_value)
def linear_value_rrule(
    value: Any, x: Any, pressures: Any, c: Any, A: Any, lower: Any, upper: Any
) -> Any:
    def linear_value_pullback(dy: Any) -> Any:
        zero = rc.ZeroTangent()
        below, above = _sides(pressures)
        rows = pressures[x.shape[0] :]
        dA = zero if A is None else -dy * rows[:, None] * x[None, :]
        return rc.NoTangent(), zero, zero, zero, dy * x, dA, dy * below, dy * above

    return linear_value(value, x, pressures, c, A, lower, upper), linear_value_pullback


@rc.frule.define(linear_value)
def linear_value_frule(
    tangents: Any, value: Any, x: Any, pressures: Any, c: Any, A: Any, lower: Any,
    upper: Any,
) -> Any:  # fmt: skip
    _, _, _, _, dc, dA, dlower, dupper = tangents
    below, above = _sides(pressures)
    rows = pressures[x.shape[0] :]
    parts = [
        None if isinstance(dc, rc.AbstractZero) else (dc * x).sum(),
        None if isinstance(dA, rc.AbstractZero) else -(rows * (dA @ x)).sum(),
        None if isinstance(dlower, rc.AbstractZero) else (dlower * below).sum(),
        None if isinstance(dupper, rc.AbstractZero) else (dupper * above).sum(),
    ]
    moving = [part for part in parts if part is not None]
    y = linear_value(value, x, pressures, c, A, lower, upper)
    return y, sum(moving) if moving else rc.ZeroTangent()


def linprog(
    c: Any, A_ub: Any = None, b_ub: Any = None, A_eq: Any = None, b_eq: Any = None,
    bounds: Any = (0, None), method: Any = "highs", callback: Any = None,
    options: Any = None, x0: Any = None, integrality: Any = None,
) -> Any:  # fmt: skip
    """`scipy.optimize.linprog`.

    `x`, `fun` and the marginals of `ineqlin` and `eqlin` have derivatives.
    """
    _refuse(method, integrality)
    c = like(c, c, A_ub, b_ub, A_eq, b_eq, bounds).reshape((-1,))
    ends = pairs_of(_pairs(bounds, c.shape[0]), c)
    parts = [_part(A, b, c) for A, b in ((A_ub, b_ub), (A_eq, b_eq))]
    sizes = tuple([0 if part is None else part[1].shape[0] for part in parts])
    A, b = _joined([part for part in parts if part is not None], c)
    start = (c, *ends) if A is None else (c, *ends, A, b)
    given = {"method": method, "callback": callback, "options": options, "x0": x0}
    run = Run(_run_linprog, 2, sizes=sizes, given=given)
    n, m = c.shape[0], sum(sizes)
    y, success, counts, rest = search((None,), (), start, run, 2 * n + m + 1)
    lower, upper = ends if A is None else _with_rows(*ends, b, sizes[0])
    functions = _objective, None if A is None else _rows
    held = optimum(y[: n + m], functions, (c, A), lower, upper, n, "linprog")
    held = if_converged(held, success, "linprog")
    pressures = _pressures(held, y[n + m : 2 * n + m] != 0, c, A)
    value = linear_value(y[2 * n + m], held[:n], pressures, c, A, lower, upper)
    counted = {"success": success == 1, "status": counts[0], "nit": counts[1]}
    fields = without_formula(rest, held, _FIELD) or counted
    marginals = {"ineqlin": held[n : n + sizes[0]], "eqlin": held[n + sizes[0] :]}
    for name, part in marginals.items():
        own = {**fields.get(name, {}), "marginals": part}
        fields[name] = _sp.OptimizeResult(own)
    value = if_converged(value, success, "linprog")
    return result_of({**fields, "x": held[:n], "fun": value})


def _part(A: Any, b: Any, c: Any) -> Any:
    """The rows of one kind of constraints and their right side; None without them."""
    if A is None:
        return None
    rows = like(_dense(A), c).reshape((-1, c.shape[0]))
    return rows, like(b, c).reshape((-1,))


def _joined(parts: Any, c: Any) -> tuple[Any, Any]:
    if not parts:
        return None, None
    rows, right = zip(*parts, strict=True)
    return concat(list(rows)), concat(list(right))


def _with_rows(lower: Any, upper: Any, b: Any, inner: int) -> tuple[Any, Any]:
    """The limits of the unknowns and rows, of which the first are bounded above."""
    xp = rc.array_namespace(b)
    equal = xp.arange(b.shape[0]) >= inner
    below = xp.where(equal, b, b * 0.0 - float("inf"))
    return concat([lower, below]), concat([upper, b])


def _pressures(held: Any, met: Any, c: Any, A: Any) -> Any:
    """The multipliers of all limits; SciPy's are zero for those that are not met."""
    xp, multipliers = rc.array_namespace(held), held[c.shape[0] :]
    slopes = c if A is None else c - multipliers @ A
    own = xp.where(met, slopes, slopes * 0.0)
    return own if A is None else concat([own, multipliers])


def _refuse(method: Any, integrality: Any) -> None:
    if not str(method).startswith("highs"):
        message = (
            f"linprog(method={method!r}) has no rule: choose a method of HiGHS, such "
            "as the default."
        )
        raise rc.UnsupportedError(message)
    if integrality is not None and np.any(np.asarray(integrality)):
        message = (
            "linprog(integrality=…) has no rule: call milp, whose value has a "
            "derivative in the costs."
        )
        raise rc.UnsupportedError(message)


def _dense(A: Any) -> Any:
    if hasattr(A, "toarray"):
        message = (
            "linprog has rules for dense matrices only, but got a sparse one. Pass "
            "A.toarray()."
        )
        raise rc.UnsupportedError(message)
    return A


def _pairs(bounds: Any, n: int) -> Any:
    """Limits for each unknown, of one pair for all or a sequence of pairs."""
    if bounds is None:
        return [(0.0, None)] * n
    if isinstance(bounds, _sp.Bounds) or rc.is_array(bounds):
        return bounds
    pair = len(bounds) == 2 and not isinstance(bounds[0], list | tuple)
    return [tuple(bounds)] * n if pair else [tuple(b) for b in bounds]


def _run_linprog(
    settings: Any, _: Any, c: Any, lower: Any, upper: Any, A: Any = None, b: Any = None
) -> Any:
    n, (inner, equal) = len(c), settings["sizes"]
    given = dict(settings["given"])
    if inner:
        given.update(A_ub=A[:inner], b_ub=b[:inner])
    if equal:
        given.update(A_eq=A[inner:], b_eq=b[inner:])
    bounds = np.stack([lower, upper], axis=1)
    found = _sp.linprog(c, bounds=bounds, **given)
    size = 2 * n + inner + equal + 1
    others = but(found, "x", "fun")
    counts = int(found.status), int(found.nit)
    if found.x is None:
        return np.full(size, np.nan), 0, counts, others
    y = np.concatenate([
        found.x, found.ineqlin.marginals[:inner], found.eqlin.marginals[:equal],
        found.lower.marginals + found.upper.marginals, [found.fun],
    ])  # fmt: skip
    return y, int(found.success), counts, others


# whole numbers


@rc.primitive
def costs_of(value: Any, x: Any, c: Any) -> Any:
    """The value of a program whose solution `x` does not move with the costs `c`."""
    return value


@rc.rrule.define(costs_of)
def costs_of_rrule(value: Any, x: Any, c: Any) -> Any:
    zero = rc.ZeroTangent()
    y = costs_of(value, x, c)
    return y, lambda dy: (rc.NoTangent(), zero, zero, dy * x)


@rc.frule.define(costs_of)
def costs_of_frule(tangents: Any, value: Any, x: Any, c: Any) -> Any:
    return costs_of(value, x, c), (tangents[3] * x).sum()


def milp(
    c: Any, *, integrality: Any = None, bounds: Any = None, constraints: Any = None,
    options: Any = None,
) -> Any:  # fmt: skip
    """`scipy.optimize.milp`; `fun` has a derivative in the costs, `x` is constant.

    Limits and constraints must be constants.
    """
    _only_costs(integrality=integrality, bounds=bounds, constraints=constraints)
    c = vector(like(c))
    run = Run(
        _run_milp, 2, integrality=integrality, bounds=bounds, constraints=constraints,
        options=options,
    )  # fmt: skip
    n = c.shape[0]
    y, success, counts, rest = search((None,), (), (c,), run, n + 3)
    value = if_converged(costs_of(y[n], y[:n], c), success, "milp")
    counted = {"success": success == 1, "status": counts[0]}
    reached = {"mip_dual_bound": y[n + 1], "mip_gap": y[n + 2]}
    own = {**counted, "mip_node_count": counts[1], **reached}
    fields = without_formula(rest or own, value, _MILP_FIELD)
    return result_of({**fields, "x": y[:n], "fun": value})


def _only_costs(**constants: Any) -> None:
    for name, value in constants.items():
        if any(concrete(x) is None for x in arrays_in(value)):
            message = (
                f"{name} of milp must be constants, but hold an array that is traced "
                "or carries a derivative. Where no unknown is a whole number, linprog "
                "has the derivative in its limits."
            )
            raise rc.UnsupportedError(message)


rc.non_differentiable(_only_costs)

_MILP_FIELD = (
    "derivative of scipy.optimize.milp in a field of its result other than fun; at the "
    "optimum mip_dual_bound is fun"
)


def _run_milp(settings: Any, _: Any, c: Any) -> Any:
    found = _sp.milp(c, **settings)
    others = but(found, "x", "fun")
    counts = int(found.status), found.mip_node_count or 0
    if found.x is None:
        return np.full(len(c) + 3, np.nan), 0, counts, others
    reached = [found.fun, found.mip_dual_bound, found.mip_gap]
    y = np.concatenate([found.x, np.asarray(reached, float)])
    return y, int(found.success), counts, others


def _assigned(cost: Any, maximize: bool) -> Any:
    rows, columns = _sp.linear_sum_assignment(cost, maximize)
    return rows.astype(np.int32), columns.astype(np.int32)


def _indices(cost: Any, maximize: bool) -> Any:
    one = rc.ShapeDtype((min(cost.shape),), np.dtype(np.int32))
    return one, one


_assignment: rc.Primitive = rc.primitive(
    _assigned, host=True, out=_indices, static_argnames=("maximize",)
)
rc.non_differentiable(_assignment)


def linear_sum_assignment(cost_matrix: Any, maximize: bool = False) -> Any:
    """`scipy.optimize.linear_sum_assignment`: whole numbers, which are constant."""
    return _assignment(like(cost_matrix), maximize)


for _own in (linprog, milp):
    DECLARED.cover(getattr(_sp, _own.__name__), _own)
DECLARED.constant(_sp.linear_sum_assignment)
