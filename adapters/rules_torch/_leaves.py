"""Arguments and results as flat lists of tensors, and back.

A layout describes everything about a value but its tensors: nested tuples, so that it
can be compared, kept and handed through a compiler. It also pairs tangents with the
tensors that they belong to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import FunctionType
from typing import Any

import torch
from torch import Tensor

import rules_core as rc

from ._closure import attributes, convert, rebuild

__all__ = [
    "LEAF",
    "differentiable",
    "flatten",
    "leaf_names",
    "pair",
    "restore",
    "tangent_of",
    "unflatten",
]

LEAF = ("tensor",)
_STATIC = (
    bool, bytes, complex, float, int, str, type(None), type, slice, range,
    torch.dtype, torch.device, torch.Size, rc.Primitive,
)  # fmt: skip


def differentiable(x: Any) -> bool:
    """Whether a tensor has a tangent: floating or complex."""
    return x.is_floating_point() or x.is_complex()  # type: ignore[no-any-return]


def flatten(value: Any, tensors: list[Tensor], device: Any = None) -> Any:
    """The layout of `value`; its tensors are appended to `tensors`.

    NumPy arrays are leaves as well: they become tensors, without copying where torch
    can share their memory.
    """
    if isinstance(value, Tensor):
        tensors.append(value)
        return LEAF
    if isinstance(value, _STATIC):
        return ("static", value)
    parts = _open(value)
    if parts is None:
        return _flatten_other(value, tensors, device)
    kind, names, items = parts
    layouts = [flatten(item, tensors, device) for item in items]
    if all(layout[0] == "static" for layout in layouts):
        return ("static", value)
    return (kind, type(value), tuple(names), tuple(layouts))


def _flatten_other(value: Any, tensors: list[Tensor], device: Any) -> Any:
    if _is_numpy_array(value):
        tensors.append(_from_numpy(value, device))
        return LEAF
    if isinstance(value, FunctionType):
        plan, captured = convert(value)
        if captured and plan.obstacle is None:
            tensors.extend(captured)
            return ("function", plan, (), len(captured))
    return ("static", value)


def _is_numpy_array(value: Any) -> bool:
    cls = type(value)
    return cls.__module__ == "numpy" and hasattr(value, "__array__")


def _from_numpy(value: Any, device: Any) -> Tensor:
    flags = getattr(value, "flags", None)
    if flags is None or not flags.writeable or any(s < 0 for s in value.strides):
        value = value.copy()
    return torch.as_tensor(value, device=device)


def _open(value: Any) -> tuple[str, Sequence[Any], Sequence[Any]] | None:
    """Kind, names and items of a container; None where `value` is none."""
    cls = type(value)
    if cls is tuple or cls is list:
        return "sequence", range(len(value)), value
    if isinstance(value, dict):
        return ("mapping", list(value), list(value.values())) if _plain(cls) else None
    if isinstance(value, tuple) and hasattr(cls, "_fields"):
        return "named", cls._fields, value
    fields = attributes(value)
    return None if fields is None else ("object", list(fields), list(fields.values()))


def _plain(cls: type) -> bool:
    return cls is dict or cls.__module__ == "collections"


def restore(layout: Any, tensors: Iterator[Any]) -> Any:
    """The value again, taking its tensors from an iterator."""
    kind = layout[0]
    if kind == "tensor":
        return next(tensors)
    if kind == "static":
        return layout[1]
    if kind == "function":
        return rebuild(layout[1], [next(tensors) for _ in range(layout[3])])
    _, cls, names, children = layout
    items = [restore(child, tensors) for child in children]
    return _assemble(kind, cls, names, items)


def _assemble(kind: str, cls: Any, names: Sequence[Any], items: list[Any]) -> Any:
    if kind == "sequence":
        return cls(items)
    if kind == "mapping":
        return cls(zip(names, items, strict=True))
    if kind == "named":
        return cls(*items)
    made = object.__new__(cls)
    for name, item in zip(names, items, strict=True):
        object.__setattr__(made, name, item)
    return made


def unflatten(layout: Any, tensors: Sequence[Any]) -> Any:
    """The value again, from a list of its tensors."""
    return restore(layout, iter(tensors))


def leaf_names(layout: Any, name: str) -> Iterator[str]:
    """A name per tensor, for messages: `params.weight`, `xs[1]`."""
    kind = layout[0]
    if kind == "tensor":
        yield name
    elif kind == "function":
        yield from (f"what {name} captures" for _ in range(layout[3]))
    elif kind != "static":
        for key, child in zip(layout[2], layout[3], strict=True):
            dotted = kind in ("named", "object")
            yield from leaf_names(child, f"{name}.{key}" if dotted else f"{name}[{key!r}]")


def tangent_of(layout: Any, tangents: Iterator[Any]) -> Any:
    """The tangent of a value from the tangents of its tensors, in the core's words."""
    kind = layout[0]
    if kind == "tensor":
        return next(tangents)
    if kind == "static":
        return rc.NoTangent()
    if kind == "function":
        return rc.Tangent(FunctionType, *[next(tangents) for _ in range(layout[3])])
    _, cls, names, children = layout
    items = [tangent_of(child, tangents) for child in children]
    if kind == "sequence":
        return rc.Tangent(cls, *items)
    if kind == "mapping":
        return rc.Tangent(cls, dict(zip(names, items, strict=True)))
    return rc.Tangent(cls, **dict(zip(names, items, strict=True)))


def pair(layout: Any, tangent: Any) -> Iterator[Any]:
    """The tangent of each tensor, from a canonical tangent of the whole value."""
    kind = layout[0]
    if kind == "tensor":
        yield tangent
    elif kind != "static":
        yield from _pair_parts(layout, rc.unthunk(tangent))


def _pair_parts(layout: Any, tangent: Any) -> Iterator[Any]:
    kind, _, names, children = layout
    if kind == "function":
        for index in range(children):
            yield _entry("sequence", tangent, index)
        return
    for name, child in zip(names, children, strict=True):
        yield from pair(child, _entry(kind, tangent, name))


def _entry(kind: str, tangent: Any, name: Any) -> Any:
    if isinstance(tangent, (rc.AbstractZero, rc.NotImplementedTangent)):
        return tangent
    if kind in ("sequence", "mapping"):
        return tangent[name]
    return getattr(tangent, name)

