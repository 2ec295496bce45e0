"""The public home of public names: reprs and tracebacks name what users import."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["settle"]


def settle(namespace: dict[str, Any], names: Iterable[str]) -> None:
    """Set `__module__` of every name of a public module to that module."""
    home = namespace["__name__"]
    for name in names:
        value = namespace[name]
        module = getattr(value, "__module__", None)
        if isinstance(module, str) and module.startswith(f"{home}._"):
            value.__module__ = home
