"""The fit in PyTorch: `torch.optim.LBFGS` on the same loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import array_api_compat.torch as xp
import torch

from examples.co2.model import Problem, loss
from examples.co2.record import Record


def value_and_grad(record: Record) -> Callable[[Any], tuple[float, Any]]:
    """The loss and its gradient as a function of NumPy arrays."""
    problem = Problem.of(record, xp)

    def evaluate(theta: Any) -> tuple[float, Any]:
        leaf = torch.tensor(theta, requires_grad=True)
        value = loss(leaf, problem)
        value.backward()
        return float(value), leaf.grad.numpy()

    return evaluate


def fit(record: Record, start: Any, step: Callable[[float], None]) -> Any:
    """Minimise the loss from `start`; `step` is told the value of each evaluation."""
    problem = Problem.of(record, xp)
    theta = torch.tensor(start, requires_grad=True)
    optimiser = torch.optim.LBFGS(
        [theta],
        max_iter=300,
        history_size=20,
        tolerance_grad=1e-5,
        tolerance_change=0,
        line_search_fn="strong_wolfe",
    )

    def closure() -> Any:
        optimiser.zero_grad()
        value = loss(theta, problem)
        value.backward()
        step(float(value.detach()))
        return value

    optimiser.step(closure)
    return theta.detach().numpy()
