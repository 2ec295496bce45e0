"""New arrays, shapes and parts of arrays in compiled code."""

from typing import Any

import numpy as np

from rules_autodiff.straight._runtime import arrays, helpers

from .table import (
    FUNCTIONS,
    Function,
    axes_of,
    check_floats as check,
    constant_of,
    function,
    is_certain,
    listed,
    method,
    of_class,
)
from .terms import INT, NUMPY, Piece, Term, array, refuse

__all__: list[str] = []

FLOATS = frozenset({None, float, "float", "float64", "d", "f8"})
DTYPES = {"int64": "l", "bool": "?"}
NAMES = {"l": "np.int64", "?": "np.bool_"}


def of_shape(name: str) -> Function:
    def write(shape: Piece, dtype: Any = None) -> Piece:
        dtype, ndim = constant_of(dtype), axes_of(shape)
        if dtype in FLOATS:
            return Piece(f"np.{name}({shape.text})", array(ndim))
        if dtype not in DTYPES:
            refuse(f"the dtype {dtype!r} is not known")
        own = DTYPES[dtype]
        return Piece(f"np.{name}({shape.text}, {NAMES[own]})", array(ndim, own))

    return write


FUNCTIONS[np.zeros], FUNCTIONS[np.ones] = of_shape("zeros"), of_shape("ones")
FUNCTIONS[np.empty] = of_shape("zeros")


def alike(name: str) -> Function:
    def write(x: Piece) -> Piece:
        check(x)
        return Piece(f"np.{name}({x.text}.shape)", x.term)

    return write


FUNCTIONS[np.zeros_like], FUNCTIONS[np.ones_like] = alike("zeros"), alike("ones")
FUNCTIONS[np.empty_like] = alike("zeros")


@function(np.full, arrays.full)
def write_full(shape: Piece, value: Piece, dtype: Any = float) -> Piece:
    """A float in all entries; a whole number, where floats are asked for."""
    known = value.term.is_number and constant_of(dtype) in FLOATS
    if not known or not (is_certain(value) or dtype is not float):
        refuse("only arrays of floats are known")
    return Piece(f"spread(float({value.text}), {shape.text})", array(axes_of(shape)))


@function(np.full_like)
def write_full_like(x: Piece, value: Piece) -> Piece:
    check(x)
    if not value.term.is_number:
        refuse("only numbers are known")
    return Piece(f"spread(float({value.text}), {x.text}.shape)", x.term)


@function(np.eye, np.identity)
def write_eye(n: Piece, m: Piece | None = None, dtype: Any = None) -> Piece:
    sizes = [p for p in (n, m) if p is not None]
    if any(p.term.name != "int" for p in sizes) or constant_of(dtype) not in FLOATS:
        refuse("only whole numbers are known")
    return Piece(f"unit({n.text}, {(m or n).text})", array(2))


@function(np.arange)
def write_arange(*bounds: Piece, dtype: Any = None) -> Piece:
    """Whole numbers, perhaps as floats."""
    if len(bounds) > 2 or any(p.term.name != "int" for p in bounds):
        refuse("only one or two whole numbers are known")
    texts = [p.text for p in bounds]
    start, stop = texts if len(texts) > 1 else ["0", *texts]
    if dtype is None:
        return Piece(f"whole_range({start}, {stop})", array(1, "l"))
    if constant_of(dtype) not in FLOATS:
        refuse("only arrays of whole numbers or floats are known")
    return Piece(f"float_range(float({start}), float({stop}), 1.0)", array(1))


@function(arrays.float_range)
def write_float_range(*bounds: Piece) -> Piece:
    if not any(map(is_certain, bounds)) or not all(p.term.is_number for p in bounds):
        refuse("only floats are known")
    start, stop, step = {
        1: ("0.0", "{}", "1.0"), 2: ("{}", "{}", "1.0"), 3: ("{}", "{}", "{}")
    }[len(bounds)]  # fmt: skip
    texts = ", ".join((start, stop, step)).format(*[f"float({p.text})" for p in bounds])
    return Piece(f"float_range({texts})", array(1))


