"""Functions of `scipy.sparse.linalg` with rules, for every framework.

Their matrices are `SparseArray`, SciPy's, JAX's `BCOO` or PyTorch's sparse tensors.
"""

from . import (
    _direct,
    _eigen,
    _exponential,
    _iterative,
    _least_squares,
    _norms,
    _programs as _programs,
)
from ._direct import (
    Factored as Factored,
    factor as factor,
    factorized as factorized,
    splu as splu,
    spsolve as spsolve,
    spsolve_triangular as spsolve_triangular,
)
from ._eigen import eigs as eigs, eigsh as eigsh, svds as svds
from ._exponential import expm_multiply as expm_multiply
from ._iterative import (
    NotConverged as NotConverged,
    bicg as bicg,
    bicgstab as bicgstab,
    cg as cg,
    cgs as cgs,
    gcrotmk as gcrotmk,
    gmres as gmres,
    lgmres as lgmres,
    minres as minres,
    qmr as qmr,
    tfqmr as tfqmr,
)
from ._least_squares import lsmr as lsmr, lsqr as lsqr
from ._norms import norm as norm
from ._operators import (
    LinearOperator as LinearOperator,
    aslinearoperator as aslinearoperator,
)
from ._stored import expm as expm, inv as inv

__all__: list[str] = []
__all__ += _direct.__all__
__all__ += _eigen.__all__
__all__ += _exponential.__all__
__all__ += _least_squares.__all__
__all__ += ["LinearOperator", "aslinearoperator", "expm", "inv"]
__all__ += _iterative.__all__
__all__ += _norms.__all__
