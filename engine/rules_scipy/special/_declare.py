"""Declaring the functions of this pack."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.special

import rules_core as rc
from rules_core.extend import signed, strong_product
from rules_numpy.formulas import FORMULAS, in_framework
from rules_scipy._lists import taking_lists

__all__ = [
    "DECLARED",
    "PARTIALS",
    "Recurrence",
    "arrays",
    "by_formula",
    "complex_valued",
    "constant",
    "elementwise",
    "is_complex",
    "is_integer",
    "name_of",
    "no_derivative",
    "on_doubles",
    "scalar_rule",
    "signed",
    "partial_of",
    "strong",
    "ufunc",
    "give_rules",
]

# Declared functions: "covered" or "constant".
DECLARED: dict[Any, str] = {}
# The partials of ufuncs, one per argument.
PARTIALS: dict[Any, tuple[Any, ...]] = {}


def elementwise(function: Callable[..., Any]) -> rc.Primitive:
    """The primitive of a NumPy-only elementwise function."""
    DECLARED[function] = "covered"
    return rc.primitive(function, host=True, elementwise=True)


@runtime_checkable
class _OfFunction(Protocol):
    """A partial that calls the declared function: a difference."""

    def of(self, f: Any, position: int) -> Callable[..., Any]:
        """The partial of `f` in the argument at `position`."""


class Recurrence:
    """A partial that calls the declared function at other parameters.

    Args:
        formula: `formula(f, *args)` in array-API code.
    """

    def __init__(self, formula: Callable[..., Any]) -> None:
        self.formula = formula

    def of(self, f: Any, position: int) -> Callable[..., Any]:
        """The partial of `f`."""
        return lambda _y, *args: self.formula(f, *args)


def ufunc(f: Any, *partials: Any, holomorphic: bool = False) -> rc.Primitive:
    """The primitive of a ufunc, with rules from one partial per argument.

    Args:
        f: The ufunc, or an elementwise function.
        *partials: For each argument a function `partial(y, *args)` in array-API code
            and calls of primitives, which is called only if it is needed; for several
            outputs it returns a tuple. `Recurrence` and `Difference` make partials that
            call `f` itself. A text instead says why there is none, for the
            error if an argument that is not an integer needs it; None: a constant.
        holomorphic: Whether the Cauchy–Riemann equations hold.
    """
    made = f if isinstance(f, rc.Primitive) else elementwise(f)
    partials = tuple(
        p.of(made, i) if isinstance(p, _OfFunction) else p
        for i, p in enumerate(partials)
    )
    PARTIALS[made] = partials

    def ufunc_partials(
        y: Any, *args: Any, needs: tuple[bool, ...], **options: Any
    ) -> Any:
        column = _column
        if not options and _are_doubles((y, *args)):
            column = _column_of_doubles
        else:
            _check_options(made, args, options)
            args = _without_lists(made, args)
        columns = [
            column(partial, y, args, i) if needed else rc.NoTangent()
            for i, (partial, needed) in enumerate(zip(partials, needs, strict=True))
        ]
        return _transposed(columns, len(y)) if isinstance(y, tuple) else tuple(columns)

    _pretend(ufunc_partials, partials, name_of(f), isinstance(f, np.ufunc))
    scalar_rule(made, ufunc_partials, holomorphic=holomorphic)
    return made


def by_formula(name: str) -> Any:
    """The partial of a function that has a formula in the NumPy pack."""
    partials = in_framework(FORMULAS[name])

    def partial_by_formula(y: Any, x: Any) -> Any:
        return partials(rc.array_namespace(x), y, x)[0]

    return partial_by_formula


# Options of NumPy's ufuncs that the derivative does not depend on.
_SUPPORTED = frozenset({"order", "subok", "casting", "dtype"})


def _check_options(f: rc.Primitive, args: tuple[Any, ...], options: Any) -> None:
    in_numpy = all(isinstance(x, np.ndarray | np.generic) or not rc.is_array(x)
                   for x in args)  # fmt: skip
    unsupported = [name for name in options if not (in_numpy and name in _SUPPORTED)]
    if unsupported:
        message = (
            f"the derivative of {f.__qualname__} must be taken without "
            f"{unsupported[0]}=, but got it. Select or assign entries of the result."
        )
        raise rc.UnsupportedError(message)


def _without_lists(f: rc.Primitive, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments with constant lists as arrays; only of a ufunc may others be lists."""
    for x in args:
        if isinstance(x, list | tuple) and rc.has_tangent(x):
            message = (
                f"the derivative of {name_of(f.fun)} must be given an array, but got a "
                f"{type(x).__name__}. Convert it by np.asarray."
            )
            raise rc.UnsupportedError(message)
    return tuple([np.asarray(x) if isinstance(x, list | tuple) else x for x in args])


