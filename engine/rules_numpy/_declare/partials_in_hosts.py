"""Partials of ufuncs as array-API code, for JAX and PyTorch.

Most are those of `rules_numpy.formulas`; this module has the others, which NumPy
computes in another way.

NumPy's own code for them is faster on NumPy arrays and handles more special cases; the
framework differentiates these, so every order works. `partials(xp, y, *args)` receives
the namespace of the framework's arrays. A ufunc that is missing here has NumPy-only
partials: first order in a framework, and an error beyond.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import rules_core as rc

from .arguments import moves

__all__ = ["IN_HOSTS"]

Partials = Callable[..., tuple[Any, ...]]
IN_HOSTS: dict[Any, Partials] = {}


def _of(*ufuncs: Any) -> Callable[[Partials], Partials]:
    def note(partials: Partials) -> Partials:
        for ufunc in ufuncs:
            IN_HOSTS[ufunc] = partials
        return partials

    return note


@_of(np.power, np.float_power)
def _power(xp: Any, y: Any, x: Any, p: Any, *, needs: Any = (True, True)) -> Any:
    by_exponent = _by_exponent(xp, y, x, p) if needs[1] and moves(p) else None
    if not rc.is_array(p):
        by_base = p * x ** (p - 1) if p else xp.zeros_like(y)
    else:
        flat = (x == 0) & (p == 0)
        by_base = p * x ** xp.where(flat, xp.zeros_like(y), p - 1.0)
    return by_base, rc.NoTangent() if by_exponent is None else by_exponent


def _by_exponent(xp: Any, y: Any, x: Any, p: Any) -> Any:
    # The limit 0 ln 0 = 0 of a base at zero.
    still = (x == 0) & (xp.real(p) >= 0 if _is_complex(xp, p) else p >= 0)
    return y * xp.log(xp.where(still, xp.ones_like(y), x))


def _is_complex(xp: Any, x: Any) -> bool:
    return rc.is_array(x) and bool(xp.isdtype(x.dtype, "complex floating"))
