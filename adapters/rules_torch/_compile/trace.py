"""`torch.compile` and `torch.export`: one opaque entry that keeps the rules.

Dynamo would trace an `autograd.Function` and, inside a transform, silently drop its
backward. So the frame that it traces does nothing but flatten the arguments and call
an entry that Dynamo puts into its graph as it is; AOTAutograd then runs the same code
as eager does, whose operations it sees, differentiates and fuses.

An entry receives tensors and numbers only, as arguments that a graph may change. The
call itself is kept in a table here and named by a key.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from typing import Any

import torch
from torch import Tensor

import rules_core as rc
from rules_core.extend import LEAF, unflatten
from rules_torch._closures.cuts import cut_in
from rules_torch._closures.outside_reads import Path, Reader, holds, read
from rules_torch._compat import (
    Levels,
    forward_ad,
    functorch_active,
    is_traced,
    keep_out_of_graphs,
    leaving_the_graph,
    run_as_it_is,
)
from rules_torch._dispatch import dispatch
from rules_torch._errors import UntraceableError, untraceable
from rules_torch._host.run import run_primal
from rules_torch._rules.check_result import check_shapes, metas
from rules_torch._rules.lookup import find_rrule
from rules_torch._values.leaves import flatten
from rules_torch._values.static_keys import exact
from rules_torch._values.symbolic_sizes import filled, interleaved, lifted

from .opened_arguments import (
    CHANGED_INSIDE,
    OBJECTS,
    closed_layout,
    constant,
    named,
    open_traced,
)

__all__ = ["call_traced"]


class _Traced:
    """A primitive with the layout of its arguments, and of its result once it ran."""

    __slots__ = ("layout", "primitive", "result")

    def __init__(self, primitive: rc.Primitive, layout: Any) -> None:
        self.primitive, self.layout = primitive, layout
        self.result: Any = None


Outside = tuple[tuple[Path, Any], ...]

_CALLS: dict[str, _Traced] = {}
_KEYS: dict[Any, str] = {}
_OUTSIDE: dict[str, Any] = {}  # a function for calls that Dynamo leaves its graph for
_numbers = count()


def call_traced(
    primitive: rc.Primitive, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call a primitive in a frame that Dynamo traces."""
    if not _is_pushing() and forward_ad._current_level >= 0:  # noqa: SLF001 (see below)
        _say_duals(primitive)
        return _OUTSIDE["call"](primitive, args, kwargs)
    leaves: list[Any] = []
    closed: list[str] = []
    layout = open_traced((args, kwargs), leaves, closed, [], 0)
    fixed, outside = _outside_of(primitive)
    cut = _cut_of(primitive)
    if cut:
        closed.append(f"calls a function with {cut!r}, which cuts off a derivative")
    if not _is_unchanged(primitive, outside):
        closed.append(f"reads a value from outside, {CHANGED_INSIDE}")
    if closed:
        _say(primitive, closed[0])
        return _OUTSIDE["call"](primitive, args, kwargs)
    if fixed:
        leaves = [_fixed(x) for x in leaves]
    key = _key_of(primitive, layout)
    return _result(key, _entry(key, *leaves))


def _fixed(leaf: Any) -> Any:
    return leaf if isinstance(leaf, Tensor) else constant(leaf)


def _is_unchanged(primitive: rc.Primitive, outside: Outside) -> bool:
    """Reads what the primitive reads from outside, so that Dynamo checks it later.

    Not so where the function that Dynamo is tracing has changed it.
    """
    for path, expected in outside:  # noqa: SIM110 (Dynamo traces it)
        if not holds(read(primitive, path), expected):
            return False
    return True


def _call_in_graph(primitive: Any, *args: Any, **kwargs: Any) -> Any:
    """The function that Dynamo traces in place of the call of a primitive.

    What it reads, a compiled function checks again at every call, functions included.
    So the common call, of tensors alone, is answered here, without asking for the host,
    and the level of dual numbers is read where it is.
    """
    key, pushing, outside = _key_of_tensors(primitive, *[type(x) for x in args])
    dual = not pushing and forward_ad._current_level >= 0  # noqa: SLF001 (as said)
    if not key or kwargs or dual or not _is_unchanged(primitive, outside):
        return primitive.call_traced(*args, **kwargs)
    outputs = _entry(key, *args)
    return outputs[0] if _is_tensor(key) else _result(key, outputs)


vars(rc.Primitive.__call__)["_torchdynamo_inline"] = _call_in_graph
run_as_it_is(rc.Primitive.__call__)


def _result(key: str, outputs: tuple[Any, ...]) -> Any:
    return _restore(_result_of(key), iter(outputs))


def _say(primitive: rc.Primitive, what: str) -> None:
    """Word the error that Dynamo raises if it must not leave its graph here."""
    if not _OUTSIDE:
        _OUTSIDE["call"] = torch.compiler.disable(_call_outside)
    keep_out_of_graphs(_OUTSIDE["call"], f"{primitive.table.label} {what}")


def _say_duals(primitive: rc.Primitive) -> None:
    """The trace of dual numbers; torch cannot leave its graph inside a transform.

    Raises:
        UntraceableError: A transform is active.
    """
    if not _OUTSIDE:
        _OUTSIDE["call"] = torch.compiler.disable(_call_outside)
    why = (
        "it is called inside forward_ad.dual_level(), where a compiled graph takes the "
        "derivatives of its operations instead of rules"
    )
    error = UntraceableError(primitive.table.label, why, "Use torch.func.jvp.")
    if functorch_active():
        raise error
    keep_out_of_graphs(_OUTSIDE["call"], str(error))


