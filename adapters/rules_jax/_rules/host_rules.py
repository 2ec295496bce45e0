"""Rules declared `host=True`: NumPy-only bodies, run by callback, at first order only.

A host closure cannot cross into compiled code, so the backward half runs the rrule
again on the saved arguments. What the callbacks compute has no derivative; asking for
one is an error that names the rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Any, final

import jax

import rules_core as rc
from rules_jax import _compat
from rules_jax._errors import noted
from rules_jax._host.call import HostFunction, host_call
from rules_jax._values.leaves import expand, has_tangent, instantiate
from rules_jax._values.owned_caches import kept_by_owner
from rules_jax._values.placement import match_placement
from rules_jax._values.project import RuleOutputError, project_host
from rules_jax._values.tangents import build, read

from .linear_map import apply_linear
from .saved_pullback import Saved

__all__ = ["HostRules"]


def _refusal(rule: Any) -> str:
    return (
        f"{rule.label} is NumPy-only "
        "(host=True), so its result cannot be differentiated again. Write the rule's "
        "body with array_namespace and primitives that have rules, and drop host=True."
    )


def _one_way(rule: Any) -> str:
    other, mode = ("rrule", "reverse") if rule.kind == "frule" else ("frule", "forward")
    return (
        f"{rule.label} is NumPy-only "
        f"(host=True), so {mode} mode cannot be derived from it. Define an {other} as "
        "well, or write this rule with array_namespace and drop host=True."
    )


@final
class HostRules:
    """The NumPy-only rules of one spec."""

    def __init__(self, spec: Any) -> None:
        self.spec = spec

    def push(
        self, wanted: Sequence[bool], leaves: Sequence[Any], tangents: Sequence[Any]
    ) -> tuple[list[Any], list[Any]]:
        """Results by the function itself, tangents by the frule on the host."""
        outs = self.spec.outs(leaves)
        linear = _HostMap(self.spec, tuple(wanted), _types(leaves), outs, "frule")
        given = [t for t in tangents if t is not None]
        moved = expand(outs.avals, apply_linear(linear, leaves, given))
        return self.spec.again(leaves), moved

    def save(
        self, wanted: Sequence[bool], leaves: Sequence[Any]
    ) -> tuple[list[Any], Saved]:
        """Results by the function itself; the arguments are the residuals."""
        outs = self.spec.outs(leaves)
        linear = _HostMap(self.spec, tuple(wanted), _types(leaves), outs, "rrule")
        return self.spec.again(leaves), Saved(leaves, _HostLoad(linear))


def _types(leaves: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(map(jax.typeof, leaves))


@final
class _HostLoad:
    """The backward half: the rrule again, then its pullback, on the host."""

    def __init__(self, linear: _HostMap) -> None:
        self.linear = linear

    def zeros(self) -> list[Any]:
        """The answer to zero cotangents."""
        return [None] * len(self.linear.wanted)

    def __call__(self, arrays: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        linear = self.linear
        given = instantiate(linear.results.avals, cotangents)
        if linear.spec.rrule.symbolic_zeros:
            there = [ct is not None for ct in compress(cotangents, linear.smooth)]
            linear, given = linear.restricted(there), list(compress(given, there))
        found = iter(apply_linear(linear, arrays, given))
        return [next(found) if w else None for w in linear.wanted]


@_compat.held_weakly
@final
class _HostMap:
    """A NumPy-only rule as a linear map: its callback, and that of the transpose.

    The frule maps the wanted tangents to those of the results; the rrule maps the
    cotangents of the results to the wanted ones. Each is the other's transposition.
    """

    effects: frozenset[Any] = frozenset()

    def __init__(
        self,
        spec: Any,
        wanted: tuple[bool, ...],
        avals: tuple[Any, ...],
        results: Any,
        kind: str,
        there: tuple[bool, ...] = (),
    ) -> None:
        self.spec, self.wanted, self.results, self.kind = spec, wanted, results, kind
        self.avals = avals
        ins = list(compress(self.avals, wanted))
        self.smooth = list(map(has_tangent, results.avals))
        self.there = there or (True,) * sum(self.smooth)
        smooth = list(compress(compress(results.avals, self.smooth), self.there))
        self.outs = [
            aval.to_tangent_aval() for aval in (smooth if kind == "frule" else ins)
        ]
        self.ins = ins if kind == "frule" else smooth

    def restricted(self, there: Sequence[bool]) -> _HostMap:
        """The pullback where only these results have a cotangent."""
        return _HostMap(
            self.spec, self.wanted, self.avals, self.results, self.kind, tuple(there)
        )

    def forward(self, residuals: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        """The rule's callback."""
        host = self._host(self.kind)
        results = host_call(host, [*residuals, *tangents])
        return list(map(match_placement, results, self.outs))

    def backward(
        self, residuals: Sequence[Any], cotangents: Sequence[Any]
    ) -> list[Any]:
        """The other rule's."""
        other = "rrule" if self.kind == "frule" else "frule"
        rule = getattr(self.spec, other)
        if rule is None or not rule.host:
            raise rc.UnsupportedError(_one_way(getattr(self.spec, self.kind)))
        given = [
            _compat.zeros_of(aval) if ct is None else ct
            for ct, aval in zip(cotangents, self.outs, strict=True)
        ]
        results = host_call(self._host(other), [*residuals, *given])
        if other == "frule":
            results = list(compress(results, self.there))
        ins = [aval.to_tangent_aval() for aval in self.ins]
        return list(map(match_placement, results, ins))

    def _host(self, kind: str) -> HostFunction:
        if kind == "frule":
            return _frule_host(self.spec, self.wanted, self.avals, self.results)
        key = self.spec, self.wanted, self.avals, self.results, self.there
        return _rrule_host(*key)


