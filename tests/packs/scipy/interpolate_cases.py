"""Calls of `scipy.interpolate`, by name: a function of the module, and its arrays.

Points keep away from knots, where most interpolants have a kink in some derivative.
Ends of knots that must enclose the data are made of the data.
"""

from typing import Any

import numpy as np
import scipy.interpolate as sp
import scipy.sparse.linalg

import rules_core as rc

__all__ = ["CASES", "NUMPY_ONLY"]

RNG = np.random.default_rng(0)
X = np.array([0.0, 0.4, 1.0, 1.5, 2.3, 3.0])
Y = np.array([0.0, 1.0, 0.4, 2.0, 1.5, 3.0])
Y2 = np.stack([Y, Y**2 - 0.7 * Y], 1)
Q = np.array([0.1, 0.72, 2.9, 3.2, -0.3])
INSIDE = np.array([0.1, 0.72, 2.9, 2.5])
C = RNG.normal(size=(3, 5))
C4 = RNG.normal(size=(4, 5, 2))
LONG = np.append(X, [3.7, 4.1])
DATA = np.append(Y, [2.0, 2.5])
DATA2 = np.stack([DATA, DATA**2 - 0.7 * DATA], 1)
W = 1.0 + DATA / 5.0
U = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
CU = RNG.normal(size=7)
KNOTS = np.array([0, 0, 0, 0, 1.0, 2.0, 2.0, 3, 4, 4, 4, 4])
C8 = RNG.normal(size=8)
GX = np.array([0.0, 0.5, 1.2, 2.0, 2.8])
GY = np.array([-1.0, 0.0, 0.7, 1.5])
Z = RNG.normal(size=(5, 4))
Z2 = RNG.normal(size=(5, 4, 2))
PX = np.array([0.3, 1.3, 2.6])
PY = np.array([-0.4, 0.9, 1.2])
P = np.stack([PX, PY], 1)
CELLS = RNG.normal(size=(3, 2, 4, 3))
T1 = np.array([0, 0, 0, 0, 1, 2, 3, 3, 3, 3.0])
T2 = np.array([-1.0, -1.0, -1.0, 0.5, 2, 2, 2])
C64 = RNG.normal(size=(6, 4))
CLOUD = RNG.uniform(size=(12, 2))
CLOUD[:4] = np.array([[0, 0], [0.01, 1.1], [1.2, 0.02], [1.3, 1]])
D = RNG.normal(size=12)
D2 = RNG.normal(size=(12, 2))
AT = RNG.uniform(0.3, 0.7, size=(4, 2))
SURFACE = sp.bisplrep(
    *[g.ravel() for g in np.meshgrid(np.linspace(0, 1, 7), np.linspace(0, 1, 7))],
    RNG.normal(size=49),
    s=30,
)


def joined(*xs):
    return rc.array_namespace(*xs).concat(list(xs))


def knots(u):
    """Knots of a cubic spline, whose ends are repeated."""
    return joined(*[u[:1]] * 4, u[1:-1], *[u[-1:]] * 4)


def around(x, u):
    """Knots inside, between the ends of data."""
    return knots(joined(x[:1], u, x[-1:]))


def closed(y):
    return joined(y, y[:1])


CASES: dict[str, Any] = {}
# Results whose size depends on values, and matrices of SciPy.
NUMPY_ONLY: set[str] = set()


def case(name, args, f, *, numpy=False):
    CASES[name] = f, tuple(np.array(x, float) for x in args)
    if numpy:
        NUMPY_ONLY.add(name)


