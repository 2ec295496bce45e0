"""Distributions of vectors and matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.stats as st

import rules_core as rc
from rules_core.extend import stand_in
from rules_scipy import special as sp
from rules_scipy._axes import concat
from rules_scipy.special._arrays import exp, log, log1p, where

from ._matrices import diagonal, root_of, square_matrix
from ._numbers import LOG_2PI, floats, raised
from ._vector_distribution import MISSING, Multivariate

_HALF_2PI = LOG_2PI / 2


def _vectors(x: Any, mean: Any, matrix: Any, df: Any = 1.0) -> Any:
    """Rows of deviations from the mean, the matrix, `df`, and the result's shape."""
    if isinstance(matrix, st.Covariance):
        message = "must be given the matrix itself to be differentiated"
        raise rc.UnsupportedError(message)
    xp, x, mean, matrix, df = floats(x, 0.0 if mean is None else mean, matrix, df)
    size = matrix.shape[0] if matrix.ndim else mean.shape[0] if mean.ndim else 1
    if x.ndim < 2 and size == 1:
        shape, rows = x.shape, xp.reshape(x, (-1, 1))
    else:
        shape, rows = x.shape[:-1], xp.reshape(x, (-1, size))
    root = root_of(square_matrix(xp, matrix, size))
    return xp, rows - xp.reshape(mean, (-1,)), root, df, shape if shape != (1,) else ()


def _normal_logpdf(x: Any, mean: Any, cov: Any) -> Any:
    xp, rows, root, _, shape = _vectors(x, mean, cov)
    own = -(root.distances(rows) + root.log_det) / 2 - rows.shape[-1] * _HALF_2PI
    return xp.reshape(own, shape)


def _of_matrix(mean: Any, matrix: Any, df: Any = 1.0) -> Any:
    """The matrix, its size and `df`, without regard to the mean."""
    xp, mean, matrix, df = floats(0.0 if mean is None else mean, matrix, df)
    size = matrix.shape[0] if matrix.ndim else mean.shape[0] if mean.ndim else 1
    return square_matrix(xp, matrix, int(size)), int(size), df


def _normal_entropy(mean: Any, cov: Any) -> Any:
    matrix, size, _ = _of_matrix(mean, cov)
    return size * (_HALF_2PI + 0.5) + root_of(matrix).log_det / 2


def _centre(mean: Any, matrix: Any, _df: Any = 1.0) -> Any:
    xp, mean, matrix = floats(0.0 if mean is None else mean, matrix)
    size = _of_matrix(mean, matrix)[1]
    return mean + xp.zeros((size,), dtype=mean.dtype)


_SIZE = {"dim": lambda *given: _of_matrix(*given)[1]}
multivariate_normal = Multivariate(
    st.multivariate_normal,
    {"mean": None, "cov": 1.0},
    shown={**_SIZE, "mean": _centre, "cov": lambda *given: _of_matrix(*given)[0]},
    logpdf=_normal_logpdf,
    entropy=_normal_entropy,
)


def _t_logpdf(x: Any, loc: Any, matrix: Any, df: Any) -> Any:
    xp, rows, root, df, shape = _vectors(x, loc, matrix, df)
    size = rows.shape[-1]
    total = (df + size) / 2
    own = sp.gammaln(total) - sp.gammaln(df / 2) - size / 2 * log(df * math.pi)
    own = own - root.log_det / 2 - total * log1p(root.distances(rows) / df)
    return xp.reshape(own, shape)


def _t_entropy(loc: Any, matrix: Any, df: Any) -> Any:
    matrix, size, df = _of_matrix(loc, matrix, df)
    total, half = (df + size) / 2, df / 2
    own = sp.gammaln(half) - sp.gammaln(total) + size / 2 * log(df * math.pi)
    own = own + total * (sp.psi(total) - sp.psi(half))
    return own + root_of(matrix).log_det / 2


