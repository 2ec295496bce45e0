"""Linear solvers for the rule of `implicit`: with a matrix, and without one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rules_core._base.arrays import array_namespace, is_array
from rules_core._dispatch.configs import HasReverseMode, RuleConfig, rrule_via_ad
from rules_core._primitives.declare import primitive
from rules_core._rules.frule_rrule import rrule
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
    xp = array_namespace(b)
    ones = xp.eye(_size(shape), dtype=b.dtype, device=_device(b))
    columns = [
        xp.reshape(operator(xp.reshape(ones[i, :], shape)), (-1,))
        for i in range(_size(shape))
    ]
    w = xp.linalg.solve(xp.stack(columns, axis=1), xp.reshape(b, (-1,)))
    return xp.reshape(w, shape)


@primitive
def solve_gmres(operator: Operator, b: Any) -> Any:
    """Solve by GMRES: at most 50 applications, or one for each entry.

    Where it does not converge the result is NaN: traced code cannot raise an error.
    """
    if not is_array(b) or b.shape == ():
        return solve_dense(operator, b)
    xp = array_namespace(b)
    steps = min(_size(b.shape), _STEPS)
    norm = xp.sqrt(xp.sum(b * b))
    basis, columns = [b / _nonzero(xp, norm)], []
    for _ in range(steps):
        v, column = _orthogonal(xp, operator(basis[-1]), basis)
        size = xp.sqrt(xp.sum(v * v))
        small = size <= xp.finfo(b.dtype).eps * 100 * sum(map(abs, column))
        basis.append(v * xp.where(small, 0 * size, 1 / _nonzero(xp, size)))
        columns.append([*column, xp.where(small, 0 * size, size)])
    H = _hessenberg(xp, columns, norm)
    first = norm * xp.eye(steps + 1, 1, dtype=b.dtype, device=_device(b))[:, 0]
    weights = xp.linalg.pinv(H) @ first
    w = xp.sum(xp.stack([weights[i] * basis[i] for i in range(steps)]), axis=0)
    return _checked(xp, operator(w) - b, norm, w)


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


def _hessenberg(xp: Any, columns: list[list[Any]], like: Any) -> Any:
    rows, zero = len(columns) + 1, 0 * like
    padded = [xp.stack([*c, *[zero] * (rows - len(c))]) for c in columns]
    return xp.stack(padded, axis=1)


def _checked(xp: Any, misfit: Any, norm: Any, w: Any) -> Any:
    """The solution, NaN where it is none."""
    double = xp.finfo(w.dtype).eps < 1e-10
    tolerance = _TOLERANCE**2 if double else _TOLERANCE
    good = xp.sqrt(xp.sum(misfit * misfit)) <= tolerance * norm
    return xp.where(good, w, xp.full_like(w, float("nan")))


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
