"""Elementwise functions and selections on the fast path, by partials of their rules.

`dx = p dy` for a partial `p` that was computed with the value: what a `scalar_rule`
does by its pullback, put on the tape as a product. What is no float and no array of
float64, and what a partial leaves open, goes the general way.
"""

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from rules_autodiff._own_rules.arithmetic import strong
from rules_autodiff._own_rules.own_rule import Space, fit
from rules_autodiff._shadows.memory import CALLBACK
from rules_autodiff._shadows.slots import UNUSED, Shadow

from .elementwise import FOLLOWED, STRICT
from .items import DOUBLE, FLOATS, REAL
from .maps import inner, widened

if TYPE_CHECKING:
    from .run import FastRun

__all__ = [
    "by_partial", "is_real", "noted_numbers", "noted_partials", "partials_of",
    "selected", "summed_selection",
]  # fmt: skip

MOST = 2  # operands of an entry
WHOLE = frozenset({int, np.int64})
# Not the map of a product, `operator.mul`, whose factor may be constant.
by_partial = np.ndarray.__mul__
FOLLOWED[by_partial] = STRICT[by_partial] = strong


def selected(dz: Any, p: Any) -> Any:
    """The cotangent of a selection."""
    return dz * p


def strictly_selected(dz: Any, p: Any) -> Any:
    """A product that is zero where either is, also of an infinity or NaN."""
    return strong(np.where(p == 0, 0.0, dz), p)


def scaled_sum(dz: Any, p: Any) -> Any:
    """The cotangent of a number with one partial for all entries."""
    return np.sum(dz) * p


def summed_selection(dz: Any, p: Any) -> Any:
    return np.sum(dz * p)


def strictly_summed(dz: Any, p: Any) -> Any:
    return np.sum(strictly_selected(dz, p))


def strictly_scaled(dz: Any, p: Any) -> Any:
    return fit(FOLLOWED[operator.mul](dz, p), Space((), "f", array=False))


FOLLOWED.update({
    selected: strictly_selected, summed_selection: strictly_summed,
    scaled_sum: strictly_scaled,
})  # fmt: skip
STRICT.update({by: FOLLOWED[by] for by in (selected, summed_selection, scaled_sum)})


def partials_of(rule: Any) -> tuple[Callable[..., Any] | None, Any]:
    """The partials of a rule, and the map of their products; None: it has none."""
    partials = rule.authors_partials
    if partials is not None:
        return partials, by_partial
    return rule.selection, selected


def noted_partials(
    run: "FastRun", y: Any, args: Any, slots: Any, row: Any, by: Any
) -> bool:
    """Put an array by its partials on the tape; whether they are plain enough."""
    if type(row) is not tuple or len(row) != len(args):
        return False
    operands: list[Any] = []
    for slot, x, p in zip(slots, args, row, strict=True):
        if slot is not None:
            found = map_of(x, y, p, by)
            if found is None:
                return False
            operands += slot, *found
    if not operands or len(operands) > 3 * MOST:
        return False
    out = run.shadows[id(y)] = Shadow(y, CALLBACK)
    run.tape.append((out, *operands))
    return True


def map_of(x: Any, y: Any, p: Any, by: Any) -> Any:
    """The map of a cotangent by one partial, and what it keeps; None: another form."""
    is_array = type(p) is ndarray
    if is_array:
        if p.dtype is not DOUBLE or p.shape != y.shape:
            return None
    elif type(p) not in FLOATS:
        return None
    if type(x) is not ndarray:
        if by is selected:
            return summed_selection, p
        return (inner if is_array else scaled_sum), p
    return (by, p) if x.shape == y.shape else widened(x, y, by, p)


def noted_numbers(
    run: "FastRun", y: Any, _args: Any, slots: Any, row: Any, by: Any
) -> bool:
    """Put a number by its partials on the tape; whether they are plain enough."""
    if type(row) is not tuple or len(row) != len(slots):
        return False
    entry: list[Any] = [UNUSED, y]
    for node, p in zip(slots, row, strict=True):
        if node is None:
            continue
        partial = number(p)
        if partial is None:
            return False
        if by is not selected or partial:  # an infinity that is not selected
            entry += node, partial
    if len(entry) > 2 + 2 * MOST:
        return False
    run.nodes[id(y)] = entry
    if len(entry) > MOST:
        run.tape.append(entry)
    return True


def number(p: Any) -> Any:
    """A partial derivative that is a number; None: another form."""
    if type(p) in FLOATS:
        return p
    if type(p) is ndarray and not p.ndim and p.dtype is DOUBLE:
        return float(p)
    return float(p) if type(p) in WHOLE else None


def is_real(x: Any) -> bool:
    """Whether an argument is a number, or an array of float64 with axes."""
    if type(x) is ndarray:
        return x.dtype is DOUBLE and x.ndim > 0
    return type(x) in REAL