multivariate_t = Multivariate(
    st.multivariate_t,
    {"loc": None, "shape": 1.0, "df": 1.0},
    shown={
        **_SIZE,
        "loc": _centre,
        "shape": lambda *given: _of_matrix(*given)[0],
        "df": lambda *given: given[2],
    },
    logpdf=_t_logpdf,
    entropy=_t_entropy,
)


def _direction_logpdf(x: Any, mu: Any, kappa: Any) -> Any:
    xp, x, mu, kappa = floats(x, mu, kappa)
    half = mu.shape[-1] / 2 - 1
    own = half * log(kappa) - (half + 1) * LOG_2PI - kappa
    own = own - log(sp.ive(half + 0 * kappa, kappa))
    return own + kappa * xp.sum(x * mu, axis=-1)


vonmises_fisher = Multivariate(
    st.vonmises_fisher, {"mu": MISSING, "kappa": 1.0}, logpdf=_direction_logpdf
)

# probabilities


def _log_beta(xp: Any, alpha: Any) -> Any:
    return xp.sum(sp.gammaln(alpha), axis=0) - sp.gammaln(xp.sum(alpha, axis=0))


def _dirichlet_logpdf(x: Any, alpha: Any) -> Any:
    xp, x, alpha = floats(x, alpha)
    if x.shape[0] == alpha.shape[0] - 1:
        x = concat([x, 1 - xp.sum(x, axis=0, keepdims=True)], axis=0)
    powers = alpha if x.ndim == 1 else alpha[:, None]
    return xp.sum(sp.xlogy(powers - 1, x), axis=0) - _log_beta(xp, alpha)


def _shares(alpha: Any) -> tuple[Any, Any, Any, Any]:
    xp, alpha = floats(alpha)
    total = xp.sum(alpha, axis=0)
    return xp, alpha, total, alpha / total


def _dirichlet_var(alpha: Any) -> Any:
    _, _, total, share = _shares(alpha)
    return share * (1 - share) / (total + 1)


def _share_cov(xp: Any, share: Any) -> Any:
    return diagonal(xp, share) - share[:, None] * share[None, :]


def _dirichlet_cov(alpha: Any) -> Any:
    xp, _, total, share = _shares(alpha)
    return _share_cov(xp, share) / (total + 1)


def _dirichlet_entropy(alpha: Any) -> Any:
    xp, alpha, total, _ = _shares(alpha)
    own = _log_beta(xp, alpha) + (total - alpha.shape[0]) * sp.psi(total)
    return own - xp.sum((alpha - 1) * sp.psi(alpha), axis=0)


dirichlet = Multivariate(
    st.dirichlet,
    {"alpha": MISSING},
    shown={"alpha": lambda alpha: floats(alpha)[1]},
    logpdf=_dirichlet_logpdf,
    mean=lambda alpha: _shares(alpha)[3],
    var=_dirichlet_var,
    cov=_dirichlet_cov,
    entropy=_dirichlet_entropy,
)


def _chances(p: Any) -> Any:
    """The last probability is the rest, as in SciPy."""
    xp, p = floats(p)
    rest = 1 - xp.sum(p[..., :-1], axis=-1, keepdims=True)
    return xp, concat([p[..., :-1], rest], axis=-1)


def _multinomial_logpmf(x: Any, n: Any, p: Any) -> Any:
    xp, p = _chances(p)
    _, x, n, _ = floats(x, n, p)
    own = sp.gammaln(n + 1) + xp.sum(sp.xlogy(x, p) - sp.gammaln(x + 1), axis=-1)
    return where(xp.sum(x, axis=-1) == n, own, -math.inf)


def _multinomial_pmf(x: Any, n: Any, p: Any) -> Any:
    """By powers where a probability is zero, and its logarithm infinite."""
    xp, p = _chances(p)
    _, x, n, _ = floats(x, n, p)
    edge = xp.any(rc.ignore_derivatives(p) == 0, axis=-1)
    some = edge[..., None] & (p == p)  # noqa: PLR0124  NaN stays
    ways = sp.gammaln(n + 1) - xp.sum(sp.gammaln(x + 1), axis=-1)
    ways = exp(where(ways < 700, ways, 700.0))
    own = ways * xp.prod(raised(where(some, p, 0.5), x), axis=-1)
    own = where(xp.sum(x, axis=-1) == n, own, 0.0)
    inside = where(some, 0 * p + 1 / p.shape[-1], p)
    return where(edge, own, exp(_multinomial_logpmf(x, n, inside)))