# pieces
case("PPoly", (C, X, Q), lambda m, c, x, q: m.PPoly(c, x)(q))
case("PPoly falling", (C, X[::-1], Q), lambda m, c, x, q: m.PPoly(c, x)(q, 1))
case(
    "PPoly axis",
    (C4[:2].transpose(2, 0, 1), X, Q),
    lambda m, c, x, q: m.PPoly(c, x, axis=1)(q.reshape(5, 1), 1),
)
case("PPoly periodic", (C, X, 3 * Q), lambda m, c, x, q: m.PPoly(c, x, "periodic")(q))
case("integral", (C, X, Q), lambda m, c, x, q: m.PPoly(c, x).integrate(q[0], q[3]))
case(
    "periodic integral",
    (C, X, Q),
    lambda m, c, x, q: m.PPoly(c, x, "periodic").integrate(q[3], q[0] - 8.0),
)
case(
    "antiderivative",
    (C, X, Q),
    lambda m, c, x, q: m.PPoly(c, x).antiderivative(2)(q),
)
case("derivative", (C, X), lambda m, c, x: m.PPoly(c, x).derivative().c * x[-1])
case("BPoly", (C4, X, Q), lambda m, c, x, q: m.BPoly(c, x)(q))
case("BPoly second", (C4, X, Q), lambda m, c, x, q: m.BPoly(c, x)(q, 2))
case(
    "BPoly calculus",
    (C4, X, Q),
    lambda m, c, x, q: (
        m.BPoly(c, x).derivative()(q),
        m.BPoly(c, x).antiderivative(2)(q),
        m.BPoly(c, x).integrate(q[0], q[2]),
    ),
)
case(
    "BPoly of PPoly",
    (C4, X),
    lambda m, c, x: m.BPoly.from_power_basis(m.PPoly(c, x)).c,
)
case(
    "PPoly of BPoly",
    (C4, X),
    lambda m, c, x: m.PPoly.from_bernstein_basis(m.BPoly(c, x)).c,
)
case(
    "BPoly of derivatives",
    (X[:3], Y2[:3], Q),
    lambda m, x, y, q: m.BPoly.from_derivatives(x, [y[0], y[1][:1], y[2]])(q),
)
case("roots", (X, Y - 1.2), lambda m, x, y: m.CubicSpline(x, y).roots(), numpy=True)
case(
    "jumps",
    (X, [1.0, -1, 2, 3, 4, 5]),
    lambda m, x, y: m.PPoly(y[None, :5], x).roots(),
    numpy=True,
)

# cubics
for _bc in ("not-a-knot", "natural", "clamped", ((1, 0.3), (2, 0.7))):
    case(
        f"CubicSpline {_bc}",
        (X, Y, Q),
        lambda m, x, y, q, bc=_bc: m.CubicSpline(x, y, bc_type=bc)(q),
    )
case(
    "CubicSpline ends",
    (X, Y, [0.2, 0.5], Q),
    lambda m, x, y, b, q: m.CubicSpline(x, y, bc_type=((1, b[0]), (2, b[1])))(q),
)
for _n in (2, 3, 4):
    case(
        f"CubicSpline of {_n}",
        (X[:_n], Y[:_n], Q),
        lambda m, x, y, q: (
            m.CubicSpline(x, y)(q), m.CubicSpline(x, y, bc_type="natural")(q)
        ),
    )  # fmt: skip
for _n in (3, 4, 6):
    case(
        f"CubicSpline periodic {_n}",
        (X[:_n], Y[: _n - 1], 2.1 * Q),
        lambda m, x, y, q: m.CubicSpline(x, closed(y), bc_type="periodic")(q),
    )
case(
    "CubicSpline axis",
    (X, Y2, Q),
    lambda m, x, y, q: m.CubicSpline(x, y.T, axis=1)(q),
)
case(
    "CubicHermiteSpline",
    (X, Y, Y[::-1], Q),
    lambda m, x, y, s, q: m.CubicHermiteSpline(x, y, s)(q),
)
case("Pchip", (X, Y, Q), lambda m, x, y, q: m.PchipInterpolator(x, y)(q))
case(
    "pchip_interpolate",
    (X, Y2, Q),
    lambda m, x, y, q: m.pchip_interpolate(x, y, q, der=[0, 1]),
)
case(
    "Akima",
    (X, Y, Q),
    lambda m, x, y, q: m.Akima1DInterpolator(x, y, extrapolate=True)(q),
)
case(
    "makima",
    (X, Y2, INSIDE),
    lambda m, x, y, q: m.Akima1DInterpolator(x, y, method="makima")(q),
)

