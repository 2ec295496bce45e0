"""The table of distributions: `python -m rules_scipy.stats.distributions` prints it."""

from __future__ import annotations

import sys
from typing import Any

import rules_core as rc

from ._continuous import DISTRIBUTIONS

__all__ = ["page"]


def _how(standard: Any, name: str) -> str:
    """How a method of a distribution is reached."""
    own = standard.formulas.get(name)
    if isinstance(own, rc.Primitive) and own.__qualname__.endswith(f"_{name}"):
        return "SciPy's"
    if own is not None or "log" + name in standard.formulas:
        return "formula"
    if name in ("cdf", "sf") and _has_tail(standard):
        return "formula" if "middle" not in standard.formulas else "integral"
    return "none"


def _has_tail(standard: Any) -> bool:
    return bool({"cdf", "sf", "logcdf", "logsf", "middle"} & set(standard.formulas))


def _table() -> str:
    columns = "cdf sf ppf isf mean var entropy".split()
    lines = [f"| distribution | {' | '.join(columns)} |", "|---" * 8 + "|"]
    for name, made in sorted(DISTRIBUTIONS.items()):
        cells = [_how(made.standard, column) for column in columns]
        if not hasattr(made, "pdf"):
            cells[2:4] = ["steps"] * 2
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


_HEAD = """# The SciPy pack: how distributions are reached

<!-- Made by `python -m rules_scipy.stats.distributions`; do not edit. -->

Densities and masses are formulas, all of them. *formula*: array-API code and functions
of `rules_scipy.special`, so that its derivatives are theirs; *integral*: of the
density, by a rule with 121 nodes, to a relative 1e-8; *SciPy's*: the value is SciPy's,
and its derivative follows from the density and from `cdf` and `sf`; *steps*: values are
whole numbers, without derivative; *none*: an error, where a derivative is asked for.
Logarithms are those of `cdf` and `sf` where they have no formula of their own; `std` is
the root of `var`.

"""


def page() -> str:
    """The reference page."""
    return _HEAD + _table()


if __name__ == "__main__":
    sys.stdout.write(page())
