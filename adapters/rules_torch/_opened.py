"""Arguments in code that Dynamo traces: taken apart there, put together outside.

Dynamo cannot run what `_leaves.flatten` asks objects about, but it can read their
attributes. So a layout is made here of constants, and what is no constant is put on a
table and named. What a compiler cannot be given is named in words.
"""

from __future__ import annotations

from functools import partial
from itertools import count
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
)
from typing import Any

import torch
from torch import Tensor

import rules_core as rc

from ._leaves import LEAF

__all__ = ["OBJECTS", "closed_layout", "named", "open_traced"]

# Objects by their names in layouts.
OBJECTS: dict[str, Any] = {}
_numbers = count()

_STATIC = (
    str, bytes, int, float, complex, type(None), type(Ellipsis), slice, range, type,
    torch.dtype, torch.device, torch.Size, rc.RuleConfig, BuiltinFunctionType,
    MethodDescriptorType,
)  # fmt: skip
_DEEPEST = 20


class _Maker:
    """Makes a value of one kind from its entries."""

    keyed = "field"

    def __init__(self, kind: str, extra: Any, names: tuple[str, ...]) -> None:
        self.kind, self.extra, self.names = kind, extra, names

    def rebuild(self, items: list[Any]) -> Any:
        """The value again."""
        if self.kind == "method":
            function, instance = items
            return MethodType(function, instance)
        if self.kind == "partial":
            rest = dict(zip(self.names, items[self.extra :], strict=True))
            function, *args = items[: self.extra]
            return partial(function, *args, **rest)
        made = object.__new__(self.extra)
        for name, item in zip(self.names, items, strict=True):
            object.__setattr__(made, name, item)
        return made


def named(value: Any) -> str:
    """Puts an object on the table, under a new name."""
    name = f"{type(value).__name__}#{next(_numbers)}"
    OBJECTS[name] = value
    return name


_PRIMITIVES: dict[rc.Primitive, str] = {}


def _named_primitive(value: rc.Primitive) -> str:
    """Names a primitive, always by the same name."""
    if value not in _PRIMITIVES:
        _PRIMITIVES[value] = named(value)
    return _PRIMITIVES[value]


def open_traced(value: Any, tensors: list[Tensor], closed: list[str], deep: int) -> Any:
    """The layout of `value` in constants; its tensors are appended.

    What cannot be taken apart is described, and appended to `closed`.
    """
    if isinstance(value, Tensor):
        tensors.append(value)
        return LEAF
    if isinstance(value, rc.Primitive):
        return ("name", _named_primitive(value))
    if isinstance(value, (tuple, list, dict)):
        return _open_container(value, tensors, closed, deep)
    if isinstance(value, _STATIC):
        return ("static", value)
    if type(value).__module__ == "numpy":  # which Dynamo has made a tensor already
        tensors.append(torch.as_tensor(value))
        return LEAF
    if isinstance(value, FunctionType):
        if value.__code__.co_freevars:
            closed.append("a function that closes over variables")
        return ("static", value)
    return _open_object(value, tensors, closed, deep)


def _open_container(
    value: Any, tensors: list[Tensor], closed: list[str], deep: int
) -> Any:
    cls = type(value)
    items = value.values() if isinstance(value, dict) else value
    children = tuple([open_traced(x, tensors, closed, deep + 1) for x in items])
    if isinstance(value, dict):
        return ("mapping", dict, tuple(value), children)
    if hasattr(cls, "_fields"):
        return ("named", cls, cls._fields, children)
    return ("sequence", cls, tuple(range(len(children))), children)


def _open_object(
    value: Any, tensors: list[Tensor], closed: list[str], deep: int
) -> Any:
    """Methods, partial applications, and instances by their attributes."""
    extra: Any = type(value)
    names: tuple[str, ...] = ()
    if isinstance(value, MethodType):
        kind, items = "method", [value.__func__, value.__self__]
    elif isinstance(value, partial):
        names = tuple(value.keywords)
        kind, extra = "partial", 1 + len(value.args)
        items = [value.func, *value.args, *value.keywords.values()]
    elif deep > _DEEPEST or not _is_open(extra):
        closed.append(f"an object of type {extra.__name__}")
        return LEAF
    else:
        kind, names = "object", tuple(vars(value))
        items = [getattr(value, name) for name in names]
    children = [open_traced(x, tensors, closed, deep + 1) for x in items]
    return (kind, extra, names, tuple(children))


def _is_open(cls: type) -> bool:
    """Whether the attributes of an instance are all that there is to it."""
    return (
        not issubclass(cls, torch.nn.Module)
        and cls.__module__ not in ("builtins", "collections", "enum")
        and hasattr(cls, "__dict__")
    )


def closed_layout(layout: Any) -> Any:
    """A layout as `_leaves.unflatten` reads it."""
    kind = layout[0]
    if kind == "name":
        return ("static", OBJECTS[layout[1]])
    if kind in ("tensor", "static"):
        return layout
    kind, builder, names, children = layout
    children = tuple(map(closed_layout, children))
    if kind in ("method", "partial", "object"):
        return ("struct", _Maker(kind, builder, names), names, children)
    return (kind, builder, names, children)


for _function in (_named_primitive, _is_open):  # Dynamo runs them and does not trace
    _function.__dict__["_dynamo_marked_constant"] = True
