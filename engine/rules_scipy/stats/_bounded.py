"""Bounded and circular distributions, and those by integrals."""

from __future__ import annotations

import math
from typing import Any

import scipy.stats as st

import rules_core as rc
from rules_scipy import special as sp
from rules_scipy.special._arrays import (
    absolute,
    cos,
    log,
    log1p,
    sin,
    sqrt,
    where,
)

from ._continuous import continuous
from ._gamma_beta import LOG_2, xlog1py, xlogy
from ._normal import POSITIVE
from ._numbers import INF, LOG_2PI, asin

UNIT = (0.0, 1.0)
PI = math.pi

# bounded ones

uniform = continuous(
    st.uniform,
    support=UNIT,
    logpdf=lambda x: 0 * x,
    cdf=lambda x: x,
    sf=lambda x: 1 - x,
    ppf=lambda q: q,
    isf=lambda q: 1 - q,
    mean=lambda: 0.5,
    var=lambda: 1 / 12,
    entropy=lambda: 0.0,
)
arcsine = continuous(
    st.arcsine,
    support=UNIT,
    logpdf=lambda x: -math.log(PI) - log(x) / 2 - log1p(-x) / 2,
    cdf=lambda x: 2 / PI * asin(sqrt(x)),
    sf=lambda x: 2 / PI * asin(sqrt(1 - x)),
    ppf=lambda q: sin(PI / 2 * q) ** 2,
    isf=lambda q: cos(PI / 2 * q) ** 2,
    mean=lambda: 0.5,
    var=lambda: 0.125,
    entropy=lambda: math.log(PI / 4),
)
anglit = continuous(
    st.anglit,
    support=(-PI / 4, PI / 4),
    symmetric=True,
    pdf=lambda x: cos(2 * x),
    cdf=lambda x: sin(x + PI / 4) ** 2,
    ppf=lambda q: asin(sqrt(q)) - PI / 4,
    mean=lambda: 0.0,
    var=lambda: PI * PI / 16 - 0.5,
    entropy=lambda: 1 - LOG_2,
)


def _rise(u: Any) -> Any:
    r"""$u - \sin u$, by its series near zero."""
    near = u < 0.5
    small, square = where(near, u, 0.0), where(near, u, 0.0) ** 2
    series = 0 * small
    for k in range(6, 0, -1):
        series = square / ((2 * k + 2) * (2 * k + 3)) * (1 - series)
    return where(near, small**3 / 6 * (1 - series), u - sin(u))


cosine = continuous(
    st.cosine,
    support=(-PI, PI),
    symmetric=True,
    pdf=lambda x: cos(x / 2) ** 2 / PI,
    cdf=lambda x: _rise(PI + x) / (2 * PI),
    mean=lambda: 0.0,
    var=lambda: PI * PI / 3 - 2,
    entropy=lambda: math.log(4 * PI) - 1,
)
semicircular = continuous(
    st.semicircular,
    support=(-1.0, 1.0),
    symmetric=True,
    logpdf=lambda x: math.log(2 / PI) + log1p(-x * x) / 2,
    cdf=lambda x: sp.betainc(1.5 + 0 * x, 1.5 + 0 * x, (1 + x) / 2),
    mean=lambda: 0.0,
    var=lambda: 0.25,
    entropy=lambda: math.log(PI) - 0.5,
)
bradford = continuous(
    st.bradford,
    support=UNIT,
    logpdf=lambda x, c: log(c) - log1p(c * x) - log(log1p(c)),
    cdf=lambda x, c: log1p(c * x) / log1p(c),
    sf=lambda x, c: log1p(c * (1 - x) / (1 + c * x)) / log1p(c),
    ppf=lambda q, c: sp.expm1(q * log1p(c)) / c,
    mean=lambda c: 1 / log1p(c) - 1 / c,
    var=lambda c: ((c + 2) * log1p(c) - 2 * c) / (2 * c * log1p(c) ** 2),
    entropy=lambda c: log1p(c) / 2 - log(c / log1p(c)),
)


