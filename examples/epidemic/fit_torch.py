"""The fit in PyTorch: `torch.optim.LBFGS` through SciPy's solver."""

from __future__ import annotations

from typing import Any

import torch

from examples._common import torch_host
from examples.epidemic.fit import PRECISION, loss
from examples.epidemic.model import residuals


class TorchHost(torch_host.TorchHost):
    """The loss in PyTorch."""

    def __init__(self) -> None:
        super().__init__(loss, **PRECISION)

    def jacobian(self, theta: Any) -> Any:
        """Derivatives of the residuals, by the variational equation."""
        return torch.func.jacfwd(residuals)(torch.tensor(theta)).numpy()
