"""Fit an epidemic in JAX and in PyTorch, compare the two, and draw the result.

python -m examples.epidemic [--output DIRECTORY]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from examples._common.report import check_gradients, picture, row, verdict
from examples.epidemic.fit import START, Fit, Host, finite_differences, fit
from examples.epidemic.fit_jax import JaxHost
from examples.epidemic.fit_torch import TorchHost
from examples.epidemic.plot import draw
from examples.epidemic.record import IN_BED, PUPILS


def main() -> int:
    """Run the demonstration; 0 if both hosts found the same optimum."""
    return run(picture("examples.epidemic", __doc__))


def run(path: Path) -> int:
    """Fit in both hosts, report, and write the picture to `path`."""
    print(
        f"{IN_BED.size} days of an epidemic among {PUPILS} boys. Unknown: how fast "
        "they infect each other and recover, and how many were ill at first.\n",
        flush=True,
    )
    hosts: list[Host] = [JaxHost(), TorchHost()]
    fits = [fit(host, START) for host in hosts]
    report(fits)
    check_gradients(hosts, START, finite_differences(START))
    draw(fits[0], path)
    print(f"\nPicture: {path}")
    return verdict(fits)


def report(fits: list[Fit]) -> None:
    """Print what was found and the course of the fits, one column per host."""
    row("\nwhat", *[one.host for one in fits], "std. error")
    spread = np.sqrt(np.diag(fits[0].covariance))
    names = "infections / (1/day)", "recovery / (1/day)", "ill on the first day"
    for i, name in enumerate(names):
        row(name, *(f"{np.exp(one.theta[i]):.4f}" for one in fits), f"{spread[i]:.1%}")
    ratio = np.array([1.0, -1.0, 0.0])
    error = np.sqrt(ratio @ fits[0].covariance @ ratio)
    numbers = [f"{np.exp(ratio @ one.theta):.3f}" for one in fits]
    row("reproduction number", *numbers, f"{error:.1%}")
    row("\nfit", "")
    row("half the sum of squares", *(f"{one.loss:.6f}" for one in fits))
    row("evaluations by L-BFGS", *(one.evaluations for one in fits))
    row("largest entry of gradient", *(f"{one.norm:.0e}" for one in fits))
    row("seconds", *(f"{one.seconds:.1f}" for one in fits))


if __name__ == "__main__":
    sys.exit(main())
