"""Functions with rules, run in the cells of an adapter and compared with NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, final

import numpy as np

from rules_core import NoTangent, frule, primitive, rrule
from rules_core.testing._cells import Cell
from rules_core.testing._checks_writes import snapshot
from rules_core.testing._differences import Vector
from rules_core.testing._report import Failure, NotRun
from rules_core.testing._space import Space

__all__ = ["CLOSE", "Host", "Run", "X", "Y", "case", "expect", "product_with"]

# Programs capture these by variables of their own: a compiler may see no global array.
X, Y = np.array([0.5, -1.25, 2.0]), np.array([1.5, 0.25, -0.75])
CLOSE = 1e-5  # a framework may compute in single precision


@final
class Host:
    """The cells of an adapter, and how functions are run in them."""

    def __init__(self, adapter: Any, cells: Sequence[Cell]) -> None:
        self.adapter, self.cells = adapter, cells

    def of(self, *kinds: str) -> Iterator[Cell]:
        """The cells of some kinds."""
        return (cell for cell in self.cells if cell.kind in kinds)

    def only(self, *kinds: str) -> Host:
        """This framework with cells of some kinds alone.

        Raises:
            NotRun: There is none.
        """
        cells = list(self.of(*kinds))
        if not cells:
            message = f"no cell is of kind {' or '.join(map(repr, kinds))}"
            raise NotRun(message)
        return Host(self.adapter, cells)

    def values(self, f: Callable[..., Any], *primals: Any, **kwargs: Any) -> None:
        """Compare the value of `f` in the framework with that in NumPy."""
        y = f(*primals, **kwargs)
        for cell in self.of("value"):
            got = Space(y).values(cell.run(f, primals, kwargs))
            _compare(cell, "the value", got, Space(y).origin)

    def derivatives(
        self, f: Callable[..., Any], *primals: Any, factor: float = 1.0, **kwargs: Any
    ) -> None:
        """Compare the derivatives of `f` in the framework with differences in NumPy.

        Args:
            f: A function that calls primitives.
            *primals: Its arguments.
            factor: By what its rules differ from its derivative.
            **kwargs: Its keyword arguments, which are constants.
        """
        for run in self.runs(f, *primals, factor=factor, **kwargs):
            run.compare()

    def runs(
        self, f: Callable[..., Any], *primals: Any, factor: float = 1.0, **kwargs: Any
    ) -> Iterator[Run]:
        """One derivative of `f` in each cell; arguments as for `derivatives`."""
        space, out = Space(primals), Space(f(*primals, **kwargs))
        slopes = factor * _jacobian(f, Space(space.wide()), out, kwargs)
        v, w = _directions(space, out)
        for cell in self.of("jvp", "vjp"):
            given = (space, v) if cell.kind == "jvp" else (out, w)
            tangent = given[0].like_primal(given[1])
            what = "the tangent" if cell.kind == "jvp" else "the cotangent"
            before = snapshot(tangent, what)
            got = cell.run(f, primals, kwargs, tangent)
            if cell.kind == "jvp":
                yield Run(cell, what, tangent, before, got, out, slopes @ v)
            else:
                yield Run(cell, what, tangent, before, got, space, w @ slopes)

    def second(self, f: Callable[..., Any], *primals: Any, factor: float = 1.0) -> None:
        """Compare second derivatives of `f` with differences of differences."""
        space, out = Space(primals), Space(f(*primals))
        v, w = _directions(space, out)
        step = 2.0**-7
        ends = [Space(space.point(space.origin + s * step * v)) for s in (1, -1)]
        plus, minus = (w @ _jacobian(f, end, out, {}) for end in ends)
        expected = factor * (plus - minus) / (2 * step)
        for cell in self.of("second"):
            tangents, cotangents = space.like_primal(v), out.like_primal(w)
            got = cell.run(f, primals, {}, tangents, cotangents)
            _compare(cell, "the second derivative", space.coordinates(got), expected)

    def batched(self, f: Callable[..., Any], *batch: tuple[Any, ...]) -> None:
        """Compare a batch of values of `f` with its values one by one in NumPy."""
        for cell in self.of("batched"):
            found = cell.run(f, list(batch), {})
            for i, (primals, got) in enumerate(zip(batch, found, strict=True)):
                out = Space(f(*primals))
                _compare(cell, f"value {i}", out.values(got), out.origin)

    def batched_derivatives(
        self, f: Callable[..., Any], *batch: tuple[Any, ...], factor: float = 1.0
    ) -> None:
        """Compare a batch of derivatives of `f` with differences in NumPy."""
        outs = [Space(f(*primals)) for primals in batch]
        seeds = [(1.0 + i) * _directions(out, out)[1] for i, out in enumerate(outs)]
        pairs = list(zip(outs, seeds, strict=True))
        for cell in self.of("batched_vjp"):
            given = [out.like_primal(w) for out, w in pairs]
            found = cell.run(f, list(batch), {}, given)
            for i, (got, (out, w)) in enumerate(zip(found, pairs, strict=True)):
                space = Space(batch[i])
                expected = factor * w @ _jacobian(f, space, out, {})
                _compare(cell, f"cotangent {i}", space.coordinates(got), expected)

    def refuses(self, words: str, f: Callable[..., Any], *primals: Any) -> None:
        """Expect an error that has these words wherever `f` is differentiated.

        Args:
            words: The name of a rule, or part of an error's text.
            f: A function that calls primitives.
            *primals: Its arguments.
        """
        out, space = Space(f(*primals)), Space(primals)
        for cell in self.of("jvp", "vjp"):
            given = out if cell.kind == "vjp" else space
            try:
                got = cell.run(f, primals, {}, given.like_primal(given.origin))
            except Exception as error:
                text = "\n".join((str(error), *getattr(error, "__notes__", ())))
                if words not in text:
                    message = f"{cell.name}: the error does not name {words}: {text}"
                    raise Failure(message) from None
            else:
                message = f"{cell.name}: no error, but the derivative {got!r}"
                raise Failure(message)


@final
class Run:
    """A derivative that a cell gave, and what it must be.

    Attributes:
        cell: The cell.
        what: What was computed, for messages.
        given: The tangents or the cotangent that it was given.
        before: A snapshot of them, from before the run.
        got: What it gave.
        space: The tangent space of that.
        expected: Its coordinates.
    """

    def __init__(
        self,
        cell: Cell,
        what: str,
        given: Any,
        before: Any,
        got: Any,
        space: Space,
        expected: Vector,
    ) -> None:
        self.cell, self.what, self.given, self.got = cell, what, given, got
        self.before = before
        self.space, self.expected = space, expected

    def compare(self, close: float = CLOSE) -> None:
        """Raise `Failure` unless this is the derivative."""
        got = self.space.coordinates(self.got)
        _compare(self.cell, self.what, got, self.expected, close)


def expect(right: bool, message: str) -> None:
    """Raise `Failure` unless something is right."""
    if not right:
        raise Failure(message)


@contextmanager
def case(what: str) -> Iterator[None]:
    """Name a case in what a check fails with, and in its errors."""
    try:
        yield
    except Failure as failure:
        message = f"{what}: {failure}"
        raise Failure(message) from None
    except Exception as error:
        error.add_note(f"case: {what}")
        raise


def _compare(
    cell: Cell, what: str, got: Vector, expected: Vector, close: float = CLOSE
) -> None:
    if got.shape != expected.shape or not np.allclose(got, expected, close, close):
        message = f"{cell.name}: {what} is {got}, but must be {expected}"
        raise Failure(message)


def _directions(space: Space, out: Space) -> tuple[Vector, Vector]:
    return np.linspace(1.0, 2.0, space.dim), np.linspace(-1.0, 1.5, out.dim)


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
