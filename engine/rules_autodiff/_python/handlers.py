"""What the engine does in place of calling a function: the tables of handlers."""

from collections.abc import Callable
from typing import Any

__all__ = ["CALLABLES", "HANDLERS", "OVERLAYS", "Handler", "handler"]

Handler = Callable[..., Any]

# What the engine does in place of calling a function: handler(run, *args, **kwargs).
HANDLERS: dict[Any, Handler] = {}
# The functions whose handler runs a body that a user gave in their place.
OVERLAYS: set[Any] = set()
# By the class of a callable: handler(run, f, args, kwargs).
CALLABLES: dict[type, Handler] = {}


def handler(*functions: Any) -> Callable[[Handler], Handler]:
    """Register what the engine does in place of calling one of ``functions``."""

    def register(handle: Handler) -> Handler:
        for function in functions:
            HANDLERS[function] = handle
        return handle

    return register
