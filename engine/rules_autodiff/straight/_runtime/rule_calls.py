"""Calls of functions with rules, by generated code.

`forward(*args)` gives the value and the residuals, `back(kept, dz)` the cotangents of
the active arguments. Results of other kinds than expected fall back to the tape, which
supports more forms and raises the errors.
"""

from collections.abc import Callable
from sys import getrefcount
from typing import Any

import numpy as np

from rules_autodiff._shadows.memory import owner_of
from rules_autodiff.straight._program.kinds import REAL, Kind, kind_of
from rules_core import (
    AbstractTangent,
    AbstractThunk,
    NoTangent,
    ZeroTangent,
    unthunk,
    zero_tangent,
)
from rules_core.extend import ordered_cotangents

from .elementwise import as_real, unfollowed
from .helpers import fit, summed, wide

__all__ = [
    "Calls", "by_frule", "by_rule", "checked", "of_arrays", "of_numbers", "of_partials",
    "reading",
]  # fmt: skip

Calls = tuple[Callable[..., Any], Callable[..., Any]]
NUMBERS = (float, np.float64)
DOUBLE = np.dtype(float)
PARTIALS = (float, int, np.number, np.ndarray, AbstractTangent)


def references() -> int:
    """The result of `getrefcount` for an object with one variable."""
    alone = object()
    return getrefcount(alone)


ALONE = references()


def checked(f: Callable[..., Any], result: Kind) -> Callable[..., Any]:
    """A function whose result must have the expected kind."""

    def call(*args: Any) -> Any:
        y = f(*args)
        if kind_of(y) != result:
            unfollowed("a function returns another kind than before")
        if type(y) is np.ndarray and getrefcount(y) > ALONE:
            return y.copy()
        return y

    return call


def of_numbers(partials: Callable[..., Any], count: int, active: Any) -> Any:
    """The backward pass of a scalar rule of numbers: `back(y, *args, dz)`."""
    if active != (0,) or count != 1:

        def back_to_several(*kept: Any) -> Any:
            *values, dz = kept
            if dz == 0.0:
                return (0.0,) * len(active)
            slopes_of_args = partials(*values)
            check_partials(slopes_of_args, count)
            return tuple([dz * slope(slopes_of_args[i]) for i in active])

        return back_to_several

    def back(y: Any, x: Any, dz: Any) -> Any:
        if dz == 0.0:
            return (0.0,)
        row = partials(y, x)
        check_partials(row, 1)
        partial = row[0]
        if type(partial) is not float:
            partial = slope(partial)
        return (dz * partial,)

    return back


def of_partials(
    f: Callable[..., Any], partials: Callable[..., Any], result: Kind, active: Any
) -> Callable[..., Any]:
    """A scalar rule: `forward(args, dots)` gives the value and its tangent."""
    if result is REAL:

        def of_reals(args: Any, dots: Any) -> Any:
            y = f(*args)
            row = partials(y, *args)
            check_partials(row, len(args))
            terms = [slope(row[i]) * d for i, d in zip(active, dots, strict=True)]
            return y, sum(terms[1:], terms[0])

        return of_reals
    forward, _ = of_arrays(f, partials, result, active)

    def of_all(args: Any, dots: Any) -> Any:
        y, kept = forward(*args)
        row = partials(*kept)
        check_partials(row, len(args))
        terms = [slopes(row[i]) * d for i, d in zip(active, dots, strict=True)]
        return y, wide(sum(terms[1:], terms[0]), y.shape)

    return of_all


def by_frule(rule: Callable[..., Any], result: Kind, active: Any) -> Callable[..., Any]:
    """An frule: `forward(args, dots)` gives the value and its tangent."""

    def forward(args: Any, dots: Any) -> Any:
        tangents = [zero_tangent(x) for x in args]
        for i, d in zip(active, dots, strict=True):
            tangents[i] = d
        y, dy = rule((NoTangent(), *tangents), *args)
        if result is REAL:
            as_real(y)
        else:
            y = own_array(y, result, args)
        dy = cotangent(dy, y)
        return y, dy.copy() if type(dy) is np.ndarray else dy

    return forward


def check_partials(found: Any, count: int) -> None:
    """Check all partials, unneeded ones included."""
    if type(found) is not tuple or len(found) != count:
        unfollowed("there are not as many partials as arguments")
    for partial in found:
        if type(partial) is not float and not isinstance(partial, PARTIALS):
            unfollowed("a partial is no number")


