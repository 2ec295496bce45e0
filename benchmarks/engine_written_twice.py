"""What a second text of a derivative buys: written out, or by the rule of the pack.

Run: `python benchmarks/engine_written_twice.py`.

Written code may call any function by its rule. Those in tests/engine/written_twice.txt
have a text of their own besides; here each is taken out of the table, and the gradient
of a small program taken with and without it. Microseconds, and the ratio; where the
program is left to the tape without it, "tape".
"""

import timeit
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from rules_autodiff import UnsupportedProgram, grad
from rules_autodiff.straight._operations.table import FUNCTIONS

RNG = np.random.default_rng(0)
ROOT = RNG.normal(size=(3, 3))
A, B, X = ROOT @ ROOT.T + 3 * np.eye(3), RNG.normal(size=3), RNG.normal(size=30)
PROGRAMS: dict[Any, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    np.linalg.solve: (lambda a, b: np.sum(np.linalg.solve(a, b)), (A, B)),
    np.linalg.inv: (lambda a: np.sum(np.linalg.inv(a)), (A,)),
    np.linalg.det: (lambda a: 2.0 * np.linalg.det(a), (A,)),
    np.linalg.cholesky: (lambda a: np.sum(np.linalg.cholesky(a)), (A,)),
    np.linalg.norm: (lambda x: 2.0 * np.linalg.norm(x), (X,)),
    np.kron: (lambda a: np.sum(np.kron(a, a)), (A,)),
    np.tile: (lambda x: np.sum(np.tile(x, 3) * 2.0), (X,)),
    np.pad: (lambda x: np.sum(np.pad(x, 2) * 2.0), (X,)),
    np.diag: (lambda x: np.sum(np.diag(x) * 2.0), (X,)),
    np.trace: (lambda a: 2.0 * np.trace(a), (A,)),
    np.diff: (lambda x: np.sum(np.diff(x) * 2.0), (X,)),
    np.cumprod: (lambda x: np.sum(np.cumprod(x) * 2.0), (X,)),
    np.cumsum: (lambda x: np.sum(np.cumsum(x) * 2.0), (X,)),
    np.repeat: (lambda x: np.sum(np.repeat(x, 3) * 2.0), (X,)),
    np.roll: (lambda x: np.sum(np.roll(x, 3) * 2.0), (X,)),
    np.sort: (lambda x: np.sum(np.sort(x) * 2.0), (X,)),
    np.prod: (lambda x: 2.0 * np.prod(x), (X,)),
    np.var: (lambda x: 2.0 * np.var(x), (X,)),
    np.tril: (lambda a: np.sum(np.tril(a) * 2.0), (A,)),
    np.einsum: (lambda a: np.sum(np.einsum("ij,jk->ik", a, a)), (A,)),
    np.outer: (lambda x: np.sum(np.outer(x, x)), (X,)),
    np.vdot: (lambda x: np.vdot(x, x), (X,)),
    np.fmax: (lambda x: np.sum(np.fmax(x, 0.1)), (X,)),
    np.append: (lambda x: np.sum(np.append(x, x) * 2.0), (X,)),
}


def microseconds(f: Callable[..., Any], args: tuple[Any, ...]) -> float:
    """The least time of a gradient, once code is written."""
    gradient = grad(f)
    for _ in range(5):
        gradient(*args)
    return min(timeit.repeat(lambda: gradient(*args), number=20, repeat=15)) / 20 * 1e6


def tier(f: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """Whether a program is written out."""
    try:
        grad(f, tier="straight")(*args)
    except UnsupportedProgram:
        return "tape"
    return ""


def main() -> None:
    """Print the table."""
    print(f"{'':12} {'written':>8} {'by rule':>8} {'ratio':>6}")
    for function, (program, args) in PROGRAMS.items():
        written = microseconds(program, args)
        assert isinstance(program, FunctionType)
        again = FunctionType(program.__code__.replace(), program.__globals__)
        operation = FUNCTIONS.pop(function)
        by_rule, without = microseconds(again, args), tier(again, args)
        FUNCTIONS[function] = operation
        name, ratio = function.__name__, by_rule / written
        print(f"{name:12} {written:8.1f} {by_rule:8.1f} {ratio:6.1f} {without}")


if __name__ == "__main__":
    main()
