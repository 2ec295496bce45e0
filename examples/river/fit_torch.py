"""The fit in PyTorch: `torch.optim.LBFGS` through the derived rule."""

from __future__ import annotations

from typing import Any

import torch

from examples._common import torch_host
from examples.river.fit import PRECISION
from examples.river.model import prior, simulate
from examples.river.record import Record
from rules_torch import to_torch


class TorchHost(torch_host.TorchHost):
    """The loss of a record in PyTorch."""

    def __init__(self, record: Record) -> None:
        river = to_torch(simulate, host=True)
        seen, deviation = torch.tensor(record.seen), torch.tensor(record.deviation)

        def residuals(theta: Any) -> Any:
            rates = theta.exp()
            return (river(rates[:-1], rates[-1]) - seen) / deviation

        def loss(theta: Any) -> Any:
            return 0.5 * residuals(theta).square().sum() + prior(theta)

        super().__init__(loss, **PRECISION)
        self._residuals = residuals

    def jacobian(self, theta: Any) -> Any:
        """Derivatives of the residuals: all in one run of the simulation."""
        forward = torch.func.jacfwd(lambda theta: self._residuals(theta).flatten())
        return forward(torch.tensor(theta)).numpy()
