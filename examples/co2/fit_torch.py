"""The fit in PyTorch: `torch.optim.LBFGS` on the same loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import array_api_compat.torch as xp
import torch

from examples.co2.model import Problem, loss
from examples.co2.record import Record


class TorchHost:
    """The loss of a record in PyTorch."""

    name = "PyTorch"

    def __init__(self, record: Record) -> None:
        self._problem = Problem.of(record, xp)

    def value_and_grad(self, theta: Any) -> tuple[float, Any]:
        """Loss and gradient at a NumPy array."""
        leaf = torch.tensor(theta, requires_grad=True)
        value = loss(leaf, self._problem)
        (gradient,) = torch.autograd.grad(value, leaf)
        return value.item(), gradient.numpy()

    def hessian(self, theta: Any) -> Any:
        """Second derivatives, shape (8, 8): the rule of `kv` applied twice."""
        second = torch.func.hessian(lambda theta: loss(theta, self._problem))
        return second(torch.tensor(theta)).numpy()

    def minimise(self, start: Any, step: Callable[[float], None]) -> Any:
        """Minimise from `start`; `step` is told the loss of each evaluation."""
        theta = torch.tensor(start, requires_grad=True)
        optimiser = torch.optim.LBFGS(
            [theta],
            max_iter=300,
            history_size=20,
            tolerance_grad=1e-5,
            tolerance_change=1e-11,
            line_search_fn="strong_wolfe",
        )

        def closure() -> Any:
            optimiser.zero_grad()
            value = loss(theta, self._problem)
            value.backward()
            step(value.item())
            return value

        optimiser.step(closure)
        return theta.detach().numpy()