def slope(partial: Any) -> Any:
    """A partial derivative that is a number."""
    if type(partial) in NUMBERS or type(partial) is int:
        return partial
    return unfollowed("a partial is no number")


def of_arrays(
    f: Callable[..., Any], partials: Callable[..., Any], result: Kind, active: Any
) -> Calls:
    """A scalar rule of arrays, with broadcasting."""

    def forward(*args: Any) -> Any:
        y = f(*args)
        if type(y) is np.ndarray and getrefcount(y) > ALONE:
            y = y.copy()
        y = own_array(y, result, args)
        return y, (y, *args)

    def back(kept: Any, dz: Any) -> Any:
        y, *args = kept
        if type(dz) is float:  # zero
            return tuple([zero_of(args[i]) for i in active])
        row = partials(y, *args)
        check_partials(row, len(args))
        cotangents = [(dz * slopes(row[i]), args[i]) for i in active]
        return tuple(
            [
                fit(d, x.shape) if type(x) is np.ndarray else summed(d)
                for d, x in cotangents
            ]
        )

    return forward, back


def slopes(partial: Any) -> Any:
    """A partial derivative: a number or an array of floats."""
    if type(partial) is np.ndarray and partial.dtype is DOUBLE:
        return partial
    return slope(partial)


def own_array(y: Any, result: Kind, args: Any) -> Any:
    """A result as a float array of its own, of the expected kind.

    A result that a function keeps, such as a reused buffer, is copied before this call.
    """
    if type(y) is not np.ndarray or y.dtype is not DOUBLE or y.ndim != result.ndim:
        unfollowed("a function returns another kind than before")
    owner = owner_of(y)
    for x in args:
        if type(x) is np.ndarray and owner_of(x) is owner:
            unfollowed("a function returns one of its arguments, or a view of one")
    return y if owner is y else y.copy()


def by_rule(
    run: Callable[..., Any], result: Kind, active: Any, rule: Any = None
) -> Calls:
    """An rrule: `run(*args)` gives the value and the pullback.

    Its pullback may name cotangents if `rule` is given.
    """
    is_number = result is REAL

    def forward(*args: Any) -> Any:
        y, pullback = run(*args)
        if not is_number:
            y = own_array(y, result, args)
        elif type(y) is not float:
            as_real(y)
        return y, (pullback, args)

    def back(kept: Any, dz: Any) -> Any:
        pullback, args = kept
        if type(dz) is float and (dz == 0.0 or not is_number):  # zero
            return tuple([zero_of(args[i]) for i in active])
        cotangents = pullback(dz)
        if isinstance(cotangents, dict) and rule is not None:
            cotangents = ordered_cotangents(rule, cotangents, len(args) + 1)
        if type(cotangents) is not tuple or len(cotangents) != len(args) + 1:
            unfollowed("there are not as many cotangents as arguments")
        return tuple([cotangent(cotangents[i + 1], args[i]) for i in active])

    return forward, back


def reading(forward: Any, back: Any, reads: Any, label: str) -> Calls:
    """A rule that reads variables of the program, which must be what they were.

    Args:
        forward: The call.
        back: The way back through it.
        reads: The variables.
        label: The rule, for the error.
    """

    def forward_now(*args: Any) -> Any:
        then = reads.then()
        y, kept = forward(*args)
        return y, (then, kept)

    def back_then(kept: Any, dz: Any) -> Any:
        then, inner = kept
        with then.held(label):
            return back(inner, dz)

    return forward_now, back_then


def cotangent(d: Any, x: Any) -> Any:
    """The cotangent of an argument in the form of generated code."""
    if type(d) is float and type(x) is not np.ndarray:
        return d
    if isinstance(d, AbstractThunk):
        d = unthunk(d)
    if type(d) is ZeroTangent:
        return zero_of(x)
    if type(x) is not np.ndarray:
        return slope(d)
    if type(d) is not np.ndarray or d.dtype is not DOUBLE or d.shape != x.shape:
        unfollowed("a cotangent has another form than its argument")
    return d


def zero_of(x: Any) -> Any:
    return np.zeros(x.shape) if type(x) is np.ndarray else 0.0
