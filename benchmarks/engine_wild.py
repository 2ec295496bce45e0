"""What derivatives cost for functions of public packages, which nobody here chose.

Run: `python -m benchmarks.engine_wild [package …]`, from the repository's root, in an
environment with the dependency group `wild`.

The functions are those of docs/explanation/programs-in-the-wild.md: found by
introspection, the first four of each package. For each its own time, which tier runs
after four calls, and the ratios to its own time: value and all cotangents (`vjp`) by
the default tier and by the tape, value and one tangent (`jvp`) by both, and one-sided
differences of all arguments. Times are those of the processor, the least of a few turns
in which the ways alternate, on one thread: set OMP_NUM_THREADS=1.
"""

import logging
import math
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from rules_autodiff import UnsupportedProgram, jvp, vjp
from rules_autodiff.straight._tier.signatures import FORMS
from tests.wild.discovery import limited, programs
from tests.wild.judging import Trial, first_trial
from tests.wild.packages import PACKAGES

MOST, PATIENCE, TURNS, LEAST = 4, 30.0, 3, 3e-2
WAYS = ("reverse", "by tape", "forward", "by hooks", "differences")

Run = Callable[[], Any]


def cotangent(y: Any) -> Any:
    """Ones in the structure of a value."""
    if isinstance(y, tuple | list):
        return type(y)(map(cotangent, y))
    return np.ones_like(y) if isinstance(y, np.ndarray) else type(y)(1.0)


def ways_of(trial: Trial) -> dict[str, Run]:
    """The program, and each way to its derivative."""
    f, given = trial.found.function, trial.found.make()
    step = 1e-6

    def reverse(tier: str) -> Any:
        y, pullback = vjp(f, *given, tier=tier)
        return pullback(cotangent(y))

    def forward(tier: str) -> Any:
        return jvp(f, given, tuple(trial.directions), tier=tier)

    def differences() -> None:
        for i, x in enumerate(given):
            for k in range(np.size(x)):
                moved = np.array(x, float)
                moved.flat[k] += step
                one = moved if np.ndim(x) else float(moved)
                f(*given[:i], one, *given[i + 1 :])
        f(*given)

    return {
        "program": lambda: f(*given),
        "reverse": lambda: reverse("auto"),
        "by tape": lambda: reverse("tape"),
        "forward": lambda: forward("auto"),
        "by hooks": lambda: forward("tape"),
        "differences": differences,
    }


def seconds(run: Run, count: int) -> float:
    """Processor seconds of a call."""
    before = time.process_time()
    for _ in range(count):
        run()
    return (time.process_time() - before or math.inf) / count  # a coarse clock


def measured(ways: dict[str, Run]) -> dict[str, float]:
    """The least time of each way."""
    counts = {}
    for name, run in ways.items():
        for _ in range(4):  # rules are learned, and code is written
            run()
        start = time.perf_counter()
        run()
        counts[name] = 1 + int(LEAST / max(time.perf_counter() - start, 1e-7))
    turns = [{k: seconds(f, counts[k]) for k, f in ways.items()} for _ in range(TURNS)]
    return {name: min(turn[name] for turn in turns) for name in ways}


def is_written(trial: Trial) -> bool:
    """Whether written code runs."""
    try:
        vjp(trial.found.function, *trial.found.make(), tier="straight")
    except UnsupportedProgram:
        return False
    return True


def rows_of(package: str) -> Iterator[tuple[bool, dict[str, float]]]:
    """Of each function that has a derivative: which tier, and the times."""
    met = (first_trial(program) for program in programs(PACKAGES[package]))
    for trial in islice(filter(None, met), MOST):
        FORMS.entries.clear()  # all methods are called by programs of one code
        try:
            with limited(PATIENCE):
                best = measured(ways_of(trial))
                written = is_written(trial)
        except Exception as error:
            logging.debug("%s: %s", trial.found.name, error)  # refused, or too long
            continue
        yield written, best


def line(name: str, rows: list[tuple[bool, dict[str, float]]]) -> str:
    """The medians of a package."""
    cells = [name, str(len(rows)), str(sum(written for written, _ in rows))]
    base = statistics.median(best["program"] for _, best in rows)
    cells.append(f"{base * 1e6:.1f}")
    for way in WAYS:
        ratios = [best[way] / best["program"] for _, best in rows]
        cells.append(f"{statistics.median(ratios):.1f}")
    worst = max(best["reverse"] / best["by tape"] for _, best in rows)
    return "| " + " | ".join([*cells, f"{worst:.2f}"]) + " |"


def main(names: list[str]) -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    head = ("package", "functions", "written out", "program, µs", *WAYS, "worst")
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head), flush=True)
    found: list[tuple[bool, dict[str, float]]] = []
    for name in names or PACKAGES:
        rows = list(rows_of(name))
        found += rows
        if rows:
            print(line(name, rows), flush=True)
    print(line("**all**", found))
    for written in (True, False):
        print(
            line(
                "written out" if written else "tape",
                [r for r in found if r[0] is written],
            )
        )


if __name__ == "__main__":
    logging.getLogger("seawater").disabled = True
    main(sys.argv[1:])
