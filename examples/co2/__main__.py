"""Fit the record in JAX and in PyTorch, compare the two, and draw the result.

python -m examples.co2 [--output DIRECTORY]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from examples.co2.fit import START, Fit, Host, finite_differences, fit
from examples.co2.fit_jax import JaxHost
from examples.co2.fit_torch import TorchHost
from examples.co2.model import NAMES, SEASON, TREND, WEATHER
from examples.co2.plot import draw
from examples.co2.record import Record, load

SAME = 1e-6  # largest difference of the logarithms of the hyperparameters
FLAT = 1e-5  # largest entry of the gradient


def main() -> int:
    """Run the demonstration; 0 if both hosts found the same optimum."""
    parser = argparse.ArgumentParser(prog="python -m examples.co2", description=__doc__)
    default = Path(__file__).parent / "out"
    parser.add_argument("--output", type=Path, default=default, metavar="DIRECTORY")
    record = load()
    path = parser.parse_args().output / "co2.png"
    return run(record, path)


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
    check_gradients(hosts, record)
    draw(record, fits[0].theta, path)
    print(f"\nPicture: {path}")
    return verdict(fits)


def check_gradients(hosts: list[Host], record: Record) -> None:
    """Compare every host's gradient at the start with finite differences."""
    known = finite_differences(START, record)
    print("\nGradient at the start, against finite differences in plain NumPy:")
    for host in hosts:
        error = np.abs(host.value_and_grad(START)[1] - known).max()
        relative = error / np.abs(known).max()
        print(f"  {host.name:8} {relative:.1e} of the largest entry apart at most")


def report(fits: list[Fit]) -> None:
    """Print hyperparameters and the course of the fits, one column per host."""
    columns = [one.host for one in fits]
    _row("\nhyperparameter", "start", *columns, "std. error")
    values = [np.exp(one.theta) for one in fits]
    for i, name in enumerate(NAMES):
        found = [f"{value[i]:.6g}" for value in values]
        _row(name, f"{np.exp(START[i]):g}", *found, f"{fits[0].spread[i]:.0%}")
    _row("\nfit", "", *columns)
    _row("negative log likelihood", "", *(f"{one.loss:.6f}" for one in fits))
    _row("evaluations by L-BFGS", "", *(one.evaluations for one in fits))
    _row("gradient after L-BFGS", "", *(f"{one.rough:.0e}" for one in fits))
    _row("gradient after Newton", "", *(f"{one.norm:.0e}" for one in fits))
    _row("first evaluation / s", "", *(f"{one.first:.2f}" for one in fits))
    _row("L-BFGS / s", "", *(f"{one.seconds:.2f}" for one in fits))
    _row("Newton / s", "", *(f"{one.newton:.2f}" for one in fits))


def _row(title: str, *cells: Any) -> None:
    print(f"{title:28}" if title[0] != "\n" else f"{title:29}", end="")
    print("".join(f"{cell!s:>14}" for cell in cells))


def verdict(fits: list[Fit]) -> int:
    """Say whether the hosts agree, as a sentence and an exit status."""
    apart = np.abs(fits[0].theta - fits[1].theta).max()
    steep = max(one.norm for one in fits)
    good = apart < SAME and steep < FLAT
    print(
        f"The optima {'agree' if good else 'DISAGREE'}: their logarithms differ by at "
        f"most {apart:.1e}; no gradient has an entry above {steep:.1e}."
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
