"""A mode from the rule of the other.

Both rules are linear maps and one is the other's adjoint, which the engine computes by
differentiating the rule.
"""

from typing import Any

from rules_core import NoTangent, unthunk, zero_tangent

__all__ = ["transposed_frule", "transposed_rrule"]


def transposed_frule(below: Any, found: Any, args: Any, slots: Any) -> Any:
    """``(y, pullback)`` from an frule: the adjoint of dx ↦ dy, at dx = 0."""
    from rules_autodiff._recording import Recording

    zeros = [NoTangent() if s is None and callable(x) else zero_tangent(x)
             for x, s in zip(args, slots, strict=True)]  # fmt: skip
    active = [i for i, slot in enumerate(slots) if slot is not None]

    def push(*directions: Any) -> Any:
        tangents = list(zeros)
        for i, dx in zip(active, directions, strict=True):
            tangents[i] = dx
        return found.run(tuple(tangents))

    given = tuple(zeros[i] for i in active)
    recording = Recording(below, push, given, {}, range(len(given)))
    y, dy = recording.output

    def pullback(ct: Any) -> Any:
        cotangents: list[Any] = [None] * len(args)
        found_cotangents = recording.pull(dy, ct, below)
        for i, dx in zip(active, found_cotangents, strict=True):
            cotangents[i] = dx
        return tuple(cotangents)

    return y, pullback


def transposed_rrule(below: Any, y: Any, pullback: Any) -> Any:
    """``dx ↦ dy`` from a pullback: its adjoint, at dy = 0."""
    from rules_autodiff._recording import Recording

    def pull(dy: Any) -> Any:
        return tuple([unthunk(dx) for dx in pullback(dy)])

    def push(tangents: Any) -> Any:
        recording = Recording(below, pull, (zero_tangent(y),), {}, (0,))
        out = recording.output
        for value, dx in zip(out, tangents, strict=True):
            recording.seed(value, dx)
        (dy,) = recording.run_back(below)
        return dy

    return push
