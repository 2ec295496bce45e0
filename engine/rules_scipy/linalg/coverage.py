"""Coverage of `scipy.linalg`, and its page in the reference.

`python -m rules_scipy.linalg.coverage` prints docs/reference/scipy-linalg.md.
"""

from __future__ import annotations

import sys

import scipy.linalg

from rules_scipy._module_coverage import ModuleCoverage
from rules_scipy._steps import DECLARED

__all__ = ["COVERAGE", "MISSING"]

_UPDATE = "updates a factorisation: use qr of the changed matrix"
_REFLECTORS = (
    "is fixed by the order of Householder's reflections: use a function of the matrix "
    "(expm, solve, schur)"
)
_FORM = "changes the form of a factorisation: use {}"

# Functions without a rule, and the reason.
MISSING = {
    "cdf2rdf": _FORM.format("the complex values and vectors"),
    "clarkson_woodruff_transform": "draws a matrix: draw it outside, and multiply",
    "cossin": "has vectors of several decompositions at once: use svd of the blocks",
    "expm_cond": "is a norm of a Kronecker product: use expm_frechet",
    "hessenberg": _REFLECTORS,
    "kron": "is not in later versions of SciPy: use numpy.kron",
    "null_space": "is determined up to a rotation: use 1 - pinv(a) @ a",
    "orth": "is determined up to a rotation: use a @ pinv(a), or svd",
    "ordqz": "sorts a generalised Schur form: use eig with b",
    "qr_delete": _UPDATE,
    "qr_insert": _UPDATE,
    "qr_multiply": "applies reflections: use qr, and multiply by its factor",
    "qr_update": _UPDATE,
    "qz": "is determined up to rotations: use eig with b",
    "rsf2csf": _FORM.format("schur with output='complex'"),
}
_HEAD = """# The SciPy pack: linear algebra

<!-- Made by `python -m rules_scipy.linalg.coverage`; do not edit. -->

Of the {total} public functions of `scipy.linalg`, {covered} have rules, {constant} have
no derivative, and {missing} have no rule, for the reason below.
[](../how-to/scipy-linear-algebra.md) shows how to use them, and says what their
derivatives mean: of triangles that are not read, of equal eigenvalues, of phases.

## Functions with rules
"""


COVERAGE = ModuleCoverage(
    scipy.linalg,
    DECLARED,
    MISSING,
    _HEAD,
    "Matrices of whole numbers, questions about a matrix, and routines of BLAS.",
)

if __name__ == "__main__":
    sys.stdout.write(COVERAGE.page())