# B-splines
case("BSpline", (U, CU, Q), lambda m, u, c, q: m.BSpline(knots(u), c, 3)(q))
case("BSpline double knot", (C8, Q), lambda m, c, q: m.BSpline(KNOTS, c, 3)(q, 1))
case(
    "BSpline axis",
    (U, np.stack([CU, CU**2]), Q),
    lambda m, u, c, q: m.BSpline(knots(u), c, 3, axis=1)(q, 2),
)
for _k, _c in ((0, CU[:4]), (1, CU[:3])):
    case(
        f"BSpline degree {_k}",
        (U, _c, Q),
        lambda m, u, c, q, k=_k: m.BSpline(u, c, k)(q),
    )
case(
    "BSpline periodic",
    (U, CU, 3 * Q),
    lambda m, u, c, q: m.BSpline(knots(u), c, 3, "periodic")(q),
)
case(
    "BSpline calculus",
    (U, CU, Q),
    lambda m, u, c, q: (
        m.BSpline(knots(u), c, 3).derivative(2)(q),
        m.BSpline(knots(u), c, 3).antiderivative(2)(q),
        m.BSpline(knots(u), c, 3).integrate(q[0], q[3]),
        m.BSpline(knots(u), c, 3).integrate(q[4], q[3], False),
        m.BSpline(knots(u), c, 3).integrate(q[3] + 9.0, q[0], "periodic"),
    ),
)
case(
    "insert_knot",
    (U, CU, Q),
    lambda m, u, c, q: m.BSpline(knots(u), c, 3).insert_knot(q[1], 2).c,
    numpy=True,
)
case("basis_element", (U, Q), lambda m, u, q: m.BSpline.basis_element(u)(q))
case(
    "design_matrix",
    (U, Q),
    lambda m, u, q: m.BSpline.design_matrix(q[:3], knots(u), 3).toarray(),
    numpy=True,
)
case(
    "BSpline of CubicSpline",
    (X, Y),
    lambda m, x, y: m.BSpline.from_power_basis(m.CubicSpline(x, y)).c,
)
case(
    "PPoly of BSpline",
    (U, CU),
    lambda m, u, c: m.PPoly.from_spline(m.BSpline(knots(u), c, 3)).c[:, 3:-3],
)
for _k in range(6):
    case(
        f"make_interp_spline {_k}",
        (LONG, DATA, Q),
        lambda m, x, y, q, k=_k: m.make_interp_spline(x, y, k=k)(q),
    )
case(
    "make_interp_spline axis",
    (X, Y2, Q),
    lambda m, x, y, q: m.make_interp_spline(x, y.T, axis=1, bc_type="clamped")(q),
)
case(
    "make_interp_spline ends",
    (X, Y, [0.3, 0.4], Q),
    lambda m, x, y, b, q: m.make_interp_spline(
        x, y, k=5, bc_type=([(1, b[0]), (2, 0.0)], [(1, b[1]), (2, 0.5)])
    )(q),
)
case(
    "make_interp_spline knots",
    (LONG[:7], DATA[:7], [1.1, 2.0, 2.8], INSIDE),
    lambda m, x, y, u, q: m.make_interp_spline(x, y, t=around(x, u))(q),
)
for _k, _n in ((2, 6), (3, 6), (5, 6), (3, 3)):
    case(
        f"make_interp_spline periodic {_k} of {_n}",
        (X[:_n], Y[: _n - 1], 2.1 * Q),
        lambda m, x, y, q, k=_k: m.make_interp_spline(
            x, closed(y), k=k, bc_type="periodic"
        )(q),
    )
case(
    "make_lsq_spline",
    (LONG, DATA2, [2.0], W, Q),
    lambda m, x, y, u, w, q: m.make_lsq_spline(x, y, around(x, u), w=w)(q),
)
case(
    "make_smoothing_spline",
    (LONG, DATA2, W, 0.3, Q),
    lambda m, x, y, w, lam, q: m.make_smoothing_spline(x, y, w=w, lam=lam)(q),
)

