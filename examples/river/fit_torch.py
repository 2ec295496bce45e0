"""The fit in PyTorch: `torch.optim.LBFGS` through the derived rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from examples._common.minimise import by_torch
from examples.river.model import prior, simulate
from examples.river.record import Record
from rules_torch import to_torch


class TorchHost:
    """The loss of a record in PyTorch."""

    name = "PyTorch"

    def __init__(self, record: Record) -> None:
        self._river = to_torch(simulate, host=True)
        self._seen = torch.tensor(record.seen)
        self._deviation = torch.tensor(record.deviation)

    def _residuals(self, theta: Any) -> Any:
        rates = theta.exp()
        seen = self._river(rates[:-1], rates[-1])
        return (seen - self._seen) / self._deviation

    def _loss(self, theta: Any) -> Any:
        return 0.5 * self._residuals(theta).square().sum() + prior(theta)

    def value_and_grad(self, theta: Any) -> tuple[float, Any]:
        """Loss and gradient at a NumPy array."""
        leaf = torch.tensor(theta, requires_grad=True)
        value = self._loss(leaf)
        (gradient,) = torch.autograd.grad(value, leaf)
        return value.item(), gradient.numpy()

    def jacobian(self, theta: Any) -> Any:
        """Derivatives of the residuals: all in one run of the simulation."""
        forward = torch.func.jacfwd(lambda theta: self._residuals(theta).flatten())
        return forward(torch.tensor(theta)).numpy()

    def minimise(self, start: Any, step: Callable[[float], None]) -> Any:
        """Minimise from `start`; `step` is told the loss of each evaluation."""
        return by_torch(self._loss, start, step, steps=40, flat=1e-2, change=1e-12)
