"""Back ends on JAX's public API: `custom_jvp`, `custom_vjp`, and both rules in one.

`custom_jvp` takes the frule and lets JAX transpose it; `custom_vjp` takes the rrule and
has no forward mode; `call_linear` is `custom_jvp` whose tangents come from
`rule_linear`, so that the rrule has the reverse mode (its forward half is run again in
the backward pass, as under `jax.checkpoint`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.custom_derivatives import SymbolicZero

import rules_core as rc
from rules_jax._values.jax_primitive import as_array, as_arrays
from rules_jax._values.leaves import expand, has_tangent
from rules_jax._values.owned_caches import kept_by_owner

from .linear_map import apply_linear
from .modes import linearise

__all__ = ["call_custom_jvp", "call_custom_vjp", "call_linear"]


def call_custom_jvp(spec: Any, leaves: Sequence[Any]) -> list[Any]:
    """Results of a call; forward mode by the frule, reverse mode by transposing it."""
    spec.outs(leaves)
    return list(_custom_jvp(spec)(*leaves))


def call_linear(spec: Any, leaves: Sequence[Any]) -> list[Any]:
    """Results of a call; forward mode by the frule, reverse mode by the rrule."""
    spec.outs(leaves)
    return list(_with_linear(spec)(*leaves))


def call_custom_vjp(spec: Any, leaves: Sequence[Any]) -> list[Any]:
    """Results of a call; reverse mode by the rrule, no forward mode."""
    spec.outs(leaves)
    try:
        return list(_custom_vjp(spec)(*leaves))
    except TypeError as error:
        if "forward-mode" not in str(error):
            raise
        message = (
            f"{spec.name} is differentiated in forward mode, but via='custom_vjp' has "
            "none. Leave via out, or use via='linear'."
        )
        raise rc.UnsupportedError(message) from error


def _named(spec: Any) -> Callable[..., Any]:
    def primal(*leaves: Any) -> list[Any]:
        return list(spec.primal(*as_arrays(leaves)))

    primal.__name__ = primal.__qualname__ = spec.name
    return primal


def _or_none(tangents: Sequence[Any]) -> list[Any]:
    return [None if isinstance(t, SymbolicZero) else as_array(t) for t in tangents]


def _filled(found: Sequence[Any], avals: Sequence[Any]) -> list[Any]:
    """A tangent for custom_jvp: an array or a symbolic zero of the tangent type."""
    return [
        SymbolicZero(aval.to_tangent_aval()) if t is None else t
        for t, aval in zip(found, avals, strict=True)
    ]


@kept_by_owner
def _custom_jvp(spec: Any) -> Any:
    function = jax.custom_jvp(_named(spec))

    def jvp(primals: Any, tangents: Any) -> Any:
        primals, given = as_arrays(primals), _or_none(tangents)
        wanted = [t is not None for t in given]
        results, found = spec.push(wanted, primals, given)
        return list(results), _filled(found, spec.outs(primals).avals)

    function.defjvp(jvp, symbolic_zeros=True)
    return function


@kept_by_owner
def _with_linear(spec: Any) -> Any:
    function = jax.custom_jvp(_named(spec))

    def jvp(primals: Any, tangents: Any) -> Any:
        primals, given = as_arrays(primals), _or_none(tangents)
        results, linear, residuals = linearise(
            spec, [t is not None for t in given], primals
        )
        moved = apply_linear(linear, residuals, [t for t in given if t is not None])
        avals = spec.outs(primals).avals
        return list(results), _filled(expand(avals, moved), avals)

    function.defjvp(jvp, symbolic_zeros=True)
    return function


@kept_by_owner
def _custom_vjp(spec: Any) -> Any:
    function = jax.custom_vjp(_named(spec))

    def fwd(*given: Any) -> Any:
        leaves = as_arrays(x.value for x in given)
        results, saved = spec.save([x.perturbed for x in given], leaves)
        kept = _Typed(tuple(map(jax.typeof, leaves)))
        return list(results), (saved, kept)

    def bwd(residuals: Any, cotangents: Any) -> Any:
        saved, kept = residuals
        found = spec.load(jax.tree.map(as_array, saved), _or_none(cotangents))
        return tuple(
            None if x is None or not has_tangent(aval) else x
            for x, aval in zip(found, kept.avals, strict=True)
        )

    function.defvjp(fwd, bwd, symbolic_zeros=True)
    return function


@jax.tree_util.register_static
class _Typed:
    """Types of the arguments, as a static part of the residuals."""

    def __init__(self, avals: tuple[Any, ...]) -> None:
        self.avals = avals

    def __hash__(self) -> int:
        return hash(self.avals)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Typed) and self.avals == other.avals
