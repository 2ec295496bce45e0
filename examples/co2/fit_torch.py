"""The fit in PyTorch: `torch.optim.LBFGS` on the same loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import array_api_compat.torch as xp
import torch

from examples._common.minimise import by_torch
from examples.co2.model import Problem, loss
from examples.co2.record import Record


class TorchHost:
    """The loss of a record in PyTorch."""

    name = "PyTorch"

    def __init__(self, record: Record) -> None:
        self._problem = Problem.of(record, xp)

    def _loss(self, theta: Any) -> Any:
        return loss(theta, self._problem)

    def value_and_grad(self, theta: Any) -> tuple[float, Any]:
        """Loss and gradient at a NumPy array."""
        leaf = torch.tensor(theta, requires_grad=True)
        value = self._loss(leaf)
        (gradient,) = torch.autograd.grad(value, leaf)
        return value.item(), gradient.numpy()

    def hessian(self, theta: Any) -> Any:
        """Second derivatives, shape (8, 8): the rule of `kv` applied twice."""
        return torch.func.hessian(self._loss)(torch.tensor(theta)).numpy()

    def minimise(self, start: Any, step: Callable[[float], None]) -> Any:
        """Minimise from `start`; `step` is told the loss of each evaluation."""
        return by_torch(self._loss, start, step, steps=300, flat=1e-5, change=1e-11)
