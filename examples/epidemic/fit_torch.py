"""The fit in PyTorch: `torch.optim.LBFGS` through SciPy's solver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from examples._common.minimise import by_torch
from examples.epidemic.fit import loss
from examples.epidemic.model import residuals


class TorchHost:
    """The loss in PyTorch."""

    name = "PyTorch"

    def value_and_grad(self, theta: Any) -> tuple[float, Any]:
        """Loss and gradient at a NumPy array."""
        leaf = torch.tensor(theta, requires_grad=True)
        value = loss(leaf)
        (gradient,) = torch.autograd.grad(value, leaf)
        return value.item(), gradient.numpy()

    def jacobian(self, theta: Any) -> Any:
        """Derivatives of the residuals, by the variational equation."""
        return torch.func.jacfwd(residuals)(torch.tensor(theta)).numpy()

    def minimise(self, start: Any, step: Callable[[float], None]) -> Any:
        """Minimise from `start`; `step` is told the loss of each evaluation."""
        return by_torch(loss, start, step, steps=40, flat=1e-2, change=1e-12)