@function(np.linspace)
def write_linspace(start: Piece, stop: Piece, num: Any = 50) -> Piece:
    count = constant_of(num)
    if type(count) is not int or count < 2:
        refuse("the number of entries must be a literal above 1")
    if not all(p.term.is_number for p in (start, stop)):
        refuse("only numbers are known")
    ends = f"float({start.text}), float({stop.text})"
    return Piece(f"even_steps({ends}, {count})", array(1))


@function(arrays.ramp)
def write_ramp(shape: Piece) -> Piece:
    return Piece(f"ramp({shape.text}[0])", array(axes_of(shape)))


@function(arrays.linspace_by_start)
def write_by_start(d: Piece) -> Piece:
    return of_class(NUMPY, f"by_start({d.text})")


@function(arrays.linspace_by_stop)
def write_by_stop(d: Piece) -> Piece:
    return of_class(NUMPY, f"by_stop({d.text})")


# copies


@function(np.copy)
@method("copy")
def write_copy(x: Piece) -> Piece:
    if not x.term.is_array:
        refuse("only arrays are known")
    return Piece(f"{x.text}.copy()", x.term, maybe=x.maybe)


@method("astype")
def write_astype(x: Piece, dtype: Any) -> Piece:
    check(x)
    if constant_of(dtype) not in FLOATS:
        refuse("only arrays of floats are known")
    return Piece(f"{x.text}.copy()", x.term)


@function(np.asarray, np.asanyarray, np.ascontiguousarray)
def write_asarray(x: Piece, dtype: Any = None) -> Piece:
    check(x)
    if constant_of(dtype) not in FLOATS:
        refuse("only arrays of floats are known")
    return x


@function(arrays.floats)
def write_floats(x: Piece) -> Piece:
    check(x)
    return x


@method("item")
def write_item(x: Piece) -> Piece:
    check(x)
    return of_class(1, f"only({flat(x)})")


# joined


@listed(np.array, helpers.array_of)
def write_array(entries: list[Piece], dtype: Any = None) -> Piece:
    if constant_of(dtype) not in FLOATS:
        refuse_listed("numpy.array", "of other numbers than floats")
    return write_row(*entries)


@function(arrays.row_of)
def write_row(*entries: Piece) -> Piece:
    """An array of numbers, or of vectors of one length."""
    terms = {p.term.ndim for p in entries}
    if terms == {0} and all(p.term.is_number for p in entries):
        if not any(map(is_certain, entries)):
            refuse("only arrays of floats are known")
        texts = [f"float({p.text})" for p in entries]
        return Piece(f"row_of({as_tuple(texts)})", array(1))
    if terms != {1}:
        refuse("only numbers, and vectors, are known")
    check(*entries)
    texts = [f"np.ascontiguousarray({p.text})" for p in entries]
    return Piece(f"rows_of({as_tuple(texts)})", array(2))


@listed(np.concatenate, np.hstack)
def write_concatenate(entries: list[Piece], axis: Any = 0) -> Piece:
    """Vectors, one after the other."""
    if constant_of(axis) not in (0, -1) or any(p.term.ndim != 1 for p in entries):
        refuse_listed("numpy.concatenate", "of other arrays than vectors")
    check(*entries)
    text = entries[0].text
    for other in entries[1:]:
        text = f"both_ends({text}, {other.text})"
    return Piece(text if len(entries) > 1 else f"{text}.copy()", array(1))


@listed(np.stack, np.vstack)
def write_stack(entries: list[Piece], axis: Any = 0) -> Piece:
    if constant_of(axis) != 0 or any(p.term.ndim != 1 for p in entries):
        refuse_listed("numpy.stack", "of other arrays than vectors, or along an axis")
    return write_row(*entries)


def refuse_listed(name: str, reason: str) -> None:
    refuse(f"{name} {reason}")


def as_tuple(texts: list[str]) -> str:
    return f"({', '.join(texts)},)"


