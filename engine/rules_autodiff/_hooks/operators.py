"""Hooks of operators: numbers and arrays by rule, other classes by their methods."""

import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from rules_autodiff._python.errors import AFTERWARDS, note_half_written
from rules_autodiff._python.methods import class_attribute
from rules_autodiff._python.opaque import is_opaque
from rules_autodiff._python.own_errors import ERRORS, raise_own
from rules_autodiff._python.values import is_arithmetic, is_number
from rules_autodiff._refusals import refused
from rules_core import AbstractTangent

from . import close_calls
from .bytes import equal_keys
from .caches import equal_arrays, equal_numbers
from .identity import is_same
from .interface import Hooks
from .sequence_operators import (
    FOLLOWED,
    SEQUENCES,
    as_object,
    asks_python,
    by_arrays,
    check_followed,
    defers,
    foreign,
    is_fraction,
    of_class,
)
from .special_methods import compare_parts, equal_dicts, is_asked

__all__ = [
    "BINARY",
    "COMPARISONS",
    "OPERATORS",
    "binary",
    "castable",
    "comparison",
    "inplace",
    "method_of",
    "unary",
]

BINARY = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift",
    "rshift", "and_", "or_", "xor",
)  # fmt: skip
KEYS = frozenset({str, bytes, int, tuple})  # classes of what caches compare
TEXTS = (str, bytes, bytearray)
COMPARISONS = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


def binary(run: Hooks, name: str, x: Any, y: Any) -> Any:
    """`x op y`, for any two objects."""
    if is_arithmetic(x) and is_arithmetic(y):
        return run.numeric(name, (x, y))
    if is_fraction(x) or is_fraction(y):
        result = beside_fraction(run, name, x, y)
    else:
        result = by_methods(run, name, x, y)
    if result is not NotImplemented:
        return result
    if is_plain_number(x) and is_plain_number(y):
        return run.numeric(name, (without_class(x), without_class(y)))
    if name == "or_" and isinstance(x, dict) and isinstance(y, dict):
        return run.call(dict.__or__, x, y)
    return foreign(run, name, x, y)


def beside_fraction(run: Hooks, name: str, x: Any, y: Any) -> Any:
    """A fraction beside a floating number, which makes it one."""
    one, other = (as_float(run, v) for v in (x, y))
    if not (is_number(x) or is_number(y)) or is_fraction(one) or is_fraction(other):
        return by_methods(run, name, x, y)
    plain = getattr(operator, name)(x, y)
    return of_class(run, run.numeric(name, (one, other)), plain, (x, y))


def as_float(run: Hooks, x: Any) -> Any:
    """A fraction or a real NumPy scalar as Python's own number."""
    return float(x) if is_fraction(x) else as_object(run, x, None)


def by_methods(run: Hooks, name: str, x: Any, y: Any) -> Any:
    """The answer of two objects' methods, where one of them is in Python.

    NotImplemented where none is, or none of them answers.
    """
    special = name.strip("_")
    left, right = method_of(x, f"__{special}__"), method_of(y, f"__r{special}__")
    if name == "mod" and isinstance(x, TEXTS) and not isinstance(y, type(x)):
        right = None  # a format takes any object
    if left is None and right is None:
        return NotImplemented
    attempts = [(left, x, y), (right, y, x)]
    if type(x) is type(y):
        attempts.pop()
    elif isinstance(y, type(x)) and right is not None:
        attempts.reverse()
    for method, own, other in attempts:
        if method is None:
            result = by_native(run, name, x, y, own)
        else:
            result = run.call(method, own, other)
        if result is not NotImplemented:
            return result
    return NotImplemented


def by_native(run: Hooks, name: str, x: Any, y: Any, own: Any) -> Any:
    """The answer of a C method of one of two operands."""
    if isinstance(own, SEQUENCES):  # asked at the end
        return NotImplemented
    other = x if own is y else y
    if is_plain_number(own) and isinstance(other, int | float | complex):
        plain = native_method(own, other, name, reflected=own is y)
        if plain is NotImplemented:
            return plain
        return run.numeric(name, (without_class(x), without_class(y)))
    if not isinstance(own, np.ndarray | np.generic) or not run.is_active((x, y)):
        return native_method(own, other, name, reflected=own is y)
    if isinstance(other, AbstractTangent):
        return native_method(own, other, name, reflected=own is y)
    if isinstance(own, np.generic) and not defers(own, other):
        number = as_object(run, own, other)
        if number is not own:
            return run.binary(name, *((number, y) if own is x else (x, number)))
    check_followed(other)
    plain = native_method(own, other, name, reflected=own is y)
    return plain if plain is NotImplemented else by_arrays(run, name, x, y, plain)


def unary(run: Hooks, name: str, x: Any) -> Any:
    if name == "pos" and type(x) in (float, complex):  # is its own
        return x
    if is_arithmetic(x):
        return run.numeric(name, (x,))
    method = method_of(x, f"__{name}__")
    return getattr(run.below, name)(x) if method is None else run.call(method, x)


