"""The derivative of ``@``: vectors, matrices and stacks of matrices."""

import operator
from typing import Any

from .arithmetic import total
from .own_rule import CORE, CoreRule, conj, fit, given, ndim, space_of

__all__: list[str] = []


def left_cotangent(dz: Any, x: Any, y: Any) -> Any:
    """dx = dz yᴴ, with added axes for vectors."""
    y = conj(y)
    if ndim(x) == 1 and ndim(y) == 1:
        return dz * y
    if ndim(y) == 1:
        return fit(dz[..., None] * y, space_of(x))
    if ndim(x) == 1:
        return fit((y @ dz[..., None])[..., 0], space_of(x))
    return fit(dz @ y.mT, space_of(x))


def right_cotangent(dz: Any, x: Any, y: Any) -> Any:
    """dy = xᴴ dz, with added axes for vectors."""
    x = conj(x)
    if ndim(x) == 1 and ndim(y) == 1:
        return dz * x
    if ndim(x) == 1:
        return fit(x[:, None] * dz[..., None, :], space_of(y))
    if ndim(y) == 1:
        return fit((x.mT @ dz[..., None])[..., 0], space_of(y))
    return fit(x.mT @ dz, space_of(y))


def matmul_rrule(needs: Any, x: Any, y: Any) -> Any:
    spaces = space_of(x), space_of(y)

    def matmul_pullback(dz: Any) -> Any:
        return (
            fit(left_cotangent(dz, x, y), spaces[0]) if needs[0] else None,
            fit(right_cotangent(dz, x, y), spaces[1]) if needs[1] else None,
        )

    return x @ y, matmul_pullback


def matmul_frule(tangents: Any, x: Any, y: Any) -> Any:
    dx, dy = tangents
    along_x = dx @ y if given(dx) else dx
    along_y = x @ dy if given(dy) else dy
    return x @ y, total(along_x, along_y)


CORE["matmul"] = CoreRule(operator.matmul, matmul_rrule, matmul_frule)
