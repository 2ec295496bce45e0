"""Programs to be differentiated: for any array namespace, with adjoints by hand.

Each `name(xp)` gives the program for one namespace and `name_hand` is its gradient by
the first argument, written in NumPy as one would by hand.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Function = Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """A program, its arguments, its adjoint by hand.

    Attributes:
        make: Makes the arguments.
        build: The program for an array namespace.
        hand: The gradient by the first argument.
        functional: The program without writes into arrays, for who cannot follow them.
        operations: How many operations on values it does, where they are small.
    """

    make: Function
    build: Function
    hand: Function
    functional: Function | None = None
    operations: int | None = None


def rng() -> Any:
    """The same random numbers in every process."""
    return np.random.default_rng(0)


def one(low: float, *shape: int) -> Function:
    """One random array."""
    return lambda: (low + rng().random(shape),)


# 100 scalar operations: Horner steps on one number


def scalar(_xp: Any) -> Function:
    def f(x: Any) -> Any:
        y = x
        for _ in range(50):
            y = y * x + 0.5
        return y

    return f


def scalar_hand(x: float) -> float:
    values = [x]
    for _ in range(50):
        values.append(values[-1] * x + 0.5)
    d, dx = 1.0, 0.0
    for y in reversed(values[:-1]):
        dx += d * y
        d *= x
    return dx + d


# a recurrent network, 50 steps on one state


def rnn(xp: Any) -> Function:
    def f(w: Any, x: Any) -> Any:
        h = x
        for _ in range(50):
            h = xp.tanh(w @ h + x)
        return h @ x

    return f


def rnn_hand(w: Any, x: Any) -> Any:
    states = [x]
    for _ in range(50):
        states.append(np.tanh(w @ states[-1] + x))
    dw, d = np.zeros_like(w), x
    for h, before in zip(reversed(states[1:]), reversed(states[:-1]), strict=True):
        dt = d * (1 - h * h)
        dw += dt[:, None] * before
        d = w.T @ dt
    return dw


# the likelihood of a Kalman filter, 50 steps


def kalman(xp: Any) -> Function:
    def f(a: Any, y: Any) -> Any:
        n = 4
        x, p, total = xp.zeros(n), xp.eye(n), 0.0
        h, noise = xp.ones(n) / n, 0.1 * xp.eye(n)
        for t in range(50):
            x, p = a @ x, a @ p @ a.T + noise
            s = h @ p @ h + 0.5
            r = y[t] - h @ x
            k = (p @ h) / s
            x, p = x + k * r, p - k[:, None] * (h @ p)
            total = total + xp.log(s) + r * r / s
        return total

    return f


def kalman_hand(a: Any, y: Any) -> Any:
    n = 4
    x, p = np.zeros(n), np.eye(n)
    h, noise = np.ones(n) / n, 0.1 * np.eye(n)
    steps = []
    for t in range(50):
        x0, p0 = x, p
        xm, ap = a @ x, a @ p
        pm = ap @ a.T + noise
        hp = h @ pm
        s, r, ph = hp @ h + 0.5, y[t] - h @ xm, pm @ h
        k = ph / s
        x, p = xm + k * r, pm - k[:, None] * hp
        steps.append((x0, p0, ap, hp, s, r, k))
    da, dx, dp = np.zeros_like(a), np.zeros(n), np.zeros((n, n))
    for x0, p0, ap, hp, s, r, k in reversed(steps):
        dk, dr = dx * r - dp @ hp, dx @ k + 2 * r / s
        dhp = -(k @ dp)
        ds = 1 / s - r * r / (s * s) - dk @ k / s
        dpm = dp + np.outer(dk / s, h) + np.outer(h, dhp + ds * h)
        dxm = dx - dr * h
        da += np.outer(dxm, x0) + dpm.T @ ap
        dap = dpm @ a
        da += dap @ p0.T
        dx, dp = a.T @ dxm, a.T @ dap
    return da


# a loop that writes entry by entry, n = 100


def inplace(_xp: Any) -> Function:
    def f(x: Any) -> Any:
        y = x * 1.0
        for i in range(1, 100):
            y[i] = y[i - 1] * y[i] + 0.1
        return y[99]

    return f


def inplace_functional(_xp: Any) -> Function:
    def f(x: Any) -> Any:
        y = x[0] * 1.0
        for i in range(1, 100):
            y = y * x[i] + 0.1
        return y

    return f


def inplace_hand(x: Any) -> Any:
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


# a function that calls itself, with branches


def recursion(_xp: Any) -> Function:
    def f(x: Any, n: int = 12) -> Any:
        if n < 2:
            return x * 0.5
        if n % 2:
            return f(x, n - 1) * x + f(x, n - 2)
        return f(x, n - 1) + f(x, n - 2) * 0.5

    return f


def recursion_hand(x: float) -> float:
    return recursion_adjoint(x, 12)[1](1.0)


def recursion_adjoint(x: float, n: int) -> tuple[float, Function]:
    """The value and its pullback."""
    if n < 2:
        return x * 0.5, halved
    one, pull_one = recursion_adjoint(x, n - 1)
    two, pull_two = recursion_adjoint(x, n - 2)
    if n % 2:
        return one * x + two, lambda d: pull_one(d * x) + d * one + pull_two(d)
    return one + two * 0.5, lambda d: pull_one(d) + pull_two(d * 0.5)


def halved(d: float) -> float:
    return d * 0.5


# multilayer perceptrons, three layers on eight columns


def mlp(xp: Any) -> Function:
    def f(w1: Any, w2: Any, w3: Any, x: Any) -> Any:
        h = xp.tanh(w1 @ x)
        h = xp.tanh(w2 @ h)
        return xp.sum((w3 @ h) ** 2)

    return f


def mlp_hand(w1: Any, w2: Any, w3: Any, x: Any) -> Any:
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


# logsumexp of a million numbers


def logsumexp(xp: Any) -> Function:
    def f(x: Any) -> Any:
        m = xp.max(x)
        return m + xp.log(xp.sum(xp.exp(x - m)))

    return f


def logsumexp_hand(x: Any) -> Any:
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


NINE = {
    "100 scalar operations": Case(lambda: (0.99,), scalar, scalar_hand, operations=100),
    "RNN, 50 steps of 16": Case(
        lambda: (rng().standard_normal((16, 16)) / 4, rng().random(16)),
        rnn,
        rnn_hand,
        operations=151,
    ),
    "Kalman filter, 50 steps": Case(
        lambda: (np.eye(4) * 0.9 + 0.02, rng().random(50)),
        kalman,
        kalman_hand,
        operations=1050,
    ),
    "in-place loop, n = 100": Case(
        one(0.2, 100), inplace, inplace_hand, inplace_functional, operations=496
    ),
    "recursion with branches": Case(
        lambda: (1.01,), recursion, recursion_hand, operations=800
    ),
    "MLP 32": Case(mlp_arguments(32), mlp, mlp_hand),
    "MLP 512": Case(mlp_arguments(512), mlp, mlp_hand),
    "logsumexp 1e6": Case(one(0.0, 1_000_000), logsumexp, logsumexp_hand),
    "logsumexp 1000": Case(one(0.0, 1000), logsumexp, logsumexp_hand),
}
