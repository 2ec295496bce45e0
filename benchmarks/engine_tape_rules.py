"""The commonest operations on the tape, beside HIPS autograd.

Run: `python benchmarks/engine_tape_rules.py [name …]`.

Each program does one operation 50 times in a row, on an array of 16 numbers or on a
number, and is differentiated by `tier="tape"` and by autograd. Microseconds for each
operation: the gradient of 50 operations less that of none, divided by 50. `program` is
NumPy alone. The two systems take turns in one process, the best turn counts; times are
those of the processor, on one thread: set OMP_NUM_THREADS=1.
"""

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from rules_autodiff import grad

COUNT, TURNS, ROUNDS = 50, 12, 4

Body = Callable[[Any, Any], Any]

ARRAYS: dict[str, Body] = {
    "x + y": lambda np, x: x + x,
    "x * y": lambda np, x: x * x,
    "x / 2.0": lambda np, x: x / 2.0,
    "x ** 1.5": lambda np, x: x**1.5,
    "np.power(x, 1.5)": lambda np, x: np.power(x, 1.5),
    "np.exp": lambda np, x: np.exp(-x),
    "np.sin": lambda np, x: np.sin(x),
    "np.abs": lambda np, x: np.abs(x),
    "np.maximum": lambda np, x: np.maximum(x, 0.5),
    "np.minimum of two": lambda np, x: np.minimum(x, x),
    "np.clip": lambda np, x: np.clip(x, 0.2, 0.8),
    "np.where": lambda np, x: np.where(MASK, x, 0.5),
    "np.sum(axis)": lambda np, x: x + np.sum(x, axis=0),
    "np.mean(axis)": lambda np, x: x + np.mean(x, axis=-1),
    "np.cumsum": lambda np, x: np.cumsum(x),
    "np.concatenate": lambda np, x: np.concatenate((x[:8], x[8:])),
    "np.stack": lambda np, x: np.stack((x, x))[0],
    "np.array of numbers": lambda np, x: np.array([x[0], x[1], x[2], x[3]]),
    "np.dot": lambda np, x: 0.3 * x * np.dot(x, x),
    "reshape": lambda np, x: np.reshape(x, (-1,)),
    "np.transpose": lambda np, x: np.transpose(x),
    "x[1:]": lambda np, x: x[0:],
    "x[list]": lambda np, x: x[ORDER],
    "np.linalg.norm": lambda np, x: x / np.linalg.norm(x),
    "np.arctan2": lambda np, x: np.arctan2(x, 2.0),
    "np.log1p": lambda np, x: np.log1p(x),
    "np.einsum": lambda np, x: x * np.einsum("i,i->", x, x),
    "np.outer": lambda np, x: np.outer(x, x)[0],
    "np.roll": lambda np, x: np.roll(x, 1),
    "np.diff": lambda np, x: np.concatenate((x[:1], np.diff(x))),
}
NUMBERS: dict[str, Body] = {
    "number ** 1.5": lambda np, x: x**1.5,
    "np.exp of a number": lambda np, x: np.exp(-x),
    "np.abs of a number": lambda np, x: np.abs(x),
    "np.maximum of numbers": lambda np, x: np.maximum(x, 0.2),
    "np.where of numbers": lambda np, x: np.where(True, x, 0.5),
}
ORDER = np.arange(16)[::-1].copy()
MASK = np.arange(16) % 3 > 0


def repeated(body: Body, numpy: Any, count: int) -> Callable[[Any], Any]:
    """A program of `count` operations."""

    def program(x: Any) -> Any:
        for _ in range(count):
            x = body(numpy, x)
        return numpy.sum(x)

    return program


def seconds(call: Callable[[Any], Any], x: Any) -> float:
    """Processor seconds of a call, of a few."""
    before = time.process_time()
    for _ in range(ROUNDS):
        call(x)
    return (time.process_time() - before) / ROUNDS


def costs(body: Body, x: Any) -> list[float]:
    """Microseconds of an operation: the program, the tape, autograd."""
    import autograd
    import autograd.numpy

    calls = []
    for count in (COUNT, 0):
        calls += [
            repeated(body, np, count),
            grad(repeated(body, np, count), tier="tape"),
            autograd.grad(repeated(body, autograd.numpy, count)),
        ]
    agree(calls[1], calls[2], x)
    best = [math.inf] * len(calls)
    for _ in range(TURNS):
        best = [min(b, seconds(f, x)) for b, f in zip(best, calls, strict=True)]
    return [(best[i] - best[i + 3]) / COUNT * 1e6 for i in range(3)]


def agree(one: Callable[[Any], Any], other: Callable[[Any], Any], x: Any) -> None:
    """Warm both up, and see that they compute the same."""
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(one(x), other(x), rtol=1e-6)


def main(names: list[str]) -> None:
    """Print the table."""
    print("| operation | NumPy | tape | autograd | tape / autograd |")
    print("|---|---|---|---|---|")
    for cases, x in ((ARRAYS, np.linspace(0.1, 0.9, 16)), (NUMBERS, 0.7)):
        for name, body in cases.items():
            if names and name not in names:
                continue
            plain, tape, peer = costs(body, x)
            row = f"{plain:.1f} | {tape:.1f} | {peer:.1f} | {tape / peer:.2f}"
            print(f"| {name} | {row} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
