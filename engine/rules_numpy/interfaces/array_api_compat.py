"""The wrappers of `array_api_compat` around NumPy: rules of the wrapped functions."""

from __future__ import annotations

from typing import Any

import array_api_compat.numpy
import numpy as np

import rules_core as rc
from rules_numpy._declare.derivative import DECLARED, constant, derivative
from rules_numpy.arrays.reductions import std_derivative, var_derivative
from rules_numpy.arrays.shape import transpose_adjoint
from rules_numpy.arrays.sorting import permuted

from . import constants  # noqa: F401  its declarations are lent here

__all__: list[str] = []

xp: Any = array_api_compat.numpy

# Wrapper name → the name in NumPy, where the arguments agree by position and name.
_SAME = {
    "asarray": "asarray",
    "astype": "astype",
    "clip": "clip",
    "cumulative_prod": "cumulative_prod",
    "cumulative_sum": "cumulative_sum",
    "empty_like": "empty_like",
    "full": "full",
    "full_like": "full_like",
    "linspace": "linspace",
    "matmul": "matmul",
    "matrix_transpose": "matrix_transpose",
    "ones_like": "ones_like",
    "sign": "sign",
    "take_along_axis": "take_along_axis",
    "tensordot": "tensordot",
    "zeros_like": "zeros_like",
    "arange": "arange",
    "unique_all": "unique_all",
    "unique_counts": "unique_counts",
    "unique_inverse": "unique_inverse",
    "unique_values": "unique_values",
    **{f"fft.{name}": f"fft.{name}" for name in (
        "fft", "ifft", "fftn", "ifftn", "rfft", "irfft", "rfftn", "irfftn", "hfft",
        "ihfft", "fftshift", "ifftshift",
    )},
    **{f"linalg.{name}": f"linalg.{name}" for name in (
        "cholesky", "cross", "diagonal", "eig", "eigh", "eigvals", "matmul",
        "matrix_norm", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve",
        "svd", "svdvals", "tensordot", "trace", "vecdot",
    )},
}  # fmt: skip
# The frequencies have a keyword-only step, which has no cotangent.
_CONSTANT = """
argsort count_nonzero empty eye finfo iinfo nonzero ones zeros linalg.matrix_rank
fft.fftfreq fft.rfftfreq
""".split()


def _find(owner: Any, name: str) -> Any:
    for part in name.split("."):
        owner = getattr(owner, part, None)
    return owner


def _lend(name: str, original: str) -> None:
    own, f = _find(xp, name), _find(np, original)
    if own is None or own in DECLARED or f not in DECLARED:
        return
    maps, numbers = DECLARED[f]
    bare = numbers is not None and len(numbers) == 1
    argnums: Any = numbers[0] if bare and numbers else numbers
    derivative(own, argnums, arrays=f is not np.asarray)(maps)


for _name, _original in _SAME.items():
    _lend(_name, _original)
rc.non_differentiable(constant([
    f
    for f in (_find(xp, name) for name in _CONSTANT)
    if f is not None and f not in DECLARED
]))  # fmt: skip


@derivative([f for f in (xp.ceil, xp.floor, xp.trunc) if f not in DECLARED])
def step_derivative(y: Any, x: Any, /, **_kw: Any) -> Any:
    """Step functions."""
    return None


@derivative(xp.std)
def standard_deviation_derivative(
    y: Any, x: Any, /, *, axis: Any = None, correction: Any = 0.0, keepdims: Any = False
) -> Any:
    """As `np.std`, which calls the correction `ddof`."""
    return std_derivative(y, x, axis, None, None, correction, keepdims)


@derivative(xp.var)
def variance_derivative(
    y: Any, x: Any, /, *, axis: Any = None, correction: Any = 0.0, keepdims: Any = False
) -> Any:
    """As `np.var`, which calls the correction `ddof`."""
    return var_derivative(y, x, axis, None, None, correction, keepdims)


@derivative(xp.sort)
def sort_derivative(
    y: Any,
    x: Any,
    /,
    *,
    axis: Any = -1,
    descending: Any = False,
    stable: Any = True,
) -> Any:
    """As `np.sort`, or in descending order."""
    order = np.argsort(x, axis=axis, kind="stable")
    return permuted(np.flip(order, axis) if descending else order, x, axis)


@derivative([xp.permute_dims] if xp.permute_dims not in DECLARED else [])
def permute_dims_derivative(y: Any, x: Any, /, axes: Any) -> Any:
    """As `np.transpose`."""

    def permute_pushforward(dx: Any) -> Any:
        return np.transpose(dx, axes)

    def permute_pullback(dy: Any) -> Any:
        return transpose_adjoint(dy, x, axes)

    return permute_pushforward, permute_pullback