# shapes


def flat(x: Piece) -> str:
    """The text of all entries of an array, as a vector."""
    if x.term.ndim == 1:
        return x.text
    return f"np.ascontiguousarray({x.text}).reshape({x.text}.size)"


@function(np.ravel)
@method("ravel", "flatten")
def write_ravel(x: Piece) -> Piece:
    check(x)
    text = f"{x.text}.copy()" if x.term.ndim == 1 else flat(x)
    return Piece(text, array(1))


@function(np.reshape)
def write_reshape(x: Piece, *shape: Piece) -> Piece:
    check(x)
    if len(shape) > 1:
        given = as_tuple([p.text for p in shape])
        whole = Piece(given, Term("row", parts=tuple(p.term for p in shape)))
    else:
        (whole,) = shape
    text = f"np.ascontiguousarray({x.text}).reshape({whole.text})"
    return Piece(text, array(axes_of(whole)))


@function(np.transpose)
def write_transpose(x: Piece) -> Piece:
    return Piece(f"{x.text}.T", x.term)


@function(np.swapaxes)
def write_swapaxes(x: Piece, one: Piece, other: Piece) -> Piece:
    axes = {constant_of(one) % 2, constant_of(other) % 2}
    if x.term.ndim != 2 or axes != {0, 1}:
        refuse("only both axes of matrices are known")
    return write_transpose(x)


@function(np.flip, np.flipud)
def write_flip(x: Piece, axis: Any = 0) -> Piece:
    if x.term.ndim != 1 or constant_of(axis) not in (None, 0, -1):
        refuse("only vectors are known")
    return Piece(f"{x.text}[::-1]", x.term)


@function(np.shape)
def write_shape(x: Piece) -> Piece:
    parts = (INT,) * x.term.ndim
    return Piece(f"{x.text}.shape", Term("row", parts=parts))


@function(np.size)
def write_size_of(x: Piece) -> Piece:
    return Piece(f"{x.text}.size", INT)


@function(np.ndim)
def write_ndim(x: Piece) -> Piece:
    return Piece(str(x.term.ndim), INT, literal=True)


# broadcast


@function(helpers.spread, helpers.filled, np.broadcast_to)
def write_spread(*args: Piece) -> Piece:
    """An array with a broadcast number or smaller array."""
    d, shape = args if args[1].term.name == "row" else args[::-1]
    if not (d.term.is_array or d.term.is_number):
        refuse("only numbers and arrays are known")
    term = array(axes_of(shape))
    if d.term.is_number:
        return Piece(f"spread(float({d.text}), {shape.text})", term)
    ends = d.term.ndim, term.ndim
    if ends not in ((1, 1), (1, 2), (2, 2)):
        refuse(f"{ends[0]} axes are broadcast to {ends[1]}")
    return Piece(f"spread_{ends[0]}_{ends[1]}({d.text}, {shape.text})", term)


@function(helpers.wide)
def write_wide(d: Piece, shape: Piece) -> Piece:
    if d.term == array(axes_of(shape)) and d.term.ndim < 3:
        text = f"spread_{d.term.ndim}_{d.term.ndim}({d.text}, {shape.text})"
        return Piece(text, d.term)
    return write_spread(d, shape)


@function(arrays.undiff)
def write_undiff(d: Piece, shape: Piece, axis: Piece) -> Piece:
    if axes_of(shape) != 1:
        refuse("only vectors are known")
    return Piece(f"undiff({d.text}, {shape.text}[0])", array(1))


@function(np.diff)
def write_diff(x: Piece, n: Any = 1) -> Piece:
    """First differences of a vector."""
    if x.term != array(1) or constant_of(n) != 1:
        refuse("only first differences of vectors are known")
    return Piece(f"({x.text}[1:] - {x.text}[:-1])", array(1))


@function(arrays.trace_back)
def write_trace_back(d: Piece, shape: Piece) -> Piece:
    return Piece(f"on_diagonal({d.text}, {shape.text})", array(2))