# FITPACK
for _k in (1, 3, 4):
    case(
        f"splrep {_k}",
        (LONG, DATA, Q),
        lambda m, x, y, q, k=_k: (
            m.splev(q, m.splrep(x, y, k=k)), m.splev(q, m.splrep(x, y, k=k), 1)
        ),
    )  # fmt: skip
case(
    "splrep ends",
    (LONG, DATA, Q, -0.5),
    lambda m, x, y, q, e: m.splev(q, m.splrep(x, y, xb=e, xe=5.0)),
)
case(
    "splrep knots",
    (LONG, DATA, W, [1.1, 2.2], Q),
    lambda m, x, y, w, u, q: m.splev(q, m.splrep(x, y, w=w, t=u)),
)
case(
    "splrep large s",
    (LONG, DATA, W, Q),
    lambda m, x, y, w, q: m.splev(q, m.splrep(x, y, w=w, s=1e3)),
    numpy=True,
)
case(
    "splrep periodic",
    (LONG, DATA[:-1], INSIDE),
    lambda m, x, y, q: m.splev(q, m.splrep(x, closed(y), per=1)),
)
for _ext in (1, 3):
    case(
        f"splev ext {_ext}",
        (LONG, DATA, Q),
        lambda m, x, y, q, ext=_ext: (
            m.splev(q, m.splrep(x, y), ext=ext), m.splev(q, m.splrep(x, y), 1, ext)
        ),
    )  # fmt: skip
case(
    "splint",
    (LONG, DATA, Q),
    lambda m, x, y, q: m.splint(q[1], q[3], m.splrep(x, y)),
)
case(
    "sproot",
    (LONG, DATA - 1.2),
    lambda m, x, y: m.sproot(m.splrep(x, y)),
    numpy=True,
)
case("spalde", (LONG, DATA, INSIDE), lambda m, x, y, q: m.spalde(q, m.splrep(x, y)))
case(
    "insert",
    (LONG, DATA, Q),
    lambda m, x, y, q: m.insert(q[1], m.splrep(x, y), m=2)[1],
    numpy=True,
)
case(
    "splder and splantider",
    (LONG, DATA, Q),
    lambda m, x, y, q: (
        m.splev(q, m.splder(m.splrep(x, y), 2)),
        m.splantider(m.splrep(x, y))[1],
    ),
)
case(
    "splprep",
    (LONG, DATA, INSIDE / 5),
    lambda m, x, y, q: m.splev(q, m.splprep([x, y], s=0)[0]),
)
case(
    "splprep at",
    (LONG, DATA),
    lambda m, x, y: (
        m.splprep([x, y], s=0, k=2)[1],
        m.splprep([x, y], u=x, s=0)[0][1][1],
    ),
)
case("make_splrep", (LONG, DATA, Q), lambda m, x, y, q: m.make_splrep(x, y)(q))
case(
    "make_splprep",
    (LONG, DATA, INSIDE / 5),
    lambda m, x, y, q: m.make_splprep([x, y])[0](q),
)
case(
    "UnivariateSpline",
    (LONG, DATA, Q),
    lambda m, x, y, q: m.UnivariateSpline(x, y, s=0, k=4)(q, 1),
)
case(
    "UnivariateSpline large s",
    (LONG, DATA, Q),
    lambda m, x, y, q: m.UnivariateSpline(x, y, s=1e4)(q),
    numpy=True,
)
case(
    "InterpolatedUnivariateSpline",
    (LONG, DATA, Q),
    lambda m, x, y, q: m.InterpolatedUnivariateSpline(
        x, y, ext="const", bbox=[-0.1, 4.2]
    )(q),
)
case(
    "LSQUnivariateSpline",
    (LONG, DATA, [1.1, 2.2], W, Q),
    lambda m, x, y, u, w, q: (
        m.LSQUnivariateSpline(x, y, u, w=w, k=2)(q),
        m.LSQUnivariateSpline(x, y, u, w=w, k=2).get_residual(),
    ),
)


