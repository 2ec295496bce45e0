"""SciPy's own functions in programs for NumPy: by those of this package."""

from __future__ import annotations

import scipy.sparse.linalg as _sp

from rules_scipy.sparse._methods import constant, covers

from . import _direct, _eigen, _iterative, _norms

__all__: list[str] = []

for _name in ("spsolve", "splu", "factorized", "spsolve_triangular"):
    covers(getattr(_sp, _name))(getattr(_direct, _name))
for _name in _iterative.__all__:
    if hasattr(_sp, _name):
        covers(getattr(_sp, _name))(getattr(_iterative, _name))
for _name in _eigen.__all__:
    covers(getattr(_sp, _name))(getattr(_eigen, _name))
covers(_sp.norm)(_norms.norm)
covers(_sp.SuperLU.solve)(_direct.solved_by)
for _name in ("is_sptriangular", "spbandwidth", "use_solver"):
    if hasattr(_sp, _name):
        constant(getattr(_sp, _name))
