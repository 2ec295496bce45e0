"""What forward mode costs: written code, hooks and finite differences.

Run: `python benchmarks/engine_forward.py [case …]`.

All figures of a row are times over that of the program, from one process in which the
ways take turns; the best turn counts. Times are those of the processor, on one thread:
set OMP_NUM_THREADS=1. Finite differences are one-sided: n + 1 runs for a Jacobian, and
n + 1 gradients by written code for a Hessian.
"""

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from rules_autodiff import grad, hessian, hvp, jacfwd, jvp

TURNS, LEAST = 7, 2e-3  # turns of each way, seconds of each
STEP = 1e-7


def product(x: Any) -> Any:
    return x[0] * x[1]


def sines(x: Any) -> Any:
    y = x[0]
    for _ in range(20):
        y = math.sin(y) * x[1]
    return y


def valley(x: Any) -> Any:
    total = 0.0
    for i in range(len(x) - 1):
        total += 100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
    return total


def arrays(x: Any) -> Any:
    y = np.exp(-x * x) + np.tanh(x[::-1])
    return np.log(1.0 + y @ y) + (y * x).sum()


def heat(x: Any) -> Any:
    u = x.copy()
    for _ in range(20):
        u[1:-1] += 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u @ u


def point(n: int) -> Any:
    return np.linspace(0.2, 1.1, n)


CASES: dict[str, tuple[Callable[..., Any], int]] = {
    "product": (product, 2), "sines": (sines, 2),
    "valley 4": (valley, 4), "valley 16": (valley, 16), "valley 64": (valley, 64),
    "arrays 4": (arrays, 4), "arrays 16": (arrays, 16), "arrays 256": (arrays, 256),
    "heat 16": (heat, 16), "heat 64": (heat, 64),
}  # fmt: skip


def differences(f: Callable[..., Any], x: Any) -> Any:
    base, columns = f(x), []
    for i in range(x.size):
        moved = x.copy()
        moved[i] += STEP
        columns.append((f(moved) - base) / STEP)
    return np.stack(columns, -1)


def ways(f: Callable[..., Any], n: int) -> dict[str, Callable[[], Any]]:
    x, v, gradient = point(n), np.ones(n), grad(f)
    found: dict[str, Callable[[], Any]] = {
        "program": lambda: f(x),
        "jvp": lambda: jvp(f, (x,), (v,)),
        "jvp by hooks": lambda: jvp(f, (x,), (v,), tier="tape"),
        "jacfwd": lambda: jacfwd(f)(x),
        "jacfwd by hooks": lambda: jacfwd(f, tier="tape")(x),
        "differences": lambda: differences(f, x),
        "hvp": lambda: hvp(f, (x,), (v,)),
        "hvp by hooks": lambda: hvp(f, (x,), (v,), tier="tape"),
        "hessian": lambda: hessian(f)(x),
        "hessian by differences": lambda: differences(gradient, x),
    }
    if n > 16:
        del found["jacfwd by hooks"]
    return found


def seconds(run: Callable[[], Any], count: int) -> float:
    start = time.process_time()
    for _ in range(count):
        run()
    return (time.process_time() - start) / count


def measured(found: dict[str, Callable[[], Any]]) -> dict[str, float]:
    counts = {}
    for name, run in found.items():
        for _ in range(3):  # the second call writes code
            run()
        counts[name] = max(1, int(LEAST / max(seconds(run, 3), 1e-7)))
    turns = [{k: seconds(f, counts[k]) for k, f in found.items()} for _ in range(TURNS)]
    return {name: min(turn[name] for turn in turns) for name in found}


def main(names: list[str]) -> None:
    header: list[str] = []
    for name in names or CASES:
        best = measured(ways(*CASES[name]))
        if not header:
            header = ["case", "program, µs", *list(ways(*CASES[name]))[1:]]
            print(f"| {' | '.join(header)} |\n|{'---|' * len(header)}", flush=True)
        base = best["program"]
        cells = [f"{best[h] / base:.1f}" if h in best else "–" for h in header[2:]]
        print(f"| {name} | {base * 1e6:.1f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
