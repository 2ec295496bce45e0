"""Hooks of operators: numbers and arrays by rule, other classes by their methods."""

import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from rules_autodiff._explain import refused
from rules_autodiff._hooks import Hooks
from rules_autodiff._opaque import is_opaque
from rules_autodiff._shown import shown
from rules_autodiff._special import is_asked
from rules_autodiff._values import is_number, is_numeric
from rules_core import AbstractTangent

__all__ = ["Operators"]

BINARY = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift",
    "rshift", "and_", "or_", "xor",
)  # fmt: skip
KEYS = frozenset({str, bytes, int, tuple})  # classes of what caches compare
COMPARISONS = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


class Operators(Hooks):
    """Hooks for unary and binary operators, comparisons and in-place operators.

    A mode overrides `numeric`, which gets every operation of which an operand is a
    number or an array and all are.
    """

    def binary(self, name: str, x: Any, y: Any) -> Any:
        """`x op y`, for any two objects."""
        if is_numeric(x) and is_numeric(y):
            return self.numeric(name, (x, y))
        if is_fraction(x) or is_fraction(y):
            x, y = as_float(x, y), as_float(y, x)
            if is_numeric(x) and is_numeric(y):
                return self.numeric(name, (x, y))
        special = name.strip("_")
        left, right = method_of(x, f"__{special}__"), method_of(y, f"__r{special}__")
        if left is None and right is None:
            return self.foreign(name, x, y)
        attempts = [(left, x, y), (right, y, x)]
        if type(x) is type(y):
            attempts.pop()
        elif isinstance(y, type(x)) and right is not None:
            attempts.reverse()
        for method, own, other in attempts:
            if method is None:
                result = native_method(own, other, special, reflected=own is y)
                if result is not NotImplemented:
                    self.check_operands(own, other)
            else:
                result = self.call(method, own, other)
            if result is not NotImplemented:
                return result
        return getattr(operator, name)(x, y)  # which words the error

    def check_operands(self, own: Any, other: Any) -> None:
        """Refuse what NumPy computed with an object, where nobody followed."""
        if isinstance(own, AbstractTangent) or isinstance(other, AbstractTangent):
            return
        if self.is_active((own, other)):
            refused("operand", type(other if is_numeric(own) else own).__name__)

    def foreign(self, name: str, x: Any, y: Any) -> Any:
        """An operator of builtin containers, or an array beside one."""
        if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
            one, two = (self.as_array(v) for v in (x, y))
            if one is not None and two is not None:
                return self.numeric(name, (one, two))
            return self.beside_array(name, x, y)
        if name == "mul":  # a sequence, repeated
            x, y = self.as_index(x), self.as_index(y)
        if not isinstance(x, str | bytes) or name != "mod":
            return self.joined(getattr(self.below, name)(x, y), x, y)
        result = getattr(self.below, name)(x, shown(self, y))  # "%g" % value
        self.written(result, y)
        return self.joined(result, x)

    def as_array(self, x: Any) -> Any:
        """A list or tuple beside an array becomes one; None for what does not."""
        if is_numeric(x):
            return x
        return self.call(np.asarray, x) if isinstance(x, list | tuple) else None

    def unary(self, name: str, x: Any) -> Any:
        if is_numeric(x):
            return self.numeric(name, (x,))
        method = method_of(x, f"__{name}__")
        return getattr(self.below, name)(x) if method is None else self.call(method, x)

    def comparison(self, name: str, x: Any, y: Any) -> Any:
        if is_numeric(x) and is_numeric(y):
            result = getattr(operator, name)(x, y)
            asked = name in ("eq", "ne") and isinstance(result, np.ndarray)
            if asked and np.all(result == (name == "eq")):
                self.equal_arrays(x, y)
            return result
        result = self.compared(name, x, y)
        if result is not NotImplemented:
            return result
        if is_asked(x) or is_asked(y):
            for cls in (list, tuple):
                if isinstance(x, cls) and isinstance(y, cls):
                    return self.compare_parts(name, x, y)
            if type(x) is type(y) is dict and name in ("eq", "ne"):
                return self.equal_dicts(x, y) == (name == "eq")
        return getattr(operator, name)(x, y)

    def compared(self, name: str, x: Any, y: Any) -> Any:
        """What the methods of two objects say, or NotImplemented."""
        attempts = [(name, x, y), (COMPARISONS[name], y, x)]
        if type(y) is not type(x) and isinstance(y, type(x)):
            attempts.reverse()
        for asked, own, other in attempts:
            method = method_of(own, f"__{asked}__")
            negated = method is None and asked == "ne"
            if negated:  # Python asks whether they are equal
                method = method_of(own, "__eq__")
            if method is not None and not is_opaque(method):
                result = self.call(method, own, other)
                if result is not NotImplemented:
                    return not self.truth(result) if negated else result
        return NotImplemented

    def inplace(self, name: str, x: Any, y: Any) -> Any:
        """`x op= y`: arrays and lists are written to, all else is computed anew."""
        plain = name.strip("_")
        if isinstance(x, np.ndarray):
            value = self.binary(name, x, y)
            self.write(x, Ellipsis, castable(value, x))
            return x
        method = method_of(x, f"__i{plain}__")
        if method is not None:
            result = self.call(method, x, y)
            return self.binary(name, x, y) if result is NotImplemented else result
        if isinstance(x, list) and isinstance(y, np.ndarray):
            return self.binary(name, x, y)  # a list has no `+=` for numbers
        if isinstance(x, list) and name in ("add", "mul"):
            attribute = "extend" if name == "add" else "__imul__"
            self.call(getattr(x, attribute), y)
            return x
        if isinstance(x, dict) and name == "or_":
            self.call(x.update, y)
            return x
        native = getattr(type(x), f"__i{plain}__", None)
        if native is None:
            return self.binary(name, x, y)
        result = self.call(getattr(x, f"__i{plain}__"), y)
        return self.binary(name, x, y) if result is NotImplemented else result