def _column(partial: Any, y: Any, args: tuple[Any, ...], position: int) -> Any:
    if partial is None or is_integer(args[position]):
        return rc.NoTangent()
    if isinstance(partial, str):
        return rc.not_implemented(partial)
    outputs = y if isinstance(y, tuple) else (y,)
    floating = [x for x in args if _is_floating(x)]
    _, *made = arrays(*outputs, *floating)
    outputs, floats = tuple(made[: len(outputs)]), iter(made[len(outputs) :])
    args = tuple(next(floats) if _is_floating(x) else _wide(x) for x in args)
    return partial(outputs if isinstance(y, tuple) else outputs[0], *args)


# Classes of doubles, and of arrays that may be made of them.
_DOUBLES = frozenset({float, np.float64, np.ndarray})


def _are_doubles(values: tuple[Any, ...]) -> bool:
    """Whether all values are Python's or NumPy's doubles, with one output."""
    return all(
        type(x) in _DOUBLES and (type(x) is not np.ndarray or x.dtype == np.float64)
        for x in values
    )


def _column_of_doubles(
    partial: Any, y: Any, args: tuple[Any, ...], position: int
) -> Any:
    """`_column` where nothing has to be converted but numbers to arrays."""
    if partial is None:
        return rc.NoTangent()
    if isinstance(partial, str):
        return rc.not_implemented(partial)
    made = [np.asarray(x) if type(x) is float else x for x in (y, *args)]
    return partial(*made)


def _wide(x: Any) -> Any:
    """Booleans and short integers as integers: NumPy's logarithm of them is short."""
    if isinstance(x, bool):
        return int(x)
    narrow = isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "biu"
    return x.astype(np.int64) if narrow and x.dtype.itemsize < 4 else x


def _is_floating(x: Any) -> bool:
    """Whether `x` is a number or an array, but no integer."""
    return not is_integer(x) and (rc.is_array(x) or isinstance(x, (float, complex)))


def _transposed(columns: list[Any], count: int) -> tuple[Any, ...]:
    return tuple(
        tuple(column[k] if isinstance(column, tuple) else column for column in columns)
        for k in range(count)
    )


def _pretend(
    rows: Any, partials: tuple[Any, ...], name: str, takes_options: bool
) -> None:
    """Give the partials of a declaration their signature, and its place in the file."""
    names = ["y", *(f"x{i + 1}" for i in range(len(partials)))]
    plain, keyword = (
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.KEYWORD_ONLY,
    )
    parameters = [inspect.Parameter(n, plain) for n in names]
    parameters.append(inspect.Parameter("needs", keyword))
    if takes_options:
        kind = inspect.Parameter.VAR_KEYWORD
        parameters.append(inspect.Parameter("options", kind))
    rows.__signature__ = inspect.Signature(parameters)
    rows.__name__ = rows.__qualname__ = f"{name}_partials"
    formulas = [p for p in partials if callable(p)]
    written = min(formulas, key=lambda p: hasattr(p, "difference"), default=None)
    if written is not None:
        rows.__wrapped__, rows.__module__ = written, written.__module__


def partial_of(f: rc.Primitive, position: int, *args: Any) -> Any:
    """The partial of a function declared by `ufunc`, at `args`."""
    return PARTIALS[f][position](f(*args), *args)


def constant(*functions: Any) -> None:
    """Declare functions without derivative."""
    for function in functions:
        DECLARED[function] = "constant"
        rc.non_differentiable(function)


def complex_valued(f: rc.Primitive) -> rc.Primitive:
    """Declare that `f` is complex at real arguments too."""
    inner: Any = f.shape_rule

    @rc.shape_rule.define(f)
    def complex_shape(*args: Any, **kw: Any) -> Any:
        out = inner(*args, **kw)
        outputs = out if isinstance(out, tuple) else (out,)
        made = tuple(
            rc.ShapeDtype(x.shape, np.result_type(x.dtype, np.complex64))
            for x in outputs
        )
        return made if isinstance(out, tuple) else made[0]

    complex_shape.__qualname__ = f"complex_shape[{f.__qualname__}]"
    return f