def comparison(run: Hooks, name: str, x: Any, y: Any) -> Any:
    if is_arithmetic(x) and is_arithmetic(y):
        result = getattr(operator, name)(x, y)
        equal = name in ("eq", "ne") and bool(np.all(result == (name == "eq")))
        close_calls.compared(run, x, y, equal=equal)
        if equal and isinstance(result, np.ndarray):
            equal_arrays(run, x, y)
        return result
    result = compared(run, name, x, y)
    if result is not NotImplemented:
        return result
    if is_asked(x) or is_asked(y):
        for cls in (list, tuple):
            if isinstance(x, cls) and isinstance(y, cls):
                return compare_parts(run, name, x, y)
        if type(x) is type(y) is dict and name in ("eq", "ne"):
            return equal_dicts(run, x, y) == (name == "eq")
    if name in ("eq", "ne") and compared_by_identity(x) and compared_by_identity(y):
        return is_same(run, x, y) == (name == "eq")
    result = getattr(operator, name)(x, y)
    if name in ("eq", "ne") and result is (name == "eq"):
        equal_objects(run, x, y)
    return result


def equal_objects(run: Hooks, x: Any, y: Any) -> None:
    """Note that two lists, texts or other objects were found equal."""
    if not run.close and (run.whole or run.is_active(x) or run.is_active(y)):
        close_calls.meet(run)


def compared_by_identity(x: Any) -> bool:
    """Whether a class leaves `==` to `object`."""
    method: Any = type(x).__eq__
    return method is object.__eq__


def compared(run: Hooks, name: str, x: Any, y: Any) -> Any:
    """The answer of two objects' methods, or NotImplemented."""
    attempts = [(name, x, y), (COMPARISONS[name], y, x)]
    if type(y) is not type(x) and isinstance(y, type(x)):
        attempts.reverse()
    for asked, own, other in attempts:
        method = method_of(own, f"__{asked}__")
        negated = method is None and asked == "ne"
        if negated:  # Python asks whether they are equal
            method = method_of(own, "__eq__")
        if method is not None and not is_opaque(method):
            result = run.call(method, own, other)
            if result is not NotImplemented:
                return not run.truth(result) if negated else result
    return NotImplemented


def inplace(run: Hooks, name: str, x: Any, y: Any) -> Any:
    """`x op= y`: arrays and lists are written to, all else is computed anew."""
    plain = name.strip("_")
    if isinstance(x, np.ndarray) and is_arithmetic(x):
        return inplace_array(run, name, x, y)
    method = method_of(x, f"__i{plain}__")
    if method is not None:
        result = run.call(method, x, y)
        return run.binary(name, x, y) if result is NotImplemented else result
    if isinstance(x, np.ndarray):  # of a class with operators of its own
        return inplace_foreign(run, name, x, y)
    if isinstance(x, SEQUENCES):  # its `+=` is asked after all methods for numbers
        if isinstance(y, np.ndarray | np.generic):
            return run.binary(name, x, y)
        result = by_methods(run, name, x, y)
        if result is not NotImplemented:
            return result
    if isinstance(x, list) and name in ("add", "mul"):
        attribute = "extend" if name == "add" else "__imul__"
        run.call(getattr(x, attribute), y)
        return x
    if isinstance(x, dict) and name == "or_":
        run.call(x.update, y)
        return x
    native = getattr(type(x), f"__i{plain}__", None)
    if native is None:
        return run.binary(name, x, y)
    result = run.call(getattr(x, f"__i{plain}__"), y)
    return run.binary(name, x, y) if result is NotImplemented else result


def inplace_array(run: Hooks, name: str, x: Any, y: Any) -> Any:
    """`x op= y` of an array, which is written to."""
    if is_arithmetic(y) or isinstance(y, FOLLOWED):
        try:
            value = run.binary(name, x, y)
        except AFTERWARDS as error:
            note_half_written(error)
            raise
    elif defers(x, y) or isinstance(y, AbstractTangent):
        return run.binary(name, x, y)
    elif isinstance(y, np.ndarray):
        return inplace_foreign(run, name, x, y)
    else:
        value = inplace_value(run, name, x, y)
    run.write(x, Ellipsis, castable(value, x, name, y))
    return x


def inplace_foreign(run: Hooks, name: str, x: Any, y: Any) -> Any:
    """`x op= y` of arrays of which one has a class with operators of its own."""
    if run.is_active((x, y)):
        refused("operand", type(x if is_arithmetic(y) else y).__name__)
    copied = x.copy()
    value = getattr(operator, "i" + name.strip("_"))(copied, y)
    if value is not copied:
        return value
    run.write(x, Ellipsis, value)
    return x


