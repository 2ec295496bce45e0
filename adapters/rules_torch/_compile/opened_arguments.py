"""Arguments in code that Dynamo traces: taken apart there, put together outside.

Dynamo cannot run what `_leaves.flatten` asks objects about, but it can read their
attributes. So a layout is made here of constants, and what is no constant is put on a
table and named. An error names what a compiler cannot be given.
"""

from __future__ import annotations

import enum
import operator
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
from rules_core.extend import LEAF, unflatten
from rules_torch._closures.outside_reads import class_constants, holds
from rules_torch._values.static_keys import exact
from rules_torch._values.symbolic_sizes import NUMBER, filled

__all__ = [
    "OBJECTS",
    "CHANGED_INSIDE",
    "Maker",
    "closed_layout",
    "constant",
    "named",
    "open_traced",
]

# Objects by their names in layouts, and their names.
OBJECTS: dict[str, Any] = {}
_NAMES: dict[int, str] = {}
_numbers = count()

_STATIC = (
    str, bytes, complex, type(None), type(Ellipsis), type, enum.Enum,
    torch.dtype, torch.device, rc.RuleConfig, BuiltinFunctionType,
    MethodDescriptorType,
)  # fmt: skip
_TEXTS = (str, bytes, complex)  # and NumPy's, which are of these classes
# Objects that lead to each other are met by every path, so their number is limited.
_MOST, _DEEPEST = 100, 20
_UNSEEN = (
    "whose tensors a compiler does not see. Pass the tensors as arguments, or in a "
    "tuple, list, dict, dataclass or bound method, or compile without fullgraph=True."
)
CHANGED_INSIDE = (
    "which the compiled function has changed before. Pass the value as an argument, or "
    "compile without fullgraph=True."
)


class Maker:
    """Makes a value of one kind from its entries; equal ones make equal values."""

    keyed = "field"

    def __init__(self, kind: str, extra: Any, names: tuple[str, ...]) -> None:
        self.kind, self.extra, self.names = kind, extra, names

    @property
    def primal(self) -> Any:
        """What stands for the class of the value, as in a structure."""
        return self.exact_key()

    def exact_key(self) -> Any:
        """A key that equal arguments share."""
        return exact((self.kind, self.extra, self.names))

    def rebuild(self, items: list[Any]) -> Any:
        """The value again."""
        if self.kind == "method":
            function, instance = items
            return MethodType(function, instance)
        if self.kind == "ends":
            return self.extra(*items)
        if self.kind == "partial":
            rest = dict(zip(self.names, items[self.extra :], strict=True))
            function, *args = items[: self.extra]
            return partial(function, *args, **rest)
        made = object.__new__(self.extra)
        for name, item in zip(self.names, items, strict=True):
            object.__setattr__(made, name, item)
        return made


def named(value: Any) -> str:
    """Puts an object on the table, always under the same name."""
    name = _NAMES.get(id(value))
    if name is None:
        name = _NAMES[id(value)] = f"{type(value).__name__}#{next(_numbers)}"
        OBJECTS[name] = value
    return name


def open_traced(
    value: Any, leaves: list[Any], closed: list[str], opened: list[Any], deep: int
) -> Any:
    """The layout of `value` in constants; its tensors and numbers are appended.

    What cannot be taken apart is described in a predicate, appended to `closed`, what
    is taken apart appended to `opened`.
    """
    if isinstance(value, Tensor):
        leaves.append(value)
        return LEAF
    if isinstance(value, rc.Primitive):
        return ("name", named_object(value))
    if type(value) is bool:  # Dynamo compiles for the answer of a comparison
        return ("static", True) if value else ("static", False)
    # NumPy's own first: Dynamo does not ask the arrays that it has made tensors about
    # classes which answer for their instances.
    if type(value).__module__ == "numpy" and not isinstance(value, _TEXTS):
        leaves.append(torch.as_tensor(value))
        return LEAF
    if isinstance(value, _STATIC):
        return ("static", value)
    if type(value) is int or type(value) is float:
        leaves.append(value)
        return NUMBER
    if isinstance(value, (tuple, list, dict)):
        return _open_container(value, leaves, closed, opened, deep)
    if isinstance(value, (slice, range)):
        parts = (value.start, value.stop, value.step)
        children = [open_traced(x, leaves, closed, opened, deep) for x in parts]
        return ("ends", type(value), (0, 1, 2), tuple(children))
    if isinstance(value, FunctionType):
        if value.__code__.co_freevars:
            closed.append(f"is given a function that closes over variables, {_UNSEEN}")
        return ("static", value)
    return _open_object(value, leaves, closed, opened, deep)


