r"""Cosine and sine transforms.

Each is $c\, A\, O\, B$: an orthogonal transform $O$ (that with `norm="ortho"` and
`orthogonalize=True`), weights $A$, $B$ of the entries at the edges, and a factor. The
adjoint is $c\, B\, O^{-1} A$.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.fft as _sp

import rules_core as rc

from ._declare import Axes, edges, resized, transform

__all__ = ["dct", "dctn", "dst", "dstn", "idct", "idctn", "idst", "idstn"]

_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}
_BACK = {None: "forward", "backward": "forward", "ortho": "ortho",
         "forward": "backward"}  # fmt: skip
_ROOT = math.sqrt(2.0)
# Weights of the first and the last entry: of the argument, of the result.
_EDGES: dict[Any, Any] = {
    ("dct", 1): ((1 / _ROOT, 1 / _ROOT), (_ROOT, _ROOT)),
    ("dct", 2): ((1.0, 1.0), (_ROOT, 1.0)),
    ("dct", 3): ((1 / _ROOT, 1.0), (1.0, 1.0)),
    ("dst", 2): ((1.0, 1.0), (1.0, _ROOT)),
    ("dst", 3): ((1.0, 1 / _ROOT), (1.0, 1.0)),
}
_PLAIN = ((1.0, 1.0), (1.0, 1.0))
# SciPy 1.17 does not pass this option on for complex arrays.
_FOR_COMPLEX = not np.array_equal(
    _sp.dct([1j, 1], orthogonalize=True), _sp.dct([1j, 1], orthogonalize=False)
)
# What the length of an axis differs by from half the period.
_PERIOD: dict[Any, int] = {("dct", 1): -1, ("dst", 1): 1}


def _dtype(dtype: Any) -> Any:
    if dtype.kind not in "fc":
        return np.dtype(np.float64)
    return np.result_type(dtype, np.float32)


def _length(n: int, asked: int | None) -> int:
    return n if asked is None else asked


def _adjoint(name: str, back: Any) -> Any:
    """The adjoint of transforms over several axes: axis by axis."""

    def adjoint(dy: Any, shape: Any, axes: Axes) -> Any:
        xp = rc.array_namespace(dy)
        if xp.isdtype(dy.dtype, "complex floating") and not _FOR_COMPLEX:
            axes = axes._replace(orthogonalize=None)
        for axis in axes.places:
            dy = _along(name, back(), dy, axis, axes)
        return resized(dy, shape, axes)

    return adjoint


def _along(name: str, back: Any, dy: Any, axis: int, axes: Axes) -> Any:
    orthogonal = axes.orthogonalize
    if orthogonal is None:
        orthogonal = axes.norm == "ortho"
    key = name, axes.kind
    before, after = _PLAIN if orthogonal else _EDGES.get(key, _PLAIN)
    factor = _factor(axes.norm, 2 * (dy.shape[axis] + _PERIOD.get(key, 0)))
    dx = back(_weighted(dy, axis, after), axes.kind, axis=axis, norm="ortho")
    return factor * _weighted(dx, axis, before)


def _weighted(x: Any, axis: int, weights: tuple[float, float]) -> Any:
    return x if weights == (1.0, 1.0) else edges(x, axis, *weights)


def _factor(norm: str | None, period: int) -> float:
    power = {None: 0.5, "backward": 0.5, "ortho": 0.0, "forward": -0.5}[norm]
    return float(period**power)


def _inverted(name: str, back: Any) -> Any:
    """The adjoint of an inverse, which is the transform of the inverse type."""
    of_forward = _adjoint(name, back)

    def adjoint(dy: Any, shape: Any, axes: Axes) -> Any:
        kind = _INVERSE[axes.kind or 2]
        return of_forward(dy, shape, axes._replace(kind=kind, norm=_BACK[axes.norm]))

    return adjoint


def _declared(f: Any, adjoint: Any) -> rc.Primitive:
    return transform(f, adjoint, length=_length, dtype=_dtype)


dct: rc.Primitive = _declared(_sp.dct, _adjoint("dct", lambda: idct))
dctn: rc.Primitive = _declared(_sp.dctn, _adjoint("dct", lambda: idct))
idct: rc.Primitive = _declared(_sp.idct, _inverted("dct", lambda: idct))
idctn: rc.Primitive = _declared(_sp.idctn, _inverted("dct", lambda: idct))
dst: rc.Primitive = _declared(_sp.dst, _adjoint("dst", lambda: idst))
dstn: rc.Primitive = _declared(_sp.dstn, _adjoint("dst", lambda: idst))
idst: rc.Primitive = _declared(_sp.idst, _inverted("dst", lambda: idst))
idstn: rc.Primitive = _declared(_sp.idstn, _inverted("dst", lambda: idst))
