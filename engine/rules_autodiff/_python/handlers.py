"""Handlers: the engine's implementations of functions."""

from collections.abc import Callable
from typing import Any

__all__ = [
    "CALLABLES",
    "HANDLERS",
    "LATER",
    "OVERLAYS",
    "Handler",
    "handler",
    "handler_of",
    "later_handler",
]

Handler = Callable[..., Any]

# By function: handler(run, *args, **kwargs) replaces the call.
HANDLERS: dict[Any, Handler] = {}
# The functions whose handler runs a user's replacement body.
OVERLAYS: set[Any] = set()
# By the package of functions that may not be imported yet: the handler of one, or None.
LATER: dict[str, Callable[[Any], Handler | None]] = {}
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


def later_handler(f: Any, package: str) -> Handler | None:
    """The handler of a function of a package that the engine does not import."""
    handle = LATER[package](f)
    if handle is not None:
        HANDLERS[f] = handle
    return handle
