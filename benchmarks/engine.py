"""What gradients cost: the engine, its peers, and adjoints by hand.

Run: `python benchmarks/engine.py [time|memory|first] [case …]`.

`engine` is the engine as it comes, `tape` without straight-line code. `time` prints
gradient time over primal time, and, where operations are small, the microseconds of the
engine per operation beyond the adjoint by hand; `memory` the peak of what a gradient
allocates, in kilobytes; `first` how many milliseconds longer the first call takes than
later ones, which is derivation for the tape, and how many the second, which writes
straight-line code or finds that it cannot. The primal is plain NumPy for all.

The times of a row come from three processes: one for PyTorch, one for JAX (each alone
doubles the time of Python tracers), one where all the others take turns, so that a busy
machine slows them alike. The best turn counts. Times are those of the processor, on
one thread: set OMP_NUM_THREADS=1.
"""

import json
import subprocess
import sys
from typing import Any

from engine_peers import CASES, measure

HEAVY = ("torch", "jax")  # whoever imports them makes Python tracers slower
COLUMNS = {
    "time": ("primal", "hand", "engine", "tape", "autograd", "torch", "jax"),
    "memory": ("primal", "hand", "engine", "tape", "autograd"),
    "first": ("tape", "written"),
}


def in_process(kind: str, name: str, systems: str) -> dict[str, float]:
    """The results of `measure` in a lean process; none if it ended before its time."""
    command = [sys.executable, __file__, "--measure", kind, name, systems]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    found: dict[str, float] = json.loads(lines[-1]) if lines else {}
    return found


def best_of(kind: str, name: str) -> dict[str, float]:
    """The figure of each system that has one."""
    groups = COLUMNS[kind]
    if kind == "time":
        groups = (",".join(s for s in groups if s not in HEAVY), *HEAVY)
    best: dict[str, float] = {}
    for group in groups:
        best |= in_process(kind, name, group)
    return best


def times(name: str, best: dict[str, float]) -> list[str]:
    """The primal in microseconds, then ratios to it."""
    base = best["primal"]
    ratios = [best[s] / base if s in best else None for s in COLUMNS["time"][1:]]
    cells = ["–" if ratio is None else f"{ratio:.1f}" for ratio in ratios]
    operations = CASES[name].operations
    beyond = best["engine"] - best["hand"]
    cells.append(f"{beyond * 1e6 / operations:.2f}" if operations else "")
    return [f"{base * 1e6:.1f}", *cells]


def sizes(_name: str, best: dict[str, float]) -> list[str]:
    """Kilobytes."""
    found = [best.get(system) for system in COLUMNS["memory"]]
    return ["–" if x is None else f"{x / 1e3:.1f}" for x in found]


def derivations(_name: str, best: dict[str, float]) -> list[str]:
    """Milliseconds."""
    return [f"{best[system] * 1e3:.1f}" for system in COLUMNS["first"]]


ROWS = {"time": times, "memory": sizes, "first": derivations}
TITLES = {
    "time": ("primal µs", *COLUMNS["time"][1:], "µs/op"),
    "memory": COLUMNS["memory"],
    "first": COLUMNS["first"],
}


def line(name: str, cells: Any) -> str:
    return f"{name:26}" + "".join(f"{cell:>10}" for cell in cells)


def main(words: list[str]) -> None:
    """Print one table."""
    kind = words.pop(0) if words and words[0] in ROWS else "time"
    print(line("case", TITLES[kind]))
    for name in words or CASES:
        print(line(name, ROWS[kind](name, best_of(kind, name))), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(*sys.argv[2:5])
    else:
        main(sys.argv[1:])
