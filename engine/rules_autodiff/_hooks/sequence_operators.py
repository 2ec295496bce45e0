"""Operators in C: of sequences, and of NumPy values beside other objects.

NumPy makes an array of whatever stands beside an array or a NumPy scalar, a list as
well as a `range` or an object with `__array__`. The engine makes the same array of the
values that it follows, and compares the class of the result with NumPy's own.
"""

import array
import operator
from collections import deque
from typing import Any

import numpy as np

from rules_autodiff._python.methods import class_attribute, python_method, users_method
from rules_autodiff._python.opaque import is_opaque
from rules_autodiff._python.values import INERT, is_arithmetic, is_number
from rules_autodiff._refusals import refused

from .access import as_index
from .bytes import joined
from .interface import Hooks
from .numpy_protocols import as_entry
from .special_methods import may_write
from .text_stand_ins import shown
from .texts import written

__all__ = [
    "FOLLOWED",
    "SEQUENCES",
    "as_object",
    "asks_python",
    "by_arrays",
    "check_followed",
    "defers",
    "foreign",
    "is_fraction",
    "is_numpy",
    "of_class",
]

UFUNCS = {
    "truediv": np.true_divide, "floordiv": np.floor_divide, "sub": np.subtract,
    "mul": np.multiply, "pow": np.power, "mod": np.remainder, "add": np.add,
    "matmul": np.matmul, "and_": np.bitwise_and, "or_": np.bitwise_or,
    "xor": np.bitwise_xor, "lshift": np.left_shift, "rshift": np.right_shift,
}  # fmt: skip

# Sequences in C: their `+` and `*` are asked after all methods for numbers.
SEQUENCES = (list, tuple, str, bytes, bytearray, deque, array.array, memoryview, range)
FOLLOWED = (list, tuple, deque)  # may hold values with derivatives
# What makes an object an array to NumPy, or a sequence of numbers.
ARRAY_LIKE = ("__array__", "__array_interface__", "__array_struct__", "__getitem__")


def foreign(run: Hooks, name: str, x: Any, y: Any) -> Any:
    """An operator of two objects whose classes are written in C."""
    if name == "mod" and isinstance(x, str | bytes):  # "%g" % value
        result = run.below.mod(x, shown(run, y))
        written(run, result, y)
        return joined(run, result, x)
    if is_numpy(x) or is_numpy(y):
        return beside_array(run, name, x, y)
    if name == "mul":  # a sequence, repeated
        x, y = as_index(run, x), as_index(run, y)
    return joined(run, getattr(run.below, name)(x, y), x, y)


def beside_array(run: Hooks, name: str, x: Any, y: Any) -> Any:
    """`x op y` of a NumPy value and an object that is no number."""
    for own in (x, y):
        method = python_method(type(own), "__array_ufunc__")
        if method is not None and not is_opaque(method):
            return run.call(UFUNCS[name], x, y)
    if not run.is_active((x, y)) and not (asks_python(x) or asks_python(y)):
        return getattr(run.below, name)(x, y)
    if asks_python(x) or asks_python(y):
        return by_arrays(run, name, x, y)
    return by_arrays(run, name, x, y, getattr(operator, name)(x, y))


def by_arrays(run: Hooks, name: str, x: Any, y: Any, plain: Any = None) -> Any:
    """The operator on the numbers and arrays that two objects stand for.

    Args:
        run: The run.
        name: The operator's hook.
        x: The first operand.
        y: The second operand.
        plain: NumPy's own result, where nothing of the program was run for it.
    """
    if isinstance(plain, FOLLOWED):  # a sequence, repeated
        return plain
    one, other = operand(run, x), operand(run, y)
    for given, found in ((x, one), (y, other)):
        if found is None:
            refused("operand", type(given).__name__)
    result = run.numeric(name, (one, other))
    return result if plain is None else of_class(run, result, plain, (x, y))


def operand(run: Hooks, x: Any) -> Any:
    """The number or array that NumPy makes of an operand; None for no number."""
    if is_arithmetic(x):
        return x
    if is_fraction(x):
        return float(x)
    if isinstance(x, FOLLOWED):
        x = run.call(np.asarray, list(run.iter(x)))
    elif asks_python(x) or type(x) is np.flatiter:
        x = run.call(np.asarray, as_entry(run, x))
    elif isinstance(x, np.ndarray) or run.is_active(x):
        return None
    else:
        x = np.asarray(x)
    known = is_arithmetic(x) and x.dtype.kind in "biufc"
    return x if known else None


def of_class(run: Hooks, result: Any, plain: Any, operands: tuple[Any, ...]) -> Any:
    """A result as an object of NumPy's own class; refused where it is another."""
    if type(result) is type(plain) and same_dtype(result, plain):
        return result
    if is_number(result) and is_number(plain):
        return run.call(type(plain), result)
    odd = next(x for x in operands if not is_arithmetic(x))
    return refused("operand", type(odd).__name__)


def as_object(run: Hooks, x: Any, beside: Any) -> Any:
    """A NumPy scalar beside an object that is neither number nor array.

    NumPy hands Python's own number to the object.
    """
    if not isinstance(x, np.generic) or any(
        class_attribute(type(beside), name) is not None for name in ARRAY_LIKE
    ):
        return x
    if not isinstance(x, np.inexact):
        return x.item()
    kind = complex if isinstance(x, np.complexfloating) else float
    return run.call(kind, x)


def check_followed(x: Any) -> None:
    """Refuse what NumPy asks an object for, if that changes something."""
    method = users_method(x, "__array__")
    if method is not None and may_write(method, type(x)):
        refused("operand", type(x).__name__)


def is_numpy(x: Any) -> bool:
    return isinstance(x, np.ndarray | np.generic)


def is_fraction(x: Any) -> bool:
    return type(x).__module__ == "fractions"


def same_dtype(one: Any, other: Any) -> bool:
    return bool(np.shape(one) == np.shape(other)) and (
        getattr(one, "dtype", None) == getattr(other, "dtype", None)
    )


def asks_python(x: Any) -> bool:
    """Whether methods of the user's say which array an object stands for."""
    if type(x) in INERT or is_arithmetic(x) or isinstance(x, FOLLOWED):
        return False
    if python_method(type(x), "__array__") is not None:
        return not stands_apart(x)
    sequence = users_method(x, "__len__") and users_method(x, "__getitem__")
    return bool(sequence) and not stands_apart(x)


def stands_apart(x: Any) -> bool:
    """Whether a class says `__array_ufunc__ = None`: arrays leave it the operator."""
    known = any("__array_ufunc__" in vars(base) for base in type(x).__mro__)
    return known and class_attribute(type(x), "__array_ufunc__") is None


def defers(x: Any, y: Any) -> bool:
    """Whether an array leaves `x op= y` to the method of `y`."""
    if class_attribute(type(y), "__array_ufunc__") is not None or stands_apart(y):
        return False
    own, other = (getattr(v, "__array_priority__", -1e6) for v in (x, y))
    return bool(own < other)
