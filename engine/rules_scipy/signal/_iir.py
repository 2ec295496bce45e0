"""Recursive filters designed from their edges and ripples."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal as _sp

import rules_core as rc
from rules_scipy.linalg._matrices import is_complex, real

from . import _roots
from ._axis import fixed, together
from ._declare import At, declared

__all__ = ["bessel", "butter", "cheb1ap", "cheb2ap", "cheby1", "cheby2", "ellip",
           "iirfilter"]  # fmt: skip


# Prototypes


def _angles(n: int, like: Any) -> Any:
    return fixed(1j * np.pi * np.arange(-n + 1, n, 2) / (2 * n), like)


def _sinh(xp: Any, x: Any) -> Any:
    return (xp.exp(x) - xp.exp(-x)) / 2


def _first_kind(rp: Any, n: int) -> Any:
    """Chebyshev's filter with ripples in the band."""
    xp = rc.array_namespace(rp)
    if n == 0:
        empty = fixed(np.zeros(0), rp)
        return empty, empty + 0j, 10 ** (-rp / 20)
    eps = xp.sqrt(10 ** (0.1 * rp) - 1)
    p = -_sinh(xp, xp.asinh(1 / eps) / n + _angles(n, rp))
    k = xp.real(xp.prod(-p))
    return fixed(np.zeros(0), rp), p, k if n % 2 else k / xp.sqrt(1 + eps * eps)


def _second_kind(rs: Any, n: int) -> Any:
    """Chebyshev's filter with ripples outside of the band."""
    xp = rc.array_namespace(rs)
    zeros = fixed(_sp.cheb2ap(n, 40.0)[0], rs)
    if n == 0:
        return zeros, zeros, 0 * rs + 1
    p = -1 / _sinh(xp, xp.asinh(xp.sqrt(10 ** (0.1 * rs) - 1)) / n + _angles(n, rs))
    return zeros, p, xp.real(xp.prod(-p) / xp.prod(-zeros))


def _cheb1ap_step(at: At, rp: Any, N: Any) -> Any:
    return _first_kind(rp, N)


def _cheb2ap_step(at: At, rs: Any, N: Any) -> Any:
    return _second_kind(rs, N)


cheb1ap = declared(_sp.cheb1ap, _cheb1ap_step, "rp")
cheb2ap = declared(_sp.cheb2ap, _cheb2ap_step, "rs")

_NAMES = {"butterworth": "butter", "chebyshevi": "cheby1", "chebyshev1": "cheby1",
          "chebyshevii": "cheby2", "chebyshev2": "cheby2", "elliptic": "ellip",
          "cauer": "ellip", "cheb1": "cheby1", "cheb2": "cheby2"}  # fmt: skip


def _prototype(ftype: str, n: int, rp: Any, rs: Any, like: Any) -> Any:
    name = _NAMES.get(ftype.lower(), ftype.lower())
    if name == "cheby1":
        return _first_kind(rp, n)
    if name == "cheby2":
        return _second_kind(rs, n)
    if name == "ellip":
        message = "derivative of iirfilter with an elliptic filter; use ellip"
        raise rc.UnsupportedError(message)
    if name == "butter":
        known = _sp.buttap(n)
    else:
        norm = {"bessel_delay": "delay", "bessel_mag": "mag"}.get(name, "phase")
        known = _sp.besselap(n, norm=norm)
    return tuple([fixed(x, like) for x in known])


# Filters

_KINDS = {"l": "low", "lp": "low", "lowpass": "low", "h": "high", "hp": "high",
          "highpass": "high", "b": "band", "bp": "band", "pass": "band",
          "bandpass": "band", "bs": "stop", "bandstop": "stop",
          "bands": "stop"}  # fmt: skip


