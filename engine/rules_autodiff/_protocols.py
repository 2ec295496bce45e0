"""NumPy's protocols for other people's classes, followed instead of run by C code.

An object with `__array_ufunc__`, `__array_function__`, `__array__` or `__float__` is
asked by NumPy for what it stands for; where it holds a derivative, the engine asks.
"""

from typing import Any

import numpy as np

from rules_autodiff._access import python_method
from rules_autodiff._explain import refused
from rules_autodiff._hooks import Hooks
from rules_autodiff._opaque import root_of
from rules_autodiff._values import INERT, is_numeric

__all__ = ["Protocols"]

UFUNCS = {
    "truediv": np.true_divide, "floordiv": np.floor_divide, "sub": np.subtract,
    "mul": np.multiply, "pow": np.power, "mod": np.remainder, "add": np.add,
    "matmul": np.matmul, "and_": np.bitwise_and, "or_": np.bitwise_or,
    "xor": np.bitwise_xor, "lshift": np.left_shift, "rshift": np.right_shift,
}  # fmt: skip


class Protocols(Hooks):
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
        if root_of(f) not in ("numpy", "math", "cmath") and not isinstance(f, np.ufunc):
            return NotImplemented
        entries = tuple([self.as_entry(x) for x in args])
        if all(one is other for one, other in zip(entries, args, strict=True)):
            return NotImplemented
        return self.call(f, *entries, **kwargs)

    def as_entry(self, x: Any) -> Any:
        """The number or array that an object stands for; anything else as it is."""
        if type(x) in INERT or is_numeric(x):
            return x
        if type(x) in (list, tuple):
            parts = [self.as_entry(value) for value in x]
            same = all(one is other for one, other in zip(parts, x, strict=True))
            return x if same else type(x)(parts)
        for name in ("__array__", "__float__", "__complex__"):
            method = python_method(type(x), name)
            if method is not None:
                return self.call(method, x)
        return x

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
