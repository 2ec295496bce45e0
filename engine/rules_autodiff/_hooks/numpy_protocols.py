"""NumPy's protocols for other people's classes, followed instead of run by C code.

An object with `__array_ufunc__`, `__array_function__`, `__array__` or `__float__` is
asked by NumPy for what it stands for; where it holds a derivative, the engine asks.
"""

import inspect
import math
from collections import deque
from functools import partial
from typing import Any

import numpy as np

from rules_autodiff._python.methods import python_method, users_method
from rules_autodiff._python.opaque import root_of
from rules_autodiff._python.values import INERT, is_arithmetic, is_numeric, is_sparse
from rules_autodiff._refusals import refused

from .interface import Hooks
from .special_methods import writes_always

__all__ = ["as_entry", "as_real", "by_protocol", "check_own_methods", "says"]

# The functions of `math` that ask no object for a float.
WHOLE = frozenset({
    math.factorial, math.comb, math.perm, math.gcd, math.lcm, math.isqrt, math.ldexp,
})  # fmt: skip
# The functions of `math` that take numbers in rows.
ROWS = frozenset({math.dist, math.fsum, math.prod, getattr(math, "sumprod", None)})
# What `math` asks before it asks for a number.
ROUNDING = {
    math.floor: "__floor__", math.ceil: "__ceil__", math.trunc: "__trunc__",
}  # fmt: skip


# The functions of NumPy that write what they are given into an array of numbers.
WRITING = frozenset({
    np.fill_diagonal, np.full_like, np.insert, np.interp, np.place, np.put,
    np.put_along_axis, np.putmask,
})  # fmt: skip
# Where the functions of NumPy that make an array take its dtype.
DTYPE_PLACES = {
    np.array: 1, np.asarray: 1, np.asanyarray: 1, np.ascontiguousarray: 1,
    np.asfortranarray: 1, np.asarray_chkfinite: 1, np.require: 1, np.full: 2,
}  # fmt: skip


def wants_floats(f: Any, args: tuple[Any, ...], kwargs: Any) -> bool:
    """Whether NumPy makes numbers of objects: where the dtype of the array is set.

    Without one, an object that is no sequence becomes an entry of an array of objects.
    """
    if isinstance(f, type):
        return issubclass(f, np.inexact)
    place = DTYPE_PLACES.get(f)
    if place is None:
        return f in WRITING
    dtype = args[place] if place < len(args) else kwargs.get("dtype")
    return dtype is not None and np.dtype(dtype).kind in "fc"


# What `float` asks an object for, in this order.
FLOATS = ("__float__", "__complex__", "__index__")
# And what `complex` and the functions of `cmath` ask it for.
COMPLEX = ("__complex__", "__float__", "__index__")


def says_float(x: Any) -> bool:
    return any(users_method(x, name) is not None for name in FLOATS)


