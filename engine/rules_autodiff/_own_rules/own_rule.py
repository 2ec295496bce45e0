"""The engine's own rules, and the linear helpers in them.

Each is a function with two rules. A pullback returns one cotangent per argument and
none for the function; a cotangent that is not needed may be None. The rules are
ordinary Python made of the operations of this module, so the engine differentiates them
again for higher orders.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rules_core import AbstractZero

__all__ = ["CORE", "INERT_FUNCTIONS", "CoreRule", "Space", "space_of"]

Rule = Callable[..., Any]


@dataclass(frozen=True)
class CoreRule:
    """A function of numbers and arrays with its two rules.

    ``rrule(needs, *args)`` gives ``(y, pullback)``, ``frule(tangents, *args)`` gives
    ``(y, dy)``; the tangent of an inactive argument is zero.
    """

    function: Callable[..., Any]
    rrule: Rule
    frule: Rule


CORE: dict[Any, CoreRule] = {}  # by hook name for operators, otherwise by function
INERT_FUNCTIONS: set[Any] = set()  # helpers of the rules whose values are constants


def inert(f: Any) -> Any:
    """Mark a helper whose result has no derivative."""
    INERT_FUNCTIONS.add(f)
    return f


@dataclass(frozen=True)
class Space:
    """Shape and kind of a number or array: all that a linear rule needs."""

    shape: tuple[int, ...]
    kind: str
    array: bool


@inert
def space_of(x: Any) -> Space:
    """The space of a value; it does not keep the value alive."""
    if isinstance(x, np.ndarray):
        return Space(x.shape, x.dtype.kind, array=True)
    return Space((), "c" if isinstance(x, complex | np.complexfloating) else "f", False)


@inert
def is_complex(x: Any) -> bool:
    return isinstance(x, complex | np.complexfloating) or (
        isinstance(x, np.ndarray) and x.dtype.kind == "c"
    )


@inert
def ndim(x: Any) -> int:
    return np.ndim(x)


@inert
def zeros(space: Space) -> Any:
    dtype = complex if space.kind == "c" else float
    return np.zeros(space.shape, dtype) if space.array else dtype()


@inert
def given(dx: Any) -> bool:
    """Whether an argument has a tangent other than `ZeroTangent()`."""
    return not isinstance(dx, AbstractZero)


# linear helpers: `fit` (unbroadcast) and `spread` (broadcast) are adjoint


def fit(d: Any, space: Space) -> Any:
    """Unbroadcast: sum a cotangent over broadcast axes; real if the space is.

    Axes of length one may be anywhere, as in `ProjectTo`.
    """
    shape = np.shape(d)
    if shape != space.shape and is_reshaped(shape, space.shape):
        d = np.reshape(d, space.shape)
    elif shape != space.shape:
        lead = len(shape) - len(space.shape)
        pairs = enumerate(zip(shape[lead:], space.shape, strict=True), lead)
        stretched = [axis for axis, (n, m) in pairs if n != m]
        d = np.sum(d, axis=(*range(lead), *stretched)).reshape(space.shape)
    if space.kind != "c" and is_complex(d):
        d = d.real
    if space.array != isinstance(d, np.ndarray):
        d = np.asarray(d) if space.array else d[()]
    return d


@inert
def is_reshaped(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether two shapes differ by axes of length one alone."""
    return [n for n in one if n != 1] == [n for n in other if n != 1]


def spread(d: Any, space: Space) -> Any:
    """Broadcast a cotangent to a space: a new array; the adjoint of `fit`."""
    shape = np.shape(d)
    if shape != space.shape and is_reshaped(shape, space.shape):
        d = np.reshape(d, space.shape)
    if space.array:
        return np.array(np.broadcast_to(d, space.shape))
    return d[()] if isinstance(d, np.ndarray) else d


def fit_rrule(_needs: Any, d: Any, space: Space) -> Any:
    from_space = space_of(d)

    def fit_pullback(dd: Any) -> Any:
        return spread(dd, from_space), None

    return fit(d, space), fit_pullback


def fit_frule(tangents: Any, d: Any, space: Space) -> Any:
    return fit(d, space), fit(tangents[0], space)


def spread_rrule(_needs: Any, d: Any, space: Space) -> Any:
    from_space = space_of(d)

    def spread_pullback(dd: Any) -> Any:
        return fit(dd, from_space), None

    return spread(d, space), spread_pullback


def spread_frule(tangents: Any, d: Any, space: Space) -> Any:
    return spread(d, space), spread(tangents[0], space)


def conj(x: Any) -> Any:
    """Complex conjugate; a real value is returned unchanged."""
    if type(x) is complex:
        return x.conjugate()
    return np.conjugate(x) if is_complex(x) else x


def conj_rrule(_needs: Any, x: Any) -> Any:
    def conj_pullback(dy: Any) -> Any:
        return (conj(dy),)

    return conj(x), conj_pullback


def conj_frule(tangents: Any, x: Any) -> Any:
    return conj(x), conj(tangents[0])


def real(x: Any) -> Any:
    return x.real


def imag(x: Any) -> Any:
    return x.imag


def real_rrule(_needs: Any, x: Any) -> Any:
    space = space_of(x)

    def real_pullback(dy: Any) -> Any:
        return (fit(dy + 0j if space.kind == "c" else dy, space),)

    return real(x), real_pullback


def real_frule(tangents: Any, x: Any) -> Any:
    return real(x), real(tangents[0])


def imag_rrule(_needs: Any, x: Any) -> Any:
    space = space_of(x)

    def imag_pullback(dy: Any) -> Any:
        return (dy * 1j if space.kind == "c" else dy * 0.0,)

    return imag(x), imag_pullback


def imag_frule(tangents: Any, x: Any) -> Any:
    return imag(x), imag(tangents[0])


CORE.update({
    fit: CoreRule(fit, fit_rrule, fit_frule),
    spread: CoreRule(spread, spread_rrule, spread_frule),
    conj: CoreRule(conj, conj_rrule, conj_frule),
    real: CoreRule(real, real_rrule, real_frule),
    imag: CoreRule(imag, imag_rrule, imag_frule),
})  # fmt: skip
