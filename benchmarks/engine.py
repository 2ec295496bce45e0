"""Gradient time over primal time: the engine, its peers, and adjoints by hand.

Run: `.venv/bin/python benchmarks/engine.py [case …]`. Every measurement is a process of
its own with nothing else imported (torch and jax alone double the time of Python
tracers), and the systems take turns. The primal is plain NumPy for all of them.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

SYSTEMS = ("hand", "engine", "autograd", "torch", "jax")
ROUNDS = 3
SECONDS = 0.4  # of each measurement

Function = Callable[..., Any]


class Case:
    """A program for any array namespace, its arguments, and its adjoint by hand."""

    def __init__(self, make: Function, build: Function, hand: Function | None = None):
        self.make, self.build, self.hand = make, build, hand


def rng() -> Any:
    """The same random numbers in every process."""
    return np.random.default_rng(0)


# 100 scalar operations


def scalar(_xp: Any) -> Function:
    """Horner steps on one number."""

    def f(x: Any) -> Any:
        y = x
        for _ in range(50):
            y = y * x + 0.5
        return y

    return f


def scalar_hand(x: float) -> float:
    """Its gradient."""
    values = [x]
    for _ in range(50):
        values.append(values[-1] * x + 0.5)
    d, dx = 1.0, 0.0
    for y in reversed(values[:-1]):
        dx += d * y
        d *= x
    return dx + d


# an RNN, 50 steps of 16×16


def rnn(xp: Any) -> Function:
    """A recurrent network on one state."""

    def f(w: Any, x: Any) -> Any:
        h = x
        for _ in range(50):
            h = xp.tanh(w @ h + x)
        return h @ x

    return f


def rnn_hand(w: Any, x: Any) -> Any:
    """Its gradient by the weights."""
    states = [x]
    for _ in range(50):
        states.append(np.tanh(w @ states[-1] + x))
    dw, d = np.zeros_like(w), x
    for h, before in zip(reversed(states[1:]), reversed(states[:-1]), strict=True):
        dt = d * (1 - h * h)
        dw += dt[:, None] * before
        d = w.T @ dt
    return dw


# a Kalman filter, 50 steps


def kalman(xp: Any) -> Function:
    """The likelihood of a Kalman filter."""

    def f(a: Any, y: Any) -> Any:
        n = 4
        x, p, total = xp.zeros(n), xp.eye(n), 0.0
        h = xp.ones(n) / n
        for t in range(50):
            x, p = a @ x, a @ p @ a.T + 0.1 * xp.eye(n)
            s = h @ p @ h + 0.5
            r = y[t] - h @ x
            k = (p @ h) / s
            x, p = x + k * r, p - k[:, None] * (h @ p)
            total = total + xp.log(s) + r * r / s
        return total

    return f


# an in-place loop


def inplace(_xp: Any) -> Function:
    """A loop that writes entry by entry."""

    def f(x: Any) -> Any:
        y = x * 1.0
        for i in range(1, 100):
            y[i] = y[i - 1] * y[i] + 0.1
        return y[99]

    return f


def inplace_hand(x: Any) -> Any:
    """Its gradient."""
    y = x * 1.0
    old = y.copy()
    for i in range(1, 100):
        y[i] = y[i - 1] * y[i] + 0.1
    d = np.zeros(100)
    d[99] = 1.0
    for i in range(99, 0, -1):
        g = d[i]
        d[i - 1] += g * old[i]
        d[i] = g * y[i - 1]
    return d


# recursion with branches


def recursion(_xp: Any) -> Function:
    """A function that calls itself."""

    def f(x: Any, n: int = 12) -> Any:
        if n < 2:
            return x * 0.5
        if n % 2:
            return f(x, n - 1) * x + f(x, n - 2)
        return f(x, n - 1) + f(x, n - 2) * 0.5

    return f


# multilayer perceptrons


def mlp(xp: Any) -> Function:
    """Three layers on eight columns."""

    def f(w1: Any, w2: Any, w3: Any, x: Any) -> Any:
        h = xp.tanh(w1 @ x)
        h = xp.tanh(w2 @ h)
        return xp.sum((w3 @ h) ** 2)

    return f


def mlp_hand(w1: Any, w2: Any, w3: Any, x: Any) -> Any:
    """Its gradient by the first weights."""
    h1 = np.tanh(w1 @ x)
    h2 = np.tanh(w2 @ h1)
    d = 2 * (w3 @ h2)
    d2 = (w3.T @ d) * (1 - h2 * h2)
    return ((w2.T @ d2) * (1 - h1 * h1)) @ x.T


def mlp_arguments(n: int) -> Function:
    """Weights and inputs of one width."""

    def make() -> Any:
        r = rng()
        scale = 1 / np.sqrt(n)
        return *(r.standard_normal((n, n)) * scale for _ in range(3)), r.random((n, 8))

    return make


# logsumexp of 10⁶ numbers


def logsumexp(xp: Any) -> Function:
    """The stable formula."""

    def f(x: Any) -> Any:
        m = xp.max(x)
        return m + xp.log(xp.sum(xp.exp(x - m)))

    return f


def logsumexp_hand(x: Any) -> Any:
    """Its gradient."""
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


# from Mooncake's suite


def total(xp: Any) -> Function:
    """The sum by the library."""

    def f(x: Any) -> Any:
        return xp.sum(x)

    return f


def hand_sum(_xp: Any) -> Function:
    """The sum by a loop."""

    def f(x: Any) -> Any:
        y = 0.0
        for v in x:
            y += v
        return y

    return f


def map_sin_cos_exp(xp: Any) -> Function:
    """Three elementwise functions."""

    def f(x: Any) -> Any:
        return xp.sum(xp.sin(xp.cos(xp.exp(x))))

    return f


def kron_sum(xp: Any) -> Function:
    """An outer product of matrices."""

    def f(x: Any, y: Any) -> Any:
        return xp.sum(x[:, None, :, None] * y[None, :, None, :])

    return f


def large_single_block(_xp: Any) -> Function:
    """Straight-line scalar code."""

    def f(x: Any) -> Any:
        a, b, c, d = x[0], x[1], x[2], x[3]
        z = (a * b + c) * (d - a * c) + b * d * (a + c)
        z = z * a - b * (z + c) * d + (z * z - a) * 0.1
        return z * (a - d) + b * c * z

    return f


def gaussian_process(xp: Any) -> Function:
    """A log marginal likelihood."""

    def f(x: Any, y: Any) -> Any:
        d = x[:, None] - x[None, :]
        k = xp.exp(-0.5 * d * d) + 0.1 * xp.eye(32)
        low = xp.linalg.cholesky(k)
        a = xp.linalg.solve(low, y)
        return 0.5 * xp.sum(a * a) + xp.sum(xp.log(xp.diagonal(low)))

    return f


def one(low: float, *shape: int) -> Function:
    """One random array."""
    return lambda: (low + rng().random(shape),)


CASES = {
    "100 scalar operations": Case(lambda: (0.99,), scalar, scalar_hand),
    "RNN, 50 steps of 16": Case(
        lambda: (rng().standard_normal((16, 16)) / 4, rng().random(16)), rnn, rnn_hand
    ),
    "Kalman filter, 50 steps": Case(
        lambda: (np.eye(4) * 0.9 + 0.02, rng().random(50)), kalman
    ),
    "in-place loop, n = 100": Case(one(0.2, 100), inplace, inplace_hand),
    "recursion with branches": Case(lambda: (1.01,), recursion),
    "MLP 32": Case(mlp_arguments(32), mlp, mlp_hand),
    "MLP 512": Case(mlp_arguments(512), mlp, mlp_hand),
    "logsumexp 1e6": Case(one(0.0, 1_000_000), logsumexp, logsumexp_hand),
    "sum, 1000": Case(one(0.0, 1000), total, np.ones_like),
    "sum by hand, 1000": Case(one(0.0, 1000), hand_sum, np.ones_like),
    "map sin cos exp, 1000": Case(one(0.0, 1000), map_sin_cos_exp),
    "kron, 20×20": Case(lambda: (rng().random((20, 20)),) * 2, kron_sum),
    "large block": Case(one(0.5, 4), large_single_block),
    "Gaussian process, 32": Case(
        lambda: (rng().random(32) * 5, rng().random(32)), gaussian_process
    ),
}


# one measurement, in a process of its own


def derivative(case: Case, system: str, args: Any) -> Function | None:
    """A function without arguments that computes the gradient, or None."""
    if system == "primal":
        f = case.build(np)
        return lambda: f(*args)
    if system == "hand":
        hand = case.hand
        return None if hand is None else lambda: hand(*args)
    if system == "engine":
        import rules_autodiff

        g = rules_autodiff.grad(case.build(np))
    elif system == "autograd":
        import autograd
        import autograd.numpy as anp

        g = autograd.grad(case.build(anp))
    elif system == "jax":
        import jax

        jax.config.update("jax_enable_x64", True)
        compiled = jax.jit(jax.grad(case.build(jax.numpy)))
        moved = jax.tree.map(jax.numpy.asarray, args)
        return lambda: jax.block_until_ready(compiled(*moved))
    else:
        return by_torch(case, args)
    return lambda: g(*args)


def by_torch(case: Case, args: Any) -> Function:
    """Gradient by torch's eager autograd."""
    import torch

    torch.set_num_threads(1)
    f = case.build(torch)
    moved = [torch.tensor(a, dtype=torch.float64) for a in args]

    def gradient() -> Any:
        x = moved[0].detach().requires_grad_()
        f(x, *moved[1:]).backward()
        return x.grad

    return gradient


