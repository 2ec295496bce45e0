"""Plain NumPy programs without a rule, and the two hosts that differentiate them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import rules_core as rc

__all__ = ["HOSTS", "Case", "Host", "differences", "host_of"]


def rod(u: Any, rate: Any, steps: int) -> Any:
    """A rod that diffuses and reacts in place, with a branch that the state decides."""
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            u[i] += rate * (u[i - 1] - 2 * u[i] + u[i + 1]) + 0.1 * u[i] * (1 - u[i])
        if u[1] > 0.47:
            u *= 0.9
    return u


def march(x: Any, b: Any, steps: int) -> Any:
    """Whole-array steps into buffers that the function keeps for itself."""
    now, after = x.copy(), np.empty_like(x)
    for k in range(steps):
        np.multiply(now, now, out=after)
        after[1:] += b * now[:-1]
        after /= 1.0 + k
        now, after = after, now
    return now


def fold(x: Any, b: Any, steps: int) -> Any:
    """Scalars, a list and a dict; the result is a number's worth of them."""
    seen: dict[str, Any] = {"sum": 0.0}
    for v in x:
        seen["sum"] += v * v * b if v > 0 else np.sin(v)
    history = [seen["sum"]]
    for _ in range(steps):
        history.append(history[-1] * 0.5 + b)
    x[:] = history[-1]
    return x


class Case(NamedTuple):
    """A simulation with a point of its arguments; the result has the shape of `x`."""

    simulate: Callable[..., Any]
    x: Any
    b: float
    steps: int

    def loss(self, x: Any, b: Any) -> float:
        """A nonlinear function of the result, in plain NumPy."""
        y = self.simulate(np.array(x), np.array(b), self.steps)
        return float(np.sum(y * y * np.arange(1.0, 1 + y.size)))


CASES = {
    "rod": Case(rod, np.array([0.1, 0.7, 0.3, -0.2, 0.5]), 0.2, 3),
    "march": Case(march, np.array([0.8, -0.5, 1.1]), 0.3, 3),
    "fold": Case(fold, np.array([0.8, -0.5, 1.1]), 0.3, 2),
}


def differences(f: Callable[..., Any], *args: Any, step: float = 1e-5) -> list[Any]:
    """The gradient of each argument by central differences."""
    found = []
    for place, x in enumerate(args):
        x = np.asarray(x, float)  # noqa: PLW2901  programs do so
        slope = np.zeros(x.shape)
        for index in np.ndindex(x.shape):
            sides = []
            for sign in (1, -1):
                moved = x.copy()
                moved[index] += sign * step
                sides.append(np.asarray(f(*args[:place], moved, *args[place + 1 :])))
            slope[index] = (sides[0] - sides[1]) / (2 * step)
        found.append(slope)
    return found


class Host(NamedTuple):
    """What the tests need of a host, in one spelling."""

    name: str
    array: Callable[[Any], Any]
    wrap: Callable[..., Any]
    grad: Callable[..., Any]
    jvp: Callable[..., Any]
    vjp: Callable[..., Any]
    jacfwd: Callable[..., Any]
    jacrev: Callable[..., Any]
    vmap: Callable[..., Any]
    compiled: Callable[..., Any]

    def loss(self, case: Case) -> Any:
        """`case.loss` of the host's arrays, through the derived rule."""
        f = self.wrap(case.simulate, out=first_of)
        weights = self.array(np.arange(1.0, 1 + case.x.size))

        def loss(x: Any, b: Any) -> Any:
            y = f(x, b, case.steps)
            return (y * y * weights).sum()

        return loss

    def point(self, case: Case) -> tuple[Any, Any]:
        """The arguments of the loss."""
        return self.array(case.x), self.array(case.b)


def first_of(x: Any, *_: Any, **__: Any) -> Any:
    """The result is like the first argument."""
    return rc.ShapeDtype(x.shape, x.dtype)


HOSTS = ["jax", "torch"]


def host_of(name: str) -> Host:
    """A host; the test is skipped, saying so, where it is not installed."""
    import pytest

    pytest.importorskip(name)
    return _jax() if name == "jax" else _torch()


def _jax() -> Host:
    import jax

    from rules_jax import to_jax

    def wrap(f: Any, **flags: Any) -> Any:
        return to_jax(f, host=True, **flags)

    return Host(
        "jax",
        jax.numpy.asarray,
        wrap,
        jax.grad,
        jax.jvp,
        jax.vjp,
        jax.jacfwd,
        jax.jacrev,
        jax.vmap,
        jax.jit,
    )


def _torch() -> Host:
    import torch

    from rules_torch import to_torch

    def wrap(f: Any, **flags: Any) -> Any:
        return to_torch(f, host=True, **flags)

    def compiled(f: Any) -> Any:
        torch.compiler.reset()
        return torch.compile(f, backend="aot_eager", fullgraph=True)

    def array(x: Any) -> Any:
        return torch.tensor(np.array(x))

    func = torch.func
    return Host(
        "torch",
        array,
        wrap,
        func.grad,
        func.jvp,
        func.vjp,
        func.jacfwd,
        func.jacrev,
        func.vmap,
        compiled,
    )
