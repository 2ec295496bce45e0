"""Arguments and results as flat lists of tensors, and back.

A layout describes everything about a value but its tensors: nested tuples, so that it
can be compared, kept and handed through a compiler. It also pairs tangents with the
tensors that they belong to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

import rules_core as rc
from rules_torch._closures.parts import reaches_tensor
from rules_torch._compat import is_symbol
from rules_torch._errors import HiddenTensorsError

__all__ = [
    "LEAF",
    "SymbolError",
    "differentiable",
    "flatten",
    "flatten_plain",
    "form_of",
    "leaf_names",
    "pair",
    "statics",
    "struct_tangent",
    "tangent_of",
    "unflatten",
]

LEAF = ("tensor",)


class SymbolError(Exception):
    """An argument is what `torch.fx.symbolic_trace` calls functions with."""

    def __init__(self, symbol: Any) -> None:
        self.symbol = symbol


_STATIC = (
    bool, bytes, complex, float, int, str, type(None), type, slice, range,
    torch.dtype, torch.device, torch.Size, torch.SymBool, torch.SymFloat, torch.SymInt,
    rc.Primitive, rc.RuleConfig,
)  # fmt: skip


def differentiable(x: Any) -> bool:
    """Whether a tensor has a tangent: floating or complex."""
    return x.is_floating_point() or x.is_complex()


def flatten(value: Any, tensors: list[Tensor]) -> Any:
    """The layout of `value`; its tensors are appended to `tensors`.

    NumPy arrays are leaves as well: they become tensors, without copying where torch
    can share their memory. Objects and functions are opened as `rc.structure` does.

    Raises:
        HiddenTensorsError: Tensors are hidden where they cannot be taken out.
    """
    if isinstance(value, Tensor):
        tensors.append(value)
        return LEAF
    if isinstance(value, _STATIC):
        return ("static", value)
    cls = type(value)
    if cls is tuple or cls is list:
        items = [flatten(item, tensors) for item in value]
        return ("sequence", cls, tuple(range(len(items))), tuple(items))
    if cls is dict:
        items = [flatten(item, tensors) for item in value.values()]
        return ("mapping", cls, tuple(value), tuple(items))
    if cls.__module__ == "numpy" and hasattr(value, "__array__"):
        tensors.append(_from_numpy(value))
        return LEAF
    if hasattr(cls, "_fields") and isinstance(value, tuple):
        items = [flatten(item, tensors) for item in value]
        return ("named", cls, cls._fields, tuple(items))
    return _flatten_object(value, tensors)


def _from_numpy(value: Any) -> Tensor:
    if torch.compiler.is_dynamo_compiling():  # which has made it a tensor already
        return torch.as_tensor(value)
    flags = getattr(value, "flags", None)
    if flags is None or not flags.writeable or any(s < 0 for s in value.strides):
        value = value.copy()
    return torch.as_tensor(value)


def _flatten_object(value: Any, tensors: list[Tensor]) -> Any:
    """Instances, functions and whatever else the core can take apart."""
    if is_symbol(type(value)):
        raise SymbolError(value)
    if not reaches_tensor(value):
        return ("static", value)
    level = rc.structure(value)
    if level is None:
        raise HiddenTensorsError(type(value).__qualname__)
    try:
        items = [flatten(item, tensors) for item in level.values]
    except RecursionError:
        raise rc.UnsupportedError(_CYCLE.format(type(value).__qualname__)) from None
    return ("struct", _hollow(level, items), level.names, tuple(items))


_CYCLE = (
    "An argument of type {} must not hold itself where it holds tensors of a call of a "
    "primitive: pass the tensors themselves, or an object without the reference."
)


def _hollow(level: rc.Structure, layouts: Sequence[Any]) -> rc.Structure:
    """The structure of a copy without tensors: a layout must not keep them alive."""
    if level.keyed == "position":
        return level
    numbers = [sum(1 for _ in leaf_names(layout, "")) for layout in layouts]
    pairs = zip(layouts, numbers, strict=True)
    copy = level.rebuild([unflatten(layout, [0.0] * n) for layout, n in pairs])
    return rc.structure(copy) or level


def flatten_plain(value: Any, leaves: list[Any], is_leaf: Callable[[Any], bool]) -> Any:
    """The layout of a value whose leaves are no tensors.

    Tuples, lists and dicts are opened, and instances in which there is a leaf.
    """
    if is_leaf(value):
        leaves.append(value)
        return LEAF
    cls: Any = type(value)
    if cls is tuple or cls is list:
        children = tuple(flatten_plain(item, leaves, is_leaf) for item in value)
        return ("sequence", cls, tuple(range(len(value))), children)
    if cls is dict:
        items = value.values()
        children = tuple(flatten_plain(item, leaves, is_leaf) for item in items)
        return ("mapping", dict, tuple(value), children)
    if hasattr(cls, "_fields") and isinstance(value, tuple):
        children = tuple(flatten_plain(item, leaves, is_leaf) for item in value)
        return ("named", cls, cls._fields, children)
    if not _holds_leaf(value, is_leaf, set()):
        return ("static", value)
    level: Any = rc.structure(value)
    children = tuple(flatten_plain(item, leaves, is_leaf) for item in level.values)
    return ("struct", _hollow(level, children), level.names, children)


def _holds_leaf(value: Any, is_leaf: Callable[[Any], bool], seen: set[int]) -> bool:
    if id(value) in seen or isinstance(value, _STATIC):
        return False
    seen.add(id(value))
    level = rc.structure(value)
    return level is not None and any(
        is_leaf(item) or _holds_leaf(item, is_leaf, seen) for item in level.values
    )


def form_of(layout: Any) -> Any:
    """A layout that can be compared: classes in place of structures."""
    if layout is None or layout[0] in ("tensor", "static"):
        return layout
    kind, builder, names, children = layout
    made = builder.primal if kind == "struct" else builder
    return (kind, made, names, tuple(map(form_of, children)))


def statics(layout: Any) -> Iterator[Any]:
    """The values in a layout that are no tensors."""
    if layout[0] == "static":
        yield layout[1]
    elif layout[0] != "tensor":
        for child in layout[3]:
            yield from statics(child)


def unflatten(layout: Any, tensors: Sequence[Any]) -> Any:
    """The value again, from a list of its tensors."""
    return _restore(layout, iter(tensors))


def _restore(layout: Any, tensors: Iterator[Any]) -> Any:
    kind = layout[0]
    if kind == "tensor":
        return next(tensors)
    if kind == "static":
        return layout[1]
    _, builder, names, children = layout
    items = [_restore(child, tensors) for child in children]
    if kind == "sequence":
        return builder(items)
    if kind == "mapping":
        return dict(zip(names, items, strict=True))
    return builder(*items) if kind == "named" else builder.rebuild(items)


def leaf_names(layout: Any, name: str) -> Iterator[str]:
    """A name per tensor, for messages: `params.weight`, `xs[1]`."""
    kind = layout[0]
    if kind == "tensor":
        yield name
    elif kind != "static":
        dotted = kind == "named" or (kind == "struct" and layout[1].keyed == "field")
        for key, child in zip(layout[2], layout[3], strict=True):
            yield from leaf_names(
                child, f"{name}.{key}" if dotted else f"{name}[{key!r}]"
            )


def tangent_of(layout: Any, tangents: Iterator[Any]) -> Any:
    """The tangent of a value from the tangents of its tensors, in the core's words."""
    kind = layout[0]
    if kind == "tensor":
        return next(tangents)
    if kind == "static":
        value = layout[1]  # a number that is a constant of the call
        return type(value)(0) if type(value) in (float, complex) else rc.NoTangent()
    _, builder, names, children = layout
    items = [tangent_of(child, tangents) for child in children]
    if all(isinstance(item, rc.NoTangent) for item in items):
        return rc.NoTangent()
    if kind == "sequence":
        return rc.Tangent(builder, *items)
    fields = dict(zip(names, items, strict=True))
    if kind == "mapping":
        return rc.Tangent(dict, fields)
    return (
        rc.Tangent(builder, **fields)
        if kind == "named"
        else struct_tangent(builder, items)
    )