def best_time(call: Function) -> float:
    """Seconds of the fastest of several calls; the first ones warm up."""
    call()
    call()
    best, until = float("inf"), time.perf_counter() + SECONDS
    while time.perf_counter() < until:
        before = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - before)
    return best


def measure(name: str, system: str) -> None:
    """Print the time of one system on one case as JSON."""
    case = CASES[name]
    try:
        call = derivative(case, system, case.make())
        found = None if call is None else best_time(call)
    except Exception as error:  # a system that cannot do a case says so
        print(json.dumps(type(error).__name__))
        return
    print(json.dumps(found))


def in_process(name: str, system: str) -> Any:
    """The result of `measure` in a lean process."""
    command = [sys.executable, __file__, "--measure", name, system]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    return json.loads(lines[-1]) if lines else "crash"


def row(name: str) -> list[str]:
    """The ratios of one case."""
    times: dict[str, Any] = {}
    for _ in range(ROUNDS):
        for system in ("primal", *SYSTEMS):
            found = in_process(name, system)
            if isinstance(found, float):
                found = min(found, times.get(system, found))
            times[system] = found
    primal = times["primal"]
    cells = [f"{primal * 1e6:10.1f}"]
    for system in SYSTEMS:
        found = times[system]
        ratio = f"{found / primal:.1f}" if isinstance(found, float) else "–"
        cells.append(f"{ratio:>9}")
    return cells


def main(names: list[str]) -> None:
    """Print the table: primal in µs, then gradient over primal for each system."""
    titles = "".join(f"{system:>9}" for system in SYSTEMS)
    print(f"{'case':26}{'primal µs':>10}{titles}")
    for name in names or CASES:
        print(f"{name:26}{''.join(row(name))}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(*sys.argv[2:4])
    else:
        main(sys.argv[1:])
