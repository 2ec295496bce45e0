"""Filters by their zeros and poles: conversions and changes of band."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal as _sp

import rules_core as rc
from rules_core.extend import nan_unless
from rules_scipy._arrays import vector
from rules_scipy._axes import concat
from rules_scipy.linalg._matrices import is_complex, real

from ._axis import fixed, together
from ._declare import At, declared, trial

__all__ = [
    "as_complex",
    "bilinear_zpk",
    "from_roots",
    "lp2bp_zpk",
    "lp2bs_zpk",
    "lp2hp_zpk",
    "lp2lp_zpk",
    "ordered",
    "paired",
    "polished",
    "polynomial",
    "sos2zpk",
    "tf2sos",
    "tf2zpk",
    "zpk2sos",
    "zpk2tf",
]


# Polynomials and their roots


def as_complex(x: Any) -> Any:
    """Complex numbers."""
    return x if is_complex(x) else x + 0j


def from_roots(roots: Any, like: Any) -> Any:
    """The coefficients of the polynomial with these roots, as real as a result."""
    one = fixed(np.ones(1), roots)
    one = as_complex(one) if is_complex(roots) else one
    c = one
    for i in range(roots.shape[0]):
        c = concat([c, 0 * one], 0) - roots[i] * concat([0 * one, c], 0)
    return c if is_complex(like) else real(c)


def polynomial(c: Any, z: Any) -> Any:
    y = 0 * z
    for i in range(c.shape[0]):
        y = y * z + c[i]
    return y


def polished(c: Any, roots: Any, at_c: Any) -> Any:
    """Roots as a function of the coefficients: a step of Newton's method.

    At a multiple root there is no derivative: NaN.
    """
    n = at_c.shape[0] - 1
    if n == 0:
        return roots
    xp, powers = rc.array_namespace(c, roots), fixed(np.arange(n, 0, -1) * 1.0, at_c)
    slope = polynomial(at_c[:-1] * powers, as_complex(roots))
    size = polynomial(xp.abs(at_c[:-1]) * powers, xp.abs(roots))
    slope = nan_unless(xp.abs(slope) > 1e-6 * size, slope)
    moved = as_complex(roots) - polynomial(as_complex(c), as_complex(roots)) / slope
    return moved if is_complex(roots) else xp.real(moved)


def _roots_shape(b: Any, a: Any) -> Any:
    """In traced code roots are complex."""
    kind = np.result_type(np.dtype(b.dtype), np.dtype(a.dtype), np.complex64)
    zeros, poles = [rc.ShapeDtype((max(x.shape[0], 1) - 1,), kind) for x in (b, a)]
    return zeros, poles, rc.ShapeDtype((), np.result_type(b.dtype, a.dtype))


def _tf2zpk_step(at: At, b: Any, a: Any) -> Any:
    old_b, old_a = at.args
    if (old_b.shape[0], old_a.shape[0]) != tuple([r.shape[0] + 1 for r in at.y[:2]]):
        message = "derivative of tf2zpk at coefficients that begin with zero; cut them"
        raise rc.UnsupportedError(message)
    zeros, poles = polished(b, at.y[0], old_b), polished(a, at.y[1], old_a)
    return zeros, poles, b[0] / a[0]


tf2zpk = declared(_sp.tf2zpk, _tf2zpk_step, "b", "a", out=_roots_shape)


def _tf_shape(z: Any, p: Any, k: Any) -> Any:
    """In traced code the polynomial of complex roots is complex."""
    numerator = np.result_type(z.dtype, getattr(k, "dtype", float))
    return (
        rc.ShapeDtype((*z.shape[:-1], z.shape[-1] + 1), numerator),
        rc.ShapeDtype((p.shape[0] + 1,), np.dtype(p.dtype)),
    )


def _zpk2tf_step(at: At, z: Any, p: Any, k: Any) -> Any:
    z, p, k = together(vector(z), vector(p), k)
    if z.ndim > 1:
        message = "derivative of zpk2tf of several rows of zeros; convert each row"
        raise rc.UnsupportedError(message)
    first = rc.array_namespace(k).reshape(k, (-1,))
    return first * _real_if(from_roots, z, at.y[0]), _real_if(from_roots, p, at.y[1])


def _real_if(of: Any, roots: Any, like: Any) -> Any:
    """A polynomial that is real while roots are pairs: NaN along what parts them."""
    if is_complex(like) or not is_complex(roots):
        return of(roots, like)
    return real_of_pairs(of(roots, roots))


def _real_of_pairs(c: Any) -> Any:
    return rc.array_namespace(c).real(c)


# Coefficients of pairs of roots, as real numbers, which they are no longer along a
# direction in which the roots part.
real_of_pairs: rc.Primitive = rc.primitive(_real_of_pairs)


@rc.frule.define(real_of_pairs)
def real_of_pairs_frule(tangents: Any, c: Any) -> Any:
    dc = tangents[1]
    if isinstance(dc, rc.AbstractZero):
        return real_of_pairs(c), dc
    xp, dc = rc.array_namespace(c), rc.unthunk(dc)
    size = xp.abs(rc.ignore_derivatives(dc))
    slack = float(xp.finfo(xp.real(c).dtype).eps) ** 0.5 * xp.max(size)
    stay = xp.abs(xp.imag(rc.ignore_derivatives(dc))) <= slack
    return real_of_pairs(c), nan_unless(stay, xp.real(dc))


@rc.rrule.define(real_of_pairs)
def real_of_pairs_rrule(c: Any) -> Any:
    """The gradient of the real part: what the roots do is not known here."""

    def real_of_pairs_pullback(dy: Any) -> Any:
        return rc.NoTangent(), rc.unthunk(dy) + 0j

    return real_of_pairs(c), real_of_pairs_pullback


zpk2tf = declared(_sp.zpk2tf, _zpk2tf_step, "z", "p", "k", out=_tf_shape)


# Sections of second order


def paired(sos: Any, z: Any, p: Any, k: Any) -> Any:
    """The sections as functions of the roots that SciPy chose for each."""
    z, p, k, sos = together(z, p, k, sos)
    rows = []
    for i in range(sos.shape[0]):
        b, a = _quadratic(z, sos[i, :3]), _quadratic(p, sos[i, 3:])
        rows.append(concat([k * b if i == 0 else b, a], 0))
    return rc.array_namespace(*rows).stack(rows, axis=0)


def _quadratic(roots: Any, known: Any) -> Any:
    """The polynomial of the two roots that are nearest to those of a known one."""
    xp, known = rc.array_namespace(known), rc.ignore_derivatives(known)
    half, product = -known[1] / (2 * known[0]), known[2] / known[0]
    root = xp.sqrt(as_complex(half * half - product))
    none = fixed(np.zeros(1), roots)
    choice = concat([as_complex(roots), as_complex(none)], 0)
    still = rc.ignore_derivatives(choice)
    first, second = [
        choice[xp.argmin(xp.abs(still - x))] for x in (half + root, half - root)
    ]
    total, result = xp.real(first + second), xp.real(first * second)
    return xp.stack([0 * total + 1, -total, result])


def _zpk2sos_step(at: At, z: Any, p: Any, k: Any, analog: Any) -> Any:
    if analog:
        message = "derivative of zpk2sos with analog=True; use zpk2tf"
        raise rc.UnsupportedError(message)
    return paired(at.y, z, p, k)


def _sos_shape(z: Any, p: Any, *_args: Any, **_kw: Any) -> Any:
    rows = (max(z.shape[0], p.shape[0]) + 1) // 2
    return rc.ShapeDtype((max(rows, 1), 6), np.dtype(float))


zpk2sos = declared(_sp.zpk2sos, _zpk2sos_step, "z", "p", "k", out=_sos_shape)


def _tf2sos_step(at: At, b: Any, a: Any, analog: Any) -> Any:
    """By the roots, which SciPy orders and pairs."""
    z, p, k = tf2zpk(b, a)
    return _zpk2sos_step(at, z, p, k, analog)


def _of_coefficients(b: Any, a: Any, *_args: Any, **_kw: Any) -> Any:
    rows = max(b.shape[0], a.shape[0], 2) // 2
    return rc.ShapeDtype((rows, 6), np.dtype(float))


tf2sos = declared(_sp.tf2sos, _tf2sos_step, "b", "a", out=_of_coefficients)


def _sos2zpk_step(at: At, sos: Any) -> Any:
    """Section by section; one that begins with zero has a root at infinity."""
    old, gain = at.args[0], 1.0
    roots: list[list[Any]] = [[], []]
    for i in range(sos.shape[0]):
        for j, found in enumerate(roots):
            place, c = slice(2 * i, 2 * i + 2), slice(3 * j, 3 * j + 3)
            known = old[i, c]
            c = sos[i, c]
            moved = polished(c, together(at.y[j], c)[0][place], known)
            found.append(nan_unless(known[0] != 0, moved))
        gain = gain * sos[i, 0] / sos[i, 3]
    return *[concat(found, 0) for found in roots], gain


sos2zpk = declared(
    _sp.sos2zpk, _sos2zpk_step, "sos", out=trial(_sp.sos2zpk, sections=True)
)


# Changes of band


def _degree(z: Any, p: Any) -> int:
    return int(p.shape[0] - z.shape[0])


def _more(z: Any, value: Any, count: int) -> Any:
    """Zeros, and `count` times another one."""
    like = as_complex(z) if isinstance(value, complex) else z
    return concat([like, fixed(np.full(count, value), like)], 0) if count else z


def _gain(z: Any, p: Any) -> Any:
    xp = rc.array_namespace(z, p)
    return xp.real(xp.prod(as_complex(z)) / xp.prod(as_complex(p)))


def bilinear(z: Any, p: Any, k: Any, fs: Any) -> Any:
    """By the bilinear transform."""
    twice = 2.0 * fs
    zeros, poles = (twice + z) / (twice - z), (twice + p) / (twice - p)
    return _more(zeros, -1.0, _degree(z, p)), poles, k * _gain(twice - z, twice - p)


def to_lowpass(z: Any, p: Any, k: Any, wo: Any) -> Any:
    """To another edge."""
    return wo * z, wo * p, k * wo ** _degree(z, p)


def to_highpass(z: Any, p: Any, k: Any, wo: Any) -> Any:
    """To a highpass filter."""
    return _more(wo / z, 0.0, _degree(z, p)), wo / p, k * _gain(-z, -p)


def _split(x: Any, wo: Any) -> Any:
    xp = rc.array_namespace(x)
    x = as_complex(x)
    root = xp.sqrt(x**2 - wo**2)
    return concat([x + root, x - root], 0)


def to_bandpass(z: Any, p: Any, k: Any, wo: Any, bw: Any) -> Any:
    """To a band."""
    zeros, poles = _split(z * bw / 2, wo), _split(p * bw / 2, wo)
    return _more(zeros, 0.0, _degree(z, p)), poles, k * bw ** _degree(z, p)


def to_bandstop(z: Any, p: Any, k: Any, wo: Any, bw: Any) -> Any:
    """To all but a band."""
    zeros, poles = _split(bw / 2 / z, wo), _split(bw / 2 / p, wo)
    count = _degree(z, p)
    if count:
        edge = 1j * wo * fixed(np.ones(count), zeros)
        zeros = concat([zeros, edge, -edge], axis=0)
    return zeros, poles, k * _gain(-z, -p)


def ordered(roots: Any, known: Any) -> Any:
    """Roots in the order of a result: signs of roots depend on those of zeros."""
    if not roots.shape[0]:
        return roots
    xp, still = rc.array_namespace(roots), rc.ignore_derivatives(roots)
    known = rc.ignore_derivatives(together(known, roots)[0])
    nearest = xp.argmin(xp.abs(still[None, :] - known[:, None]), axis=1)
    return xp.take(roots, nearest, axis=0)


def _banded(f: Any, change: Any, *of: str) -> rc.Primitive:
    def band_step(at: At, z: Any, p: Any, k: Any, *edges: Any) -> Any:
        z, p, k, *own = together(vector(z), vector(p), k, *edges)
        zeros, poles, k = change(z, p, k, *own)
        return ordered(zeros, at.y[0]), ordered(poles, at.y[1]), k

    return declared(f, band_step, "z", "p", "k", *of)


def _bilinear_step(at: At, z: Any, p: Any, k: Any, fs: Any) -> Any:
    z, p, k = together(vector(z), vector(p), k)
    return bilinear(z, p, k, fs)


bilinear_zpk = declared(_sp.bilinear_zpk, _bilinear_step, "z", "p", "k")
lp2lp_zpk = _banded(_sp.lp2lp_zpk, to_lowpass, "wo")
lp2hp_zpk = _banded(_sp.lp2hp_zpk, to_highpass, "wo")
lp2bp_zpk = _banded(_sp.lp2bp_zpk, to_bandpass, "wo", "bw")
lp2bs_zpk = _banded(_sp.lp2bs_zpk, to_bandstop, "wo", "bw")
