"""Functions that bring their own derivatives: those of a host, carried elsewhere.

`from_jax` and `from_torch` make such functions. What they have in common is here: their
rules call the pullback and the pushforward that the host's own AD gives, and these are
functions of the same kind again, so that any order is there, in any host.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, update_wrapper
from itertools import compress, repeat
from typing import Any

from rules_core._base.arrays import is_array
from rules_core._base.errors import UnsupportedError
from rules_core._dispatch.rule import AGAIN
from rules_core._primitives.declare import primitive
from rules_core._primitives.primitive import Primitive
from rules_core._primitives.shape_and_batch_rules import batch_rule, shape_rule
from rules_core._rules.frule_rrule import frule, rrule
from rules_core._tangents.pullback import Pullback
from rules_core._tangents.zeros import NoTangent, NotImplementedTangent, ZeroTangent

from .layouts import Opener, flatten, unflatten
from .tangent_leaves import build, read

__all__ = ["Foreign", "of_moving"]

_ZERO = ZeroTangent()
_STATIC = (
    "{}: the derivative in a static field of a class is that of a constant there. "
    "Make it a child of the class, or pass it as an argument"
)


class Foreign(ABC):
    """A function of a host's arrays as a primitive that has the host's derivatives.

    An adapter says how the function is called on NumPy arrays and differentiated; the
    primitive's function keeps the instance in its attribute `foreign`, by which the
    adapter knows its own functions again.

    Attributes:
        f: The function of the host's arrays.
        primitive: The primitive, a host function of NumPy arrays to everybody else.

    >>> import rules_core as rc
    >>> from rules_jax import from_jax
    >>> square = from_jax(lambda x: x * x)
    >>> isinstance(rc.Foreign.of(square), rc.Foreign)
    True
    """

    def __init__(self, f: Callable[..., Any]) -> None:
        self.f = f
        self.primitive: Primitive = primitive(self._on_numpy(), host=True)
        shape_rule.define(self.primitive)(self.shapes)
        batch_rule.define(self.primitive)(self.batch)
        rrule.define(self.primitive, symbolic_zeros=True)(self._rrule())
        frule.define(self.primitive, symbolic_zeros=True)(self._frule())

    @staticmethod
    def of(primitive: Primitive) -> Foreign | None:
        """The foreign function that a primitive was made from, if any."""
        foreign = getattr(primitive.fun, "foreign", None)
        own = foreign is not None and foreign.primitive.fun is primitive.fun
        return foreign if own else None  # a wrapper inherits the attribute

    @abstractmethod
    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """`f` of NumPy arrays, in NumPy arrays that belong to the caller.

        Arguments share their memory with the host's arrays where that is possible.
        Results do too. That memory must have no other owner: the caller may hand
        it on as its own, also where it is marked as read-only.
        """

    @abstractmethod
    def batch(self, size: int, in_batched: Any, *args: Any, **kwargs: Any) -> Any:
        """The batch rule."""

    @abstractmethod
    def shapes(self, *args: Any, **kwargs: Any) -> Any:
        """The shape rule."""

    @abstractmethod
    def vjp(self) -> Callable[..., Any]:
        """`(cotangents, args, kwargs) ↦ cotangents` by the host's AD, flat.

        A cotangent of None is zero: the result does not count.
        """

    @abstractmethod
    def jvp(self) -> Callable[..., Any]:
        """`(tangents, args, kwargs) ↦ tangents` by the host's AD, flat.

        A tangent of None is zero: the argument is a constant.
        """

    def read(self, primal: Any, tangent: Any, *, given: bool = False) -> Iterable[Any]:
        """Tangents of the leaves of a value that have one; None for zero.

        Args:
            primal: An argument or a result.
            tangent: Its tangent or cotangent.
            given: Whether the value is an argument: then the tangent of a constant of
                the host must be zero.
        """
        leaves: list[Any] = []
        layout = self.layout(primal, leaves)
        wanted = [given or not self.is_static(x) for x in leaves]
        found = read(layout, tangent, wanted, f"a tangent given to {self.name}")
        moving = []
        for x, t in zip(leaves, found, strict=True):
            if not self.is_static(x):
                moving.append(t)
            elif t is not None and not (isinstance(t, (float, complex)) and t == 0):
                raise UnsupportedError(self.not_static.info)
        return tuple(moving)

    def fill(self, primal: Any, found: Iterator[Any], static: Any = _ZERO) -> Any:
        """The tangent of a value out of those of its leaves that have one.

        Args:
            primal: An argument or a result.
            found: A tangent for each of its leaves that is no constant.
            static: The tangent of a constant of the host.
        """
        leaves: list[Any] = []
        layout = self.layout(primal, leaves)
        tangents = [static if self.is_static(x) else next(found) for x in leaves]
        return build(layout, tangents)

    def layout(self, primal: Any, leaves: list[Any]) -> Any:
        """The layout of a value; its leaves that have a tangent are appended."""
        return flatten(primal, leaves, _MOVING)

    def is_static(self, leaf: Any) -> bool:
        """Whether a leaf of a layout stands for a number that the host holds constant.

        As a static field of a class that is registered with JAX: its derivative is
        an error, not zero.
        """
        del leaf
        return False

    @cached_property
    def not_static(self) -> NotImplementedTangent:
        """The cotangent of a number that the host holds constant."""
        return NotImplementedTangent(_STATIC.format(self.name), "", __name__)

    @cached_property
    def pull(self) -> Callable[..., Any]:
        """The pullback, as a primitive of this kind."""
        return derived(self, self.vjp, "pullback")

    @cached_property
    def push(self) -> Callable[..., Any]:
        """The pushforward, as a primitive of this kind."""
        return derived(self, self.jvp, "pushforward")

    @staticmethod
    def batched(layout: Any) -> Any:
        """What a batch rule says of a result whose arrays all have the batch axis."""
        return unflatten(_without_statics(layout), repeat(True))

    @property
    def name(self) -> str:
        """The function's name, for messages."""
        return getattr(self.f, "__name__", repr(self.f))

    @staticmethod
    def moves(x: Any) -> bool:
        """Whether an array of any host, or a number, has a tangent."""
        if isinstance(x, (float, complex)):
            return True
        dtype = str(getattr(x, "dtype", "")).rpartition(".")[2]
        return dtype.startswith(("float", "complex", "bfloat"))

    def _on_numpy(self) -> Callable[..., Any]:
        def on_numpy(*args: Any, **kwargs: Any) -> Any:
            return self.call(args, kwargs)

        update_wrapper(on_numpy, self.f)
        # A method's own name would make a method of it.
        name = getattr(self.f, "__name__", type(self.f).__name__)
        on_numpy.__name__ = on_numpy.__qualname__ = name
        # Functions do not declare the attributes that they are given.
        on_numpy.foreign = self  # type: ignore[attr-defined]
        return on_numpy

    def _rrule(self) -> Callable[..., Any]:
        def foreign_rrule(*args: Any, **kwargs: Any) -> Any:
            y = self.primitive(*args, **kwargs)
            return y, Pullback(_pull, self.primitive, y, kwargs or None, *args)

        setattr(foreign_rrule, AGAIN, (self.f,))
        return foreign_rrule

    def _frule(self) -> Callable[..., Any]:
        def foreign_frule(tangents: Any, *args: Any, **kwargs: Any) -> Any:
            y = self.primitive(*args, **kwargs)
            pairs = zip(args, tangents[1:], strict=True)
            given = tuple(t for x, dx in pairs for t in self.read(x, dx, given=True))
            if not _any(given):
                return y, self.fill(y, repeat(_ZERO))
            return y, self.fill(y, iter(self.push(given, args, kwargs)))

        return foreign_frule


