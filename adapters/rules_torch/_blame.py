"""Who is wrong where a cotangent does not fit: the pullback, or the rule's result."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ._compat import fake_mode
from ._errors import ResultShapeError
from ._leaves import flatten

__all__ = ["blame_result"]


def blame_result(call: Any) -> ResultShapeError | None:
    """The error of an rrule whose result is not shaped like that of its function.

    Asked only where something has failed: the function runs again, without data.
    """
    if call.primitive.host or call.rrule is None:
        return None
    try:
        expected = _results(call)
    except Exception:  # then the first error has to do
        return None
    for y, (shape, _, _) in zip(expected, call.outputs, strict=False):
        if y.shape != shape:
            return ResultShapeError(call.rrule, tuple(y.shape), tuple(shape))
    return None


def _results(call: Any) -> list[Tensor]:
    found: list[Tensor] = []
    with fake_mode(), torch.no_grad():
        tensors = [
            torch.empty(shape, dtype=dtype, device=device)
            for shape, dtype, device in call.inputs
        ]
        flatten(call.primal(tensors), found)
    return found
