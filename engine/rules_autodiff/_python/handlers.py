"""Handlers: the engine's implementations of functions."""

from collections.abc import Callable
from typing import Any

__all__ = ["CALLABLES", "HANDLERS", "OVERLAYS", "Handler", "handler", "handler_of"]

Handler = Callable[..., Any]

# By function: handler(run, *args, **kwargs) replaces the call.
HANDLERS: dict[Any, Handler] = {}
# The functions whose handler runs a user's replacement body.
OVERLAYS: set[Any] = set()
# By the class of a callable: handler(run, f, args, kwargs).
CALLABLES: dict[type, Handler] = {}


def handler(*functions: Any) -> Callable[[Handler], Handler]:
    """Register a handler that replaces calls of ``functions``."""

    def register(handle: Handler) -> Handler:
        for function in functions:
            HANDLERS[function] = handle
        return handle

    return register


def handler_of(f: Any) -> Handler | None:
    """The handler of a function or of another callable, which may have no hash."""
    try:
        return HANDLERS.get(f)
    except TypeError:  # unhashable
        return None