def derived(foreign: Foreign, derivative: Callable[[], Any], kind: str) -> Primitive:
    """A derivative as a primitive; an engine may be the first to ask for it."""
    f = derivative()
    f.__name__ = f.__qualname__ = f"{kind} of {foreign.name}"
    return type(foreign)(f).primitive


# By hand, since `non_differentiable` belongs to a room that does not know this one.


@rrule.define(derived)
def derived_rrule(*args: Any) -> Any:
    """A function has no derivative."""
    return derived(*args), lambda dy: (NoTangent(),) * 4


@frule.define(derived)
def derived_frule(tangents: Any, *args: Any) -> Any:
    """A function has no derivative."""
    return derived(*args), NoTangent()


def _without_statics(layout: Any) -> Any:
    """A layout with None in place of what holds no leaf."""
    if layout[0] == "static":
        return ("static", None)
    if layout[0] == "leaf":
        return layout
    kind, builder, names, children = layout
    return (kind, builder, names, tuple(map(_without_statics, children)))


def _any(tangents: tuple[Any, ...]) -> bool:
    return any(t is not None for t in tangents)


def _moving(x: Any) -> Any:
    return x if is_array(x) and Foreign.moves(x) else None


_MOVING = Opener((float, complex), _moving)


def _pull(primitive: Primitive, y: Any, kwargs: Any, *rest: Any) -> tuple[Any, ...]:
    """The pullback; no closure, so that hosts keep its residuals as they are."""
    foreign, args, dy = Foreign.of(primitive), rest[:-1], rest[-1]
    assert foreign is not None
    given = tuple(foreign.read(y, dy))
    found: Any = repeat(_ZERO)
    if _any(given):
        found = iter(foreign.pull(given, args, kwargs or {}))
    static = foreign.not_static
    return NoTangent(), *(foreign.fill(x, found, static) for x in args)


def of_moving(
    f: Callable[..., Any], values: Sequence[Any], moves: Sequence[bool]
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A function of the values that move, and these; the others are constants.

    Args:
        f: The function of all values.
        values: All.
        moves: Which of them move.

    >>> from rules_core.extend import of_moving
    >>> f, moving = of_moving(lambda x, y: x + y, (1.0, 2.0), (False, True))
    >>> moving, f(5.0)
    ((2.0,), 6.0)
    """

    def of_some(*given: Any) -> Any:
        rest = iter(given)
        pairs = zip(values, moves, strict=True)
        return f(*[next(rest) if moving else x for x, moving in pairs])

    return of_some, tuple(compress(values, moves))
