"""Functions with rules, run in the cells of an adapter and compared with NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, final

import numpy as np

from rules_core import NoTangent, frule, primitive, rrule

from ._cells import Cell
from ._differences import Vector
from ._report import Failure
from ._space import Space

__all__ = ["Host", "X", "Y", "product_with"]

X, Y = np.array([0.5, -1.25, 2.0]), np.array([1.5, 0.25, -0.75])
CLOSE = 1e-5  # a host may compute in single precision


@final
class Host:
    """The cells of an adapter, and how functions are run in them."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.cells = cells

    def of(self, *kinds: str) -> Iterator[Cell]:
        """The cells of some kinds."""
        return (cell for cell in self.cells if cell.kind in kinds)

    def values(self, f: Callable[..., Any], *primals: Any, **kwargs: Any) -> None:
        """Compare the value of `f` in the host with that in NumPy."""
        y = f(*primals, **kwargs)
        for cell in self.of("value"):
            got = Space(y).values(cell.run(f, primals, kwargs))
            _compare(cell, "the value", got, Space(y).origin)

    def derivatives(
        self, f: Callable[..., Any], *primals: Any, factor: float = 1.0, **kwargs: Any
    ) -> None:
        """Compare the derivatives of `f` in the host with differences in NumPy.

        Args:
            f: A function that calls primitives.
            *primals: Its arguments.
            factor: By what its rules differ from its derivative.
            **kwargs: Its keyword arguments, which are constants.
        """
        space, y = Space(primals), f(*primals, **kwargs)
        out = Space(y)
        slopes = factor * _jacobian(f, space, out, kwargs)
        v = np.linspace(1.0, 2.0, space.dim)
        w = np.linspace(-1.0, 1.5, out.dim)
        for cell in self.of("jvp", "vjp"):
            if cell.kind == "jvp":
                tangents = space.like_primal(v)
                got = cell.run(f, primals, kwargs, tangents)
                _compare(cell, "the tangent", out.coordinates(got), slopes @ v)
            else:
                got = cell.run(f, primals, kwargs, out.like_primal(w))
                _compare(cell, "the cotangent", space.coordinates(got), w @ slopes)

    def refuses(self, rule: str, f: Callable[..., Any], *primals: Any) -> None:
        """Expect an error that names `rule` wherever `f` is differentiated."""
        out, space = Space(f(*primals)), Space(primals)
        for cell in self.of("jvp", "vjp"):
            given = out if cell.kind == "vjp" else space
            try:
                got = cell.run(f, primals, {}, given.like_primal(given.origin))
            except Exception as error:
                text = "\n".join((str(error), *getattr(error, "__notes__", ())))
                if rule not in text:
                    message = f"{cell.name}: the error does not name {rule}: {text}"
                    raise Failure(message) from None
            else:
                message = f"{cell.name}: no error, but the derivative {got!r}"
                raise Failure(message)


def _compare(cell: Cell, what: str, got: Vector, expected: Vector) -> None:
    if got.shape != expected.shape or not np.allclose(got, expected, CLOSE, CLOSE):
        message = f"{cell.name}: {what} is {got}, but must be {expected}"
        raise Failure(message)


def _jacobian(
    f: Callable[..., Any], space: Space, out: Space, kwargs: dict[str, Any]
) -> Vector:
    """The derivative in NumPy, by central differences; one column per coordinate."""
    step = 2.0**-10
    columns = []
    for unit in np.eye(space.dim):
        ends = [space.origin + sign * step * unit for sign in (1, -1)]
        plus, minus = (out.values(f(*space.point(end), **kwargs)) for end in ends)
        columns.append((plus - minus) / (2 * step))
    return np.stack(columns, axis=1)


Answer = Callable[[Any, Any], Any]


def product_with(
    back: Answer = lambda dx, dy: (NoTangent(), dx, dy),
    push: Callable[[Any], Any] = lambda dz: dz,
    **flags: Any,
) -> Any:
    """`x · y`, with rules whose answers are changed.

    Args:
        back: What the pullback returns, from the right cotangents.
        push: What the frule returns, from the right tangent.
        **flags: Of the rules.
    """

    @primitive
    def product(x: Any, y: Any) -> Any:
        return x * y

    @rrule.define(product, **flags)
    def product_rrule(x: Any, y: Any) -> Any:
        return x * y, lambda dz: back(y * dz, x * dz)

    @frule.define(product, **flags)
    def product_frule(tangents: Any, x: Any, y: Any) -> Any:
        _, dx, dy = tangents
        return x * y, push(dx * y + x * dy)

    return product
