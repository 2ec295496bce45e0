"""Coverage of `scipy.sparse` and `scipy.sparse.linalg`, and their page.

`python -m rules_scipy.sparse.coverage` prints docs/reference/scipy-sparse.md.
"""

from __future__ import annotations

import sys

import scipy.sparse
import scipy.sparse.linalg

from rules_scipy._module_coverage import ModuleCoverage

from ._methods import DECLARED

__all__ = ["CLASSES", "COVERAGE", "METHODS_MISSING", "page"]

_PATTERN = "chooses its pattern by the numbers: use {}"
_ITERATES = "stops by its own tests: use {}"

# Functions without a rule, and the reason.
_MISSING = {
    "load_npz": "reads a file: read it outside of the program",
    "save_npz": "writes a file: write it outside of the program",
}
_MISSING_LINALG = {
    "funm_multiply_krylov": "has no rule yet: use scipy.linalg.funm of toarray()",
    "lobpcg": _ITERATES.format("scipy.linalg.eigh of toarray()"),
    "onenormest": "estimates: use abs(A).sum(0).max()",
    "spilu": "is a preconditioner: pass one of constants",
}
# Methods that raise an error for numbers with a derivative, and the reason.
METHODS_MISSING = {
    "__bool__": "compares",
    "__iter__": "iterates in C code: use A[i]",
    "__rtruediv__": "divides by entries that are not stored",
    "__round__": "rounds",
    "__setitem__": "changes the pattern in place: make a new matrix",
    "eliminate_zeros": _PATTERN.format("constants"),
    "max": _PATTERN.format("numpy.max of the numbers or of toarray()"),
    "maximum": _PATTERN.format("numpy.maximum of the numbers"),
    "min": _PATTERN.format("numpy.min of the numbers or of toarray()"),
    "minimum": _PATTERN.format("numpy.minimum of the numbers"),
    "nanmax": _PATTERN.format("numpy.nanmax of the numbers"),
    "nanmin": _PATTERN.format("numpy.nanmin of the numbers"),
    "prune": "changes memory in place: use copy",
    "resize": "changes the pattern in place: use A[:m, :n]",
    "set_shape": "changes the shape in place: use reshape",
    "setdiag": "changes the pattern in place: add a diagonal",
    "sort_indices": "moves numbers in place: use sorted_indices",
    "sum_duplicates": "adds up numbers in place: use tocsr",
    "tensordot": "has no rule yet: use @",
    "todok": "keeps numbers in a dict",
    "tolil": "keeps numbers in lists",
}
CLASSES = ("bsr", "coo", "csc", "csr", "dia")
_HEAD = """# The SciPy pack: sparse matrices

<!-- Made by `python -m rules_scipy.sparse.coverage`; do not edit. -->

[](../how-to/sparse-matrices.md) shows how to use them. Constructors of the formats
`bsr`, `coo`, `csc`, `csr` and `dia`, arrays and matrices, have derivatives in the
numbers that they are given; `dok` and `lil` have none.

## Functions of scipy.sparse

Of the {total} public functions of `scipy.sparse`, {covered} have rules, {constant} have
no derivative, and {missing} have no rule, for the reason below.
"""
_HEAD_LINALG = """
# Functions of scipy.sparse.linalg

Of the {total} public functions of `scipy.sparse.linalg`, {covered} have rules,
{constant} have no derivative, and {missing} have no rule, for the reason below.
"""

COVERAGE = (
    ModuleCoverage(
        scipy.sparse,
        DECLARED,
        _MISSING,
        _HEAD,
        "Matrices of constants, and questions about a matrix.",
    ),
    ModuleCoverage(
        scipy.sparse.linalg,
        DECLARED,
        _MISSING_LINALG,
        _HEAD_LINALG,
        "Questions about a pattern, and settings.",
    ),
)


def page() -> str:
    """The reference page."""
    missing = [f"- `{name}`: {reason}." for name, reason in METHODS_MISSING.items()]
    methods = "\n# Methods without a rule\n\n" + "\n".join(missing) + "\n"
    return "".join([one.page() for one in COVERAGE]) + methods


if __name__ == "__main__":
    sys.stdout.write(page())
