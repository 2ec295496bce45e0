"""Find a spill in JAX and in PyTorch, compare the two, and draw the result.

python -m examples.river [--output DIRECTORY]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from examples.river.fit import Fit, Host, finite_differences, fit, start_of
from examples.river.fit_jax import JaxHost
from examples.river.fit_torch import TorchHost
from examples.river.plot import draw
from examples.river.record import DECAY, Record, make, truth

SAME = 1e-6  # largest difference of what is fitted
FLAT = 1e-5  # largest entry of the gradient
SPILLS = {"first spill": slice(4, 7), "second spill": slice(15, 20)}


def main() -> int:
    """Run the demonstration; 0 if both hosts found the same optimum."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.river", description=__doc__
    )
    default = Path(__file__).parent / "out"
    parser.add_argument("--output", type=Path, default=default, metavar="DIRECTORY")
    return run(make(), parser.parse_args().output / "river.png")


def run(record: Record, path: Path) -> int:
    """Fit in both hosts, report, and write the picture to `path`."""
    print(
        f"{record.seen.size} readings of {record.seen.shape[1]} gauges in a tidal "
        f"river. Unknown: the release in each of {record.hours} hours, and the rate of "
        "decay.\n",
        flush=True,
    )
    hosts: list[Host] = [JaxHost(record), TorchHost(record)]
    fits = [fit(host, start_of(record)) for host in hosts]
    report(fits)
    check_gradients(hosts, record)
    draw(record, fits[0], path)
    print(f"\nPicture: {path}")
    return verdict(fits)


def report(fits: list[Fit]) -> None:
    """Print what was found and the course of the fits, one column per host."""
    _row("\nwhat", "truth", *[one.host for one in fits], "std. error")
    for name, hours in SPILLS.items():
        mass = [np.exp(one.theta[:-1])[hours].sum() for one in fits]
        found = [f"{3.6 * m:.1f}" for m in mass]
        _row(f"{name} / t", f"{3.6 * truth()[hours].sum():.1f}", *found)
    rates = [f"{np.exp(one.theta[-1]):.4f}" for one in fits]
    _row("decay / (1/day)", DECAY, *rates, f"{fits[0].spread[-1]:.0%}")
    _row("\nfit", "")
    _row("minus log posterior", "", *(f"{one.loss:.6f}" for one in fits))
    _row("evaluations by L-BFGS", "", *(one.evaluations for one in fits))
    _row("largest entry of gradient", "", *(f"{one.norm:.0e}" for one in fits))
    _row("seconds", "", *(f"{one.seconds:.1f}" for one in fits))


def check_gradients(hosts: list[Host], record: Record) -> None:
    """Compare every host's gradient at the start with finite differences."""
    start = start_of(record)
    known = finite_differences(start, record)
    print("\nGradient at the start, against finite differences in plain NumPy:")
    for host in hosts:
        error = np.abs(host.value_and_grad(start)[1] - known).max()
        relative = error / np.abs(known).max()
        print(f"  {host.name:8} {relative:.1e} of the largest entry apart at most")


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