def _methods(m, x, y, q):
    s = m.InterpolatedUnivariateSpline(x, y)
    return (
        s.derivative()(q),
        s.antiderivative(2)(q),
        s.integral(q[0], q[2]),
        s.derivatives(q[1]),
        s.get_coeffs(),
        s.get_knots(),
    )


case("UnivariateSpline methods", (LONG, DATA, Q), _methods)
case(
    "UnivariateSpline roots",
    (LONG, DATA - 1.2),
    lambda m, x, y: m.InterpolatedUnivariateSpline(x, y).roots(),
    numpy=True,
)

# surfaces and grids
case(
    "RectBivariateSpline",
    (GX, GY, Z, PX, PY),
    lambda m, a, b, z, p, r: (
        m.RectBivariateSpline(a, b, z)(p, r),
        m.RectBivariateSpline(a, b, z)(p, r, dx=1, dy=2),
    ),
)
case(
    "RectBivariateSpline points",
    (GX, GY, Z, PX + 1, PY),
    lambda m, a, b, z, p, r: m.RectBivariateSpline(a, b, z, kx=2, ky=1).ev(p, r),
)
case(
    "RectBivariateSpline calculus",
    (GX, GY, Z, PX, PY),
    lambda m, a, b, z, p, r: (
        m.RectBivariateSpline(a, b, z).integral(p[0], p[1], r[0], r[1]),
        m.RectBivariateSpline(a, b, z).partial_derivative(1, 1)(p, r),
    ),
)
case(
    "bisplev",
    (PX / 3, np.sort(PY / 3 + 0.2), SURFACE[2]),
    lambda m, p, r, c: m.bisplev(p, r, (*SURFACE[:2], c, 3, 3), dx=1),
)
case(
    "NdBSpline",
    (U[:4], np.stack([C64, C64**2], 2), P),
    lambda m, u, c, p: m.NdBSpline((knots(u), T2), c, (3, 2))(p),
)
case(
    "NdBSpline derivatives",
    (C64, P),
    lambda m, c, p: m.NdBSpline((T1, T2), c, (3, 2))(p, nu=(1, 1)),
)
if hasattr(sp.NdBSpline, "derivative"):
    case(
        "NdBSpline derivative",
        (C64, P),
        lambda m, c, p: m.NdBSpline((T1, T2), c, (3, 2)).derivative((1, 1))(p),
    )
case(
    "NdBSpline design_matrix",
    (P,),
    lambda m, p: m.NdBSpline.design_matrix(p, (T1, T2), (3, 2)).toarray(),
    numpy=True,
)
case("NdPPoly", (CELLS, GX, GY, P), lambda m, c, a, b, p: m.NdPPoly(c, (a, b))(p))
case(
    "NdPPoly calculus",
    (CELLS, GX, GY, P),
    lambda m, c, a, b, p: (
        m.NdPPoly(c, (a, b))(p, nu=(1, 0)),
        m.NdPPoly(c, (a, b)).derivative((1, 0))(p),
        m.NdPPoly(c, (a, b)).antiderivative((1, 2))(p),
        m.NdPPoly(c, (a, b)).integrate([(p[0, 0], p[1, 0]), (p[0, 1], p[2, 1])]),
        m.NdPPoly(c, (a, b)).integrate_1d(p[0, 0], p[1, 0], 0)(p[:, 1:]),
    ),
)
for _method in ("linear", "nearest", "slinear", "pchip"):
    case(
        f"RegularGridInterpolator {_method}",
        (GX, GY, Z, P + np.array([0.0, 0.5])),
        lambda m, a, b, z, p, method=_method: m.RegularGridInterpolator(
            (a, b), z, method=method, bounds_error=False, fill_value=None
        )(p),
    )