def _triangle(x: Any, c: Any) -> tuple[Any, Any, Any]:
    """Whether a point is on the rising side, and the lengths of both sides."""
    return x < c, where(c > 0, c, 1.0), where(c < 1, 1 - c, 1.0)


def _triangle_pdf(x: Any, c: Any) -> Any:
    rising, left, right = _triangle(x, c)
    # At one of two ends that meet the density is 2.
    falling = where(c < 1, (1 - x) / right, 1.0)
    return 2 * where(rising, x / left, falling)


def _triangle_cdf(x: Any, c: Any) -> Any:
    rising, left, right = _triangle(x, c)
    return where(rising, x * x / left, 1 - (1 - x) ** 2 / right)


def _triangle_sf(x: Any, c: Any) -> Any:
    rising, left, right = _triangle(x, c)
    return where(rising, 1 - x * x / left, (1 - x) ** 2 / right)


triang = continuous(
    st.triang,
    support=UNIT,
    valid=lambda c: (c >= 0) & (c <= 1),
    pdf=_triangle_pdf,
    cdf=_triangle_cdf,
    sf=_triangle_sf,
    mean=lambda c: (c + 1) / 3,
    var=lambda c: (1 - c + c * c) / 18,
    entropy=lambda c: 0.5 - LOG_2 + 0 * c,
)


def _sides(x: Any, c: Any, d: Any) -> tuple[Any, Any, Any, Any, Any]:
    height = 2 / (d - c + 1)
    return height, x < c, x > d, where(c > 0, c, 1.0), where(d < 1, 1 - d, 1.0)


def _trapezoid_pdf(x: Any, c: Any, d: Any) -> Any:
    height, rising, falling, left, right = _sides(x, c, d)
    top = where(falling, (1 - x) / right, 1.0)
    return height * where(rising, x / left, top)


def _trapezoid_cdf(x: Any, c: Any, d: Any) -> Any:
    height, rising, falling, left, right = _sides(x, c, d)
    rest = where(falling, 1 - height * (1 - x) ** 2 / right / 2, height * (x - c / 2))
    return where(rising, height * x * x / left / 2, rest)


def _trapezoid_sf(x: Any, c: Any, d: Any) -> Any:
    height, rising, falling, left, right = _sides(x, c, d)
    own = height * (1 - x) ** 2 / right / 2
    rest = where(falling, own, 1 - height * (x - c / 2))
    return where(rising, 1 - height * x * x / left / 2, rest)


trapezoid = continuous(
    st.trapezoid,
    support=UNIT,
    valid=lambda c, d: (c >= 0) & (c <= 1) & (d >= 0) & (d <= 1) & (d >= c),
    pdf=_trapezoid_pdf,
    cdf=_trapezoid_cdf,
    sf=_trapezoid_sf,
)


# Tukey's: by its quantiles


def _tukey_end(lam: Any) -> Any:
    return where(lam > 0, 1 / where(lam > 0, lam, 1.0), INF)


def _tukey_pdf(x: Any, lam: Any) -> Any:
    low, high = sp.tklmbda(x, lam), sp.tklmbda(-x, lam)
    return 1 / (low ** (lam - 1) + high ** (lam - 1))


tukeylambda = continuous(
    st.tukeylambda,
    support=(lambda lam: -_tukey_end(lam), _tukey_end),
    symmetric=True,
    valid=lambda lam: absolute(lam) < INF,
    pdf=_tukey_pdf,
    cdf=sp.tklmbda,
    mean=lambda lam: 0.0,
)

# by integrals


def _circle_logpdf(x: Any, kappa: Any) -> Any:
    return -2 * kappa * sin(x / 2) ** 2 - LOG_2PI - log(sp.i0e(kappa))


