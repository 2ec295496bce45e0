"""Coverage of `scipy.linalg`, and its page in the reference.

`python -m rules_scipy.linalg.coverage` prints docs/reference/scipy-linalg.md.
"""

from __future__ import annotations

import sys
from typing import Any

import scipy.linalg

from ._declare import DECLARED

__all__ = ["MISSING", "page", "public_functions", "state_of"]

_UPDATE = "updates a factorisation: use qr of the changed matrix"
_REFLECTORS = (
    "is fixed by the order of Householder's reflections: use a function of the matrix "
    "(expm, solve, eigvals)"
)
_FORM = "changes the form of a factorisation: use {}"

# Functions without a rule, and the reason.
MISSING = {
    "cdf2rdf": _FORM.format("the complex values and vectors"),
    "clarkson_woodruff_transform": "draws a matrix: draw it outside, and multiply",
    "cossin": "has vectors of several decompositions at once: use svd of the blocks",
    "expm_cond": "is a norm of a Kronecker product: use expm_frechet",
    "hessenberg": _REFLECTORS,
    "ldl": "has blocks of pivots: use cholesky, or solve with assume_a='her'",
    "ordqz": "sorts a generalised Schur form: use eig with b",
    "qr_delete": _UPDATE,
    "qr_insert": _UPDATE,
    "qr_multiply": "applies reflections: use qr, and multiply by its factor",
    "qr_update": _UPDATE,
    "qz": "is determined up to rotations: use eig with b",
    "rsf2csf": _FORM.format("eig"),
    "schur": "is determined up to rotations: use eig, or a function of the matrix",
}
# Runs SciPy's own tests.
_LEFT_OUT = frozenset({"test"})


def public_functions() -> dict[str, Any]:
    """Every public function, by its name."""
    return {
        name: value
        for name in dir(scipy.linalg)
        if not name.startswith("_") and name not in _LEFT_OUT
        for value in [getattr(scipy.linalg, name)]
        if callable(value) and not isinstance(value, type)
    }


def state_of(name: str, f: Any) -> str | None:
    """`"covered"`, `"constant"` or `"missing"`; None: undecided."""
    if f in DECLARED:
        return DECLARED[f]
    return "missing" if name in MISSING else None


_HEAD = """# The SciPy pack: linear algebra

<!-- Made by `python -m rules_scipy.linalg.coverage`; do not edit. -->

Of the {total} public functions of `scipy.linalg`, {covered} have rules, {constant} have
no derivative, and {missing} have no rule, for the reason below.
[](../how-to/scipy-linear-algebra.md) shows how to use them, and says what their
derivatives mean: of triangles that are not read, of equal eigenvalues, of phases.

## Functions with rules
"""


def _paragraph(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names)) + "\n"


def page() -> str:
    """The reference page."""
    functions = public_functions()
    states = {name: state_of(name, f) for name, f in functions.items()}
    of = {s: [n for n, own in states.items() if own == s] for s in _STATES}
    counts = {s: len(names) for s, names in of.items()}
    missing = [f"- `{name}`: {MISSING[name]}." for name in of["missing"]]
    parts = [
        _HEAD.format(total=len(states), **counts),
        _paragraph(of["covered"]),
        "## Functions without derivative\n",
        "Matrices of whole numbers, questions about a matrix, and routines of BLAS.\n",
        _paragraph(of["constant"]),
        "## Not covered\n",
        "\n".join(missing) + "\n",
    ]
    return "\n".join(parts)


_STATES = ("covered", "constant", "missing")

if __name__ == "__main__":
    sys.stdout.write(page())
