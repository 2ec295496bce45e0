"""Solvers of SciPy in NumPy: time of a derivative over that of the solution.

Run: `python benchmarks/solvers.py`.

A rule of a solver calls the user's function back, once for each step or node. Each
derivative is computed twice: with a tape for each call, and with written code for what
is called back. Processor time, the least of some calls; the last line is a call back
alone, forward and backward, beyond the time of its function.
"""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.integrate as si
import scipy.optimize as so

from rules_autodiff import EngineConfig, grad, jvp
from rules_autodiff.straight._tier import signatures
from rules_core import rrule_via_ad

REPEATS = 5
RATES = np.array([1.5, 1.0, 3.0, 1.0])
START = np.array([1.0, 1.0])


def lotka_volterra(
    _t: float, y: Any, a: float, b: float, c: float, d: float
) -> np.ndarray:
    """Hunters and hunted."""
    u, v = y
    return np.array([a * u - b * u * v, -c * v + d * u * v])


def initial_value(rates: Any) -> Any:
    """The end of a solution of two states and four parameters."""
    found = si.solve_ivp(
        lotka_volterra, (0.0, 5.0), START, args=tuple(rates), rtol=1e-6, atol=1e-8
    )
    return (found.y[:, -1] ** 2).sum()


def integral(p: float) -> Any:
    """An integral of one parameter, which the integrand captures."""
    return si.quad(lambda x: np.exp(-p * x * x) * np.sin(x), 0.0, 2.0)[0]


def equations(x: Any, p: float) -> np.ndarray:
    """Two equations."""
    return np.array([x[0] ** 2 + x[1] - p, x[0] - np.sin(x[1])])


def root(p: float) -> Any:
    """A root of two unknowns."""
    return so.root(equations, START, args=(p,)).x.sum()


def valley(x: Any, p: float) -> Any:
    """An objective."""
    return (x[0] - p) ** 2 + 10.0 * (x[1] - p * x[0]) ** 2


def minimum(p: float) -> Any:
    """A minimum of two unknowns."""
    return so.minimize(valley, START, args=(p,)).x.sum()


PROGRAMS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "solve_ivp": (initial_value, RATES),
    "quad": (integral, 1.3),
    "root": (root, 1.5),
    "minimize": (minimum, 1.2),
}


def seconds(f: Callable[[], Any]) -> float:
    """The least processor time of a call; the first ones write code."""
    for _ in range(3):
        f()
    best = math.inf
    for _ in range(REPEATS):
        start = time.process_time()
        f()
        best = min(best, time.process_time() - start)
    return best


def called_back() -> float:
    """What a call back costs beyond its function, in microseconds."""
    config, dy = EngineConfig(), np.ones(2)

    def both() -> None:
        for _ in range(1000):
            rrule_via_ad(config, lotka_volterra, 0.5, START, *RATES)[1](dy)

    def alone() -> None:
        for _ in range(1000):
            lotka_volterra(0.5, START, *RATES)

    return 1e3 * (seconds(both) - seconds(alone))


def derivatives() -> dict[str, float]:
    """The time of each derivative."""
    found = {}
    for name, (f, x) in PROGRAMS.items():
        direction = np.ones_like(x) if np.ndim(x) else 1.0
        found[f"{name}, grad"] = seconds(lambda f=f, x=x: grad(f)(x))  # type: ignore[misc]
        found[f"{name}, jvp"] = seconds(
            lambda f=f, x=x, d=direction: jvp(f, (x,), (d,))  # type: ignore[misc]
        )
    return found


def main() -> None:
    """Print the table."""
    values = {name: seconds(lambda f=f, x=x: f(x)) for name, (f, x) in PROGRAMS.items()}
    before, signatures.AFTER = signatures.AFTER, 10**9
    tapes, alone = derivatives(), called_back()
    signatures.AFTER = before
    code = derivatives()
    print("| solver | solution, ms | derivative | with tapes | with written code |")
    print("|---|---|---|---|---|")
    for label, taken in code.items():
        name, kind = label.split(", ")
        value = values[name]
        ratios = f"{tapes[label] / value:.0f} | {taken / value:.0f}"
        print(f"| {name} | {1e3 * value:.3f} | {kind} | {ratios} |")
    print(f"\na call back, µs: {alone:.0f} with a tape, {called_back():.0f} with code")


if __name__ == "__main__":
    main()
