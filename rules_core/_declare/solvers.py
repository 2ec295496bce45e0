"""Linear solvers for the rule of `implicit`: with a matrix, and without one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rules_core._base.arrays import array_namespace, is_array
from rules_core._dispatch.configs import HasReverseMode, RuleConfig, rrule_via_ad
from rules_core._primitives.declare import primitive
from rules_core._primitives.not_a_number import nan_unless
from rules_core._rules.frule_rrule import frule, rrule
from rules_core._tangents.zeros import NoTangent

__all__ = ["Operator", "solve_dense", "solve_gmres"]

Operator = Callable[[Any], Any]

_STEPS = 50
_TOLERANCE = (
    1e-5  # of the residual, relative, in single precision; its square in double
)


def solve_dense(operator: Operator, b: Any) -> Any:
    """Solve by the matrix of the operator: one application for each entry."""
    shape = getattr(b, "shape", ())
    if shape == ():
        return b / operator(b * 0 + 1)
    if 0 in shape:
        return b
    xp = array_namespace(b)
    ones = xp.eye(_size(shape), dtype=b.dtype, device=_device(b))
    columns = [
        xp.reshape(operator(xp.reshape(ones[i, :], shape)), (-1,))
        for i in range(_size(shape))
    ]
    w = solve_matrix(xp.stack(columns, axis=1), xp.reshape(b, (-1,)))
    return xp.reshape(w, shape)


@primitive
def solve_matrix(A: Any, b: Any) -> Any:
    """`A⁻¹ b`, with rules of its own: PyTorch's are wrong for two forward modes."""
    return array_namespace(A).linalg.solve(A, b)


@frule.define(solve_matrix)
def solve_matrix_frule(tangents: Any, A: Any, b: Any) -> Any:
    w = solve_matrix(A, b)
    return w, solve_matrix(A, tangents[2] - tangents[1] @ w)


@rrule.define(solve_matrix)
def solve_matrix_rrule(A: Any, b: Any) -> Any:
    w = solve_matrix(A, b)

    def solve_matrix_pullback(dw: Any) -> Any:
        db = solve_matrix(A.T, dw)
        return NoTangent(), -db[:, None] * w[None, :], db

    return w, solve_matrix_pullback


@primitive
def solve_gmres(operator: Operator, b: Any) -> Any:
    """Solve by GMRES: at most 50 applications, or one for each entry.

    Where it does not converge the result is NaN: traced code cannot raise an error. So
    it is where the operator is singular, if there are no more entries than steps.
    """
    if not is_array(b) or b.shape == () or 0 in b.shape:
        return solve_dense(operator, b)
    xp = array_namespace(b)
    steps = min(_size(b.shape), _STEPS)
    scale = _nonzero(xp, xp.max(xp.abs(b)))  # squares must not under- or overflow
    unit, gauge = b / scale, None
    norm, start = _length(xp, unit), _further(xp, b, [])
    basis, columns = [xp.where(norm == 0, start, unit / _nonzero(xp, norm))], []
    for _ in range(steps):
        image = operator(basis[-1])
        gauge = _nonzero(xp, xp.max(xp.abs(image))) if gauge is None else gauge
        v, column = _orthogonal(xp, image / gauge, basis)
        size = _length(xp, v)
        small = size <= xp.finfo(b.dtype).eps * 100 * sum(map(abs, column))
        further = _further(xp, b, basis)  # else what is left would not be seen
        basis.append(xp.where(small, further, v / _nonzero(xp, size)))
        columns.append([*column, xp.where(small, 0 * size, size)])
    H = _hessenberg(xp, columns, norm)
    first = norm * xp.eye(steps + 1, 1, dtype=b.dtype, device=_device(b))[:, 0]
    weights = xp.linalg.pinv(H) @ first
    w = xp.sum(xp.stack([weights[i] * basis[i] for i in range(steps)]), axis=0)
    w = _checked(xp, operator(w) / gauge - unit, norm, w)
    if steps == _size(b.shape):
        w = _if_regular(xp, H, w)
    return w * (scale / gauge)


@rrule.define(solve_gmres, config=RuleConfig[HasReverseMode])
def solve_gmres_rrule(config: Any, operator: Any, b: Any) -> Any:
    """`db = operator⁻* dw`, and the cotangent of what the operator captures."""
    w = solve_gmres(operator, b)

    def solve_gmres_pullback(dw: Any) -> Any:
        _, pull = rrule_via_ad(config, operator, w)

        def adjoint(u: Any) -> Any:
            return pull(u)[1]

        db = solve_gmres(adjoint, dw)
        return NoTangent(), pull(-db)[0], db

    return w, solve_gmres_pullback


def _orthogonal(xp: Any, v: Any, basis: list[Any]) -> tuple[Any, list[Any]]:
    """`v` less its parts along the basis, twice for accuracy, and these parts."""
    column = [0 * xp.sum(v)] * len(basis)
    for _ in range(2):
        for i, q in enumerate(basis):
            part = xp.sum(q * v)
            column[i] = column[i] + part
            v = v - part * q
    return v, column


def _length(xp: Any, v: Any) -> Any:
    """The norm, where squares of the entries under- or overflow too."""
    scale = _nonzero(xp, xp.max(xp.abs(v)))
    return scale * xp.sqrt(xp.sum((v / scale) ** 2))


def _further(xp: Any, like: Any, basis: list[Any]) -> Any:
    """A vector without a pattern that is orthogonal to the basis, of length 1."""
    places = xp.arange(_size(like.shape), dtype=like.dtype, device=_device(like))
    v = xp.reshape(xp.cos(1.0 + 2.399963 * places), like.shape)
    v, _ = _orthogonal(xp, v, basis)
    return v / _nonzero(xp, _length(xp, v))


def _if_regular(xp: Any, H: Any, w: Any) -> Any:
    """The solution, NaN if the operator, which is `H` in a basis, is singular."""
    sizes = xp.linalg.svd(H, full_matrices=False)[1]
    limit = 10 * len(sizes) * xp.finfo(w.dtype).eps * xp.max(sizes)
    return nan_unless(xp.min(sizes) > limit, w)


def _hessenberg(xp: Any, columns: list[list[Any]], like: Any) -> Any:
    rows, zero = len(columns) + 1, 0 * like
    padded = [xp.stack([*c, *[zero] * (rows - len(c))]) for c in columns]
    return xp.stack(padded, axis=1)


def _checked(xp: Any, misfit: Any, norm: Any, w: Any) -> Any:
    """The solution, NaN where it is none."""
    double = xp.finfo(w.dtype).eps < 1e-10
    tolerance = _TOLERANCE**2 if double else _TOLERANCE
    good = xp.sqrt(xp.sum(misfit * misfit)) <= tolerance * norm
    return nan_unless(good, w)


def _nonzero(xp: Any, x: Any) -> Any:
    return xp.where(x == 0, xp.ones_like(x), x)


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for n in shape:
        size *= n
    return size


def _device(x: Any) -> Any:
    from array_api_compat import device

    return device(x)