def inplace_value(run: Hooks, name: str, x: Any, y: Any) -> Any:
    """The object that `x op= y` leaves in `x`, if that is no number."""
    if asks_python(y):
        return by_arrays(run, name, x, y)
    plain = getattr(operator, "i" + name.strip("_"))(x.copy(), y)
    if not run.is_active((x, y)):
        return plain
    return of_class(run, by_arrays(run, name, x, y), plain, (x, y))


def is_plain_number(x: Any) -> bool:
    """Whether `x` is a number or an array, be it with operators of its own too."""
    return is_arithmetic(x) or isinstance(x, int | float | complex)


def without_class(x: Any) -> Any:
    """A number without the operators of its class: rules calculate with it."""
    if is_arithmetic(x):
        return x
    classes: tuple[Any, ...] = (int, float, complex)
    return next((cls.__pos__(x) for cls in classes if isinstance(x, cls)), x)


def method_of(x: Any, name: str) -> FunctionType | None:
    """The special method of an instance, where it is written in Python."""
    for cls in type(x).__mro__:
        found = cls.__dict__.get(name)
        if found is not None:
            return found if isinstance(found, FunctionType) else None
    return None


def native_method(own: Any, other: Any, name: str, *, reflected: bool) -> Any:
    special = name.strip("_")
    special = f"__r{special}__" if reflected else f"__{special}__"
    method = class_attribute(type(own), special)  # `type` itself has `__or__`
    return NotImplemented if method is None else method(own, other)


def castable(value: Any, dest: Any, name: str, other: Any) -> Any:
    """The result of an in-place operator; what NumPy refuses, in NumPy's words."""
    dtype = getattr(value, "dtype", dest.dtype)
    shape = getattr(value, "shape", ())
    if shape != dest.shape or not np.can_cast(dtype, dest.dtype, "same_kind"):
        getattr(operator, "i" + name.strip("_"))(dest.copy(), other)
    return value


def _binary(name: str) -> Callable[..., Any]:
    def hook(run: Hooks, x: Any, y: Any) -> Any:
        return run.binary(name, x, y)

    return hook


def _unary(name: str) -> Callable[..., Any]:
    def hook(run: Hooks, x: Any) -> Any:
        return run.unary(name, x)

    return hook


def _comparison(name: str) -> Callable[..., Any]:
    compare, wanted = getattr(operator, name), {"eq": True, "ne": False}.get(name)

    def hook(run: Hooks, x: Any, y: Any) -> Any:
        if type(x) in PLAIN_NUMBERS and type(y) in PLAIN_NUMBERS:
            result = compare(x, y)
            if not run.close:
                close_calls.compared(run, x, y, equal=bool(result) is wanted)
            return result
        return run.comparison(name, x, y)

    return hook


def _equality(name: str) -> Callable[..., Any]:
    """`==` of two values none of which is a literal: a cache may be asking."""
    compare, wanted = getattr(operator, name), name == "eq"

    def hook(run: Hooks, x: Any, y: Any) -> Any:
        if type(x) in PLAIN_NUMBERS and type(y) in PLAIN_NUMBERS:
            result = compare(x, y)
            if not run.close:
                close_calls.compared(run, x, y, equal=result == wanted)
            if result == wanted:
                equal_numbers(run, x, y)
            return result
        result = run.comparison(name, x, y)
        if type(x) in KEYS and run.made and result == wanted:
            equal_keys(run, x, y)
        return result

    return hook


def _inplace(name: str) -> Callable[..., Any]:
    inplace = getattr(operator, "i" + name.strip("_"))

    def hook(run: Hooks, x: Any, y: Any) -> Any:
        try:
            if type(x) in PLAIN_NUMBERS:  # immutable: x += y is x = x + y
                return getattr(run, name)(x, y)
            return run.inplace(name, x, y)
        except ERRORS as error:
            raise_own(error, inplace, (x, y), {})
            raise

    return hook


PLAIN_NUMBERS = frozenset({float, int, np.float64, bool})


def difference(run: Hooks, x: Any, y: Any) -> Any:
    """`x - y`."""
    z = run.binary("sub", x, y)
    close_calls.subtracted(run, z, x, y)
    return z


def floor_division(run: Hooks, x: Any, y: Any) -> Any:
    """`x // y`, which rounds."""
    close_calls.whole(run, x)
    return run.binary("floordiv", x, y)


def made(maker: Callable[[str], Any], names: Any, prefix: str = "") -> dict[str, Any]:
    """Hooks by their names."""
    pairs = [(prefix + n.strip("_") if prefix else n, maker(n)) for n in names]
    return dict(pairs)


# The hooks of all operators, as lifted code calls them.
OPERATORS = {
    **made(_binary, BINARY),
    **made(_unary, ("neg", "pos", "invert", "abs")),
    **made(_comparison, ("lt", "le", "gt", "ge")),
    **made(_comparison, ("eq", "ne"), "literal_"),
    **made(_equality, ("eq", "ne")),
    **made(_inplace, BINARY, "i"),
    "floordiv": floor_division,
    "sub": difference,
}
