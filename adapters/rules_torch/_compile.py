"""`torch.compile` and `torch.export`: one opaque entry that keeps the rules.

Dynamo would trace an `autograd.Function` and, inside a transform, silently drop its
backward. So the frame that it traces does nothing but flatten the arguments and call
an entry that Dynamo puts into its graph as it is; AOTAutograd then runs the same code
as eager does, whose operations it sees, differentiates and fuses.

An entry receives constants and tensors only: the call itself is kept in a table here
and named by a key.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from types import BuiltinFunctionType, FunctionType
from typing import Any

import torch
from torch import Tensor

import rules_core as rc

from ._errors import UntraceableError
from ._leaves import LEAF, flatten, unflatten

__all__ = ["call_traced"]


class _Traced:
    """A primitive with the layout of its arguments, and of its result once it ran."""

    __slots__ = ("layout", "primitive", "result")

    def __init__(self, primitive: rc.Primitive, layout: Any) -> None:
        self.primitive, self.layout = primitive, layout
        self.result: Any = None


# What is no callable object, or one that is found by its name.
_DATA = (
    Tensor, tuple, list, dict, str, bytes, int, float, complex, type(None), slice,
    range, torch.dtype, torch.device, type, BuiltinFunctionType, rc.Primitive,
)  # fmt: skip
_CALLS: dict[str, _Traced] = {}
_KEYS: dict[Any, str] = {}
_OBJECTS: dict[str, Any] = {}
_numbers = count()


def call_traced(
    primitive: rc.Primitive, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call a primitive in a frame that Dynamo traces.

    What this reads, a compiled function checks again at every call. So the common call,
    of tensors alone, reads little.
    """
    if not kwargs and all(isinstance(x, Tensor) for x in args):
        key = _key_of_tensors(primitive, len(args))
        outputs = _entry(key, *args)
        return outputs[0] if _is_tensor(key) else _result(key, outputs)
    for x in (*args, *kwargs.values()):
        if isinstance(x, FunctionType):
            if x.__code__.co_freevars:
                _refuse_closure(primitive)
        elif not isinstance(x, _DATA) and type(x).__module__ != "numpy" and callable(x):
            _refuse_object(primitive, type(x).__name__)
    tensors: list[Tensor] = []
    key = _key_of(primitive, flatten((args, kwargs), tensors))
    return _result(key, _entry(key, *tensors))


def _result(key: str, outputs: tuple[Tensor, ...]) -> Any:
    return _restore(_result_of(key), iter(outputs))


def _refuse_closure(primitive: rc.Primitive) -> None:
    raise UntraceableError(
        primitive.table.label,
        "a function that it is given closes over variables, whose derivatives a "
        "compiler would lose",
        "Pass the captured tensors as arguments, or compile around the call.",
    )


def _refuse_object(primitive: rc.Primitive, kind: str) -> None:
    raise UntraceableError(
        primitive.table.label,
        f"it is given a callable object of type {kind}, whose tensors a compiler does "
        "not see",
        "Pass a function without a closure that is defined outside of the compiled "
        "one, and the tensors as arguments, or compile around the call.",
    )


def _key_of(primitive: rc.Primitive, layout: Any) -> str:
    torch.compiler.allow_in_graph(_entry)
    try:
        known = _KEYS.get((primitive, layout))
    except TypeError:  # a static argument is not hashable
        known = None
    if known is not None:
        return known
    key = f"{primitive.table.label}#{next(_numbers)}"
    _CALLS[key] = _Traced(primitive, layout)
    with suppress(TypeError):
        _KEYS[primitive, layout] = key
    return key


def _key_of_tensors(primitive: rc.Primitive, number: int) -> str:
    args = ("sequence", tuple, tuple(range(number)), (LEAF,) * number)
    nothing = ("mapping", dict, (), ())
    return _key_of(primitive, ("sequence", tuple, (0, 1), (args, nothing)))


def _is_tensor(key: str) -> bool:
    return bool(_CALLS[key].result == LEAF)


def _result_of(key: str) -> Any:
    return _describe(_CALLS[key].result)


def _describe(layout: Any) -> Any:
    """A layout in literals only; objects are put on the table and named."""
    kind = layout[0]
    if kind == "tensor":
        return ("tensor",)
    if kind == "static":
        value = layout[1]
        if value is None or isinstance(value, (bool, int, float, str)):
            return ("literal", value)
        return ("object", _named(value))
    children = tuple(map(_describe, layout[3]))
    if kind == "sequence" and layout[1] in (tuple, list):
        return (layout[1].__name__, children)
    if kind == "mapping":
        return ("dict", tuple(layout[2]), children)
    return (kind, _named(layout[1]), children)


def _named(value: Any) -> str:
    name = f"{type(value).__name__}#{next(_numbers)}"
    _OBJECTS[name] = value
    return name


def _restore(described: Any, tensors: Any) -> Any:
    """The result from its description, traced by Dynamo."""
    kind = described[0]
    if kind == "tensor":
        return next(tensors)
    if kind == "literal":
        return described[1]
    if kind == "object":
        return _OBJECTS[described[1]]
    items = [_restore(child, tensors) for child in described[-1]]
    if kind == "list":
        return items
    if kind == "tuple":
        return tuple(items)
    if kind == "dict":
        return dict(zip(described[1], items, strict=True))
    builder = _OBJECTS[described[1]]
    return builder(*items) if kind == "named" else builder.rebuild(items)


def _entry(key: str, *tensors: Tensor) -> tuple[Tensor, ...]:
    """What Dynamo's graph calls: on fake tensors first, then as eager code."""
    from ._adapter import dispatch

    call = _CALLS[key]
    args, kwargs = unflatten(call.layout, tensors)
    y = dispatch(call.primitive, args, kwargs)
    outputs: list[Tensor] = []
    call.result = flatten(y, outputs)
    return tuple(outputs)


# What `torch.compiler.assume_constant_result` does, without importing all of Dynamo for
# those who never compile.
for _function in (
    _key_of, _key_of_tensors, _is_tensor, _result_of, _refuse_closure, _refuse_object,
):  # fmt: skip
    _function.__dict__["_dynamo_marked_constant"] = True
