"""A derived mode: the transpose of the other mode's rule.

Both rules are linear maps and each is the adjoint of the other, which the engine
computes by differentiating the rule.
"""

from typing import Any

from rules_autodiff._boundary.tangent_shapes import check_tangent
from rules_autodiff._hooks.calls import Transform
from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._refusals import asked_of, refuse_no_cotangent
from rules_autodiff._shadows.slots import tangent_of
from rules_core import (
    AbstractThunk,
    AbstractZero,
    CotangentCountError,
    MutableTangent,
    NoTangent,
    NotImplementedTangent,
    StructuralTangent,
    ZeroTangent,
    structure,
    unthunk,
    zero_tangent,
)
from rules_core.extend import entries_of, ordered_cotangents

from .linear_map import deepest
from .recorded_point import check_adjoint, generic_like, nonlinear

__all__ = ["transposed_frule", "transposed_rrule"]


def transposed_frule(record: Any, below: Any, found: Any, args: Any, slots: Any) -> Any:
    """``(y, pullback)`` from an frule: the adjoint of dx ↦ dy, by ``record``."""
    zeros = [NoTangent() if s is None and callable(x) else zero_tangent(x)
             for x, s in zip(args, slots, strict=True)]  # fmt: skip
    active = [i for i, slot in enumerate(slots) if slot is not None]

    def push(*directions: Any) -> Any:
        tangents = list(zeros)
        for i, dx in zip(active, directions, strict=True):
            tangents[i] = dx
        y, dy = found.run(tuple(tangents))
        return y, concrete(dy)

    point = tuple(generic_like(zeros[i]) for i in active)
    recording = record(below, push, point, {}, range(len(point)))
    recording.decides = False  # of a linear map, whose cotangents do not move
    y, dy = recording.output
    refuse_missing(dy, found)
    check_tangent(y, dy, found, below)
    return y, Transposed(recording, active, args, found)


class Transposed(Transform):
    """The pullback of an frule: the adjoint of dx ↦ dy, at any level."""

    def __init__(self, recording: Any, active: list[int], args: Any, found: Any):
        self.recording, self.active, self.args = recording, active, args
        self.found, self.recorded = found, recording.value()

    def run_on(self, below: Any, ct: Any) -> Any:
        cotangents: list[Any] = [None] * len(self.args)
        level = deepest(below, self.recording.below)
        if not self.recording.done:
            self.recording.again(self.recording.output, level)
        recorded = self.recording.output[1]
        self.recording.seed(recorded, shared_as(recorded, ct, {}), level)
        tangents = self.recording.run_back(level)
        self.check(ct, tangents)
        for i, dx in zip(self.active, tangents, strict=True):
            cotangents[i] = dx
        return tuple(cotangents)

    def check(self, ct: Any, cotangents: Any) -> None:
        """Raise an error for a map that was not linear in the recorded tangents."""
        y, dy = self.recorded
        primals = [self.args[i] for i in self.active]
        other = list(zip(primals, self.recording.args, cotangents, strict=True))
        check_adjoint(nonlinear(self.found.rule), [(y, dy, ct)], other)

    def __call__(self, ct: Any) -> Any:
        return self.run_on(PLAIN, ct)


