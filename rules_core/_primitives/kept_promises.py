"""Results of host functions as declared: converted to the promised dtype, or an error.

`out=`, `elementwise=True` and a shape rule promise shape and dtype of each result. A
compiler relies on it; so does a derivative: an integer where a float was promised has
no tangent, and the function's rule would be lost without an error. So each call of a
host function compares, in every framework and with plain NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, NoReturn

from rules_core._base.arrays import ShapeDtype
from rules_core._base.errors import PrimitiveError
from rules_core._tangents.leaves import is_numpy
from rules_core._tangents.structure import Structure, structure

from .residual import Residual
from .shape_and_batch_rules import broadcast, is_plain_ufunc, numpy_dtype, result_dtype

__all__ = ["Keep", "keeper", "kept"]


# Packages whose own declarations their tests compare with the results.
_TESTED = ("rules_autodiff", "rules_numpy", "rules_scipy")
# Libraries whose functions these packages declare.
_LIBRARIES = ("numpy", "scipy")
_RANKS = {"b": 0, "i": 1, "u": 1, "f": 2, "V": 2, "c": 3}  # V: bfloat16
_NUMBERS = (bool, int, float, complex)
_INEXACT = (float, complex)
_VALUES = frozenset({bool, complex, float, int, str, type(None)})
_KEPT = 64


def keeper(primitive: Any) -> Keep | None:
    """`keep(y, args, kwargs)`: a NumPy result as it was declared.

    None for a function that declares nothing, runs in a framework, or is a ufunc, which
    broadcasts by itself.
    """
    shapes, fun = primitive.table.shapes, primitive.fun
    own = primitive.own_shapes
    if not primitive.host or getattr(fun, "foreign", None) is not None:
        return None
    if own is not None:
        return _Declared(primitive, own)
    if shapes is not None:
        if shapes.where.module.partition(".")[0] in _TESTED:
            return None
        return _Declared(primitive, shapes.function)
    if not primitive.elementwise or is_plain_ufunc(fun):
        return None
    if str(getattr(fun, "__module__", "")).partition(".")[0] in _LIBRARIES:
        return None
    return _Elementwise(primitive)


def kept(run: Callable[..., Any], keep: Keep) -> Callable[..., Any]:
    """`run`, with its results as they were declared."""

    def checked_run(*args: Any, **kwargs: Any) -> Any:
        return keep(run(*args, **kwargs), args, kwargs)

    return checked_run


class Keep:
    """The promise of one function, with what it was for the latest kinds of calls."""

    def __init__(self, primitive: Any) -> None:
        self.label = primitive.table.label
        self.cure = "Correct out= or the shape rule, or what the function returns."
        self.numpy = import_module("numpy")
        self.array = self.numpy.ndarray
        self.known: dict[Any, Any] = {}

    def __call__(self, y: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a call as promised."""
        raise NotImplementedError

    def ask(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """`ShapeDtype`s for a call of NumPy arrays; None where nothing is promised."""
        raise NotImplementedError

    def remember(self, key: Any, promised: Any) -> Any:
        if key is not None:
            if len(self.known) >= _KEPT:
                self.known.clear()
            self.known[key] = promised
        return promised

    def fit(self, promised: Any, y: Any, path: str = "") -> Any:
        """The result, or a part of it, as promised."""
        if _is_described(promised):
            return self.leaf(promised, y, path)
        level = structure(promised)
        if level is None:  # a constant, which compilers compare
            return y
        own = None if is_numpy(y) else structure(y)
        parts = None if own is None else _in_order(level, own)
        if own is None or parts is None:
            self.refuse(path, promised, y)
        pairs = zip(parts, own.values, own.names, strict=True)
        found = [self.fit(p, x, f"{path}[{name!r}]") for p, x, name in pairs]
        if all(a is b for a, b in zip(found, own.values, strict=True)):
            return y
        return own.rebuild(found)

    def leaf(self, promised: Any, y: Any, path: str) -> Any:
        """One array or number."""
        if isinstance(y, _NUMBERS) and not is_numpy(y):
            return self.number(promised, y, path)
        if hasattr(y, "__array__") and not is_numpy(y):
            as_array = self.numpy.asarray(y)
            found = self.leaf(promised, as_array, path)
            return y if found is as_array else found
        if not is_numpy(y) or y.shape != promised.shape:
            self.refuse(path, promised, y)
        if y.dtype == promised.dtype:
            is_matrix = isinstance(y, self.numpy.matrix)
            return self.numpy.asarray(y) if is_matrix else y
        if not self.castable(y.dtype, promised.dtype):
            self.refuse(path, promised, y)
        return self.cast(y, promised.dtype)

    def castable(self, have: Any, want: Any) -> bool:
        """Whether a result may be cast: floats in width, others to what holds them."""
        if have.kind not in _RANKS or want.kind not in _RANKS:
            return bool(have == want)
        if want.kind in "iu" and have.kind in "iu":
            return bool(self.numpy.can_cast(have, want))
        return _RANKS[have.kind] <= _RANKS[want.kind]

    def cast(self, y: Any, dtype: Any) -> Any:
        return y.astype(dtype)

    def number(self, promised: Any, y: Any, path: str) -> Any:
        """A number of Python, which stays one if it is of the promised kind."""
        found = self.numpy.dtype(type(y))
        if promised.shape != () or not self.castable(found, promised.dtype):
            self.refuse(path, promised, y)
        if promised.dtype.kind in "biu" or promised.dtype == found:
            return y
        return self.cast(promised.dtype.type(y), promised.dtype)

    def refuse(self, path: str, promised: Any, y: Any) -> NoReturn:
        """Raise the error for another result than promised."""
        what = f"entry {path} of the result" if path else "the result"
        message = (
            f"host function {self.label}: {what} must be {_shown(promised)}, as its "
            f"declaration promises, but got {_shown(y)}. {self.cure}"
        )
        raise PrimitiveError(message)


class _Declared(Keep):
    """The promise of `out=` or a shape rule."""

    def __init__(self, primitive: Any, rule: Callable[..., Any]) -> None:
        super().__init__(primitive)
        self.rule = rule

    def __call__(self, y: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result as promised."""
        key = None if kwargs else self.key(args)
        if key is not None:
            known = self.known.get(key)
            if (
                known.__class__ is ShapeDtype
                and y.__class__ is self.array
                and y.shape == known.shape
                and y.dtype == known.dtype
            ):
                return y
        # Asked again before an error: a shape rule may read values from outside.
        promised = self.ask(args, kwargs)
        if promised is None:
            return y
        return self.fit(self.remember(key, promised), y)

    def key(self, args: tuple[Any, ...]) -> Any:
        """What the promise depends on; None for values that are not compared."""
        parts: list[Any] = []
        for x in args:
            cls = x.__class__
            if cls is self.array:
                parts.append((x.shape, x.dtype))
            elif cls in _VALUES:
                parts.append((cls, x))
            else:
                return None
        return tuple(parts)

    def ask(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The promise; None for calls without a dtype that a result could have.

        Those are calls with Python's integers, or with lists of numbers, alone.
        """
        found = [False]
        described = [_described(x, found) for x in args]
        named = {name: _described(x, found) for name, x in kwargs.items()}
        if not found[0]:
            return None
        try:
            plain = _normal(self.rule(*described, **named))
        except PrimitiveError:
            if any(isinstance(x, (list, tuple)) for x in args):
                return None
            raise
        except Exception:  # a call that no compiler takes either
            return None
        return None if _is_listed(plain) else plain


class _Elementwise(Keep):
    """The promise of an elementwise function: shapes broadcast, floats come out."""

    def __init__(self, primitive: Any) -> None:
        super().__init__(primitive)
        self.count = getattr(primitive.fun, "nout", 1)
        self.cure = (
            "It is declared elementwise=True, which promises one array unless it is a "
            "ufunc. Leave elementwise out, and add a shape_rule and a batch_rule."
        )

    def __call__(self, y: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result as promised."""
        if y.__class__ is self.array and not kwargs:
            dtype, shape = y.dtype, y.shape
            if dtype.kind == "f":
                for x in args:
                    if (
                        x.__class__ is not self.array
                        or x.dtype is not dtype
                        or x.shape != shape
                    ):
                        break
                else:
                    return y
        promised = self.ask(args, kwargs)
        return y if promised is None else self.fit(promised, y)

    def ask(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The promise; None for calls with lists, and with integers of Python alone."""
        key: list[Any] = []
        inexact = False
        for x in (*args, *kwargs.values()):
            if is_numpy(x):
                key.append((x.shape, x.dtype))
            elif isinstance(x, _NUMBERS):
                inexact = inexact or isinstance(x, _INEXACT)
                key.append(type(x))
            elif isinstance(x, (list, dict, tuple)):
                return None
        if not inexact and all(isinstance(part, type) for part in key):
            return None
        whole = tuple(key)
        known = self.known.get(whole)
        return self.remember(whole, self.made(key)) if known is None else known

    def made(self, key: list[Any]) -> Any:
        arrays = [part for part in key if not isinstance(part, type)]
        numbers = [self.numpy.dtype(part) for part in key if part in _INEXACT]
        if not arrays:
            dtypes = numbers
        else:
            dtypes = [dtype for _, dtype in arrays]
            if complex in key:
                dtypes.append(self.numpy.dtype("complex64"))
        one = ShapeDtype(broadcast([s for s, _ in arrays]), result_dtype(dtypes))
        return one if self.count == 1 else (one,) * self.count

    def cast(self, y: Any, dtype: Any) -> Any:
        """Real results of complex arguments stay real, as of `abs`."""
        if dtype.kind == "c" and y.dtype.kind != "c":
            dtype = self.numpy.zeros((), dtype).real.dtype
        return y if y.dtype == dtype else y.astype(dtype)


def _is_described(x: Any) -> bool:
    return hasattr(x, "shape") and hasattr(x, "dtype")


def _described(x: Any, found: list[bool]) -> Any:
    """An argument as shape rules receive it; notes whether it has a dtype of floats."""
    if is_numpy(x):
        found[0] = True
        return ShapeDtype(x.shape, x.dtype)
    if isinstance(x, (*_NUMBERS, str, type(None))):
        found[0] = found[0] or isinstance(x, _INEXACT)
        return x
    if isinstance(x, (tuple, list, dict, Residual)) and (level := structure(x)):
        return level.rebuild([_described(part, found) for part in level.values])
    return x  # shape rules read the shapes of arrays inside, as of their descriptions


def _normal(promised: Any) -> Any:
    """A promise with shapes and dtypes as arrays have them."""
    if _is_described(promised):
        return ShapeDtype(tuple(promised.shape), numpy_dtype(promised.dtype))
    level = structure(promised)
    if level is None:
        return promised
    return level.rebuild([_normal(part) for part in level.values])


def _is_listed(promised: Any) -> bool:
    """Whether it is the promise of a result like a list of numbers."""
    return isinstance(promised, list) and all(
        part.__class__ is ShapeDtype and part.shape == () for part in promised
    )


def _in_order(promised: Structure, own: Structure) -> Iterable[Any] | None:
    """The parts of a promise in the order of a result's; None if they are others."""
    if len(promised.values) != len(own.values):
        return None
    if promised.keyed == own.keyed == "key":
        parts = dict(zip(promised.names, promised.values, strict=True))
        return [parts[k] for k in own.names] if parts.keys() == {*own.names} else None
    return promised.values


def _shown(x: Any) -> str:
    if _is_described(x):
        return f"an array of shape {tuple(x.shape)} and dtype {x.dtype}"
    if x is None or isinstance(x, (*_NUMBERS, str)):
        return "None" if x is None else f"the {type(x).__name__} {x!r}"
    level = structure(x)
    return f"a {type(x).__name__}" + (f" of {len(level.values)}" if level else "")
