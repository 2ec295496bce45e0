"""Partial fractions, of simple poles."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal as _sp

import rules_core as rc
from rules_core.extend import nan_unless
from rules_scipy._arrays import vector
from rules_scipy._axes import concat

from ._axis import fixed, flipped, padded, together
from ._convolution import product
from ._declare import At, declared
from ._filters import deconvolve
from ._roots import as_complex, from_roots, polished, polynomial

__all__ = ["invres", "invresz", "residue", "residuez"]


def _simple(p: Any, tol: Any = 0.0) -> Any:
    """Whether all poles are apart from each other."""
    p = rc.ignore_derivatives(as_complex(p))
    xp, n = rc.array_namespace(p), p.shape[0]
    near = xp.abs(p[:, None] - p[None, :]) <= tol
    return xp.sum(xp.astype(near, xp.int64)) <= n


def _slope(a: Any, z: Any) -> Any:
    """The derivative of a polynomial."""
    n = a.shape[0] - 1
    return polynomial(a[:-1] * fixed(np.arange(n, 0, -1) * 1.0, a), z)


def _fractions_shape(b: Any, a: Any, *_args: Any, **_kw: Any) -> Any:
    """In traced code residues and poles are complex."""
    b, a = (np.asarray(x) if isinstance(x, list | tuple) else x for x in (b, a))
    n, more = a.shape[0] - 1, max(b.shape[0] - a.shape[0] + 1, 0)
    kind = np.dtype(np.complex128)
    same = all(np.dtype(x.dtype).kind != "c" for x in (a, b))
    direct = np.dtype(float) if same else kind
    roots = rc.ShapeDtype((n,), kind)
    return roots, roots, rc.ShapeDtype((more,), direct)


def _parts(at: At, b: Any, a: Any, name: str) -> tuple[Any, Any, Any]:
    """Both polynomials, and the poles as functions of one of them."""
    b, a = together(vector(b), vector(a))
    old = vector(at.args[1])
    poles = together(at.y[1], a)[0]
    if old.shape[0] != poles.shape[0] + 1:
        message = f"derivative of {name} at coefficients that are cut; cut their zeros"
        raise rc.UnsupportedError(message)
    moved = polished(a, poles, together(old, a)[0])
    return b, a, nan_unless(_simple(poles), moved)


def _residue_step(at: At, b: Any, a: Any) -> Any:
    """r = b(p) / a′(p), and the quotient of the polynomials."""
    b, a, p = _parts(at, b, a, "residue")
    return polynomial(b, p) / _slope(a, p), p, _direct(at, b, a)


def _direct(at: At, b: Any, a: Any) -> Any:
    """The quotient; SciPy cuts its zeros at high powers."""
    more, size = b.shape[0] - a.shape[0] + 1, at.y[2].shape[0]
    return deconvolve(b, a)[0][more - size :] if size else (b[:1] * a[:1])[:0]


def _residuez_step(at: At, b: Any, a: Any) -> Any:
    """r = -p b(v) / a′(v) at v = 1 / p, for polynomials in v = 1 / z."""
    b, a, p = _parts(at, b, a, "residuez")
    rising_b, rising_a = flipped(b, 0), flipped(a, 0)
    r = -p * polynomial(rising_b, 1 / p) / _slope(rising_a, 1 / p)
    return r, p, flipped(_direct(at, rising_b, rising_a), 0)


residue = declared(_sp.residue, _residue_step, "b", "a", out=_fractions_shape)
residuez = declared(_sp.residuez, _residuez_step, "b", "a", out=_fractions_shape)


def _sized(c: Any, size: int, *, rising: bool) -> Any:
    """Coefficients with zeros at the end of high powers, or without such zeros."""
    more = size - c.shape[0]
    if rising:
        return padded(c[:size], 0, 0, more)
    return padded(c[max(-more, 0) :], 0, more, 0)


def _whole(
    at: At, r: Any, p: Any, k: Any, tol: Any, *, rising: bool
) -> tuple[Any, Any]:
    """Σ r[i] Π (z - p[j]) + k Π (z - p[j]), and the last product."""
    r, p, k = together(vector(r), vector(p), vector(k))
    p = nan_unless(_simple(p, tol), p)
    size, den = at.y[0].shape[0], from_roots(p, p)
    top = product(k, den, "full", "direct", (0,)) if k.shape[0] else 0 * den
    top = _sized(top, size, rising=rising)
    for i in range(p.shape[0]):
        others = concat([p[:i], p[i + 1 :]], axis=0)
        term = r[i] * from_roots(others, others)
        top = top + _sized(term, size, rising=rising)
    return top, den


def _invres_step(at: At, r: Any, p: Any, k: Any, tol: Any) -> Any:
    return _whole(at, r, p, k, tol, rising=False)


def _invresz_step(at: At, r: Any, p: Any, k: Any, tol: Any) -> Any:
    return _whole(at, r, p, k, tol, rising=True)


def _whole_shape(r: Any, p: Any, k: Any, *_args: Any, **_kw: Any) -> Any:
    n, more = p.shape[0], k.shape[0]
    kinds = [np.dtype(x.dtype) for x in (r, p, k)]
    den = np.result_type(kinds[1], float)
    top = rc.ShapeDtype((n + more if more else n,), np.result_type(*kinds, float))
    return top, rc.ShapeDtype((n + 1,), den)


invres = declared(_sp.invres, _invres_step, "r", "p", "k", out=_whole_shape)
invresz = declared(_sp.invresz, _invresz_step, "r", "p", "k", out=_whole_shape)
