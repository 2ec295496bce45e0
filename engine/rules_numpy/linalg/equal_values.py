"""Equal eigenvalues and singular values: derivatives that exist, and errors.

The vectors of equal values are fixed up to a rotation R. A function that does not see R
has a derivative, but (values, vectors) do not always let it be computed: f(A) = V f(w)
Vᴴ needs the whole block f'(w) Vᴴ dA V of equal values, of which dw holds the diagonal
and dV nothing. So forward mode answers where that block is a multiple of one, reverse
mode where the cotangents show that the function needs its trace only, or tell the whole
block (`linalg_blocks`); anything else is an error. `linalg_general` makes them show it.
docs/decisions has the reasons.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

import rules_core as rc
from rules_numpy._declare.derivative import derivative

from .equal_value_blocks import told_by_vectors
from .products import adjoint

__all__ = [
    "antihermitian",
    "block_of",
    "diagonal_matrix",
    "diagonal_of",
    "equal_groups",
    "over_gaps",
    "refuse_choice",
    "refuse_phase",
    "refuse_split",
    "refuse_unknown_block",
    "sees_turn",
    "share",
    "tied",
]

_CURE = (
    "Use eigvalsh, eigvals or svdvals where the values are enough, a function of the "
    "matrix (numpy.linalg.solve, inv, slogdet, matrix_power) where it is meant, or "
    "make the values differ."
)


@rc.primitive(host=True)
def equal_groups(f: str, w: Any) -> Any:
    """Mask (…, n, n) of the pairs of values of `f` that are equal within rounding."""
    size = np.max(np.abs(w), axis=-1, keepdims=True, initial=0.0)
    tiny = 8 * w.shape[-1] * np.finfo(w.dtype).eps
    gap = np.abs(np.expand_dims(w, -1) - np.expand_dims(w, -2))
    return gap <= tiny * np.expand_dims(size, -1)


@rc.shape_rule.define(equal_groups)
def equal_groups_shape(f: str, w: Any) -> Any:
    """One boolean per pair."""
    return rc.ShapeDtype((*w.shape, w.shape[-1]), np.dtype(bool))


@rc.batch_rule.define(equal_groups)
def equal_groups_batch(axis_size: int, in_batched: Any, f: str, w: Any) -> Any:
    """A batch is a stack."""
    return equal_groups.fun(f, w), True


@derivative(equal_groups, argnums=1)
def equal_groups_derivative(y: Any, f: str, w: Any) -> Any:
    """Constant if all values differ; otherwise the rules hold at first order only."""
    if tied(y):
        message = (
            f"the rules of numpy.linalg.{f} must be differentiated where its values "
            "differ and none is a zero singular value, but got equal ones: there they "
            f"hold at first order only. {_CURE}"
        )
        raise rc.UnsupportedError(message)


def tied(groups: Any) -> bool:
    """Whether any two values are equal."""
    return bool(np.any(np.sum(groups, axis=-1) > 1))


def share(dw: Any, groups: Any) -> Any:
    """The mean over every group of equal values."""
    if not tied(groups):
        return dw
    weights = groups / np.sum(groups, axis=-1, keepdims=True)
    return np.matmul(weights, np.expand_dims(dw, -1))[..., 0]


def over_gaps(w: Any, groups: Any) -> Any:
    """F[i, j] = 1 / (wⱼ - wᵢ), zero within a group."""
    gap = np.expand_dims(w, -2) - np.expand_dims(w, -1)
    return np.where(groups, 0.0, 1.0 / np.where(groups, 1.0, gap))


def diagonal_of(m: Any) -> Any:
    """The diagonals of a stack of matrices."""
    return np.diagonal(m, axis1=-2, axis2=-1)


def diagonal_matrix(d: Any) -> Any:
    """A stack of matrices with these diagonals."""
    return np.expand_dims(d, -1) * np.eye(d.shape[-1])


def antihermitian(m: Any) -> Any:
    """(m - mᴴ) / 2."""
    return (m - adjoint(m)) / 2.0


def _rounding(*sizes: Any) -> Any:
    """The rounding error of numbers of these sizes."""
    top = max(float(np.max(np.abs(x), initial=0.0)) for x in sizes)
    return 1e3 * max(np.finfo(np.real(x).dtype).eps for x in sizes) * top


def _slack(x: Any, size: Any) -> Any:
    """The threshold for zero: half the digits, since a cotangent may have cancelled."""
    return np.sqrt(np.finfo(x.dtype).eps) * (1.0 + np.max(np.abs(size), initial=0.0))


def _refuse(f: str, must: str, got: str) -> NoReturn:
    message = (
        f"the derivative of numpy.linalg.{f} at equal values must be wanted {must}, "
        f"but got {got}. {_CURE}"
    )
    raise rc.UnsupportedError(message)


def refuse_split(f: str, m: Any, groups: Any, whole: Any) -> None:
    """Forward: a block of equal values must move as a multiple of one.

    Args:
        f: The function.
        m: The derivative of the blocks.
        groups: Pairs of equal values.
        whole: The scale of rounding errors.
    """
    if not tied(groups):
        return
    even = diagonal_matrix(share(diagonal_of(m), groups))
    if np.any(np.abs(np.where(groups, m - even, 0.0)) > _rounding(whole)):
        _refuse(
            f,
            "along a tangent that keeps them equal, in forward mode",
            "one that parts them, for which no fixed choice of vectors has a tangent; "
            "reverse mode knows more",
        )


def sees_turn(rotation: Any, size: Any) -> bool:
    """Whether the derivative along a rotation is other than zero, up to rounding."""
    return bool(np.any(np.abs(rotation) > _slack(rotation, size)))


def refuse_choice(f: str, turn: Any) -> None:
    """Reverse: no dependence on the choice of the vectors of equal values."""
    if sees_turn(*turn):
        _refuse(
            f,
            "of a function that does not depend on the choice of their vectors",
            "the cotangent of one that does",
        )


def refuse_unknown_block(f: str, dw: Any, groups: Any) -> None:
    """Reverse: the cotangent of each block must be a multiple of one.

    Its diagonal is dw. It is such a multiple if dw has equal entries, because the
    vectors are in general position.
    """
    if not np.all(_even(dw, groups, _rounding(dw))):
        _refuse(
            f,
            "of a function that treats them alike",
            "the cotangent of one that does not",
        )


def block_of(f: str, w: Any, dw: Any, x: Any, groups: Any) -> Any:
    """Reverse: the cotangent of each block off its diagonal dw.

    Zero where dw has equal entries, as above, and elsewhere determined by x = Vᴴ dv, or
    an error. The rounding scale includes x, which for V f(w) Vᴴ is f where dw is f',
    and cancels where that is zero.
    """
    scale = np.max(np.abs(w), initial=0.0)
    rounding = _rounding(dw, np.zeros_like(x) if scale == 0 else x / scale)
    even = _even(dw, groups, rounding)
    off, told = told_by_vectors(dw, x, groups)
    if not np.all(even | told):
        _refuse(
            f,
            "of a function that treats them alike, or of one V f(w) Vᴴ with f(w) other "
            "than zero there (of two equal values: also not of its entries off the "
            "diagonal alone)",
            "cotangents that do not tell how the function depends on the matrix",
        )
    return np.where(np.expand_dims(even, -1), 0.0, off)


def _even(dw: Any, groups: Any, rounding: Any) -> Any:
    """Rows in whose group dw has equal entries."""
    apart = np.abs(dw - share(dw, groups)) > rounding
    return ~np.any(groups & np.expand_dims(apart, -2), axis=-1)


def refuse_phase(f: str, turn: Any, size: Any) -> None:
    """Raise an error for dependence on the phase of a complex vector."""
    if sees_turn(turn, size):
        message = (
            f"the derivative of numpy.linalg.{f} must be wanted for a function that "
            "does not depend on the phase of a complex vector, but got one that does. "
            "Fix the phase in the function, for instance by one real entry."
        )
        raise rc.UnsupportedError(message)
