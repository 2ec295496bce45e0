"""Sums, extremes and products of arrays in compiled code."""

from typing import Any

import numpy as np

from rules_autodiff.straight._runtime import arrays, elementwise, helpers

from .array_functions import flat
from .table import (
    FUNCTIONS,
    Function,
    axes_of,
    check_floats,
    constant_of,
    function,
    method,
    of_class,
)
from .terms import NUMPY, PLAIN, Piece, Term, array, refuse

__all__ = ["dot"]


class Reduction:
    """Which axes of an array are reduced.

    Attributes:
        axis: The axis of a matrix; None for all axes.
        keepdims: Whether it stays, with length one.
    """

    def __init__(self, x: Piece, axis: Any, keepdims: Any, *others: Any):
        check_floats(x)
        if any(constant_of(other) is not None for other in others):
            refuse("only axis and keepdims are known")
        whole, ndim = constant_of(axis), x.term.ndim
        given = tuple(range(ndim)) if whole is None else whole
        axes = {a % ndim for a in (given if type(given) is tuple else (given,))}
        self.keepdims = constant_of(keepdims)
        self.axis = None if len(axes) == ndim else min(axes, default=-1)
        if self.axis is not None and (ndim != 2 or len(axes) != 1):
            refuse("of arrays with three axes only all entries are known")
        if self.axis is None and self.keepdims:
            refuse("keepdims is known along one axis of a matrix alone")

    def of(self, name: str, x: Piece) -> Piece:
        """The value, by functions of all entries, and of the axes of a matrix."""
        if self.axis is None:
            return of_class(NUMPY, f"{name}({flat(x)})")
        text = f"{name}_along_{self.axis}({x.text})"
        if not self.keepdims:
            return Piece(text, array(1))
        return Piece(f"{text}[{'None, :' if self.axis == 0 else ':, None'}]", array(2))


@function(np.add.reduce)
@method("sum")
def write_sum(
    x: Piece, axis: Any = None, dtype: Any = None, out: Any = None,
    keepdims: Any = False,
) -> Piece:  # fmt: skip
    reduced = Reduction(x, axis, keepdims, dtype, out)
    return of_class(NUMPY, sum_of(x)) if reduced.axis is None else reduced.of("sum", x)


def extreme(name: str) -> Function:
    def write(
        x: Piece, axis: Any = None, dtype: Any = None, out: Any = None,
        keepdims: Any = False,
    ) -> Piece:  # fmt: skip
        return Reduction(x, axis, keepdims, dtype, out).of(name, x)

    return write


FUNCTIONS[np.maximum.reduce] = extreme("largest")
FUNCTIONS[np.minimum.reduce] = extreme("smallest")


def sum_of(x: Piece) -> str:
    """The text of the sum of all entries, in NumPy's order."""
    check_floats(x)
    if x.term.ndim > 2:
        return f"sum_1({flat(x)})"
    return f"sum_{x.term.ndim}({x.text})"


@function(helpers.summed)
def write_summed(x: Piece) -> Piece:
    return of_class(NUMPY, sum_of(x))


@function(arrays.mean_of)
def write_mean(x: Piece) -> Piece:
    return of_class(NUMPY, f"({sum_of(x)} / {x.text}.size)")


@function(arrays.mean_along)
def write_mean_along(x: Piece, axis: Piece, keepdims: Piece) -> Piece:
    reduced = Reduction(x, axis, keepdims)
    found = write_sum(x, axis, keepdims=keepdims)
    count = f"{x.text}.shape[{reduced.axis or 0}]"
    return Piece(f"({found.text} / {count})", found.term, found.rank)


# extremes: the entries that have them


@function(arrays.winners)
def write_winners(d: Piece, x: Piece, z: Piece) -> Piece:
    check_floats(x)
    return Piece(f"winners({d.text}, ({x.text} == {z.text}))", x.term)


@function(arrays.winners_along)
def write_winners_along(d: Piece, x: Piece, z: Piece, axes: Piece) -> Piece:
    reduced = Reduction(x, axes, False)
    if reduced.axis is None:
        return write_winners(d, x, z)
    name = f"winners_along_{reduced.axis}"
    return Piece(f"{name}({d.text}, ({x.text} == {z.text}))", x.term)


# products, variances


def in_memory(x: Piece) -> str:
    """The text of all entries as a vector, in the order in which NumPy reduces them."""
    return f"entries({x.text})" if x.term.ndim == 2 else flat(x)


@function(np.prod)
def write_prod(x: Piece, axis: Any = None) -> Piece:
    check_whole(x, axis)
    return of_class(NUMPY, f"product({in_memory(x)})")


@function(arrays.prod_back)
def write_prod_back(d: Piece, x: Piece, z: Piece) -> Piece:
    if z.term.is_array:
        refuse("a product along an axis")
    return Piece(f"({d.text} * known_product({z.text}) / {x.text})", x.term)


@function(np.var)
def write_var(x: Piece, axis: Any = None, *, ddof: Any = 0) -> Piece:
    check_whole(x, axis)
    return of_class(NUMPY, f"variance({in_memory(x)}, {constant_of(ddof)})")


@function(np.std)
def write_std(x: Piece, axis: Any = None, *, ddof: Any = 0) -> Piece:
    return of_class(NUMPY, f"math.sqrt({write_var(x, axis, ddof=ddof).text})")