def is_fraction(x: Any) -> bool:
    return type(x).__module__ == "fractions"


def as_float(x: Any, beside: Any) -> Any:
    """A fraction beside a floating number counts as one."""
    return float(x) if is_fraction(x) and is_number(beside) else x


def method_of(x: Any, name: str) -> FunctionType | None:
    """The special method of an instance, where it is written in Python."""
    for cls in type(x).__mro__:
        found = cls.__dict__.get(name)
        if found is not None:
            return found if isinstance(found, FunctionType) else None
    return None


def native_method(own: Any, other: Any, special: str, *, reflected: bool) -> Any:
    name = f"__r{special}__" if reflected else f"__{special}__"
    method = getattr(type(own), name, None)
    return NotImplemented if method is None else method(own, other)


def castable(value: Any, dest: Any) -> Any:
    """Refuse what NumPy's in-place operators refuse, in NumPy's words."""
    if not np.can_cast(getattr(value, "dtype", dest.dtype), dest.dtype, "same_kind"):
        np.copyto(dest.copy(), value, casting="same_kind")
    return value


def install(
    maker: Callable[[str], Callable[..., Any]], names: Any, prefix: str
) -> None:
    for name in names:
        setattr(Operators, prefix + name.strip("_") if prefix else name, maker(name))


def _binary(name: str) -> Callable[..., Any]:
    def hook(self: Operators, x: Any, y: Any) -> Any:
        return self.binary(name, x, y)

    return hook


def _unary(name: str) -> Callable[..., Any]:
    def hook(self: Operators, x: Any) -> Any:
        return self.unary(name, x)

    return hook


def _comparison(name: str) -> Callable[..., Any]:
    compare = getattr(operator, name)

    def hook(self: Operators, x: Any, y: Any) -> Any:
        if type(x) in PLAIN_NUMBERS and type(y) in PLAIN_NUMBERS:
            return compare(x, y)
        return self.comparison(name, x, y)

    return hook


def _equality(name: str) -> Callable[..., Any]:
    """`==` of two values none of which is a literal: a cache may be asking."""
    compare, wanted = getattr(operator, name), name == "eq"

    def hook(self: Operators, x: Any, y: Any) -> Any:
        if type(x) in PLAIN_NUMBERS and type(y) in PLAIN_NUMBERS:
            result = compare(x, y)
            if result == wanted:
                self.equal_numbers(x, y)
            return result
        result = self.comparison(name, x, y)
        if type(x) in KEYS and self.made and result == wanted:
            self.equal_keys(x, y)
        return result

    return hook


def _inplace(name: str) -> Callable[..., Any]:
    def hook(self: Operators, x: Any, y: Any) -> Any:
        if type(x) in PLAIN_NUMBERS:  # immutable: x += y is x = x + y
            return getattr(self, name)(x, y)
        return self.inplace(name, x, y)

    return hook


PLAIN_NUMBERS = frozenset({float, int, np.float64, bool})
install(_binary, BINARY, "")
install(_unary, ("neg", "pos", "invert", "abs"), "")
install(_comparison, ("lt", "le", "gt", "ge"), "")
install(_comparison, ("eq", "ne"), "literal_")
install(_equality, ("eq", "ne"), "")
install(_inplace, BINARY, "i")
