"""The arrays of linear systems in the form in which SciPy's objects keep them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.signal import _ltisys

import rules_core as rc
from rules_scipy._arrays import concrete

from ._axis import together

__all__ = ["in_form", "parts_of"]


def in_form(parts: Any) -> Any:
    """The arrays of a system as SciPy keeps them.

    Of a transfer function they are divided by the first coefficient of the denominator,
    and leading zeros are left out, but in traced code, where zeros are not seen.
    """
    parts = tuple([x if rc.is_array(x) else np.asarray(x, float) for x in parts])
    if len(parts) == 2:
        return _normal(*parts)
    if len(parts) == 4:
        return tuple([_matrix(x) for x in parts])
    return parts


def _matrix(x: Any) -> Any:
    """As `numpy.atleast_2d`."""
    return x if x.ndim > 1 else rc.array_namespace(x).reshape(x, (1, -1))


def _normal(num: Any, den: Any) -> tuple[Any, Any]:
    """As `scipy.signal.normalize`, without its warning."""
    num, den = together(_matrix(num), _matrix(den)[0])
    den = den[_zeros_before(den, 0.0) :]
    num, den = num / den[0], den / den[0]
    num = num[:, _zeros_before(num, 1e-14) :]
    return (num[0] if num.shape[0] == 1 else num), den


def _zeros_before(c: Any, size: float) -> int:
    """How many coefficients before the last are zero, at the beginning."""
    known = concrete(rc.ignore_derivatives(c))
    if known is None:
        return 0
    found = np.flatnonzero(np.any(np.abs(np.atleast_2d(known)) > size, axis=0))
    return int(found[0]) if found.size else known.shape[-1] - 1


rc.non_differentiable(_zeros_before)


def parts_of(system: Any) -> Any:
    """The arrays of an object of SciPy, and the step; or what is no such object."""
    is_object = isinstance(system, _ltisys.LinearTimeInvariant)
    return _read(system) if is_object else system


def _read(system: Any) -> tuple[Any, ...]:
    if isinstance(system, _ltisys.TransferFunction):
        own: tuple[Any, ...] = system.num, system.den
    elif isinstance(system, _ltisys.ZerosPolesGain):
        own = system.zeros, system.poles, np.asarray(system.gain)
    else:
        own = system.A, system.B, system.C, system.D
    return own if system.dt is None else (*own, system.dt)


rc.non_differentiable(_read)
