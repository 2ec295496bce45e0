"""Functions of `scipy.linalg` as primitives with rules.

Every function has the name that it has in SciPy. `rules_scipy.linalg.coverage` lists
them, and those without rules with the reason.
"""

from . import (
    _equations,
    _factors,
    _functions,
    _general,
    _hermitian,
    _schur,
    _solves,
    _special_matrices,
    _svd,
)
from ._equations import (
    solve_continuous_are as solve_continuous_are,
    solve_continuous_lyapunov as solve_continuous_lyapunov,
    solve_discrete_are as solve_discrete_are,
    solve_discrete_lyapunov as solve_discrete_lyapunov,
    solve_lyapunov as solve_lyapunov,
    solve_sylvester as solve_sylvester,
)
from ._factors import (
    cho_factor as cho_factor,
    cholesky as cholesky,
    cholesky_banded as cholesky_banded,
    lu as lu,
    lu_factor as lu_factor,
    orthogonal_procrustes as orthogonal_procrustes,
    polar as polar,
    qr as qr,
    rq as rq,
)
from ._functions import (
    coshm as coshm,
    cosm as cosm,
    expm as expm,
    expm_frechet as expm_frechet,
    fractional_matrix_power as fractional_matrix_power,
    logm as logm,
    signm as signm,
    sinhm as sinhm,
    sinm as sinm,
    sqrtm as sqrtm,
    tanhm as tanhm,
    tanm as tanm,
)
from ._general import (
    eig as eig,
    eigvals as eigvals,
    funm as funm,
    independent as independent,
    over_gaps as over_gaps,
)
from ._hermitian import (
    eig_banded as eig_banded,
    eigh as eigh,
    eigh_tridiagonal as eigh_tridiagonal,
    eigvals_banded as eigvals_banded,
    eigvalsh as eigvalsh,
    eigvalsh_tridiagonal as eigvalsh_tridiagonal,
)
from ._schur import (
    ldl as ldl,
    schur as schur,
)
from ._solves import (
    cho_solve as cho_solve,
    cho_solve_banded as cho_solve_banded,
    inv as inv,
    lu_solve as lu_solve,
    solve as solve,
    solve_banded as solve_banded,
    solve_triangular as solve_triangular,
    solveh_banded as solveh_banded,
)
from ._special_matrices import (
    block_diag as block_diag,
    circulant as circulant,
    companion as companion,
    convolution_matrix as convolution_matrix,
    diagsvd as diagsvd,
    fiedler as fiedler,
    fiedler_companion as fiedler_companion,
    hankel as hankel,
    khatri_rao as khatri_rao,
    leslie as leslie,
    matmul_toeplitz as matmul_toeplitz,
    matrix_balance as matrix_balance,
    solve_circulant as solve_circulant,
    solve_toeplitz as solve_toeplitz,
    toeplitz as toeplitz,
)
from ._svd import (
    det as det,
    lstsq as lstsq,
    norm as norm,
    pinv as pinv,
    pinvh as pinvh,
    subspace_angles as subspace_angles,
    svd as svd,
    svdvals as svdvals,
)

__all__: list[str] = []
__all__ += _equations.__all__
__all__ += _factors.__all__
__all__ += _functions.__all__
__all__ += _general.__all__
__all__ += _hermitian.__all__
__all__ += _schur.__all__
__all__ += _solves.__all__
__all__ += _special_matrices.__all__
__all__ += _svd.__all__
