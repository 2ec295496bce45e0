"""`scipy.interpolate` for every framework: interpolants with SciPy's names.

They are made of arrays of any framework, in array-API code, and have derivatives in
data, knots, points and boundary values, of every order. Each is an instance of SciPy's
class too. Equations of splines are solved by `rules_scipy.linalg`.

>>> import numpy as np
>>> import scipy.interpolate
>>> from rules_autodiff import grad
>>> x, y = np.arange(4.0), np.asarray([0.0, 1.0, 8.0, 27.0])
>>> grad(lambda y: scipy.interpolate.CubicSpline(x, y)(1.5))(y)
array([-0.0625,  0.5625,  0.5625, -0.0625])
"""

from ._bsplines import BSpline as BSpline
from ._coefficients import (
    approximate_taylor_polynomial as approximate_taylor_polynomial,
    lagrange as lagrange,
    pade as pade,
)
from ._cubic import (
    Akima1DInterpolator as Akima1DInterpolator,
    CubicHermiteSpline as CubicHermiteSpline,
    CubicSpline as CubicSpline,
    PchipInterpolator as PchipInterpolator,
    pchip as pchip,
    pchip_interpolate as pchip_interpolate,
)
from ._fitpack import (
    insert as insert,
    make_splprep as make_splprep,
    make_splrep as make_splrep,
    spalde as spalde,
    splantider as splantider,
    splder as splder,
    splev as splev,
    splint as splint,
    splprep as splprep,
    splrep as splrep,
    sproot as sproot,
)
from ._grids import (
    RegularGridInterpolator as RegularGridInterpolator,
    interpn as interpn,
)
from ._interpolating import (
    make_interp_spline as make_interp_spline,
    make_lsq_spline as make_lsq_spline,
    make_smoothing_spline as make_smoothing_spline,
)
from ._lines import interp1d as interp1d
from ._ndsplines import NdBSpline as NdBSpline, NdPPoly as NdPPoly
from ._pieces import BPoly as BPoly, PPoly as PPoly
from ._poly1d import Polynomial as Polynomial
from ._polynomials import (
    BarycentricInterpolator as BarycentricInterpolator,
    KroghInterpolator as KroghInterpolator,
    barycentric_interpolate as barycentric_interpolate,
    krogh_interpolate as krogh_interpolate,
)
from ._rationals import (
    AAA as AAA,
    FloaterHormannInterpolator as FloaterHormannInterpolator,
)
from ._scattered import (
    LinearNDInterpolator as LinearNDInterpolator,
    NearestNDInterpolator as NearestNDInterpolator,
    Rbf as Rbf,
    RBFInterpolator as RBFInterpolator,
    griddata as griddata,
)
from ._surfaces import RectBivariateSpline as RectBivariateSpline, bisplev as bisplev
from ._univariate import (
    InterpolatedUnivariateSpline as InterpolatedUnivariateSpline,
    LSQUnivariateSpline as LSQUnivariateSpline,
    UnivariateSpline as UnivariateSpline,
)