def arrays(*xs: Any) -> tuple[Any, ...]:
    """The namespace of `xs`, and `xs` with numbers as 0-d arrays of their dtype."""
    xp = rc.array_namespace(*xs)
    floating = [
        x.dtype
        for x in xs
        if rc.is_array(x) and xp.isdtype(x.dtype, ("real floating", "complex floating"))
    ]
    dtype = xp.result_type(*floating) if floating else xp.asarray(0.0).dtype
    wide = xp.result_type(dtype, xp.complex64)
    dtype = xp.abs(xp.asarray(0, dtype=dtype)).dtype  # a real number stays real
    return xp, *(
        x
        if rc.is_array(x)
        else xp.asarray(x, dtype=wide if isinstance(x, complex) else dtype)
        for x in xs
    )


def is_complex(x: Any) -> bool:
    """Whether `x` is a complex number or an array of them."""
    if not rc.is_array(x):
        return isinstance(x, complex)
    return bool(rc.array_namespace(x).isdtype(x.dtype, "complex floating"))


def is_integer(x: Any) -> bool:
    """Whether `x` is an integer or an array of them."""
    if not rc.is_array(x):
        return isinstance(x, int)
    return bool(rc.array_namespace(x).isdtype(x.dtype, ("integral", "bool")))


def no_derivative(x: Any, why: str) -> Any:
    """The partial in an argument without a formula: an error if it is needed.

    Args:
        x: The argument; an integer has no tangent anyway.
        why: What is missing and the remedy, for the error.
    """
    return rc.NoTangent() if is_integer(x) else rc.not_implemented(why)


def on_doubles(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of float64 arrays of one shape (n,) accept a ufunc's arguments.

    Arguments broadcast; the widest floating argument decides the dtype of the result,
    which is computed in double.
    """

    @wraps(function)
    def broadcasting(*args: Any) -> Any:
        arrays = [np.asarray(x) for x in args]
        if any(x.dtype.kind not in "biuf" for x in arrays):
            message = (
                f"{function.__name__} must be given real arguments, but got dtypes "
                f"{', '.join(str(x.dtype) for x in arrays)}."
            )
            raise TypeError(message)
        dtypes = [x.dtype for x in args if hasattr(x, "dtype") and x.dtype.kind == "f"]
        dtype = np.result_type(*dtypes) if dtypes else np.dtype(float)
        flat = [x.ravel() for x in np.broadcast_arrays(*map(_double, arrays))]
        shape = np.broadcast_shapes(*(x.shape for x in arrays))
        return function(*flat).reshape(shape).astype(dtype)[()]

    return broadcasting


def _double(x: Any) -> Any:
    return x.astype(np.float64)


def scalar_rule(
    f: rc.Primitive, partials: Callable[..., Any], *, holomorphic: bool = False
) -> None:
    """`rc.scalar_rule` without warnings at poles, like SciPy's functions."""

    @wraps(partials)
    def silent(*args: Any, **kw: Any) -> Any:
        with np.errstate(all="ignore"):
            return partials(*args, **kw)

    signature = getattr(partials, "__signature__", None)
    if signature is not None:
        vars(silent)["__signature__"] = signature
    rc.scalar_rule(f, silent, holomorphic=holomorphic)


def strong(partial: Any, dx: Any) -> Any:
    """`partial · dx`, but zero where `dx` is zero and the partial is not finite."""
    _, partial, dx = arrays(partial, dx)
    return strong_product(partial, dx)


def name_of(f: Any) -> str:
    """The name of a function; those of several ufuncs have none before SciPy 1.17."""
    own: str | None = getattr(f, "__name__", None)
    public = vars(scipy.special).items()
    return own or next(name for name, value in public if value is f)


def give_rules(
    made: rc.Primitive, stem: str, frule: Any, rrule: Any, shape: Any, batch: Any
) -> rc.Primitive:
    """A primitive with these rules, under its function's name in place of the stem."""
    own = name_of(made.fun)
    kinds: tuple[Any, ...] = rc.frule, rc.rrule, rc.shape_rule, rc.batch_rule
    frule, rrule = taking_lists(made.fun, frule, rrule)
    for kind, rule in zip(kinds, (frule, rrule, shape, batch), strict=True):
        rule.__qualname__ = rule.__name__ = rule.__name__.replace(stem, own)
        kind.define(made)(rule)
    return made
