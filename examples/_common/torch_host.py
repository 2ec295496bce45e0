"""A loss in PyTorch, for fits that are written in NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .minimise import by_torch

__all__ = ["TorchHost"]


class TorchHost:
    """A loss with its gradient.

    Args:
        loss: The loss of a vector.
        **precision: `steps`, `flat` and `change` of L-BFGS.
    """

    name = "PyTorch"

    def __init__(self, loss: Callable[[Any], Any], **precision: Any) -> None:
        self._loss, self._precision = loss, precision

    def value_and_grad(self, theta: Any) -> tuple[float, Any]:
        """Loss and gradient at a NumPy array."""
        leaf = torch.tensor(theta, requires_grad=True)
        value = self._loss(leaf)
        (gradient,) = torch.autograd.grad(value, leaf)
        return value.item(), gradient.numpy()

    def minimise(self, start: Any, step: Callable[[float], None]) -> Any:
        """Minimise from `start`; `step` is told the loss of each evaluation."""
        return by_torch(self._loss, start, step, **self._precision)