def struct_tangent(level: rc.Structure, items: list[Any]) -> Any:
    """The tangent of a container from those of its entries."""
    if level.keyed == "position":
        return rc.Tangent(level.primal, *items)
    fields: dict[Any, Any] = dict(zip(level.names, items, strict=True))
    if level.keyed == "key":
        return rc.Tangent(level.primal, fields)
    return (rc.MutableTangent if level.mutable else rc.Tangent)(level.primal, **fields)


def pair(layout: Any, tangent: Any) -> Iterator[Any]:
    """The tangent of each tensor, from a canonical tangent of the whole value."""
    kind = layout[0]
    if kind == "tensor":
        yield tangent
        return
    if kind == "static":
        return
    tangent = rc.unthunk(tangent)
    for name, child in zip(layout[2], layout[3], strict=True):
        yield from pair(child, _entry(layout, tangent, name))


def _entry(layout: Any, tangent: Any, name: Any) -> Any:
    if isinstance(tangent, (rc.AbstractZero, rc.NotImplementedTangent)):
        return tangent
    kind = layout[0]
    if kind == "named" or (kind == "struct" and layout[1].keyed == "field"):
        return getattr(tangent, name)
    if kind == "mapping" and name not in tangent:
        return rc.ZeroTangent()
    return tangent[name]
