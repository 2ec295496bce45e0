"""Builtins that query an object: a user's own method is lifted."""

import math
import operator
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from rules_autodiff._hooks.access import as_index
from rules_autodiff._hooks.caches import found_name
from rules_autodiff._hooks.calls import construct
from rules_autodiff._hooks.close_calls import whole as note_whole
from rules_autodiff._hooks.numpy_protocols import says
from rules_autodiff._python.handlers import HANDLERS, handler
from rules_autodiff._python.methods import users_method
from rules_autodiff._python.values import is_number
from rules_autodiff._refusals import refused
from rules_core.extend import class_in_program

__all__ = ["check_digits"]


def asking(f: Any, *names: str) -> Callable[..., Any]:
    """The function, whose result has no derivative; a user's method is lifted."""

    def handle(run: Any, *args: Any, **kwargs: Any) -> Any:
        method = users_method(args[0], *names) if args else None
        return f(*args, **kwargs) if method is None else f(run.call(method, args[0]))

    return handle


def reading(f: Any, name: str) -> Callable[..., Any]:
    """A function of NumPy that asks an object for its attribute: a user's is lifted."""

    def handle(run: Any, *args: Any, **kwargs: Any) -> Any:
        if not args or not says(args[0], name):
            return f(*args, **kwargs)
        if len(args) == 1 and not kwargs:
            try:
                return run.getattr(args[0], name)
            except AttributeError:  # then NumPy makes an array of it
                return f(*args)
        if run.is_active(args[0]):
            refused("own method", type(args[0]).__name__, name)
        return f(*args, **kwargs)

    return handle


for _function, _name in ((np.shape, "shape"), (np.ndim, "ndim"), (np.size, "size")):
    HANDLERS[_function] = reading(_function, _name)


def handle_len(run: Any, x: Any) -> int:
    method = users_method(x, "__len__")
    if method is None:
        return len(x)
    length = operator.index(run.call(method, x))
    if length < 0:
        message = "__len__() should return >= 0"
        raise ValueError(message)
    return length


@handler(isinstance)
def handle_isinstance(run: Any, x: Any, cls: Any) -> bool:
    return by_metaclass(run, "__instancecheck__", isinstance, x, cls)


@handler(issubclass)
def handle_issubclass(run: Any, x: Any, cls: Any) -> bool:
    return by_metaclass(run, "__subclasscheck__", issubclass, x, cls)


def by_metaclass(run: Any, name: str, ask: Any, x: Any, cls: Any) -> bool:
    """`isinstance` and `issubclass`, which a metaclass may redefine."""
    if isinstance(cls, tuple):
        return any(by_metaclass(run, name, ask, x, each) for each in cls)
    method = users_method(cls, name)
    if method is None or type(x) is cls:
        return bool(ask(x, cls)) or (ask is isinstance and is_in_program(x, cls))
    return bool(run.truth(run.call(method, cls, x)))


def is_in_program(x: Any, cls: Any) -> bool:
    """Whether `x` is an instance of a class by that for which its own stands in."""
    own = class_in_program(x)
    return own is not type(x) and issubclass(own, cls)


@handler(type)
def handle_type(_run: Any, *args: Any, **kwargs: Any) -> Any:
    if len(args) == 1 and not kwargs:
        return class_in_program(*args)
    return type(*args, **kwargs)


@handler(hasattr)
def handle_hasattr(run: Any, x: Any, name: str) -> bool:
    try:
        run.getattr(x, name)
    except AttributeError:
        return False
    found_name(run, name)
    return True


@handler(operator.not_)
def handle_not(run: Any, x: Any) -> bool:
    return not run.truth(x)


@handler(operator.truth)
def handle_truth(run: Any, x: Any) -> bool:
    return bool(run.truth(x))


@handler(weakref.ref)
def handle_ref(run: Any, x: Any, callback: Any = None) -> Any:
    if callback is None:
        return weakref.ref(x)
    return weakref.ref(x, lambda gone: run.call(callback, gone))


@handler(range)
def handle_range(run: Any, *bounds: Any) -> range:
    return range(*[as_index(run, bound) for bound in bounds])


HANDLERS[len] = handle_len
for _whole in (operator.index, bin, hex, oct, chr):
    HANDLERS[_whole] = asking(_whole, "__index__")


@handler(dir)
def handle_dir(run: Any, *args: Any) -> list[str]:
    method = users_method(args[0], "__dir__") if args else None
    return dir(*args) if method is None else sorted(run.call(method, args[0]))


HANDLERS[bool] = asking(bool, "__bool__")


# Whole numbers, which are constants.

ALL_DIGITS = 2.0**52  # from here on each float is a whole number


def check_digits(run: Any, f: Any, x: Any) -> None:
    """Refuse a conversion that keeps all digits of a number with a derivative.

    A library with numbers of its own, as mpmath, makes them of such integers.
    """
    large = is_number(x) and isinstance(x, float) and ALL_DIGITS <= abs(x) < math.inf
    if large and run.is_active(x):
        refused("whole", f.__name__)


def whole(f: Any, handle: Callable[..., Any]) -> Callable[..., Any]:
    """The handler of a function of a number with a whole result."""

    def handle_checked(run: Any, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1:
            check_digits(run, f, args[0])
            note_whole(run, args[0])
        return handle(run, *args, **kwargs)

    return handle_checked


def opaquely(f: Any) -> Callable[..., Any]:
    return lambda run, *args, **kwargs: run.call_opaque(f, args, kwargs)


HANDLERS[int] = whole(int, asking(int, "__int__", "__index__", "__trunc__"))
for _round in (
    math.floor, math.ceil, math.trunc, float.__int__, float.__trunc__,
    float.__floor__, float.__ceil__, np.float64.__int__,
):  # fmt: skip
    HANDLERS[_round] = whole(_round, opaquely(_round))


@handler(type.__call__)
def handle_type_call(run: Any, cls: Any, *args: Any, **kwargs: Any) -> Any:
    return construct(run, cls, *args, **kwargs)
