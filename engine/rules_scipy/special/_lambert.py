"""Lambert's W function, and Wright's ω function."""

from __future__ import annotations

import scipy.special

import rules_core as rc

from ._arrays import exp
from ._declare import complex_valued, ufunc

__all__ = ["lambertw", "wrightomega"]

_sp = scipy.special
_BRANCH = "derivative of lambertw in k, the number of a branch: pass it as an int"

# DLMF 4.13.4; ω + ln ω = z.
lambertw = complex_valued(
    ufunc(
        _sp.lambertw,
        lambda w, z, k, tol: exp(-w) / (1 + w),
        _BRANCH,
        lambda w, z, k, tol: rc.ZeroTangent(),  # how exact the value is
        holomorphic=True,
    )
)
wrightomega = ufunc(_sp.wrightomega, lambda w, z: w / (1 + w), holomorphic=True)