@function(arrays.var_back)
def write_var_back(d: Piece, x: Piece, axes: Piece, ddof: Piece) -> Piece:
    check_whole(x, axes)
    scale = f"(2.0 * {d.text} / ({x.text}.size - {ddof.text}))"
    mean = f"({sum_of(x)} / {x.text}.size)"
    return Piece(f"(({x.text} - {mean}) * {scale})", x.term)


@function(arrays.std_back)
def write_std_back(d: Piece, x: Piece, z: Piece, axes: Piece, ddof: Piece) -> Piece:
    divisor = f"({z.text} if {z.text} != 0.0 else 1.0)"
    half = of_class(NUMPY, f"(0.5 * {d.text} / {divisor})")
    return write_var_back(half, x, axes, ddof)


def check_whole(x: Piece, axes: Any) -> None:
    """Refuse what is reduced along some axes."""
    if Reduction(x, axes, False).axis is not None:
        refuse("only all entries are known")


@function(np.cumsum)
def write_cumsum(x: Piece, axis: Any = None) -> Piece:
    constant_of(axis)
    if x.term != array(1):
        refuse("only vectors are known")
    return Piece(f"running_sum({x.text})", x.term)


@function(arrays.norm_of)
def write_norm(x: Piece) -> Piece:
    check_floats(x)
    return of_class(NUMPY, f"length({flat(x)})")


@function(np.trace)
def write_trace(x: Piece) -> Piece:
    if x.term != array(2):
        refuse("only matrices are known")
    return of_class(NUMPY, f"trace({x.text})")


# questions

# The class of a count is another one in older versions of NumPy.
COUNT: Any = np.count_nonzero(np.zeros(1, bool))
COUNTED = PLAIN if type(COUNT) is int else NUMPY


def of_masks(name: str) -> Function:
    def write(x: Piece) -> Piece:
        if x.term.dtype != "?":
            refuse("only masks are known")
        text = f"{name}({flat(x)})"
        if name == "counted":
            return Piece(text, Term("int", frozenset({COUNTED})), str(COUNTED))
        return Piece(text, Term("bool", frozenset({NUMPY})), str(NUMPY))

    return write


FUNCTIONS[np.any], FUNCTIONS[np.all] = of_masks("any_of"), of_masks("all_of")
FUNCTIONS[np.count_nonzero] = of_masks("counted")


def place_of(name: str) -> Function:
    def write(x: Piece) -> Piece:
        check_floats(x)
        term = Term("int", frozenset({NUMPY}))
        return Piece(f"{name}({flat(x)})", term, str(NUMPY))

    return write


FUNCTIONS[np.argmax], FUNCTIONS[np.argmin] = (
    place_of("place_of_largest"),
    place_of("place_of_smallest"),
)


# cotangents of broadcast operands


@function(helpers.fit)
def write_fit(d: Piece, shape: Piece) -> Piece:
    ends = d.term.ndim, axes_of(shape)
    if ends not in ((1, 1), (2, 1), (2, 2)):
        refuse(f"{ends[1]} axes are broadcast to {ends[0]}")
    return Piece(f"fit_{ends[0]}_{ends[1]}({d.text}, {shape.text})", array(ends[1]))


@function(elementwise.scaled)
def write_scaled(d: Piece, y: Piece, shape: Piece) -> Piece:
    return write_fit(Piece(f"({d.text} * {y.text})", d.term), shape)


# products of vectors and matrices


def dot(x: Piece, y: Piece) -> Piece:
    """The product of vectors and matrices."""
    ends = x.term.ndim, y.term.ndim
    floats = x.term.dtype == y.term.dtype == "d"
    if not floats or not {*ends} <= {1, 2}:
        refuse("a product of other values than vectors and matrices of floats")
    text = f"dot_{ends[0]}_{ends[1]}({x.text}, {y.text})"
    if ends == (1, 1):
        return of_class(NUMPY, text)
    return Piece(text, array(sum(ends) - 2))


@function(np.dot, np.matmul, arrays.times)
@method("dot")
def write_dot(x: Piece, y: Piece) -> Piece:
    if not (x.term.is_number or y.term.is_number):
        return dot(x, y)
    known = [p.term.dtype == "d" or p.term.is_number for p in (x, y)]
    if not all(known) or not (x.term.is_array or y.term.is_array):
        refuse("a product of other values than arrays of floats and a number")
    return Piece(f"({x.text} * {y.text})", array(max(x.term.ndim, y.term.ndim)))


@function(np.inner)
def write_inner(x: Piece, y: Piece) -> Piece:
    if x.term.ndim != 1 or y.term.ndim != 1:
        refuse("only vectors are known")
    return dot(x, y)


@function(arrays.from_left)
def write_from_left(d: Piece, x: Piece) -> Piece:
    return dot(x, d)


@function(helpers.vdot, np.vdot)
def write_vdot(d: Piece, x: Piece) -> Piece:
    check_floats(d, x)
    if d.term.ndim != 1 or x.term.ndim != 1:
        return of_class(NUMPY, sum_of(Piece(f"({d.text} * {x.text})", d.term)))
    return of_class(NUMPY, f"vdot({d.text}, {x.text})")


@function(np.outer)
def write_outer(x: Piece, y: Piece) -> Piece:
    if x.term != array(1) or y.term != array(1):
        refuse("only vectors are known")
    return Piece(f"outer({x.text}, {y.text})", array(2))
