"""Attributes of classes, looked up by guards without running code of the class."""

from typing import Any

__all__ = ["MISSING", "computes", "entry", "overrides"]

MISSING = object()


def entry(cls: type, name: str) -> Any:
    """The entry of a class or its bases under a name."""
    for base in cls.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return MISSING


def overrides(cls: type, name: str) -> bool:
    """Whether a class answers before the instance's own attribute, as properties do."""
    kind = type(entry(cls, name))
    return hasattr(kind, "__set__") or hasattr(kind, "__delete__")


def computes(cls: type, name: str) -> bool:
    """Whether reading an attribute gives another value than stands in the class."""
    return hasattr(type(entry(cls, name)), "__get__")
