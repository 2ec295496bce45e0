"""Products with a strong zero: 0 · ∞ = 0 and 0 · NaN = 0."""

from __future__ import annotations

import cmath
from typing import Any

from rules_core._base.arrays import array_namespace, is_array
from rules_core._tangents.leaves import is_complex, is_numpy
from rules_core._tangents.thunks import conjugate
from rules_core._tangents.zeros import AbstractTangent

from .find_host import find_adapter
from .strong_zeros_met import note_strong_zeros

__all__ = ["conj", "strong_product", "total"]


def conj(p: Any) -> Any:
    """Complex conjugate; real numbers stay as they are."""
    if isinstance(p, AbstractTangent):
        return conjugate(p)
    if not is_complex(p):
        return p
    return array_namespace(p).conj(p) if is_array(p) else p.conjugate()


def _finite(p: Any) -> bool:
    return cmath.isfinite(p)


def strong_product(p: Any, dx: Any) -> Any:
    """`p · dx`, but zero where `dx` is zero and `p` is infinite or NaN.

    The mask is on the partial, not on the product: where `p` is finite this is `p · dx`
    to every order, at `dx = 0` too, and no branch contains an infinity.

    >>> import math
    >>> from rules_core.extend import strong_product
    >>> strong_product(math.inf, 0.0), strong_product(math.inf, 2.0)
    (0.0, inf)
    """
    if isinstance(p, AbstractTangent) or isinstance(dx, AbstractTangent):
        return p * dx
    if not is_array(p) and not is_array(dx):
        if _finite(p) or dx != 0:
            return p * dx
        note_strong_zeros(True)
        return type(p * dx)(0)
    xp = array_namespace(p, dx)
    if is_numpy(p) and is_array(dx) and not is_numpy(dx):  # a framework's dx
        p = xp.asarray(p, device=_device(dx)) if p.ndim else p.item()
    if not is_array(p):
        if _finite(p):
            return p * dx
        p = xp.asarray(p, dtype=_dtype_for(xp, p, dx), device=_device(dx))
    own = getattr(find_adapter((p, dx), {}), "strong_product", None)
    if own is not None:  # one operation, as some frameworks' transforms need
        return own(p, dx)
    dead = ~xp.isfinite(p) & (dx == 0)
    note_strong_zeros(dead)
    return xp.where(dead, xp.zeros_like(p), p) * dx


def _dtype_for(xp: Any, p: Any, dx: Any) -> Any:
    wide = isinstance(p, complex) and not xp.isdtype(dx.dtype, "complex floating")
    return xp.result_type(dx.dtype, xp.complex64) if wide else dx.dtype


def _device(x: Any) -> Any:
    from array_api_compat import device

    return device(x)


def total(terms: list[Any]) -> Any:
    """Sum of the terms."""
    first, *rest = terms
    for term in rest:
        first = first + term
    return first
