"""Both modes, for whichever rules an author wrote.

Both rules: the frule is split into what depends on the tangents and what does not, and
the rrule is its transposition. Only an rrule: forward mode transposes the pullback.
Only an frule: reverse mode transposes its linear part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import jax

from rules_jax import _compat
from rules_jax._linear.transpose import transpose
from rules_jax._values.leaves import expand, has_tangent, instantiate
from rules_jax._values.project import RuleOutputError

from .linear_map import LinearMap

__all__ = ["keep_residuals", "linearise", "push_forward"]


def keep_residuals(
    spec: Any, wanted: Sequence[bool], leaves: Sequence[Any]
) -> tuple[list[Any], LinearMap, Sequence[Any]]:
    """By the rrule: results, the transposed pullback, and the rrule's residuals."""
    results, saved = spec.save(wanted, leaves)
    arrays, structure = jax.tree.flatten(saved)
    return list(results), _PullbackMap(spec, tuple(wanted), leaves, structure), arrays


def linearise(
    spec: Any, wanted: Sequence[bool], leaves: Sequence[Any]
) -> tuple[list[Any], LinearMap, Sequence[Any]]:
    """Results, the map from the wanted tangents to theirs, and its residuals."""
    if spec.has_frule:
        return _split_frule(spec, tuple(wanted), leaves)
    return keep_residuals(spec, wanted, leaves)


def push_forward(
    spec: Any, wanted: Sequence[bool], leaves: Sequence[Any], tangents: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    """Results and their tangents, at once; None is a zero tangent."""
    if spec.has_frule:
        results, found = spec.push(wanted, leaves, tangents)
        return list(results), list(found)
    results, linear, residuals = linearise(spec, wanted, leaves)
    found = linear.forward(residuals, [t for t in tangents if t is not None])
    return results, expand(spec.outs(leaves).avals, found)


def _tangent_avals(avals: Sequence[Any]) -> list[Any]:
    return [aval.to_tangent_aval() for aval in avals if has_tangent(aval)]


def _wanted_avals(leaves: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
    pairs = zip(leaves, wanted, strict=True)
    return [jax.typeof(x).to_tangent_aval() for x, w in pairs if w]


@_compat.held_weakly
@final
class _PullbackMap:
    """Forward mode out of the rrule: the transposed pullback."""

    effects: frozenset[Any] = frozenset()

    def __init__(
        self, spec: Any, wanted: tuple[bool, ...], leaves: Sequence[Any], structure: Any
    ) -> None:
        self.spec, self.wanted, self.structure = spec, wanted, structure
        self.ins = _wanted_avals(leaves, wanted)
        self.avals = spec.outs(leaves).avals
        self.outs = _tangent_avals(self.avals)

    def backward(
        self, residuals: Sequence[Any], cotangents: Sequence[Any]
    ) -> list[Any]:
        """The pullback."""
        given = iter(cotangents)
        full = [next(given) if has_tangent(a) else None for a in self.avals]
        found = self.spec.load(self.structure.unflatten(residuals), full)
        return [x for x, w in zip(found, self.wanted, strict=True) if w]

    def forward(self, residuals: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        """Its transposition."""

        def pullback(*cotangents: Any) -> list[Any]:
            found = self.backward(residuals, cotangents)
            return [
                _compat.zeros_of(aval) if x is None else x
                for x, aval in zip(found, self.ins, strict=True)
            ]

        return transpose(pullback, self.outs, list(tangents), self.spec.rrule)


@_compat.held_weakly
@final
class _FruleMap:
    """Forward by the linear part of the frule, backward by the rrule."""

    def __init__(
        self,
        spec: Any,
        wanted: tuple[bool, ...],
        avals: Sequence[Any],
        leaves: Sequence[Any],
        jaxpr: Any,
        count: int,
    ) -> None:
        self.spec, self.wanted, self.avals = spec, wanted, avals
        self.jaxpr, self.count = jaxpr, count
        self.ins = _wanted_avals(leaves, wanted)
        self.outs = _tangent_avals(avals)
        self.effects = frozenset(jaxpr.effects)

    def forward(self, residuals: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        """The equations of the frule that depend on the tangents."""
        own = residuals[: self.count]
        return list(
            jax.core.eval_jaxpr(self.jaxpr.jaxpr, self.jaxpr.consts, *own, *tangents)
        )

    def backward(
        self, residuals: Sequence[Any], cotangents: Sequence[Any]
    ) -> list[Any]:
        """The rrule on the saved arguments, or the transposition of `forward`."""
        if not self.spec.has_rrule:
            return self._transposed(residuals, cotangents)
        _, saved = self.spec.save(self.wanted, residuals[self.count :])
        given = iter(cotangents)
        full = [next(given) if has_tangent(a) else None for a in self.avals]
        found = self.spec.load(saved, full)
        return [x for x, w in zip(found, self.wanted, strict=True) if w]

    def _transposed(
        self, residuals: Sequence[Any], cotangents: Sequence[Any]
    ) -> list[Any]:
        given = [
            _compat.zeros_of(aval) if ct is None else ct
            for ct, aval in zip(cotangents, self.outs, strict=True)
        ]

        def linear(*tangents: Any) -> list[Any]:
            return self.forward(residuals, tangents)

        return transpose(linear, self.ins, given, self.spec.frule)


def _split_frule(
    spec: Any, wanted: tuple[bool, ...], leaves: Sequence[Any]
) -> tuple[list[Any], _FruleMap, list[Any]]:
    avals = spec.outs(leaves).avals
    closed = _frule_jaxpr(spec, wanted, leaves, avals)
    count, total = len(avals), len(closed.out_avals)
    known, unknown, depends = _compat.partial_eval(
        closed,
        [False] * len(leaves) + [True] * sum(wanted),
        [False] * count + [True] * (total - count),
    )
    if any(depends[:count]):
        rule = spec.frule
        message = (
            f"frule {rule.name} for {rule.target} at {rule.location}: the result y "
            "must not depend on the tangents, but it does. Compute it from the "
            "arguments."
        )
        raise RuleOutputError(message)
    found = jax.core.eval_jaxpr(known.jaxpr, known.consts, *leaves)
    own = found[count:]
    linear = _FruleMap(spec, wanted, avals, leaves, unknown, len(own))
    at = leaves if spec.has_rrule else ()
    return list(found[:count]), linear, [*own, *at]


def _frule_jaxpr(
    spec: Any, wanted: tuple[bool, ...], leaves: Sequence[Any], avals: Sequence[Any]
) -> Any:
    size = len(leaves)

    def frule(*operands: Any) -> list[Any]:
        primals, rest = operands[:size], iter(operands[size:])
        tangents = [next(rest) if w else None for w in wanted]
        results, found = spec.push(wanted, primals, tangents)
        return [*results, *instantiate(avals, found)]

    return jax.make_jaxpr(frule)(*leaves, *_wanted_avals(leaves, wanted))
