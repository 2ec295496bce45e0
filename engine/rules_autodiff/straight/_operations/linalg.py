"""Functions of `numpy.linalg` on matrices."""

import numpy as np

from rules_autodiff.straight._program.kinds import REAL, Kind, array
from rules_autodiff.straight._program.written import Call, Written

from .adjoints import pulls_by_adjoint
from .forms import only
from .table import function

__all__: list[str] = []

MATRIX: Kind = array(2)


def is_matrix(call: Call) -> bool:
    """Whether the only argument of a call is a matrix."""
    return only(call) and call.kinds[0] == MATRIX


@function(np.linalg.inv)
def write_inv(call: Call) -> Written | None:
    push = "-({z}.dot({dz}).dot({z}))"
    lanes = "-np_tensordot(np_tensordot({z}, {dz}, 1), {z}, (1, 0)).swapaxes(1, 2)"
    if not is_matrix(call):
        return None
    pulls = pulls_by_adjoint(np.linalg.inv, call.kinds)
    return Written(MATRIX, None, pulls, pushes=(push,), lanes=(lanes,))


@function(np.linalg.det)
def write_det(call: Call) -> Written | None:
    by_x = "{dz} * det_slopes({0}, {z})"
    push = "np_add_reduce({dz} * det_slopes({0}, {z}), None)"
    lanes = "np_add_reduce({dz} * det_slopes({0}, {z})[..., None], (0, 1))"
    if not is_matrix(call):
        return None
    return Written(REAL, None, (by_x,), pushes=(push,), lanes=(lanes,))


@function(np.linalg.cholesky)
def write_cholesky(call: Call) -> Written | None:
    by_x = "cholesky_back({dz}, {z})"
    push = "cholesky_forward({dz}, {z})"
    if not is_matrix(call):
        return None
    return Written(MATRIX, None, (by_x,), pushes=(push,), lanes=(None,))


@function(np.linalg.solve)
def write_solve(call: Call) -> Written | None:
    """Backward: the transposed system."""
    if not only(call, 2) or call.kinds[0] != MATRIX:
        return None
    if call.kinds[1] not in (array(1), MATRIX):
        return None
    pushes = "-np_solve({0}, {dz}.dot({z}))", "np_solve({0}, {dz})"
    lanes: tuple[str | None, ...] = None, None
    if call.kinds[1] != MATRIX:
        lanes = "-np_solve({0}, {z}.dot({dz}))", "np_solve({0}, {dz})"
    pulls = pulls_by_adjoint(np.linalg.solve, call.kinds)
    return Written(call.kinds[1], None, pulls, pushes=pushes, lanes=lanes)
