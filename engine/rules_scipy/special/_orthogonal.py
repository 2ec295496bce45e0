"""Classical orthogonal polynomials, of whole and of real degree (DLMF 18.9.15–25)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import scipy.special

import rules_core as rc

from ._arrays import where
from ._declare import partial_of, ufunc
from ._differences import Difference
from ._gamma import gamma, poch

__all__ = [
    "assoc_laguerre",
    "eval_chebyc",
    "eval_chebys",
    "eval_chebyt",
    "eval_chebyu",
    "eval_gegenbauer",
    "eval_genlaguerre",
    "eval_hermite",
    "eval_hermitenorm",
    "eval_jacobi",
    "eval_laguerre",
    "eval_legendre",
    "eval_sh_chebyt",
    "eval_sh_chebyu",
    "eval_sh_jacobi",
    "eval_sh_legendre",
]

_sp = scipy.special
_WHOLE = "derivative in the degree n, which is a whole number: pass it as an int"
Slope = Callable[..., Any]  # of `(n, *parameters, x)`


def _polynomial(f: Any, slope: Slope, parameters: int = 0) -> rc.Primitive:
    """The primitive of a polynomial in its last argument; zero slope at degree 0."""

    def partial(_y: Any, n: Any, *args: Any) -> Any:
        if not rc.is_array(n):
            return slope(n, *args) if n != 0 else 0 * args[-1]
        return slope(n, *args)

    others = [Difference(0.0625)] * (1 + parameters)
    return ufunc(f, *others, partial, holomorphic=True)


eval_jacobi: rc.Primitive = _polynomial(
    _sp.eval_jacobi,
    lambda n, a, b, x: (n + a + b + 1) / 2 * eval_jacobi(n - 1, a + 1, b + 1, x),
    2,
)
eval_gegenbauer: rc.Primitive = _polynomial(
    _sp.eval_gegenbauer, lambda n, a, x: 2 * a * eval_gegenbauer(n - 1, a + 1, x), 1
)
eval_legendre = _polynomial(
    _sp.eval_legendre, lambda n, x: (n + 1) / 2 * eval_jacobi(n - 1, 1.0, 1.0, x)
)
eval_chebyt = _polynomial(_sp.eval_chebyt, lambda n, x: n * eval_chebyu(n - 1, x))
eval_chebyu: rc.Primitive = _polynomial(
    _sp.eval_chebyu, lambda n, x: 2 * eval_gegenbauer(n - 1, 2.0, x)
)
eval_chebyc = _polynomial(_sp.eval_chebyc, lambda n, x: n * eval_chebys(n - 1, x))
eval_chebys: rc.Primitive = _polynomial(
    _sp.eval_chebys, lambda n, x: eval_gegenbauer(n - 1, 2.0, x / 2)
)
eval_genlaguerre: rc.Primitive = _polynomial(
    _sp.eval_genlaguerre, lambda n, a, x: -eval_genlaguerre(n - 1, a + 1, x), 1
)
eval_laguerre = _polynomial(
    _sp.eval_laguerre, lambda n, x: -eval_genlaguerre(n - 1, 1.0, x)
)

# Of arguments shifted to [0, 1].
eval_sh_legendre = _polynomial(
    _sp.eval_sh_legendre, lambda n, x: (n + 1) * eval_jacobi(n - 1, 1.0, 1.0, 2 * x - 1)
)
eval_sh_chebyt = _polynomial(
    _sp.eval_sh_chebyt, lambda n, x: 2 * n * eval_chebyu(n - 1, 2 * x - 1)
)
eval_sh_chebyu: rc.Primitive = _polynomial(
    _sp.eval_sh_chebyu, lambda n, x: 4 * eval_gegenbauer(n - 1, 2.0, 2 * x - 1)
)
eval_sh_jacobi: rc.Primitive = _polynomial(
    _sp.eval_sh_jacobi,
    lambda n, p, q, x: (
        (n + p)
        * (gamma(n + 1.0) / poch(n + 1.0 * p, n))
        * eval_jacobi(n - 1, p - q + 1.0, 1.0 * q, 2 * x - 1)
    ),
    2,
)

# Of whole degree alone.
eval_hermite: rc.Primitive = ufunc(
    _sp.eval_hermite, _WHOLE, lambda y, n, x: 2 * n * _hermite(eval_hermite, n, x)
)
eval_hermitenorm: rc.Primitive = ufunc(
    _sp.eval_hermitenorm, _WHOLE, lambda y, n, x: n * _hermite(eval_hermitenorm, n, x)
)


def _hermite(f: Any, n: Any, x: Any) -> Any:
    """The polynomial of the degree below; any at degree 0, where its factor is zero."""
    return f(where(n > 0, n - 1, 0 * n) if rc.is_array(n) else max(n - 1, 0), x)


# `eval_genlaguerre` with its arguments in another order.
assoc_laguerre = ufunc(
    _sp.assoc_laguerre,
    lambda y, x, n, k: partial_of(eval_genlaguerre, 2, n, k, x),
    lambda y, x, n, k: partial_of(eval_genlaguerre, 0, n, k, x),
    lambda y, x, n, k: partial_of(eval_genlaguerre, 1, n, k, x),
)
