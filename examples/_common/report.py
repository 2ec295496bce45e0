"""What the demonstrations print: a table, a check of the gradients, a verdict."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from examples._common.minimise import Host

__all__ = ["Fitted", "check_gradients", "picture", "row", "verdict"]

SAME = 1e-6  # largest difference of the logarithms that are fitted
FLAT = 1e-5  # largest entry of the gradient


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """What is known of every fit.

    Attributes:
        host: Name of the host.
        theta: Logarithms of what is fitted.
        loss: The loss at the end.
        norm: Largest entry of the gradient at the end.
        evaluations: Evaluations of loss and gradient by L-BFGS.
        seconds: Seconds that the fit took.
    """

    host: str
    theta: Any
    loss: float
    norm: float
    evaluations: int
    seconds: float


def picture(program: str, about: str | None) -> Path:
    """Where the picture is to go: by the command line, or beside the program."""
    parser = argparse.ArgumentParser(prog=f"python -m {program}", description=about)
    name = program.rpartition(".")[2]
    default = Path(__file__).parents[1] / name / "out"
    parser.add_argument("--output", type=Path, default=default, metavar="DIRECTORY")
    folder: Path = parser.parse_args().output
    return folder / f"{name}.png"


def row(title: str, *cells: Any) -> None:
    """Print a line of a table."""
    print(f"{title:28}" if title[0] != "\n" else f"{title:29}", end="")
    print("".join(f"{cell!s:>14}" for cell in cells))


def check_gradients(hosts: Sequence[Host], start: Any, known: Any) -> None:
    """Compare the gradient of every host with `known`, by finite differences."""
    print("\nGradient at the start, against finite differences in plain NumPy:")
    for host in hosts:
        error = np.abs(host.value_and_grad(start)[1] - known).max()
        relative = error / np.abs(known).max()
        print(f"  {host.name:8} {relative:.1e} of the largest entry apart at most")


def verdict(fits: Sequence[Fitted]) -> int:
    """Say whether the hosts agree, as a sentence and an exit status."""
    apart = np.abs(fits[0].theta - fits[1].theta).max()
    steep = max(one.norm for one in fits)
    good = apart < SAME and steep < FLAT
    print(
        f"The optima {'agree' if good else 'DISAGREE'}: their logarithms differ by at "
        f"most {apart:.1e}; no gradient has an entry above {steep:.1e}."
    )
    return 0 if good else 1
