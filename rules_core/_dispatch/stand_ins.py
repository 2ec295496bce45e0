"""Bodies that AD systems differentiate in place of functions they cannot look into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .registry import PACKS
from .table import CHANGES

__all__ = ["class_in_program", "stand_in", "stand_in_of"]

F = TypeVar("F", bound=Callable[..., Any])
_BODIES: dict[Any, Callable[..., Any]] = {}


def stand_in(*functions: Any) -> Callable[[F], F]:
    """Define a body that an AD system differentiates in place of functions.

    For a library whose functions cannot be looked into, or write to memory, but can be
    computed by differentiable code: one body serves both modes and all orders. It takes
    the arguments of the function, and is used only where one of them has a derivative.
    Of a class that stands in for a class, instances are asked for their class by
    `class_in_program`.

    Args:
        *functions: Functions or classes.

    >>> from rules_core.extend import stand_in, stand_in_of
    >>> def opaque_square(x):
    ...     return eval("x * x")
    >>> @stand_in(opaque_square)
    ... def square_body(x):
    ...     return x * x
    >>> stand_in_of(opaque_square) is square_body
    True
    """

    def define(body: F) -> F:
        for f in functions:
            _BODIES[f] = body
            if isinstance(body, type) and "__stands_for__" not in vars(body):
                body.__stands_for__ = f  # type: ignore[attr-defined]
        CHANGES.note()
        return body

    return define


def stand_in_of(f: Any) -> Callable[..., Any] | None:
    """The body that stands in for a function; None if there is none."""
    PACKS.ensure(f)
    try:
        return _BODIES.get(f)
    except TypeError:  # unhashable
        return None


def class_in_program(x: Any) -> type:
    """The class that `type(x)` has in the program: that for which its own stands in.

    A class that is not itself a stand-in, such as that of a result, names another by
    `__stands_for__`, a class or a property.

    >>> from rules_core.extend import class_in_program
    >>> class Fit:
    ...     __stands_for__ = dict
    >>> class_in_program(Fit()), class_in_program(3.0)
    (<class 'dict'>, <class 'float'>)
    """
    cls = type(x)
    found: Any = vars(cls).get("__stands_for__", cls)
    own: type = found.__get__(x) if isinstance(found, property) else found
    return own