case(
    "RegularGridInterpolator cubic",
    (GX, GY, Z, P),
    lambda m, a, b, z, p: m.RegularGridInterpolator(
        (a, b), z, method="cubic", solver=scipy.sparse.linalg.spsolve
    )(p, nu=(1, 0)),
)
case(
    "RegularGridInterpolator several",
    (GX, GY, Z2, P),
    lambda m, a, b, z, p: (
        m.RegularGridInterpolator((a, b), z)(p),
        m.RegularGridInterpolator((a, b), z, method="pchip")(p),
    ),
)
case(
    "RegularGridInterpolator falling",
    (GX[::-1], GY, Z, P),
    lambda m, a, b, z, p: m.RegularGridInterpolator((a, b), z)(p),
    numpy=True,
)
case(
    "RegularGridInterpolator filled",
    (GX, GY, RNG.normal(size=(5, 4, 5)), np.column_stack([P, [0.9, 1.9, 4.0]])),
    lambda m, a, b, z, p: m.RegularGridInterpolator(
        (a, b, a), z, bounds_error=False, fill_value=-3.0
    )(p),
)
case("interpn", (GX, GY, Z, P), lambda m, a, b, z, p: m.interpn((a, b), z, p))
case(
    "interpn splinef2d",
    (GX, GY, Z, P),
    lambda m, a, b, z, p: m.interpn(
        (a, b), z, p, method="splinef2d", bounds_error=False, fill_value=1.0
    ),
)

# polynomials
case(
    "Krogh",
    (X, Y, Q),
    lambda m, x, y, q: (
        m.KroghInterpolator(x, y)(q), m.KroghInterpolator(x, y).derivative(q, 2)
    ),
)  # fmt: skip
case(
    "Krogh repeated",
    (Y, Q),
    lambda m, y, q: m.krogh_interpolate([0, 0, 0, 1.0, 2, 2], y, q, der=[0, 1]),
)
case(
    "Krogh axis",
    (X, Y2, Q),
    lambda m, x, y, q: m.KroghInterpolator(x, y.T, axis=1).derivatives(q, 3),
)
case("Barycentric", (X, Y, Q), lambda m, x, y, q: m.BarycentricInterpolator(x, y)(q))
case(
    "barycentric_interpolate",
    (X, Y2, Q),
    lambda m, x, y, q: m.barycentric_interpolate(x, y, q, der=[0, 1, 3]),
)
case(
    "at nodes",
    (Y, X[:3]),
    lambda m, y, q: (
        m.BarycentricInterpolator(X, y)(q), m.FloaterHormannInterpolator(X, y)(q)
    ),
)  # fmt: skip
case(
    "FloaterHormann",
    (X, Y2, Q),
    lambda m, x, y, q: m.FloaterHormannInterpolator(x, y, d=2)(q),
)
case("AAA", (Q,), lambda m, q: m.AAA(np.linspace(0, 3, 30), _curve())(q))
case("lagrange", (X[:4], Y[:4] + 0.1), lambda m, x, y: m.lagrange(x, y).coeffs)
for _order in (None, 1):
    case(
        f"pade {_order}",
        ([1.0, 0.9, 0.5, 0.2, 0.03],),
        lambda m, a, n=_order: tuple(p.coeffs for p in m.pade(a, 2, n)),
    )
case(
    "taylor",
    (1.3, 0.4),
    lambda m, a, x: (
        m.approximate_taylor_polynomial(
            lambda s: rc.array_namespace(s).sin(a * s), x, 3, 0.5, 5
        ).coeffs
    ),
)


def _curve():
    return np.sin(np.linspace(0, 3, 30)) + 1.0


# lines
_KINDS = ("linear", "nearest", "nearest-up", "previous", "next")
for _kind in (*_KINDS, "zero", "slinear", "quadratic", "cubic", 5):
    case(
        f"interp1d {_kind}",
        (X, Y, INSIDE),
        lambda m, x, y, q, kind=_kind: m.interp1d(x, y, kind=kind)(q),
    )
