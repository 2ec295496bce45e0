"""Constraints of a minimiser: limits of functions, in each form that SciPy takes."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize as _sp

import rules_core as rc
from rules_scipy._axes import concat
from rules_scipy._functions import Function, like, stacked

__all__ = ["Constraint", "constraints_of", "functions_in", "joined", "rebuilt"]


class Constraint(NamedTuple):
    """`lower <= f(x) <= upper`.

    Attributes:
        f: A function of the unknowns.
        jac: Its Jacobian, where it is given as a function.
        lower: The lower limit.
        upper: The upper limit.
        size: How many entries `f` has.
        given: What SciPy takes besides.
    """

    f: Function
    jac: Function | None
    lower: Any
    upper: Any
    size: int
    given: dict[str, Any]


def constraints_of(constraints: Any, x: Any) -> list[Constraint]:
    """Constraints in one form."""
    several = isinstance(constraints, list | tuple)
    return [_constraint(c, x) for c in (constraints if several else [constraints])]


def _constraint(c: Any, x: Any) -> Constraint:
    if isinstance(c, dict):
        kind = str(c["type"]).lower()
        upper = 0.0 if kind == "eq" else np.inf
        own, f = c.get("args", ()), c["fun"]
        jac = c.get("jac")
        given = {"type": kind}
        return _sized(
            lambda x: f(x, *own), jac and (lambda x: jac(x, *own)), 0.0, upper, given, x
        )
    if isinstance(c, _sp.LinearConstraint):
        A = c.A.toarray() if hasattr(c.A, "toarray") else c.A
        given = {"A": c.A, "keep_feasible": c.keep_feasible}
        return _sized(lambda x: like(A, x) @ x, None, c.lb, c.ub, given, x)
    jac, hess = (g if callable(g) else None for g in (c.jac, c.hess))
    given = {
        "jac": c.jac, "hess": c.hess, "keep_feasible": c.keep_feasible,
        "finite_diff_rel_step": c.finite_diff_rel_step,
        "finite_diff_jac_sparsity": c.finite_diff_jac_sparsity,
    }  # fmt: skip
    if hess is not None:
        message = (
            "minimize has no rule for a NonlinearConstraint with a function as hess: "
            "leave hess out, or pass an update strategy such as BFGS()."
        )
        raise rc.UnsupportedError(message)
    return _sized(c.fun, jac, c.lb, c.ub, given, x)


def _sized(f: Any, jac: Any, lower: Any, upper: Any, given: Any, x: Any) -> Constraint:
    return Constraint(f, jac, lower, upper, _vector(f(x), x).shape[0], given)


def _vector(r: Any, x: Any) -> Any:
    if not rc.is_array(r) or getattr(r, "shape", ()) == ():
        r = stacked(rc.array_namespace(x), r if isinstance(r, list | tuple) else [r])
    return r.reshape((-1,))


def functions_in(constraints: Sequence[Constraint]) -> list[Function | None]:
    """Their functions and Jacobians in turn, for SciPy."""
    found: list[Function | None] = []
    for c in constraints:
        found += [_alone(c.f), c.jac and _alone(c.jac)]
    return found


def _alone(f: Any) -> Function:
    def alone(x: Any, *_: Any) -> Any:
        return f(x)

    return alone


def joined(
    constraints: Sequence[Constraint], lower: Any, upper: Any
) -> tuple[Function | None, Any, Any]:
    """All constraints as one function, and the limits of the unknowns with theirs."""
    if not constraints:
        return None, lower, upper
    functions = tuple([c.f for c in constraints])

    def together(x: Any, *_: Any) -> Any:
        found = [_vector(f(x), x) for f in functions]
        return found[0] if len(found) == 1 else concat(found)

    below = [_limit(c.lower, c.size, lower) for c in constraints]
    above = [_limit(c.upper, c.size, upper) for c in constraints]
    return together, concat([lower, *below]), concat([upper, *above])


def _limit(limit: Any, size: int, others: Any) -> Any:
    xp = rc.array_namespace(others)
    return like(limit, others) + xp.zeros((size,), dtype=others.dtype)


def rebuilt(given: Any, f: Any, jac: Any, lower: Any, upper: Any) -> Any:
    """A constraint of SciPy, of functions and arrays of NumPy."""
    if "type" in given:
        return {**given, "fun": f} | ({} if jac is None else {"jac": jac})
    if "A" in given:
        return _sp.LinearConstraint(lb=lower, ub=upper, **given)
    own = deepcopy(given)  # SciPy writes to strategies such as BFGS()
    own |= {} if jac is None else {"jac": jac}
    return _sp.NonlinearConstraint(f, lower, upper, **own)
