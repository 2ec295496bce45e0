"""The subject of a test: a function at a point, with its argument and result spaces."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import Any, final

import numpy as np

from rules_core import NoTangent, Primitive, RuleConfig, is_array
from rules_core._base.errors import PrimitiveError
from rules_core._dispatch.registry import find_table
from rules_core._dispatch.rule_key import describe as name_of

from ._call import bound_to, names_of, primals_of
from ._differences import Curve, Estimate, Vector, differentiate_along
from ._leaf import Leaf, StructureMismatch, like, to_numpy
from ._misuse import CheckCallError
from ._seeded import Seeded
from ._space import Space
from ._tolerance import Tolerance, largest

__all__ = ["Subject"]

# Given tangents are scaled if their sizes differ from usual ones by 2 to this power.
FAR = 20
MOST = 2**12  # no exponent of a float is as large


@final
class Subject:
    """The function `f` at `args`.

    The callable itself is the first primal: an instance, or a function that captures
    arrays, has a tangent like any argument.

    Attributes:
        f: The callable.
        given: The arguments and the keyword arguments of the user's call.
        primals: `(f, *args)` in normal form; for a bound method its instance first.
        kwargs: Keyword-only arguments.
        space: The space at `primals`.
        y: `f(*args)`.
        out: The space at `y`.
        directions: Coordinates of the test tangents.
        cotangents: Coordinates of the test cotangents.
        cotangent_given: Whether the user chose the cotangent.
        fixed: For each primal, whether the user declared it constant.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        args: tuple[Any, ...],
        fkwargs: dict[str, Any] | None = None,
        *,
        tangents: Sequence[Any] | None = None,
        cotangent: Any = None,
        rtol: float | None = None,
        atol: float = 0.0,
        config: RuleConfig | None = None,
        seed: int = 0,
        tries: int = 2,
    ) -> None:
        self.f, self.config = f, config
        self.broken = False  # whether a value is not what the shape rule promises
        plain, seeds = _unseeded(args, tangents)
        self.given = plain, fkwargs or {}
        self.primals, self.kwargs = primals_of(f, *self.given)
        self.names = names_of(f, len(self.primals))
        self.space = Space.product(self.primals, self.names)
        self.y = self.call(self.space.copy())
        self.out = Space(self.y, "y")
        self.rng = np.random.default_rng(seed)
        self.tries = tries
        self._seeds = seeds
        self.fixed = tuple(isinstance(seeds.get(i), NoTangent) for i in self._indices)
        self.directions = [self.direction() for _ in range(tries)]
        self.cotangents = self._cotangents(cotangent)
        self.cotangent_given = cotangent is not None
        eps = max(self.space.eps, self.out.eps)
        self.tolerance = Tolerance(eps or 2.0**-52, rtol, atol)

    @property
    def _indices(self) -> range:
        return range(len(self.primals))

    @property
    def seeded(self) -> Collection[int]:
        """The positions of the primals whose tangents the user gave."""
        return self._seeds.keys()

    @property
    def title(self) -> str:
        """The call in one line."""
        arguments = ", ".join(map(_short, self.primals[1:]))
        return f"{name_of(self.f).rpartition('<locals>.')[2]}({arguments})"

    @cached_property
    def handle(self) -> Primitive | None:
        """The primitive under test, also if `f` is the function that it wraps."""
        if isinstance(self.f, Primitive):
            return self.f
        table = find_table(self.f)
        primitive: Primitive | None = None if table is None else table.primitive
        return primitive

    def target(self, primals: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
        """The callable and the arguments of the call with these primals."""
        first, *rest = primals
        return bound_to(self.f, first), tuple(rest)

    def call(self, primals: tuple[Any, ...]) -> Any:
        """The function's value at other primals."""
        f, args = self.target(primals)
        with np.errstate(all="ignore"):
            try:
                return f(*args, **self.kwargs)
            except PrimitiveError:
                if not isinstance(f, Primitive):
                    raise
                self.broken = True  # which its check tells
                return f.run(*args, **self.kwargs)

    def called_as_given(self) -> Any:
        """The function's value, with its own defaults."""
        args, kwargs = self.given
        with np.errstate(all="ignore"):
            return self.f(*Space(args, "args").copy(), **kwargs)

    @property
    def filled_in(self) -> list[str]:
        """Names of the parameters whose defaults the normal form filled in."""
        first = len(self.given[0]) + 1
        keywords = self.given[1]
        names = [name for name in self.names[first:] if name not in keywords]
        return names + [name for name in self.kwargs if name not in keywords]

    def direction(self, only: int | None = None) -> Vector:
        """Coordinates of a random tangent, of one primal alone if `only` is given."""
        vector = self.space.random(self.rng)
        for i, place in enumerate(self.space.slices):
            if i in self._seeds:
                part = self.space.part(i)
                along = _read(part, self._seeds[i], "tangent")
                along = _of_usual_size(along, part.spans)
                vector[place] = along * self.rng.choice((-1.0, 1.0))
            if only not in (None, i):
                vector[place] = 0.0
        return vector

    def _cotangents(self, cotangent: Any) -> list[Vector]:
        if cotangent is not None:
            return [_given(self.out, cotangent)]
        # Large components of the value get small weights, so that all have equal
        # influence.
        spans = self.out.spans
        weights = np.min(spans, initial=np.inf) / spans
        return [
            weights * self.rng.standard_normal(self.out.dim) for _ in range(self.tries)
        ]

    def slope(self, direction: Vector) -> Estimate:
        """The derivative of the value along a direction.

        In double precision if `f` allows it.
        """
        return self.slope_in(*self._wide, direction)

    def slope_in(self, space: Space, out: Space, direction: Vector) -> Estimate:
        """The derivative at another point `space`, whose value is in `out`."""
        eps = max(space.eps, out.eps, 2.0**-52)
        curve = self.curve(space, out, direction)
        return differentiate_along(curve, largest(direction), eps)

    def moved(self, direction: Vector) -> Any:
        """The primals, moved by a direction."""
        return self.space.point(self.space.origin + direction)

    def curve(self, space: Space, out: Space, direction: Vector) -> Curve:
        """`t ↦ f(x + t v)` in coordinates."""
        origin = space.origin

        def along(t: float) -> Vector:
            return out.values(self.call(space.point(origin + t * direction)))

        return along

    def complexified(self, kept: Collection[int] = ()) -> tuple[Space, Space]:
        """The spaces at a complex point near this one.

        All leaves are complex but those of the primals in `kept`.
        """
        primals = tuple(
            x if i in kept else self.space.part(i).map(_off_the_axis)
            for i, x in enumerate(self.primals)
        )
        space = Space.product(primals, self.names)
        out = Space(self.call(space.copy()), "y")
        return space, Space(out.map(_complexified), "y")

    @cached_property
    def _wide(self) -> tuple[Space, Space]:
        """The spaces in double precision, or unchanged if `f` rejects it."""
        own = self.space, self.out
        if max(own[0].eps, own[1].eps) <= 2.0**-52:
            return own
        space = Space.product(self.space.wide(), self.names)
        try:
            out = Space(self.call(space.copy()), "y")
            same = self.tolerance.differs(out.origin, self.out.origin) is None
        except (TypeError, ValueError, StructureMismatch):
            return own
        return (space, out) if same else own


def _read(space: Space, tangent: Any, what: str) -> Vector:
    try:
        return space.coordinates(tangent)
    except StructureMismatch as mismatch:
        message = f"the {what} that was given does not fit: {mismatch}."
        raise CheckCallError(message) from None


def _given(out: Space, cotangent: Any) -> Vector:
    w = _read(out, cotangent, "cotangent")
    if out.dim and not np.any(w):
        message = (
            "the cotangent that was given must not be zero: every rule is right there."
        )
        raise CheckCallError(message)
    return _of_usual_size(w)


def _of_usual_size(vector: Vector, spans: Any = 1.0) -> Vector:
    """A given vector, times a power of two if its size is far from that of the spans.

    Rules are linear: the size proves nothing, but differences and their rounding errors
    need one on the scale on which the function varies.
    """
    moving = np.isfinite(vector) & (vector != 0)
    # The exponents, since a quotient may under- or overflow.
    excess = np.frexp(vector)[1] - np.frexp(spans)[1]
    shift = int(np.max(excess, initial=-MOST, where=moving))
    if abs(shift) <= FAR or not np.any(moving):
        return vector
    return np.ldexp(vector, -shift)


def _complexified(leaf: Leaf) -> Any:
    return to_numpy(leaf.primal).astype(np.complex128)


def _off_the_axis(leaf: Leaf) -> Any:
    """A complex point near a real one, or the point itself if it is complex."""
    value = _complexified(leaf)
    if not leaf.is_complex:
        value = value + 0.125j * np.maximum(np.abs(value), 0.25)
    return like(leaf.primal, value) if is_array(leaf.primal) else value.item()


def _unseeded(
    args: tuple[Any, ...], tangents: Sequence[Any] | None
) -> tuple[tuple[Any, ...], dict[int, Any]]:
    """The plain arguments, and the seeds by position among the primals."""
    seeds = {i: x.tangent for i, x in enumerate(args, 1) if isinstance(x, Seeded)}
    if tangents is not None:
        if len(tangents) != len(args):
            message = (
                f"tangents must hold one tangent per argument, {len(args)} of them, "
                f"but got {len(tangents)}. Use None for a random one."
            )
            raise CheckCallError(message)
        seeds |= {i: dx for i, dx in enumerate(tangents, 1) if dx is not None}
    return tuple(x.primal if isinstance(x, Seeded) else x for x in args), seeds


def _short(x: Any) -> str:
    if is_array(x):
        return f"{x.dtype}[{', '.join(map(str, x.shape))}]"
    text = repr(x)
    return text if len(text) <= 24 else type(x).__name__