def _multinomial_cov(n: Any, p: Any) -> Any:
    xp, p = _chances(p)
    return n * _share_cov(xp, p)


multinomial = Multivariate(
    st.multinomial,
    {"n": MISSING, "p": MISSING},
    logpmf=_multinomial_logpmf,
    pmf=_multinomial_pmf,
    mean=lambda n, p: n * _chances(p)[1],
    cov=_multinomial_cov,
)


def _mixed_logpmf(x: Any, alpha: Any, n: Any) -> Any:
    xp, x, alpha, n = floats(x, alpha, n)
    total = xp.sum(alpha, axis=-1)
    own = sp.gammaln(total) + sp.gammaln(n + 1) - sp.gammaln(n + total)
    terms = sp.gammaln(x + alpha) - sp.gammaln(alpha) - sp.gammaln(x + 1)
    own = own + xp.sum(terms, axis=-1)
    return where(xp.sum(x, axis=-1) == n, own, -math.inf)


dirichlet_multinomial = Multivariate(
    st.dirichlet_multinomial,
    {"alpha": MISSING, "n": MISSING},
    logpmf=_mixed_logpmf,
    mean=lambda alpha, n: n * _shares(alpha)[3],
)

# matrices


def _log_gamma(a: Any, size: int) -> Any:
    """The logarithm of the multivariate gamma function."""
    total = size * (size - 1) / 4 * math.log(math.pi) + 0 * a
    for j in range(size):
        total = total + sp.gammaln(a - j / 2)
    return total


def _matrix(xp: Any, x: Any) -> Any:
    return xp.reshape(x, (1, 1)) if x.ndim == 0 else square_matrix(xp, x, x.shape[0])


def _wishart_parts(x: Any, df: Any, scale: Any) -> Any:
    xp, x, df, scale = floats(x, df, scale)
    x, scale = _matrix(xp, x), _matrix(xp, scale)
    if x.ndim != 2:
        message = "wishart must be given one matrix to be differentiated: map it."
        raise rc.UnsupportedError(message)
    size = x.shape[-1]
    norm = df * size * math.log(2) / 2 + _log_gamma(df / 2, size)
    return xp, size, df, norm, x, root_of(x), root_of(scale)


def _wishart_logpdf(x: Any, df: Any, scale: Any) -> Any:
    xp, size, df, norm, x, of_x, of_scale = _wishart_parts(x, df, scale)
    white = of_scale.whiten(xp.matrix_transpose(of_scale.whiten(x)))
    trace = xp.linalg.trace(white)  # SciPy reads all of x
    own = ((df - size - 1) * of_x.log_det - trace - df * of_scale.log_det) / 2
    return own - norm


def _inverse_wishart_logpdf(x: Any, df: Any, scale: Any) -> Any:
    xp, size, df, norm, _, of_x, of_scale = _wishart_parts(x, df, scale)
    trace = xp.sum(of_x.whiten(of_scale.lower) ** 2)
    own = (-(df + size + 1) * of_x.log_det - trace + df * of_scale.log_det) / 2
    return own - norm


def _wishart_mean(df: Any, scale: Any) -> Any:
    _, df, scale = floats(df, scale)
    return df * scale


def _inverse_wishart_mean(df: Any, scale: Any) -> Any:
    _, df, scale = floats(df, scale)
    return scale / (df - scale.shape[-1] - 1)


_WISHART = {"df": MISSING, "scale": MISSING}
wishart = Multivariate(
    st.wishart,
    _WISHART,
    logpdf=_wishart_logpdf,
    mean=_wishart_mean,
)
invwishart = Multivariate(
    st.invwishart,
    _WISHART,
    logpdf=_inverse_wishart_logpdf,
    mean=_inverse_wishart_mean,
)


