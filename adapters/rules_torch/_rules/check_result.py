"""Whether a rule returns what its function returns.

Checked only when a cotangent had to be reshaped, when a compiler traces, and in debug
mode; the function runs on fake tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

import rules_core as rc
from rules_core.extend import unflatten
from rules_torch._compat import fake_mode
from rules_torch._errors import NotGenericError, ResultShapeError
from rules_torch._host.jobs import PrimalJob
from rules_torch._host.operator import shapes_of
from rules_torch._values.leaves import differentiable, flatten
from rules_torch._values.meta import Meta, is_ragged, pattern

__all__ = [
    "as_declared",
    "blame_result",
    "check_pattern",
    "check_result",
    "check_shapes",
    "metas",
    "refuse_number",
]

# Under this attribute a primitive keeps the patterns of shapes that were found right.
_PATTERNS = "_patterns_torch"


def blame_result(call: Any, *, blamed: bool = True) -> ResultShapeError | None:
    """The error of an rrule whose result is not shaped like that of its function."""
    if call.rrule is None:
        return None
    try:
        expected = _results(call)
    except Exception:  # the function needs data; then the first error has to do
        return None
    return _unlike(call.rrule, expected, call.outputs, blamed=blamed, strict=False)


def refuse_number(call: Any, y: Any) -> None:
    """Raise an error for a number as result, where its derivative is wanted.

    Raises:
        NotGenericError: The rule or the body made a Python number of a tensor.
    """
    rules = (*call.primitive.table.rrule.rules, *call.primitive.table.frule.rules)
    if isinstance(y, (float, complex)) and not all(rule.constant for rule in rules):
        what = f"the body of {call.primitive.table.label}"
        said = "its result is a Python number, which carries no derivative"
        raise NotGenericError(what if call.rrule is None else call.rrule.label, said)


def check_result(call: Any, y: Any) -> None:
    """Compare a rule's result with its function's, dtypes included.

    Raises:
        ResultShapeError: They are not alike.
    """
    try:
        expected = _results(call)
    except Exception:  # the function needs data
        return
    error = _unlike(call.rrule, expected, metas(y), blamed=False, strict=True)
    if error is not None:
        raise error


def as_declared(call: Any, y: Any, tensors: Sequence[Tensor]) -> Any:
    """A rule's result, with floats where its host function promises them.

    Integers have no tangent: the rule would be lost.
    """
    if not call.primitive.host or (isinstance(y, Tensor) and differentiable(y)):
        return y
    found: list[Tensor] = []
    layout = flatten(y, found)
    if all(map(differentiable, found)):
        return y
    try:
        job = PrimalJob(call.primitive, call.full_layout())
        expected, _ = shapes_of(job, tensors)
    except rc.RulesCoreError:  # it declares nothing
        return y
    if len(found) != len(expected):
        return y
    pairs = zip(found, expected, strict=True)
    return unflatten(
        layout, [y if differentiable(y) else y.to(d) for y, (_, d) in pairs]
    )


def check_shapes(rule: Any, expected: Sequence[Meta], got: Sequence[Meta]) -> None:
    """Compare the shapes of the results of a rule and of its function.

    Raises:
        ResultShapeError: They are not alike.
    """
    error = _unlike(rule, expected, got, blamed=False, strict=False)
    if error is not None:
        raise error


def check_pattern(call: Any) -> None:
    """Compare the results where a cotangent was summed or reshaped to fit.

    Rules may leave that to the adapter, in every call; so it is done once for each
    pattern of equal sizes.

    Raises:
        ResultShapeError: They are not alike.
    """
    given = (*call.inputs, *call.outputs)
    if is_ragged(given):
        return
    known = call.primitive.__dict__.setdefault(_PATTERNS, set())
    key = pattern(given)
    if key in known:
        return
    error = blame_result(call, blamed=False)
    if error is not None:
        raise error
    known.add(key)


def _unlike(
    rule: Any,
    expected: Sequence[Meta],
    got: Sequence[Meta],
    *,
    blamed: bool,
    strict: bool,
) -> ResultShapeError | None:
    if len(expected) != len(got):
        numbers = (f"{len(metas)} tensors" for metas in (expected, got))
        return ResultShapeError(rule, *numbers, blamed=blamed)
    for (shape, dtype, _), (other, found, _) in zip(expected, got, strict=True):
        if tuple(shape) != tuple(other):
            shapes = (f"shape {tuple(n)}" for n in (shape, other))
            return ResultShapeError(rule, *shapes, blamed=blamed)
        if strict and dtype is not found:
            dtypes = (f"dtype {d}" for d in (dtype, found))
            return ResultShapeError(rule, *dtypes, blamed=blamed)
    return None


def _results(call: Any) -> list[Meta]:
    with fake_mode(), torch.no_grad():
        tensors = [
            torch.empty(shape, dtype=dtype, device=device)
            for shape, dtype, device in call.inputs
        ]
        if call.primitive.host:
            shapes, _ = shapes_of(
                PrimalJob(call.primitive, call.full_layout()), tensors
            )
            return [(shape, dtype, None) for shape, dtype in shapes]
        return metas(call.primal(tensors))


def metas(value: Any) -> list[Meta]:
    """Shape, dtype and device of each tensor of a value."""
    found: list[Tensor] = []
    flatten(value, found)
    return [(y.shape, y.dtype, y.device) for y in found]
