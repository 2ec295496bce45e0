"""SciPy's own functions in programs for NumPy: by those of this package."""

from __future__ import annotations

from typing import Any

import scipy.sparse.linalg as _sp

from rules_core.extend import stand_in
from rules_scipy.sparse._methods import constant, covers

from . import (
    _direct,
    _eigen,
    _exponential,
    _iterative,
    _least_squares,
    _norms,
    _operators,
    _stored,
)

__all__: list[str] = []

_PRODUCTS = ("matvec", "rmatvec", "matmat", "rmatmat")

for _name in ("splu", "factorized", "spsolve_triangular"):
    covers(getattr(_sp, _name))(getattr(_direct, _name))
for _name in _iterative.__all__:
    if hasattr(_sp, _name):
        covers(getattr(_sp, _name))(getattr(_iterative, _name))
for _name in _eigen.__all__:
    covers(getattr(_sp, _name))(getattr(_eigen, _name))
covers(_sp.norm)(_norms.norm)
covers(_sp.expm_multiply)(_exponential.expm_multiply)
covers(_sp.lsqr)(_least_squares.lsqr)
covers(_sp.lsmr)(_least_squares.lsmr)
covers(_sp.LinearOperator)(_operators.LinearOperator)
covers(_sp.aslinearoperator)(_operators.aslinearoperator)
covers(_sp.spsolve)(_stored.scipys_spsolve)
covers(_sp.inv)(_stored.scipys_inv)
covers(_sp.expm)(_stored.scipys_expm)
covers(_sp.SuperLU.solve)(_direct.solved_by)
for _name in ("is_sptriangular", "spbandwidth", "use_solver"):
    if hasattr(_sp, _name):
        constant(getattr(_sp, _name))


def _method(name: str) -> Any:
    """A product with an operator that was made outside of the program."""

    def body(A: Any, x: Any) -> Any:
        return getattr(_operators.operator_of(A), name)(x)

    return body


for _name in ("__matmul__", "__mul__", "__call__", "dot", *_PRODUCTS):
    stand_in(getattr(_sp.LinearOperator, _name))(_method(_name))
