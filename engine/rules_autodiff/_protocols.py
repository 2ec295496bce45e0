"""NumPy's protocols for other people's classes, followed instead of run by C code.

An object with `__array_ufunc__`, `__array_function__`, `__array__` or `__float__` is
asked by NumPy for what it stands for; where it holds a derivative, the engine asks.
"""

import math
from typing import Any

import numpy as np

from rules_autodiff._explain import refused
from rules_autodiff._methods import python_method, users_method
from rules_autodiff._opaque import root_of
from rules_autodiff._special import Special
from rules_autodiff._values import INERT, is_numeric

__all__ = ["Protocols"]

UFUNCS = {
    "truediv": np.true_divide, "floordiv": np.floor_divide, "sub": np.subtract,
    "mul": np.multiply, "pow": np.power, "mod": np.remainder, "add": np.add,
    "matmul": np.matmul, "and_": np.bitwise_and, "or_": np.bitwise_or,
    "xor": np.bitwise_xor, "lshift": np.left_shift, "rshift": np.right_shift,
}  # fmt: skip

# What `math` asks before it asks for a number.
ROUNDING = {
    math.floor: "__floor__", math.ceil: "__ceil__", math.trunc: "__trunc__",
}  # fmt: skip


class Protocols(Special):
    """What a run does with objects among the arguments of NumPy and `math`."""

    def by_protocol(self, f: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """The result of a call by an argument's protocol, or NotImplemented."""
        for x in args:
            if type(x) in INERT or is_numeric(x):
                continue
            method = python_method(type(x), "__array_ufunc__")
            if method is not None and isinstance(f, np.ufunc):
                return self.call(method, x, f, "__call__", *args, **kwargs)
            method = python_method(type(x), "__array_function__")
            if method is not None and type(f) is type(np.sum):
                return self.call(method, x, f, (type(x),), args, kwargs)
        return self.by_conversion(f, args, kwargs)

    def by_conversion(self, f: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """The same with each object made the number or array that it stands for."""
        root = root_of(f)
        if root not in ("numpy", "math", "cmath") and not isinstance(f, np.ufunc):
            return NotImplemented
        own = users_method(args[0], ROUNDING[f]) if f in ROUNDING else None
        if own is not None:
            return self.call(own, *args)
        convert = self.as_entry if root == "numpy" else self.as_number
        entries = tuple([convert(x) for x in args])
        if all(one is other for one, other in zip(entries, args, strict=True)):
            return NotImplemented
        return self.call(f, *entries, **kwargs)

    def as_entry(self, x: Any) -> Any:
        """The number or array that an object stands for; anything else as it is."""
        if type(x) in INERT or is_numeric(x):
            return x
        if type(x) in (list, tuple):
            return self.converted(x, self.as_entry)
        if type(x) is np.flatiter:
            return self.call(np.ravel, x.base)
        method = python_method(type(x), "__array__")
        if method is not None:
            return self.call(method, x)
        if users_method(x, "__len__") and users_method(x, "__getitem__"):
            read = python_method(type(x), "__getitem__")
            return [self.call(read, x, i) for i in range(self.call(len, x))]
        return self.as_number(x)

    def as_number(self, x: Any) -> Any:
        """What an object says to `float`, also in a list; anything else as it is."""
        if type(x) in (list, tuple):
            return self.converted(x, self.as_number)
        for name in ("__float__", "__complex__"):
            method = users_method(x, name)
            if method is not None:
                return self.call(method, x)
        return x

    def converted(self, x: Any, convert: Any) -> Any:
        """A list or tuple with its items converted; itself where nothing changed."""
        parts = [convert(value) for value in x]
        same = all(one is other for one, other in zip(parts, x, strict=True))
        return x if same else type(x)(parts)

    def beside_array(self, name: str, x: Any, y: Any) -> Any:
        """`x op y` of an array and an object that is no number."""
        for own in (x, y):
            method = python_method(type(own), "__array_ufunc__")
            if method is not None:
                return self.call(UFUNCS[name], x, y)
        one, other = self.as_entry(x), self.as_entry(y)
        if one is not x or other is not y:
            return self.binary(name, one, other)
        for own in (x, y):
            if not is_numeric(own) and self.is_active(own):
                refused("operand", type(own).__name__)
        return getattr(self.below, name)(x, y)