def transposed_rrule(record: Any, below: Any, found: Any, y: Any, pullback: Any) -> Any:
    """``dx ↦ dy`` from a pullback: its adjoint, by ``record``; None is no tangent."""
    own = found.args if found.bound else (None, *found.args)

    def pull(dy: Any) -> Any:
        met: dict[Any, Any] = {}
        dxs = pullback(dy)
        if type(dxs) is dict:
            dxs = ordered_cotangents(found.rule, dxs, len(own))
        parts = [concrete(dx, met) for dx in dxs]
        if len(parts) == len(own):
            parts = [of_class(x, dx, met) for x, dx in zip(own, parts, strict=True)]
        return tuple(parts)

    def push(tangents: Any) -> Any:
        seed = generic_like(zero_tangent(y))
        recording = record(below, pull, (seed,), {}, (0,))
        recording.decides = False
        out, recorded = recording.output, recording.value()
        if len(out) != len(tangents):
            raise CotangentCountError(found.rule, len(tangents), out)
        moving = [place for place, dx in enumerate(tangents) if dx is not None]
        for place in moving:
            refuse_missing(out[place], found, place)
            refuse_no_cotangent(found, place, out[place])
        met: dict[Any, Any] = {}
        paired = tuple([shared_as(out[i], tangents[i], met) for i in moving])
        recording.seed(tuple([out[i] for i in moving]), paired)
        (dy,) = recording.run_back(below)
        # As one value: an instance in several arguments counts once.
        primals, cotangents = (tuple([x[i] for i in moving]) for x in (own, recorded))
        moved = [(primals, cotangents, paired)]
        check_adjoint(nonlinear(found.rule), moved, [(y, seed, dy)])
        return dy

    return push


CONTAINERS = (StructuralTangent, tuple, list, dict)


def concrete(dx: Any, met: dict[Any, Any] | None = None) -> Any:
    """A tangent with all its thunks computed; the recording level differentiates this.

    The tangent of an instance stays one object for all occurrences.
    """
    met = {} if met is None else met
    while isinstance(dx, AbstractThunk):
        dx = unthunk(dx)
    if not isinstance(dx, CONTAINERS):
        return dx
    if id(dx) in met:
        return met[id(dx)][1]
    level: Any = structure(dx)
    result = level.rebuild([concrete(part, met) for part in level.values])
    if isinstance(dx, MutableTangent):
        met[id(dx)] = dx, result
    return result


def of_class(x: Any, dx: Any, met: dict[Any, Any]) -> Any:
    """A tangent of a container in the form and the order of its primal's class.

    An author may give a plain tuple or dict for an instance, in any order.
    """
    # The class's own instance as its tangent.
    instance = type(dx) is type(x) and not isinstance(dx, CONTAINERS)
    level = structure(x) if instance or isinstance(dx, CONTAINERS) else None
    if level is None:
        return dx
    if ("class", id(dx)) in met:
        return met["class", id(dx)][1]
    items = entries_of(level, dx, "the cotangent")
    if instance:
        items = {name: concrete(item, met) for name, item in items.items()}
    parts = [
        of_class(value, items.get(name, ZeroTangent()), met)
        for name, value in zip(level.names, level.values, strict=True)
    ]
    result = tangent_of(level, parts)
    met["class", id(dx)] = dx, result
    return result


def shared_as(known: Any, dx: Any, met: dict[Any, Any]) -> Any:
    """A tangent in which an instance has one object wherever `known` has one.

    If `known`, the cotangent of a rule, is zero or has no entry there is nothing to
    pair with. Accumulation adds one object once: for an instance in two places, with a
    cotangent in both, the derivative would count twice.
    """
    if isinstance(known, AbstractZero):
        return ZeroTangent()
    if not isinstance(known, CONTAINERS):
        return dx
    if id(known) in met:
        return met[id(known)]
    level, own = structure(known), structure(dx)
    if level is None or own is None:
        return dx
    # A plain tuple may represent a named tuple.
    names = own.names if own.keyed == level.keyed else level.names
    if len(names) != len(own.values) or not set(level.names) <= set(names):
        return dx
    entries = dict(zip(names, own.values, strict=True))
    result = level.rebuild(
        [
            shared_as(value, entries[name], met)
            for name, value in zip(level.names, level.values, strict=True)
        ]
    )
    if isinstance(known, MutableTangent):
        met[id(known)] = result
    return result


def refuse_missing(value: Any, found: Any, place: int | None = None) -> None:
    """Raise an error for a missing derivative anywhere in a tangent."""
    if isinstance(value, NotImplementedTangent):
        value.throw(asked_of(found, place))
    if isinstance(value, StructuralTangent | tuple | list):
        for part in getattr(structure(value), "values", ()):
            refuse_missing(part, found, place)
