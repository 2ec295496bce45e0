"""Functions of tensors as functions of NumPy arrays, for solvers that run in NumPy.

The tensors that a function captures may be traced or batched: they are taken out, so
that they become operands of the solver's call, and put back as plain tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, final
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

import rules_core as rc
from rules_core.extend import Opener, flatten, unflatten
from rules_torch._closures.convert import Plan, convert, rebuild_apart

__all__ = ["numpy_function"]

_TENSORS = Opener(Tensor)
# Not in the instances: a plan refers to globals, which are no state of the function.
_PLANS: WeakKeyDictionary[Any, Plan] = WeakKeyDictionary()


def numpy_function(
    f: Callable[..., Any], *_examples: Any
) -> tuple[Unbound, tuple[Any, ...]]:
    """A function without its tensors, and these tensors.

    Raises:
        UnsupportedError: Something that it captures cannot be taken apart.
    """
    plan, tensors = convert(f)
    name = getattr(f, "__qualname__", repr(f))
    if plan[2] is not None:
        message = (
            f"{name} runs in NumPy while a solver calls it, so its tensors must be "
            f"found, but it captures {plan[2]}. Pass the tensors in args."
        )
        raise rc.UnsupportedError(message)
    return Unbound(name, plan), tuple(tensors)


@final
class Unbound:
    """A function of tensors without those that it captures."""

    def __init__(self, name: str, plan: Plan) -> None:
        self.name = name
        _PLANS[self] = plan

    def __tangent_structure__(self) -> None:
        """A constant: its arrays were taken out."""

    def __call__(self, arrays: Sequence[Any]) -> Callable[..., Any]:
        """The function of NumPy arrays, in double precision."""
        f = rebuild_apart(_PLANS[self], _tensors(arrays))

        def bound(*args: Any) -> Any:
            with torch.inference_mode(mode=False), torch.enable_grad():
                found: list[Tensor] = []
                layout = flatten(f(*_tensors(args)), found, _TENSORS)
                _refuse_outside(self.name, found)
                return unflatten(layout, [x.numpy(force=True) for x in found])

        return bound


def _refuse_outside(name: str, found: Iterable[Tensor]) -> None:
    """Raise an error for a global tensor that is differentiated: no rule sees it."""
    if any(x.requires_grad for x in found):
        message = (
            f"{name} reads a tensor that requires a gradient, as a global or from an "
            "object, where the solver's rule does not find it, so that its derivative "
            "would be lost. Pass it in args, or capture it in a closure."
        )
        raise rc.UnsupportedError(message)


def _tensors(arrays: Iterable[Any]) -> list[Tensor]:
    return [torch.as_tensor(_widened(np.asarray(x))) for x in arrays]


def _widened(x: Any) -> Any:
    wide = {"f": np.float64, "c": np.complex128}.get(x.dtype.kind, x.dtype)
    return np.array(x, dtype=wide)