@kept_by_owner
def _rrule_host(
    spec: Any, wanted: tuple[bool, ...], avals: Any, outs: Any, there: tuple[bool, ...]
) -> HostFunction:
    rule, count = spec.rrule, len(avals)
    named = rule.label

    def run(arrays: list[Any]) -> list[Any]:
        args, kwargs = spec.fill(arrays[:count])
        call = _resolve(rc.rrule, rule, spec, args, kwargs)
        with noted(rule):
            _, pullback = call.run(needs=spec.needs(wanted, call))
        rest = iter(arrays[count:])
        given = [_conj(next(rest)) if t else rc.ZeroTangent() for t in there]
        cts = expand(outs.avals, given)
        dy = build(outs.template, [rc.NoTangent() if c is None else c for c in cts])
        with noted(rule):
            answer = pullback(dy)
        answer = call.check_cotangents(answer)

        def argument(i: int, ct: Any, part: slice) -> list[Any]:
            own = f"the cotangent of argument {i}"
            leaves = read(spec.args[i], ct, wanted[part], own, rule)
            pairs = zip(leaves, arrays[part], strict=True)
            return [project_host(x, primal, f"{named}: {own}") for x, primal in pairs]

        found = spec.flat.cotangents(rule, answer, argument, count)
        return [_conj(x) for x in compress(found, wanted)]

    promised = [a for a, w in zip(avals, wanted, strict=True) if w]
    return HostFunction(rule.name, run, _like(promised), refusal=_refusal(rule))


@kept_by_owner
def _frule_host(
    spec: Any, wanted: tuple[bool, ...], avals: Any, outs: Any
) -> HostFunction:
    rule, count = spec.frule, len(avals)

    def run(arrays: list[Any]) -> list[Any]:
        args, kwargs = spec.fill(arrays[:count])
        call = _resolve(rc.frule, rule, spec, args, kwargs)
        rest = iter(arrays[count:])
        flat = [
            next(rest) if there else _no_tangent(x, symbolic=rule.symbolic_zeros)
            for x, there in zip(arrays[:count], wanted, strict=True)
        ]
        tangents = spec.flat.tangents(flat, symbolic=rule.symbolic_zeros)
        with noted(rule):
            y, dy = call.run(tangents, needs=spec.needs(wanted, call))
        what = f"frule {rule.name} for {rule.target} at {rule.location}: the tangent"
        flags = [has_tangent(aval) for aval in outs.avals]
        leaves = read(outs.template, dy, flags, "the tangent", rule)
        primals = outs.template.of_arrays(jax.tree.leaves(y))
        return [
            project_host(x, primal, what, tangent=True)
            for x, primal, flag in zip(leaves, primals, flags, strict=True)
            if flag
        ]

    promised = [a for a in outs.avals if has_tangent(a)]
    return HostFunction(rule.name, run, _like(promised), refusal=_refusal(rule))


def _like(avals: Sequence[Any]) -> Any:
    structs = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in avals]
    return lambda _: structs


def _no_tangent(x: Any, *, symbolic: bool) -> Any:
    import numpy as np

    if not has_tangent(x):
        return rc.NoTangent()
    return rc.ZeroTangent() if symbolic else np.zeros_like(x)


def _conj(x: Any) -> Any:
    import numpy as np

    return np.conj(x) if np.iscomplexobj(x) else x


def _resolve(kind: Any, rule: Any, spec: Any, args: Any, kwargs: Any) -> Any:
    from rules_jax._config import CONFIG

    call = kind.resolve(spec.primitive.fun, args, kwargs, config=CONFIG)
    if call is None or call.rule is not rule:
        message = (
            f"{rule.kind} {rule.name} for {rule.target} was chosen by the types of the "
            "call, but does not fit the NumPy arrays of a host rule. Annotate array "
            "arguments with rules_core.Array."
        )
        raise RuleOutputError(message)
    return call
