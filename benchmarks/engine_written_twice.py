"""What a second text of a derivative buys: written out, or by the rule of the pack.

Run: `python benchmarks/engine_written_twice.py [straight|tape]`.

Written code may call any function by its rule, and the fast tape any rule of the pack.
The functions in tests/engine/written_twice.txt have a text of their own besides; here
each is taken out of the table, and the gradient of a small program taken with and
without it. Microseconds, and the ratio; where the program is left to the tape without
it, "tape". Set OMP_NUM_THREADS=1.
"""

import sys
import timeit
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

from rules_autodiff import UnsupportedProgram, grad
from rules_autodiff._tape.fast.known import KNOWN
from rules_autodiff.straight._operations import elementwise
from rules_autodiff.straight._operations.formulas import pull_of
from rules_autodiff.straight._operations.table import FUNCTIONS

RNG = np.random.default_rng(0)
ROOT = RNG.normal(size=(3, 3))
A, B, X = ROOT @ ROOT.T + 3 * np.eye(3), RNG.normal(size=3), RNG.normal(size=30)
P = np.abs(X) + 0.5
Program = tuple[Callable[..., Any], tuple[Any, ...]]
PROGRAMS: dict[Any, Program] = {
    pow: (lambda x: np.sum(pow(x, 3.5)), (P,)),
    np.power: (lambda x: np.sum(np.power(x, 3)), (P,)),
    np.array: (lambda x: np.sum(np.array([x, 2.0 * x]) ** 2), (1.5,)),
    np.broadcast_to: (lambda x: np.sum(np.broadcast_to(x, (4, 30)) ** 2), (X,)),
    np.clip: (lambda x: np.sum(np.clip(x, -1.0, 1.0) * 2.0), (X,)),
    np.cumprod: (lambda x: np.sum(np.cumprod(x) * 2.0), (X,)),
    np.diag: (lambda x: np.sum(np.diag(x) * 2.0), (X,)),
    np.diagonal: (lambda a: np.sum(np.diagonal(a) * 2.0), (A,)),
    np.diff: (lambda x: np.sum(np.diff(x) * 2.0), (X,)),
    np.einsum: (lambda a: np.sum(np.einsum("ij,jk->ik", a, a)), (A,)),
    np.full: (lambda x: np.sum(np.full(5, x) * 2.0), (1.5,)),
    np.full_like: (lambda x: np.sum(np.full_like(X, x) * 2.0), (1.5,)),
    np.kron: (lambda a: np.sum(np.kron(a, a)), (A,)),
    np.linalg.cholesky: (lambda a: np.sum(np.linalg.cholesky(a)), (A,)),
    np.linalg.det: (lambda a: 2.0 * np.linalg.det(a), (A,)),
    np.linalg.norm: (lambda x: 2.0 * np.linalg.norm(x), (X,)),
    np.linspace: (lambda x: np.sum(np.linspace(0.0, x, 9) ** 2), (1.5,)),
    np.max: (lambda x: 2.0 * np.max(x), (X,)),
    np.min: (lambda x: 2.0 * np.min(x), (X,)),
    np.pad: (lambda x: np.sum(np.pad(x, 2) * 2.0), (X,)),
    np.prod: (lambda x: 2.0 * np.prod(x), (X,)),
    np.repeat: (lambda x: np.sum(np.repeat(x, 3) * 2.0), (X,)),
    np.sort: (lambda x: np.sum(np.sort(x) * 2.0), (X,)),
    np.std: (lambda x: 2.0 * np.std(x), (X,)),
    np.tile: (lambda x: np.sum(np.tile(x, 3) * 2.0), (X,)),
    np.trace: (lambda a: 2.0 * np.trace(a), (A,)),
    np.var: (lambda x: 2.0 * np.var(x), (X,)),
}
ON_THE_TAPE: dict[Any, Program] = {
    np.add: (lambda x: np.sum(np.add(x, 2.0 * x)), (X,)),
    np.multiply: (lambda x: np.sum(np.multiply(x, x)), (X,)),
    np.divide: (lambda x: np.sum(np.divide(x, x)), (P,)),
    np.matmul: (lambda a: np.sum(np.matmul(a, a)), (A,)),
    np.dot: (lambda a: np.sum(np.dot(a, a)), (A,)),
    np.sum: (lambda x: 2.0 * np.sum(x), (X,)),
    np.mean: (lambda x: 2.0 * np.mean(x), (X,)),
    np.max: (lambda x: 2.0 * np.max(x), (X,)),
    np.min: (lambda x: 2.0 * np.min(x), (X,)),
}
LARGE = RNG.normal(size=300_000)


def microseconds(f: Callable[..., Any], args: tuple[Any, ...], tier: str) -> float:
    """The least time of a gradient, once code is written."""
    gradient = grad(f, tier=tier) if tier else grad(f)
    for _ in range(5):
        gradient(*args)
    return min(timeit.repeat(lambda: gradient(*args), number=20, repeat=15)) / 20 * 1e6


def left(f: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """Whether a program is left to the tape."""
    try:
        grad(f, tier="straight")(*args)
    except UnsupportedProgram:
        return "tape"
    return ""


def rows(
    table: dict[Any, Any], programs: dict[Any, Program], tier: str
) -> Iterator[str]:
    """A line for each function that is taken out of a table."""
    for function, (program, args) in programs.items():
        own = microseconds(program, args, tier)
        assert isinstance(program, FunctionType)
        again = FunctionType(program.__code__.replace(), program.__globals__)
        entry = table.pop(function)
        by_rule = microseconds(again, args, tier)
        left_to = "" if tier else left(again, args)
        table[function] = entry
        name, ratio = function.__name__, by_rule / own
        yield f"{name:12} {own:8.1f} {by_rule:8.1f} {ratio:6.1f} {left_to}"


def tanh() -> str:
    """The line of tanh, whose second text saves memory: by the formula of the pack."""

    def program(x: Any) -> Any:
        return np.sum(np.tanh(x))

    own = microseconds(program, (LARGE,), "")
    again = FunctionType(program.__code__.replace(), program.__globals__)
    text = elementwise.QUICKER.pop(np.tanh)
    assert pull_of(np.tanh, "np") != text
    by_formula = microseconds(again, (LARGE,), "")
    elementwise.QUICKER[np.tanh] = text
    return f"{'tanh':12} {own:8.1f} {by_formula:8.1f} {by_formula / own:6.1f}"


def main() -> None:
    """Print the tables."""
    kinds = sys.argv[1:] or ["straight", "tape"]
    if "straight" in kinds:
        print(f"{'straight':12} {'own':>8} {'by rule':>8} {'ratio':>6}")
        print(*rows(FUNCTIONS, PROGRAMS, ""), tanh(), sep="\n")
    if "tape" in kinds:
        print(f"{'tape':12} {'own':>8} {'by rule':>8} {'ratio':>6}")
        print(*rows(KNOWN, ON_THE_TAPE, "tape"), sep="\n")


if __name__ == "__main__":
    main()
