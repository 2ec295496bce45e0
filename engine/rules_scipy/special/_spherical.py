"""Spherical Bessel functions: recurrences without division (DLMF 10.51.2, 10.51.5)."""

from __future__ import annotations

from typing import Any

import scipy.special

import rules_core as rc

from ._arrays import where
from ._declare import ufunc

__all__ = ["spherical_in", "spherical_jn", "spherical_kn", "spherical_yn"]

_sp = scipy.special
_WHOLE = "derivative in the order n, which is a whole number: pass it as an int"


def _spherical(f: Any, below: int, above: int) -> rc.Primitive:
    r"""$f_n' = (\pm n f_{n-1} \pm (n + 1) f_{n+1}) / (2 n + 1)$ with these signs.

    For $n = 0$ the first term has no factor. The derivative is of the same form.
    """

    def slope(_y: Any, n: Any, z: Any, derivative: bool) -> Any:
        less = where(n > 0, n - 1, 0 * n) if rc.is_array(n) else max(n - 1, 0)
        first, second = made(less, z, derivative), made(n + 1, z, derivative)
        return (below * n * first + above * (n + 1) * second) / (2 * n + 1)

    made = ufunc(f, _WHOLE, slope, None, holomorphic=True)
    return made


spherical_jn = _spherical(_sp.spherical_jn, 1, -1)
spherical_yn = _spherical(_sp.spherical_yn, 1, -1)
spherical_in = _spherical(_sp.spherical_in, 1, 1)
spherical_kn = _spherical(_sp.spherical_kn, -1, -1)
