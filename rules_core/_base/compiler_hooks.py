"""Hooks for the compiler that traces Python code: torch's Dynamo.

It reads these attributes of functions when it traces the first call of a primitive.
No adapter may have been imported by then, so they are set here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["COMPILER", "opaque", "traced_as"]

F = TypeVar("F", bound=Callable[..., Any])

# The root module of the framework that compiles.
COMPILER = "torch"


def opaque(f: F) -> F:
    """Run a function of classes and constants while tracing, and keep its result."""
    vars(f)["_dynamo_marked_constant"] = True
    return f


def traced_as(f: Callable[..., Any], traced: Callable[..., Any]) -> None:
    """Trace another function in place of `f`."""
    vars(f)["_torchdynamo_inline"] = traced