def _designed(
    at: At, n: int, Wn: Any, rp: Any, rs: Any, btype: str, analog: Any, ftype: str,
    output: str, fs: Any,
) -> Any:  # fmt: skip
    xp = rc.array_namespace(Wn)
    edges = Wn if analog else 4 * xp.tan(np.pi * Wn * (1 if fs is None else 2 / fs) / 2)
    made = at.extra or _prototype(ftype, n, rp, rs, edges)
    z, p, k = together(*[_known(x, edges) if at.extra else x for x in made])
    z, p, k, edges = together(z, p, k, edges)
    change: Any
    kind = _KINDS.get(btype.lower(), btype.lower())
    if kind in ("low", "high"):
        edges = xp.reshape(edges, ())
        change = _roots.to_lowpass if kind == "low" else _roots.to_highpass
        z, p, k = change(z, p, k, edges)
    else:
        centre, width = xp.sqrt(edges[0] * edges[1]), edges[1] - edges[0]
        change = _roots.to_bandpass if kind == "band" else _roots.to_bandstop
        z, p, k = change(z, p, k, centre, width)
    if not analog:
        z, p, k = _roots.bilinear(z, p, k, 2.0)
    return _output(at, z, p, k, output, analog)


def _known(constant: Any, like: Any) -> Any:
    """A constant of the prototype; PyTorch makes tensors of those that a step reads."""
    if not rc.is_array(constant) or isinstance(constant, np.ndarray | np.generic):
        return fixed(constant, like)
    single = fixed(np.zeros(0, complex if is_complex(constant) else float), like)
    return rc.array_namespace(constant).astype(constant, single.dtype)


def _output(at: At, z: Any, p: Any, k: Any, output: str, analog: Any) -> Any:
    if output == "zpk":
        z, p = _roots.ordered(z, at.y[0]), _roots.ordered(p, at.y[1])
        return _as(z, at.y[0]), _as(p, at.y[1]), real(k)
    if output == "ba":
        return k * _roots.from_roots(z, at.y[0]), _roots.from_roots(p, at.y[1])
    if analog:
        message = "derivative of analog sections; use output='ba' or 'zpk'"
        raise rc.UnsupportedError(message)
    return _roots.paired(at.y, z, p, k)


def _as(x: Any, like: Any) -> Any:
    return _roots.as_complex(x) if is_complex(like) else real(x)


def _iirfilter_step(
    at: At, Wn: Any, rp: Any, rs: Any, N: Any, btype: Any, analog: Any, ftype: Any,
    output: Any, fs: Any,
) -> Any:  # fmt: skip
    rp, rs = [fixed(float(r), Wn) if isinstance(r, int) else r for r in (rp, rs)]
    return _designed(at, N, Wn, rp, rs, btype, analog, ftype, output, fs)


def _butter_step(
    at: At, Wn: Any, N: Any, btype: Any, analog: Any, output: Any, fs: Any
) -> Any:
    return _designed(at, N, Wn, None, None, btype, analog, "butter", output, fs)


def _cheby1_step(
    at: At, rp: Any, Wn: Any, N: Any, btype: Any, analog: Any, output: Any, fs: Any
) -> Any:
    return _designed(at, N, Wn, rp, None, btype, analog, "cheby1", output, fs)


def _cheby2_step(
    at: At, rs: Any, Wn: Any, N: Any, btype: Any, analog: Any, output: Any, fs: Any
) -> Any:
    return _designed(at, N, Wn, None, rs, btype, analog, "cheby2", output, fs)


def _ellip_step(
    at: At, Wn: Any, N: Any, btype: Any, analog: Any, output: Any, fs: Any
) -> Any:
    return _designed(at, N, Wn, None, None, btype, analog, "ellip", output, fs)


def _ellip_prototype(at: At, N: Any, rp: Any, rs: Any) -> Any:
    """The ripples are constants."""
    return _sp.ellipap(N, rp, rs)


def _bessel_step(
    at: At, Wn: Any, N: Any, btype: Any, analog: Any, output: Any, norm: Any, fs: Any
) -> Any:
    name = f"bessel_{norm}"
    return _designed(at, N, Wn, None, None, btype, analog, name, output, fs)


butter = declared(_sp.butter, _butter_step, "Wn")
cheby1 = declared(_sp.cheby1, _cheby1_step, "rp", "Wn")
cheby2 = declared(_sp.cheby2, _cheby2_step, "rs", "Wn")
ellip = declared(_sp.ellip, _ellip_step, "Wn", prepare=_ellip_prototype)
bessel = declared(_sp.bessel, _bessel_step, "Wn")
iirfilter = declared(_sp.iirfilter, _iirfilter_step, "Wn", "rp", "rs")
