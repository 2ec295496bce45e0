"""Calls as text: how an exported program names a primitive and its arguments.

Text without spaces, of literals and of names that are looked up among the modules that
are imported; nothing is imported or run by reading it.
"""

from __future__ import annotations

import ast
import sys
from functools import reduce
from types import BuiltinFunctionType, FunctionType
from typing import Any

import torch

import rules_core as rc
from rules_torch._errors import UntraceableError

__all__ = ["Unspeakable", "described", "restored"]

_LITERALS = (bool, bytes, int, str, type(None))
_NAMED = (type, FunctionType, BuiltinFunctionType, rc.Primitive)


class Unspeakable(Exception):
    """A value that text cannot stand for; says why."""


def described(value: Any) -> str:
    """A value as text without spaces.

    Raises:
        Unspeakable: Another process could not find the value.
    """
    return repr(_literal(value)).replace(" ", "")


def _literal(value: Any) -> Any:
    cls = type(value)
    if cls in _LITERALS:
        text = value if isinstance(value, (str, bytes)) else ""
        return ("hex", cls.__name__, _hex(value)) if text else value
    if cls in (float, complex):
        return (cls.__name__, repr(value))
    if cls in (tuple, list, dict, slice, range, torch.Size):
        return (cls.__name__, *map(_literal, _parts(value)))
    if cls in (torch.dtype, torch.device):
        return (cls.__name__, str(value))
    if isinstance(value, _NAMED):
        return ("named", _path(value))
    message = f"an argument of type {cls.__qualname__} has no name in another"
    raise Unspeakable(message)


def _hex(value: str | bytes) -> str:
    return (value.encode() if isinstance(value, str) else value).hex()


def _parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, (slice, range)):
        return [value.start, value.stop, value.step]
    return list(value)


def _path(value: Any) -> str:
    path = f"{value.__module__}:{value.__qualname__}"
    try:
        found = _named(path)
    except (AttributeError, KeyError):
        found = None
    if found is not value:
        message = f"{value.__qualname__} is not found at the top level of its module"
        raise Unspeakable(message)
    return path


def _named(path: str) -> Any:
    module, _, name = path.partition(":")
    return reduce(getattr, name.split("."), sys.modules[module])


def restored(text: str) -> Any:
    """The value that `described` has described.

    Raises:
        UntraceableError: A module that it names is not imported here.
    """
    return _value(ast.literal_eval(text))


def _value(literal: Any) -> Any:
    if not isinstance(literal, tuple):
        return literal
    kind, *parts = literal
    if kind == "hex":
        data = bytes.fromhex(parts[1])
        return data.decode() if parts[0] == "str" else data
    if kind in ("float", "complex"):
        return {"float": float, "complex": complex}[kind](parts[0])
    if kind == "dtype":
        return getattr(torch, parts[0].removeprefix("torch."))
    if kind == "device":
        return torch.device(parts[0])
    if kind == "named":
        return _imported(parts[0])
    return _container(kind, [_value(part) for part in parts])


def _container(kind: str, items: list[Any]) -> Any:
    if kind in ("slice", "range"):
        return (slice if kind == "slice" else range)(*items)
    makers = {"tuple": tuple, "list": list, "dict": dict, "Size": torch.Size}
    return makers[kind](items)


def _imported(path: str) -> Any:
    try:
        return _named(path)
    except (AttributeError, KeyError):
        module, _, name = path.partition(":")
        raise UntraceableError(
            name,
            f"an exported program calls it, and {module} is not imported here or has "
            "it no more",
            f"Import {module} before the program runs.",
        ) from None
