"""L-BFGS with a progress bar: SciPy's on NumPy arrays, and PyTorch's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import scipy.optimize
import torch
from tqdm import tqdm

__all__ = ["Host", "by_scipy", "by_torch", "minimised"]

HISTORY = 20


class Host(Protocol):
    """What the demonstrations need of a host, in NumPy arrays."""

    name: str

    def value_and_grad(self, theta: Any, /) -> tuple[float, Any]:
        """Loss and gradient."""

    def minimise(self, start: Any, step: Callable[[float], None], /) -> Any:
        """The result of the host's L-BFGS; `step` is told each loss."""


def minimised(host: Host, start: Any) -> tuple[Any, int]:
    """The result of the host's L-BFGS, and how many evaluations it took."""
    with tqdm(desc=f"{host.name:8}", unit=" evaluations") as bar:

        def step(value: float) -> None:
            bar.set_postfix(loss=f"{value:.6f}", refresh=False)
            bar.update()

        return host.minimise(start, step), bar.n


def by_scipy(
    value_and_grad: Callable[[Any], tuple[float, Any]],
    start: Any,
    step: Callable[[float], None],
    *,
    steps: int,
    flat: float,
    change: float,
) -> Any:
    """SciPy's L-BFGS, for hosts whose functions take and give NumPy arrays."""

    def told(theta: Any) -> tuple[float, Any]:
        value, gradient = value_and_grad(theta)
        step(value)
        return value, gradient

    options = {"maxiter": steps, "ftol": change, "gtol": flat, "maxcor": HISTORY}
    result = scipy.optimize.minimize(
        told, start, jac=True, method="L-BFGS-B", options=options
    )
    return result.x


def by_torch(
    loss: Callable[[Any], Any],
    start: Any,
    step: Callable[[float], None],
    *,
    steps: int,
    flat: float,
    change: float,
) -> Any:
    """PyTorch's L-BFGS on a loss of a tensor."""
    theta = torch.tensor(start, requires_grad=True)
    optimiser = torch.optim.LBFGS(
        [theta],
        max_iter=steps,
        history_size=HISTORY,
        tolerance_grad=flat,
        tolerance_change=change,
        line_search_fn="strong_wolfe",
    )

    def closure() -> Any:
        optimiser.zero_grad()
        value = loss(theta)
        value.backward()
        step(value.item())
        return value

    optimiser.step(closure)
    return theta.detach().numpy()