def protocol_of(f: Any, x: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    """An argument's method for a call of NumPy, and what it is given; or None."""
    if isinstance(f, np.ufunc):
        method = python_method(type(x), "__array_ufunc__")
        return method, ((f, "__call__", *args), kwargs)
    if type(f) is type(np.sum):
        method = python_method(type(x), "__array_function__")
        return method, ((f, (type(x),), args, kwargs), {})
    return None, None


def is_ufunc_method(f: Any) -> bool:
    """Whether a callable is `np.add.reduce` or another method of a ufunc."""
    return isinstance(getattr(f, "__self__", None), np.ufunc)


def own_items(x: Any) -> Any:
    """A tuple as `math.dist` reads it, which asks it for no `__iter__`."""
    own = isinstance(x, tuple) and type(x) is not tuple
    return tuple(tuple.__iter__(x)) if own else x


def check_own_methods(run: Hooks, f: Any, args: Any, rule: Any) -> None:
    """Refuse objects that answer a NumPy function by a method of their own.

    The rules of functions without derivative do not look at the result, and a ufunc
    asks each object in an array of objects.
    """
    by_entry = isinstance(f, np.ufunc) and rule.module.startswith("rules_numpy.")
    if not (by_entry or (rule.constant and root_of(f) == "numpy")):
        return
    for x in args:
        if type(x) in INERT or is_numeric(x):
            continue
        if type(x) in (list, tuple):
            check_own_methods(run, f, x, rule)
        elif (by_entry or says(x, f.__name__)) and run.is_active(x):
            refused("own method", type(x).__name__, f.__name__)


def says(x: Any, name: str) -> bool:
    """Whether an object of a user's class may have an attribute."""
    if type(x) in INERT or root_of(type(x)) in ("builtins", "numpy", "collections"):
        return False
    answers = hasattr(type(x), "__getattr__")
    return answers or inspect.getattr_static(x, name, None) is not None


def by_protocol(run: Hooks, f: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    """The result of a call by an argument's protocol, or NotImplemented."""
    asked = False
    for x in args:
        if type(x) in INERT or is_arithmetic(x):
            continue
        method, given = protocol_of(f, x, args, kwargs)
        if method is not None:
            asked = True
            result = run.call(method, x, *given[0], **given[1])
            if result is not NotImplemented:
                return result
        elif root_of(f) == "numpy" and (isinstance(x, np.ndarray) or is_sparse(x)):
            refused("operand", type(x).__name__)
    if asked:
        return f(*args, **kwargs)  # which words the error
    return by_conversion(run, f, args, kwargs)


def by_conversion(run: Hooks, f: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    """Arguments with each object replaced by the number or array that it stands for."""
    root = root_of(f)
    is_of_ufunc = isinstance(f, np.ufunc) or is_ufunc_method(f)
    if root not in ("numpy", "math", "cmath") and not is_of_ufunc:
        return NotImplemented
    if f in WHOLE:
        return NotImplemented
    own = users_method(args[0], ROUNDING[f]) if f in ROUNDING else None
    if own is not None:
        return run.call(own, *args)
    of_arrays = root == "numpy" or is_of_ufunc
    names = COMPLEX if root == "cmath" else FLOATS
    convert: Any = as_number if f in ROWS else partial(as_real, names=names)
    if of_arrays:
        convert = partial(as_entry, floats=wants_floats(f, args, kwargs))
    given = args
    if f is math.dist:
        given = tuple(map(own_items, args))
    if f in ROWS and given and users_method(given[0], "__iter__"):
        given = (list(run.iter(given[0])), *given[1:])
    entries = tuple([convert(run, x) for x in given])
    named = {name: convert(run, x) for name, x in kwargs.items()}
    changed = [one is not other for one, other in zip(entries, args, strict=True)]
    if not any(changed) and all(named[name] is kwargs[name] for name in named):
        return NotImplemented
    return run.call(f, *entries, **named)


def as_entry(run: Hooks, x: Any, floats: bool = True) -> Any:
    """The number or array that an object stands for; anything else as it is.

    With `floats` an object is asked for `__float__`; without, NumPy puts the object
    itself into an array.
    """
    if type(x) in INERT or is_numeric(x):
        return x
    convert = partial(as_entry, floats=floats)
    if type(x) in (list, tuple):
        return converted(run, x, convert)
    if type(x) is np.flatiter:
        return run.call(np.ravel, x.base)
    check_asked(x)
    method = python_method(type(x), "__array__")
    if method is not None:
        return run.call(method, x)
    items = items_of(run, x)
    if items is not None:
        return converted(run, items, convert)
    if not floats and says_float(x) and run.is_active(x):
        refused("object kept", type(x).__name__)
    return as_number(run, x) if floats else x


def items_of(run: Hooks, x: Any) -> list[Any] | None:
    """The items that C code would take out of a sequence; None for no sequence.

    A subclass of list or tuple is iterated by its own `__iter__`, and its rules and
    tangents are those of a list.
    """
    if isinstance(x, list | tuple | deque | np.flatiter):
        return list(run.iter(x))
    if not (users_method(x, "__len__") and users_method(x, "__getitem__")):
        return None
    if hasattr(type(x), "__iter__"):
        return list(run.iter(x))
    read = python_method(type(x), "__getitem__")
    return [run.call(read, x, i) for i in range(run.call(len, x))]


def as_number(run: Hooks, x: Any) -> Any:
    """The `float` of an object, or of each item of a sequence."""
    if type(x) in (list, tuple):
        return converted(run, x, as_real)
    found = as_real(run, x)
    if found is not x or type(x) in INERT or is_numeric(x):
        return found
    items = items_of(run, x)
    return x if items is None else converted(run, items, as_real)


def as_real(run: Hooks, x: Any, names: tuple[str, ...] = FLOATS) -> Any:
    """The `float` of an object; other values as they are."""
    for name in names:
        method = users_method(x, name)
        if method is not None:
            return run.call(method, x)
    if type(x) not in INERT and not is_numeric(x):
        check_asked(x)
    return x


def converted(run: Hooks, x: Any, convert: Any) -> Any:
    """A list or tuple with its items converted; itself where nothing changed."""
    parts = [convert(run, value) for value in x]
    same = all(one is other for one, other in zip(parts, x, strict=True))
    return x if same else type(x)(parts)


# What NumPy asks an object that is no array, and how often is its own affair.
ASKED = (
    "__array__", "__len__", "__getitem__", "__iter__", "__float__", "__complex__",
    "__index__",
)  # fmt: skip


def check_asked(x: Any) -> None:
    """Refuse an object that changes something when NumPy asks what it stands for."""
    for name in ASKED:
        method = users_method(x, name)
        if method is not None and writes_always(method, type(x)):
            refused("asked", f"{type(x).__name__}.{name}")