def _call_outside(
    primitive: rc.Primitive, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    return primitive(*args, **kwargs)


def _key_of(primitive: rc.Primitive, layout: Any) -> str:
    torch.compiler.allow_in_graph(_entry)
    layout = closed_layout(layout)
    place = exact((primitive, layout))
    if place not in _KEYS:
        _KEYS[place] = f"{primitive.table.label}#{next(_numbers)}"
        _CALLS[_KEYS[place]] = _Traced(primitive, layout)
    return _KEYS[place]


def _is_pushing() -> bool:
    """Whether a `jvp` of torch.func is active."""
    return bool(Levels().forward)


def _key_of_tensors(primitive: rc.Primitive, *types: type) -> tuple[str, bool, Outside]:
    """The key of a call of tensors alone, else nothing; and whether a `jvp` is active.

    And what is read from outside. In one function, for each that Dynamo calls is
    checked at every call.
    """
    pushing = _is_pushing()
    plain = bool(types) and all(issubclass(cls, Tensor) for cls in types)
    if not plain or _cut_of(primitive):
        return "", pushing, ()
    number = len(types)
    args = ("sequence", tuple, tuple(range(number)), (LEAF,) * number)
    layout = ("sequence", tuple, (0, 1), (args, ("mapping", dict, (), ())))
    return _key_of(primitive, layout), pushing, _outside_of(primitive)[1]


def _outside_of(primitive: rc.Primitive) -> tuple[bool, Outside]:
    """Reads of the primitive, and whether its code could tell a symbol from a number.

    A size that is not fixed is no `int`, where code asks for its type or its text.
    """
    reader = Reader(primitive)
    found = tuple((entry.path, entry.expected) for entry in reader.found)
    return reader.asks_for_types, found


def _cut_of(primitive: rc.Primitive) -> str:
    """How a function that the rules differentiate makes constants of tensors."""
    return cut_in(primitive.helpers) if primitive.helpers else ""


def _is_tensor(key: str) -> bool:
    return bool(_CALLS[key].result == LEAF)


def _result_of(key: str) -> Any:
    return _describe(_CALLS[key].result)


def _describe(layout: Any) -> Any:
    """A layout in literals only; objects are put on the table and named."""
    kind = layout[0]
    if kind in ("leaf", "number"):
        return ("leaf",)
    if kind == "static":
        value = layout[1]
        if type(value) in (bool, int, float, str, type(None)):
            return ("literal", value)
        return ("object", named(value))
    children = tuple(map(_describe, layout[3]))
    if kind == "sequence" and layout[1] in (tuple, list):
        return (layout[1].__name__, children)
    if kind == "mapping":
        return ("dict", tuple(layout[2]), children)
    return (kind, named(layout[1]), children)


def _restore(described: Any, leaves: Any) -> Any:
    """The result from its description, traced by Dynamo."""
    kind = described[0]
    if kind == "leaf":
        return next(leaves)
    if kind == "literal":
        return described[1]
    if kind == "object":
        return OBJECTS[described[1]]
    items = [_restore(child, leaves) for child in described[-1]]
    if kind == "list":
        return items
    if kind == "tuple":
        return tuple(items)
    if kind == "dict":
        return dict(zip(described[1], items, strict=True))
    builder = OBJECTS[described[1]]
    return builder(*items) if kind == "named" else builder.rebuild(items)


def _entry(key: str, *leaves: Any) -> tuple[Any, ...]:
    """The function in Dynamo's graph: run on fake tensors first, then as eager code."""
    call = _CALLS[key]
    tensors = [x for x in leaves if isinstance(x, Tensor)]
    numbers = [x for x in leaves if not isinstance(x, Tensor)]
    args, kwargs = unflatten(filled(call.layout, numbers), tensors)
    try:
        y = dispatch(call.primitive, args, kwargs)
    except UntraceableError as error:
        raise leaving_the_graph(str(error)) from error
    except (AssertionError, RuntimeError) as error:
        reason = untraceable(call.primitive.table.label, str(error))
        if reason is None:
            raise
        raise leaving_the_graph(str(reason)) from error
    outputs: list[Tensor] = []
    sizes: list[Any] = []
    call.result = lifted(flatten(y, outputs), sizes)
    if tensors and is_traced(tensors[0]):
        _check(call.primitive, args, kwargs, outputs)
    return tuple(interleaved(call.result, outputs, sizes))


def _check(
    primitive: rc.Primitive,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    outputs: list[Tensor],
) -> None:
    """While tracing costs nothing: does the rule return what the function returns?"""
    if primitive.host or (rule := find_rrule(primitive, args, kwargs)) is None:
        return
    with (
        suppress(RuntimeError),
        torch.no_grad(),
    ):  # it may need data where a rule does not
        expected = metas(run_primal(primitive, args, kwargs))
        check_shapes(rule, expected, metas(outputs))


# What `torch.compiler.assume_constant_result` does, without importing all of Dynamo for
# those who never compile.
for _function in (
    _cut_of, _key_of, _key_of_tensors, _is_pushing, _is_tensor, _outside_of, _result_of,
    _say, _say_duals,
):  # fmt: skip
    _function.__dict__["_dynamo_marked_constant"] = True
