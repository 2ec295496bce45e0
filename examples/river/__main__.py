"""Find a spill in JAX and in PyTorch, compare the two, and draw the result.

python -m examples.river [--output DIRECTORY]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from examples._common.report import check_gradients, picture, row, verdict
from examples.river.fit import Fit, Host, finite_differences, fit, start_of
from examples.river.fit_jax import JaxHost
from examples.river.fit_torch import TorchHost
from examples.river.plot import draw
from examples.river.record import DECAY, Record, make, truth

SPILLS = {"first spill": slice(4, 7), "second spill": slice(15, 20)}


def main() -> int:
    """Run the demonstration; 0 if both hosts found the same optimum."""
    return run(make(), picture("examples.river", __doc__))


def run(record: Record, path: Path) -> int:
    """Fit in both hosts, report, and write the picture to `path`."""
    print(
        f"{record.seen.size} readings of {record.seen.shape[1]} gauges in a tidal "
        f"river. Unknown: the release in each of {record.hours} hours, and the rate of "
        "decay.\n",
        flush=True,
    )
    hosts: list[Host] = [JaxHost(record), TorchHost(record)]
    start = start_of(record)
    fits = [fit(host, start) for host in hosts]
    report(fits)
    check_gradients(hosts, start, finite_differences(start, record))
    draw(record, fits[0], path)
    print(f"\nPicture: {path}")
    return verdict(fits)


def report(fits: list[Fit]) -> None:
    """Print what was found and the course of the fits, one column per host."""
    row("\nwhat", "truth", *[one.host for one in fits], "std. error")
    for name, hours in SPILLS.items():
        mass = [np.exp(one.theta[:-1])[hours].sum() for one in fits]
        found = [f"{3.6 * m:.1f}" for m in mass]
        row(f"{name} / t", f"{3.6 * truth()[hours].sum():.1f}", *found)
    rates = [f"{np.exp(one.theta[-1]):.4f}" for one in fits]
    row("decay / (1/day)", DECAY, *rates, f"{fits[0].spread[-1]:.0%}")
    row("\nfit", "")
    row("minus log posterior", "", *(f"{one.loss:.6f}" for one in fits))
    row("evaluations by L-BFGS", "", *(one.evaluations for one in fits))
    row("largest entry of gradient", "", *(f"{one.norm:.0e}" for one in fits))
    row("seconds", "", *(f"{one.seconds:.1f}" for one in fits))


if __name__ == "__main__":
    sys.exit(main())
