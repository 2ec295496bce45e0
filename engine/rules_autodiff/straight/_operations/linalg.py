"""Functions of `numpy.linalg` on matrices."""

import numpy as np

from rules_autodiff.straight._program.kinds import REAL, Kind, array
from rules_autodiff.straight._program.written import Call, Written

from .forms import only
from .table import function

__all__: list[str] = []

MATRIX: Kind = array(2)


def is_matrix(call: Call) -> bool:
    """Whether the only argument of a call is a matrix."""
    return only(call) and call.kinds[0] == MATRIX


@function(np.linalg.inv)
def write_inv(call: Call) -> Written | None:
    by_x = "-({z}.T.dot({dz}).dot({z}.T))"
    return Written(MATRIX, None, (by_x,)) if is_matrix(call) else None


@function(np.linalg.det)
def write_det(call: Call) -> Written | None:
    by_x = "det_back({dz}, {0}, {z})"
    return Written(REAL, None, (by_x,)) if is_matrix(call) else None


@function(np.linalg.cholesky)
def write_cholesky(call: Call) -> Written | None:
    by_x = "cholesky_back({dz}, {z})"
    return Written(MATRIX, None, (by_x,)) if is_matrix(call) else None


@function(np.linalg.solve)
def write_solve(call: Call) -> Written | None:
    """Backward: the transposed system."""
    if not only(call, 2) or call.kinds[0] != MATRIX:
        return None
    if call.kinds[1] not in (array(1), MATRIX):
        return None
    by_right = "np_solve({0}.T, {dz})"
    return Written(call.kinds[1], None, ("solve_back({dz}, {0}, {z})", by_right))