for _kind in ("linear", "nearest"):
    case(
        f"interp1d extrapolated {_kind}",
        (X, Y, Q),
        lambda m, x, y, q, kind=_kind: m.interp1d(
            x, y, kind=kind, fill_value="extrapolate"
        )(q),
    )
case(
    "interp1d filled",
    (X, Y2, [[0.3, 0.4], [1.0, 2.0]], Q),
    lambda m, x, y, b, q: m.interp1d(
        x, y, bounds_error=False, fill_value=(b[0], b[1]), axis=0
    )(q),
)
case(
    "interp1d in disorder",
    (X[[3, 1, 0, 2, 5, 4]], Y2, INSIDE),
    lambda m, x, y, q: m.interp1d(x, y.T, kind="cubic")(q.reshape(2, 2)),
)

# scattered data
for _kernel in ("linear", "thin_plate_spline", "cubic", "quintic"):
    case(
        f"RBFInterpolator {_kernel}",
        (CLOUD, D, AT),
        lambda m, y, d, q, kernel=_kernel: m.RBFInterpolator(y, d, kernel=kernel)(q),
    )
for _kernel in (
    "multiquadric", "inverse_multiquadric", "inverse_quadratic", "gaussian",
):  # fmt: skip
    case(
        f"RBFInterpolator {_kernel}",
        (CLOUD, D, AT, 2.0),
        lambda m, y, d, q, e, kernel=_kernel: m.RBFInterpolator(
            y, d, kernel=kernel, epsilon=e
        )(q),
    )
case(
    "RBFInterpolator smoothed",
    (CLOUD, D2, np.full(12, 0.1), AT),
    lambda m, y, d, s, q: m.RBFInterpolator(y, d, smoothing=s)(q),
)
case(
    "RBFInterpolator neighbours",
    (CLOUD, D2, AT),
    lambda m, y, d, q: m.RBFInterpolator(y, d, neighbors=6)(q),
)
case(
    "RBFInterpolator without polynomial",
    (CLOUD, D, AT),
    lambda m, y, d, q: m.RBFInterpolator(
        y, d, degree=-1, kernel="gaussian", epsilon=3.0
    )(q),
)
for _function in (
    "multiquadric", "inverse", "gaussian", "linear", "cubic", "quintic", "thin_plate",
):  # fmt: skip
    case(
        f"Rbf {_function}",
        (CLOUD, D, AT),
        lambda m, y, d, q, function=_function: m.Rbf(
            y[:, 0], y[:, 1], d, function=function
        )(q[:, 0], q[:, 1]),
    )
case(
    "Rbf several",
    (CLOUD, D2, 0.5, 0.1, AT),
    lambda m, y, d, e, s, q: m.Rbf(
        y[:, 0], y[:, 1], d, epsilon=e, smooth=s, mode="N-D"
    )(q[:, 0], q[:, 1]),
)
case(
    "LinearND",
    (CLOUD, D2, AT),
    lambda m, y, d, q: m.LinearNDInterpolator(y, d)(q),
)
case(
    "LinearND outside",
    (CLOUD, D, AT + np.array([[0, 0], [3, 0], [0, 0], [0, 0]])),
    lambda m, y, d, q: m.LinearNDInterpolator(y, d, 1.5, rescale=True)(
        q[:, 0], q[:, 1]
    ),
)
for _rescale in (False, True):
    case(
        f"NearestND rescale={_rescale}",
        (CLOUD, D2, AT),
        lambda m, y, d, q, rescale=_rescale: m.NearestNDInterpolator(
            y, d, rescale=rescale
        )(q),
    )
for _method in ("nearest", "linear"):
    case(
        f"griddata {_method}",
        (CLOUD, D, AT),
        lambda m, y, d, q, method=_method: m.griddata(
            y, d, (q[:, 0], q[:, 1]), method=method
        ),
    )
for _method in ("nearest", "linear", "cubic"):
    case(
        f"griddata of one variable {_method}",
        (X, Y, INSIDE),
        lambda m, y, d, q, method=_method: m.griddata(y, d, q, method=method),
    )
