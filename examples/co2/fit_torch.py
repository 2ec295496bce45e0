"""The fit in PyTorch: `torch.optim.LBFGS` on the same loss."""

from __future__ import annotations

from typing import Any

import array_api_compat.torch as xp
import torch

from examples._common import torch_host
from examples.co2.model import Problem, loss
from examples.co2.record import Record


class TorchHost(torch_host.TorchHost):
    """The loss of a record in PyTorch."""

    def __init__(self, record: Record) -> None:
        problem = Problem.of(record, xp)

        def objective(theta: Any) -> Any:
            return loss(theta, problem)

        super().__init__(objective, steps=300, flat=1e-5, change=1e-11)

    def hessian(self, theta: Any) -> Any:
        """Second derivatives, shape (8, 8): the rule of `kv` applied twice."""
        return torch.func.hessian(self._loss)(torch.tensor(theta)).numpy()