vonmises_line = continuous(
    st.vonmises_line,
    support=(-PI, PI),
    valid=lambda kappa: kappa >= 0,
    logpdf=_circle_logpdf,
    middle=lambda kappa: 0.0 * kappa,
    mean=lambda kappa: 0.0,
)
vonmises = continuous(
    st.vonmises,
    valid=lambda kappa: kappa >= 0,
    logpdf=_circle_logpdf,
    cdf=lambda x, kappa: _around(x, kappa, "cdf", 1.0),
    sf=lambda x, kappa: _around(x, kappa, "sf", -1.0),
    mean=lambda kappa: 0.0,
    entropy=lambda kappa: (
        -kappa * sp.i1e(kappa) / sp.i0e(kappa) + LOG_2PI + log(sp.i0e(kappa)) + kappa
    ),
)


def _around(x: Any, kappa: Any, name: str, direction: float) -> Any:
    """The angle within one turn, and the turns."""
    turns = rc.array_namespace(x).round(rc.ignore_derivatives(x) / (2 * PI))
    tail = vonmises_line.standard.tail(name, x - 2 * PI * turns, kappa)
    return tail + direction * turns


def _inverse_gauss(x: Any, a: Any, b: Any) -> Any:
    root = sqrt(1 + x * x)
    rest = sqrt(a * a - b * b) + b * x - a * root
    return log(a / PI) + rest + log(sp.k1e(a * root)) - log(root)


norminvgauss = continuous(
    st.norminvgauss,
    valid=lambda a, b: (a > 0) & (absolute(b) < a),
    logpdf=_inverse_gauss,
    middle=lambda a, b: b / sqrt(a * a - b * b),
    mean=lambda a, b: b / sqrt(a * a - b * b),
    var=lambda a, b: a * a / sqrt(a * a - b * b) ** 3,
)


def _log_kv(v: Any, z: Any) -> Any:
    return log(sp.kve(v, z)) - z


def _hyperbolic(x: Any, p: Any, a: Any, b: Any) -> Any:
    square, root = a * a - b * b, sqrt(1 + x * x)
    norm = p / 2 * log(square) - (p - 0.5) * log(a) - _log_kv(p, sqrt(square))
    own = (p - 0.5) * log(root) + _log_kv(p - 0.5, a * root) + b * x
    return norm + own - LOG_2PI / 2


genhyperbolic = continuous(
    st.genhyperbolic,
    valid=lambda p, a, b: (
        ((absolute(b) < a) & (p >= 0)) | ((absolute(b) <= a) & (p < 0))
    ),
    logpdf=_hyperbolic,
    middle=lambda p, a, b: b / sqrt(a * a - b * b),
)


def _inverse_mode(p: Any, b: Any) -> Any:
    root = sqrt((p - 1) ** 2 + b * b)
    return (p - 1 + root) / b


geninvgauss = continuous(
    st.geninvgauss,
    support=POSITIVE,
    open_ends=True,
    valid=lambda p, b: (b > 0) & (p == p),  # noqa: PLR0124  NaN
    logpdf=lambda x, p, b: (
        (p - 1) * log(x) - b * (x + 1 / x) / 2 - LOG_2 - _log_kv(p, b)
    ),
    middle=_inverse_mode,
)
gausshyper = continuous(
    st.gausshyper,
    support=UNIT,
    valid=lambda a, b, c, z: (a > 0) & (b > 0) & (c == c) & (z > -1),  # noqa: PLR0124
    logpdf=lambda x, a, b, c, z: (
        xlogy(a - 1, x)
        + xlog1py(b - 1, -x)
        - c * log1p(z * x)
        - sp.betaln(a, b)
        - log(sp.hyp2f1(c, a, a + b, -z))
    ),
    middle=lambda a, b, c, z: a / (a + b),
)


def _resonance(x: Any, rho: Any) -> Any:
    root = sqrt(1 + rho**-2)
    norm = 2 / PI * sqrt(2 * root * root / (1 + root))
    return norm / (((x - rho) * (x + rho) / rho) ** 2 + 1)


rel_breitwigner = continuous(
    st.rel_breitwigner,
    support=POSITIVE,
    pdf=_resonance,
    middle=lambda rho: rho,
)
