"""Methods of arrays and of NumPy scalars, with the rules of the functions.

Attributes (`.T`, `.real`, `.imag`, `.flat`) are not calls: an AD system, which knows
the memory, handles views.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from rules_numpy._declare.declaration import Declaration
from rules_numpy._declare.derivative import derivative, method
from rules_numpy.arrays import shape

__all__: list[str] = []

_SAME = {
    "clip": np.clip,
    "conj": np.conjugate,
    "conjugate": np.conjugate,
    "copy": np.copy,
    "__copy__": np.copy,
    "cumprod": np.cumprod,
    "cumsum": np.cumsum,
    "diagonal": np.diagonal,
    "dot": np.dot,
    "max": np.max,
    "mean": np.mean,
    "min": np.min,
    "prod": np.prod,
    "ravel": np.ravel,
    "repeat": np.repeat,
    "round": np.round,
    "squeeze": np.squeeze,
    "std": np.std,
    "sum": np.sum,
    "swapaxes": np.swapaxes,
    "take": np.take,
    "trace": np.trace,
    "var": np.var,
}
for _name, _function in _SAME.items():
    method(_name, _function)


def _both(name: str) -> list[Any]:
    return [getattr(np.ndarray, name), getattr(np.generic, name)]


@derivative(_both("compress"))
def compress_derivative(
    y: Any, a: Any, condition: Any, axis: Any = None, out: Any = None
) -> Any:
    """As `np.compress`."""

    def compress_pushforward(da: Any) -> Any:
        return np.compress(condition, da, axis)

    def compress_pullback(dy: Any) -> Any:
        places = np.flatnonzero(condition)
        flat = np.ravel(a) if axis is None else a
        own = 0 if axis is None else axis
        moved = np.zeros_like(np.moveaxis(flat, own, 0))
        moved[places] = np.moveaxis(dy, own, 0)
        return np.reshape(np.moveaxis(moved, 0, own), a.shape)

    return compress_pushforward, compress_pullback


@derivative(_both("reshape"))
def reshape_derivative(
    y: Any, a: Any, *new_shape: Any, order: Any = "C", copy: Any = None
) -> Any:
    """The shape may be one tuple or several numbers."""
    own = _order(a, order)

    def reshape_pushforward(da: Any) -> Any:
        return np.reshape(da, y.shape, order=own)

    def reshape_pullback(dy: Any) -> Any:
        return np.reshape(dy, a.shape, order=own)

    return reshape_pushforward, reshape_pullback


def _order(a: Any, order: str) -> Any:
    if order != "A":
        return order
    return "F" if np.isfortran(a) else "C"


@derivative(_both("flatten"))
def flatten_derivative(y: Any, a: Any, order: Any = "C") -> Any:
    """As `np.ravel`."""
    return shape.ravel_derivative(y, a, order)


@derivative(_both("transpose"))
def transpose_derivative(y: Any, a: Any, *axes: Any) -> Any:
    """The axes may be one tuple or several numbers."""
    order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None

    def transpose_pushforward(da: Any) -> Any:
        return np.transpose(da, order)

    def transpose_pullback(dy: Any) -> Any:
        return shape.transpose_adjoint(dy, a, order)

    return transpose_pushforward, transpose_pullback


@derivative(_both("item"))
def item_derivative(y: Any, a: Any, *key: Any) -> Any:
    """One entry, as a Python number."""
    places = np.reshape(np.arange(a.size), a.shape)
    at = places.item(*key)

    def item_pushforward(da: Any) -> Any:
        return np.ravel(da)[at].item()

    def item_pullback(dy: Any) -> Any:
        return np.where(places == at, dy, 0.0)

    return item_pushforward, item_pullback


# `-a`, `a + b` and others, as the functions of `operator`.
_BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.divide,
    "pow": np.power,
    "mod": np.remainder,
    "floordiv": np.floor_divide,
    "matmul": np.matmul,
}
_UNARY = {"neg": np.negative, "pos": np.positive, "abs": np.absolute}
_SCALARS = np.generic | float | complex | int
_NUMBERS = np.ndarray | _SCALARS


def _operators() -> None:
    """`a += b` writes to an array, which an AD system handles."""
    from rules_numpy._declare.derivative import DECLARED
    from rules_numpy._declare.elementwise import maps_of_partials

    for name, ufunc in (*_BINARY.items(), *_UNARY.items()):
        maps, _ = DECLARED[ufunc]
        if ufunc is not np.matmul:
            maps = maps_of_partials(maps)
        numbers, types = tuple(range(ufunc.nin)), (_NUMBERS,) * ufunc.nin
        plain = getattr(operator, name)
        cases = [(plain, types)]
        if name in _BINARY and ufunc is not np.matmul:
            cases.append((getattr(operator, f"i{name}"), (_SCALARS, *types[1:])))
        for function, kinds in cases:
            # For a number converted to an array, `a += b` would overwrite values that
            # partials need.
            declaration = Declaration(
                function, maps, numbers, bare=False, arrays=True, call=plain
            )
            declaration.register_for(kinds)


_operators()