def _open_container(
    value: Any, leaves: list[Any], closed: list[str], opened: list[Any], deep: int
) -> Any:
    cls = type(value)
    items = value.values() if isinstance(value, dict) else value
    children = tuple([open_traced(x, leaves, closed, opened, deep + 1) for x in items])
    if isinstance(value, dict):
        return ("mapping", dict, tuple(value), children)
    if hasattr(cls, "_fields"):
        return ("named", cls, cls._fields, children)
    return ("sequence", cls, tuple(range(len(children))), children)


def _open_object(
    value: Any, leaves: list[Any], closed: list[str], opened: list[Any], deep: int
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
    elif extra is object:
        closed.append(
            "is given a bare object(), which a compiler cannot name. Use a "
            "member of an Enum, or an instance of a class of your own."
        )
        return LEAF
    elif deep > _DEEPEST or len(opened) > _MOST or not is_open(extra):
        closed.append(f"is given an object of type {extra.__name__}, {_UNSEEN}")
        return LEAF
    else:
        return _open_instance(value, leaves, closed, opened, deep)
    children = [open_traced(x, leaves, closed, opened, deep + 1) for x in items]
    return (kind, extra, names, tuple(children))


def _open_instance(
    value: Any, leaves: list[Any], closed: list[str], opened: list[Any], deep: int
) -> Any:
    """An instance, itself where it holds no tensor and nothing else is equal to it."""
    cls = type(value)
    opened.append(value)
    names = tuple(vars(value))
    for name, expected in class_constants(cls):
        if not holds(getattr(cls, name), expected):
            closed.append(f"reads the class {cls.__name__}, {CHANGED_INSIDE}")
    items = [getattr(value, name) for name in names]
    own: list[Any] = []
    before = len(closed)
    children = tuple([open_traced(x, own, closed, opened, deep + 1) for x in items])
    tensors = [x for x in own if isinstance(x, Tensor)]
    if is_itself(cls) and not tensors and len(closed) == before:
        numbers = tuple([constant(x) for x in own])
        name = known_object(value, names, children, numbers)
        if name == CHANGED:
            closed.append(
                f"is given an object of type {cls.__name__}, {CHANGED_INSIDE}"
            )
        if name:
            return ("name", name)
    leaves.extend(own)
    return ("object", cls, names, children)


def constant(number: Any) -> Any:
    """A number that Dynamo may have made variable, which is compiled for its value."""
    if type(number) is float:
        return torch.fx.experimental.symbolic_shapes.guard_scalar(number)
    return operator.index(number)


CHANGED = "changed"


def named_object(value: Any) -> str:
    """The name of an object of a traced frame, by its identity."""
    return named(value)


def known_object(value: Any, names: Any, children: Any, numbers: Any) -> str:
    """The name of an instance; nothing for one that was made in the traced frame."""
    own = getattr(value, "__dict__", {})
    if names and not own:
        return ""
    layout = ("sequence", tuple, names, tuple(map(closed_layout, children)))
    seen = unflatten(filled(layout, numbers), ())
    if len(own) == len(names) and all(map(_alike, seen, own.values())):
        return named(value)
    return CHANGED


def _alike(a: Any, b: Any) -> bool:
    if a is b or exact(a) == exact(b):
        return True
    return type(a) is type(b) and not is_itself(type(a)) and bool(a == b)


def is_itself(cls: type) -> bool:
    """Whether instances are compared by identity, as sentinels are."""
    return all("__eq__" not in vars(base) for base in cls.__mro__[:-1])


def is_open(cls: type) -> bool:
    """Whether the attributes of an instance are all that there is to it."""
    return (
        not issubclass(cls, torch.nn.Module)
        and cls.__module__ not in ("builtins", "collections")
        and bool(cls.__dictoffset__)
        and not any(base.__dict__.get("__slots__") for base in cls.__mro__)
    )


def closed_layout(layout: Any) -> Any:
    """A layout as `_leaves.unflatten` reads it."""
    kind = layout[0]
    if kind == "name":
        return ("static", OBJECTS[layout[1]])
    if kind in ("leaf", "static", "number"):
        return layout
    kind, builder, names, children = layout
    children = tuple(map(closed_layout, children))
    if kind in ("method", "partial", "object", "ends"):
        return ("struct", Maker(kind, builder, names), names, children)
    return (kind, builder, names, children)


# Dynamo runs them and does not trace.
for _function in (named_object, known_object, is_itself, is_open, class_constants):
    _function.__dict__["_dynamo_marked_constant"] = True
