"""Roots of equations: one primitive, whose rule is the implicit function theorem.

Every solver of this module calls it with SciPy's own function. It is differentiated in
what the equation takes and captures; the start, or the bracket, has derivative zero.
"""

from __future__ import annotations

from typing import Any

import rules_core as rc
from rules_scipy._functions import Function, Run, like, solve, stacked

__all__ = ["equation_root", "value_of"]


def _root(
    functions: tuple[Function | None, ...], args: Any, start: Any, run: Run, form: str
) -> Any:
    """`(y, success, counts, others)`: as `run` returns them."""
    first = like(start[0], start, args, functions)
    if form == "flat":
        first = first.reshape((-1,))
    rest = [like(x, first) for x in start[1:]]
    return solve(run, functions, args, (first, *rest), first)


def _residual(
    y: Any, functions: Any, args: Any, start: Any, run: Any, form: str
) -> Any:
    r = value_of(functions[0](y, *args), y)
    return r - y if form == "fixed point" else r


def value_of(r: Any, y: Any) -> Any:
    """What an equation returns, as an array of the shape of its unknowns."""
    if isinstance(r, list | tuple):
        r = stacked(rc.array_namespace(y), r)
    shape = getattr(y, "shape", ())
    return r if getattr(r, "shape", ()) == shape else r.reshape(shape)


equation_root: rc.Primitive = rc.implicit(_root, _residual, auxiliary=True)
