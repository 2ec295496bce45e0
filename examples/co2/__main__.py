"""Fit the record in JAX and in PyTorch, compare the two, and draw the result.

python -m examples.co2 [--output DIRECTORY]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from examples._common.report import check_gradients, picture, row, verdict
from examples.co2.fit import START, Fit, Host, finite_differences, fit
from examples.co2.fit_jax import JaxHost
from examples.co2.fit_torch import TorchHost
from examples.co2.model import NAMES, SEASON, TREND, WEATHER
from examples.co2.plot import draw
from examples.co2.record import Record, load


def main() -> int:
    """Run the demonstration; 0 if both hosts found the same optimum."""
    return run(load(), picture("examples.co2", __doc__))


def run(record: Record, path: Path) -> int:
    """Fit in both hosts, report, and write the picture to `path`."""
    print(
        f"{len(record.month)} monthly means of CO2 at Mauna Loa, {int(record.start)} "
        f"to {int(record.years(record.month[-1]))}. Matérn kernels of orders {TREND} "
        f"(trend), {SEASON} (season) and {WEATHER} (weather).\n",
        flush=True,
    )
    hosts: list[Host] = [JaxHost(record), TorchHost(record)]
    fits = [fit(host) for host in hosts]
    report(fits)
    check_gradients(hosts, START, finite_differences(START, record))
    draw(record, fits[0].theta, path)
    print(f"\nPicture: {path}")
    return verdict(fits)


def report(fits: list[Fit]) -> None:
    """Print hyperparameters and the course of the fits, one column per host."""
    columns = [one.host for one in fits]
    row("\nhyperparameter", "start", *columns, "std. error")
    values = [np.exp(one.theta) for one in fits]
    for i, name in enumerate(NAMES):
        found = [f"{value[i]:.6g}" for value in values]
        row(name, f"{np.exp(START[i]):g}", *found, f"{fits[0].spread[i]:.0%}")
    row("\nfit", "", *columns)
    row("negative log likelihood", "", *(f"{one.loss:.6f}" for one in fits))
    row("evaluations by L-BFGS", "", *(one.evaluations for one in fits))
    row("gradient after L-BFGS", "", *(f"{one.rough:.0e}" for one in fits))
    row("gradient after Newton", "", *(f"{one.norm:.0e}" for one in fits))
    row("first evaluation / s", "", *(f"{one.first:.2f}" for one in fits))
    row("L-BFGS / s", "", *(f"{one.seconds:.2f}" for one in fits))
    row("Newton / s", "", *(f"{one.newton:.2f}" for one in fits))


if __name__ == "__main__":
    sys.exit(main())
