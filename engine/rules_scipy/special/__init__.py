"""Special functions of `scipy.special` as primitives with rules.

Every function has the name that it has in SciPy. `rules_scipy.coverage` lists them, and
those without rules with the reason. The derivatives of the incomplete functions in
their parameters are public as well: `gammainc_da`, `betainc_da`, `betainc_db`.
"""

from . import (
    _bessel,
    _bessel_derivatives,
    _constants,  # noqa: F401  declares
    _distributions,
    _elementary,
    _elliptic,
    _error_functions,
    _gamma,
    _hypergeometric,
    _incomplete_beta,
    _incomplete_gamma,
    _information,
    _integrals,
    _kolmogorov,
    _lambert,
    _legendre,
    _logarithms,
    _logsumexp,
    _mathieu,
    _noncentral,
    _orthogonal,
    _parabolic,
    _scaled_bessel,
    _softmax,
    _spherical,
    _spheroidal,
    _struve,
    _zeta,
)
from ._bessel import *  # noqa: F403  its contents page
from ._bessel_derivatives import *  # noqa: F403  its contents page
from ._distributions import *  # noqa: F403  its contents page
from ._elementary import *  # noqa: F403  its contents page
from ._elliptic import *  # noqa: F403  its contents page
from ._error_functions import *  # noqa: F403  its contents page
from ._gamma import *  # noqa: F403  its contents page
from ._hypergeometric import *  # noqa: F403  its contents page
from ._incomplete_beta import *  # noqa: F403  its contents page
from ._incomplete_gamma import *  # noqa: F403  its contents page
from ._information import *  # noqa: F403  its contents page
from ._integrals import *  # noqa: F403  its contents page
from ._kolmogorov import *  # noqa: F403  its contents page
from ._lambert import *  # noqa: F403  its contents page
from ._legendre import *  # noqa: F403  its contents page
from ._logarithms import *  # noqa: F403  its contents page
from ._logsumexp import *  # noqa: F403  its contents page
from ._mathieu import *  # noqa: F403  its contents page
from ._noncentral import *  # noqa: F403  its contents page
from ._orthogonal import *  # noqa: F403  its contents page
from ._parabolic import *  # noqa: F403  its contents page
from ._scaled_bessel import *  # noqa: F403  its contents page
from ._softmax import *  # noqa: F403  its contents page
from ._spherical import *  # noqa: F403  its contents page
from ._spheroidal import *  # noqa: F403  its contents page
from ._struve import *  # noqa: F403  its contents page
from ._zeta import *  # noqa: F403  its contents page

__all__: list[str] = []
__all__ += _bessel.__all__
__all__ += _bessel_derivatives.__all__
__all__ += _distributions.__all__
__all__ += _elementary.__all__
__all__ += _elliptic.__all__
__all__ += _error_functions.__all__
__all__ += _gamma.__all__
__all__ += _hypergeometric.__all__
__all__ += _incomplete_beta.__all__
__all__ += _incomplete_gamma.__all__
__all__ += _information.__all__
__all__ += _integrals.__all__
__all__ += _kolmogorov.__all__
__all__ += _lambert.__all__
__all__ += _legendre.__all__
__all__ += _logarithms.__all__
__all__ += _logsumexp.__all__
__all__ += _mathieu.__all__
__all__ += _noncentral.__all__
__all__ += _orthogonal.__all__
__all__ += _parabolic.__all__
__all__ += _scaled_bessel.__all__
__all__ += _softmax.__all__
__all__ += _spherical.__all__
__all__ += _spheroidal.__all__
__all__ += _struve.__all__
__all__ += _zeta.__all__