def _matrix_normal_logpdf(X: Any, mean: Any, rows: Any, columns: Any) -> Any:
    mean = 0.0 if mean is None else mean
    xp, X, mean, rows, columns = floats(X, mean, rows, columns)
    X = X - mean
    r, c = X.shape[-2:]
    left = root_of(square_matrix(xp, rows, r))
    right = root_of(square_matrix(xp, columns, c))
    white = right.whiten(xp.matrix_transpose(left.whiten(X)))
    own = xp.sum(white**2, axis=(-2, -1)) + c * left.log_det + r * right.log_det
    return -own / 2 - r * c * _HALF_2PI


matrix_normal = Multivariate(
    st.matrix_normal,
    {"mean": None, "rowcov": 1.0, "colcov": 1.0},
    logpdf=_matrix_normal_logpdf,
)


def _joint_logpdf(x: Any, s2: Any, mu: Any, lmbda: Any, a: Any, b: Any) -> Any:
    _, x, s2, mu, lmbda, a, b = floats(x, s2, mu, lmbda, a, b)
    own = (log(lmbda) - log(s2) - LOG_2PI) / 2 + a * log(b) - sp.gammaln(a)
    rest = (2 * b + lmbda * (x - mu) ** 2) / (2 * s2)
    return own - (a + 1) * log(s2) - rest


if hasattr(st, "normal_inverse_gamma"):  # since SciPy 1.15
    normal_inverse_gamma = Multivariate(
        st.normal_inverse_gamma,
        {"mu": 0.0, "lmbda": 1.0, "a": 1.0, "b": 1.0},
        2,
        logpdf=_joint_logpdf,
        mean=lambda mu, lmbda, a, b: (mu + 0 * a, b / (a - 1)),
    )


# SciPy's own in NumPy programs

_METHODS = "logpdf pdf logpmf pmf mean var cov entropy cdf logcdf mode rvs __call__"


def _define(own: Multivariate) -> None:
    for name in _METHODS.split():
        method = getattr(type(own.scipy), name, None)
        if method is not None:
            stand_in(method)(_body(own, name))


def _body(own: Multivariate, name: str) -> Any:
    def method(_self: Any, *args: Any, **kwds: Any) -> Any:
        known = vars(Multivariate)
        f = getattr(own, name) if name in known else own.refused(name)
        return f(*args, **kwds)

    method.__name__ = method.__qualname__ = name
    return method


for _own in [x for x in list(vars().values()) if isinstance(x, Multivariate)]:
    _define(_own)
_FROZEN = type(st.multivariate_normal(np.zeros(1)))


@stand_in(_FROZEN.logpdf)
def frozen_logpdf(self: Any, x: Any) -> Any:
    """Of a distribution that was made outside of the program."""
    return multivariate_normal.logpdf(x, self.mean, self.cov)


@stand_in(_FROZEN.pdf)
def frozen_pdf(self: Any, x: Any) -> Any:
    """Likewise."""
    return multivariate_normal.pdf(x, self.mean, self.cov)


# By a distribution, the attributes of a frozen one that are its parameters.
_PARAMETERS = {"dirichlet": ("alpha",), "multivariate_t": ("loc", "shape", "df")}


def _of_frozen(own: Multivariate, name: str, attributes: tuple[str, ...]) -> Any:
    def method(self: Any, x: Any) -> Any:
        return getattr(own, name)(x, *[getattr(self, a) for a in attributes])

    method.__name__ = method.__qualname__ = name
    return method


for _known in (dirichlet, multivariate_t):
    _theirs = getattr(st._multivariate, f"{_known.name}_frozen")  # noqa: SLF001
    for _method in ("logpdf", "pdf"):
        _body_of = _of_frozen(_known, _method, _PARAMETERS[_known.name])
        stand_in(vars(_theirs)[_method])(_body_of)
