"""The full back end: a primitive of JAX with the author's rules in both modes.

JAX asks it for what it needs. Reverse mode linearises it by the rrule, whose residuals
are kept; forward mode runs the frule; `jax.linearize` splits the frule; a batch keeps
the rules attached to the batched call. The linear half is always `rule_linear`, which
knows both directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax

from rules_jax import _compat
from rules_jax._linear.transpose import transpose_call
from rules_jax._values.jax_primitive import register
from rules_jax._values.leaves import expand, has_tangent, is_traced
from rules_jax._values.taylor import support_taylor

from .batched import Batched
from .linear_map import apply_linear
from .modes import keep_residuals, linearise, push_forward

__all__ = ["call_primitive_rules", "rule_call_p"]

rule_call_p = _compat.Primitive("rule_call")
rule_call_p.multiple_results = True


def call_primitive_rules(spec: Any, leaves: Sequence[Any]) -> list[Any]:
    """Results of a call, with its rules attached."""
    outs = spec.outs(leaves)
    return list(
        rule_call_p.bind(*leaves, spec=spec, avals=outs.avals, declared=outs.effects)
    )


def _primal(*leaves: Any, spec: Any, **_: Any) -> list[Any]:
    return list(spec.primal(*leaves))


_compat.lower_by_tracing(rule_call_p, _primal)


@rule_call_p.def_effectful_abstract_eval
def _abstract(
    *_: Any, spec: Any, avals: Sequence[Any], declared: Any
) -> tuple[list[Any], Any]:
    return list(avals), declared


def _or_zero(found: Sequence[Any], avals: Sequence[Any]) -> list[Any]:
    """Tangents or cotangents as JAX wants them: a symbolic zero for None."""
    return [
        _compat.Zero(_compat.cotangent_aval(aval)) if x is None else x
        for x, aval in zip(found, avals, strict=True)
    ]


def _given(primals: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
    """Tangents, None where one is zero or there is none (float0)."""
    return [
        None if isinstance(t, _compat.Zero) or not has_tangent(jax.typeof(x)) else t
        for x, t in zip(primals, tangents, strict=True)
    ]


def _jvp(primals: Any, tangents: Any, *, spec: Any, avals: Any, declared: Any) -> Any:
    """The frule; as a transposable linear map where anything is traced."""
    given = _given(primals, tangents)
    wanted = [t is not None for t in given]
    if not any(wanted):
        results = call_primitive_rules(spec, primals)
        return results, _or_zero([None] * len(results), avals)
    if not spec.has_rrule or not any(map(is_traced, (*primals, *given))):
        results, found = push_forward(spec, wanted, primals, given)
    else:
        results, linear, residuals = linearise(spec, wanted, primals)
        moved = apply_linear(linear, residuals, [t for t in given if t is not None])
        found = expand(avals, moved)
    return results, _or_zero(found, avals)


def _linearize(
    reverse: bool,
    nonzero: Sequence[bool],
    *primals: Any,
    spec: Any,
    avals: Any,
    declared: Any,
) -> Any:
    """Results, residuals, and the linear map that `jax.vjp` will transpose."""
    pairs = zip(nonzero, primals, strict=True)
    wanted = [bool(nz) and has_tangent(jax.typeof(x)) for nz, x in pairs]
    if reverse and spec.has_rrule:
        results, linear, residuals = keep_residuals(spec, wanted, primals)
    else:
        results, linear, residuals = linearise(spec, wanted, primals)

    def linearized(residuals: Sequence[Any], *tangents: Any) -> list[Any]:
        given = [t for t, w in zip(tangents, wanted, strict=True) if w]
        return _or_zero(expand(avals, apply_linear(linear, residuals, given)), avals)

    return results, list(map(has_tangent, avals)), residuals, linearized


def _transpose(
    cotangents: Any, *operands: Any, spec: Any, avals: Any, declared: Any
) -> list[Any]:
    """Transpose a call on tangents, inside another rule."""
    is_open = [_compat.is_undefined_primal(x) for x in operands]
    make = keep_residuals if spec.has_rrule else linearise

    def backward(at: Sequence[Any], given: Sequence[Any]) -> list[Any]:
        _, linear, residuals = make(spec, is_open, at)
        return linear.backward(residuals, given)

    smooth = [aval for aval in avals if has_tangent(aval)]
    given = [
        None if isinstance(ct, _compat.Zero) else ct
        for ct, aval in zip(cotangents, avals, strict=True)
        if has_tangent(aval)
    ]
    types = [aval.to_tangent_aval() for aval in smooth]
    found = iter(transpose_call(spec, backward, operands, given, types))
    return [
        _or_zero([next(found)], [x.aval])[0] if o else None
        for x, o in zip(operands, is_open, strict=True)
    ]


def _batch(
    axis: Any, operands: Any, dims: Any, *, spec: Any, avals: Any, declared: Any
) -> Any:
    """Call a primitive on a batch, with its rules attached.

    A body with a collective over the batch axis runs in the scope of the axis, even if
    no argument has it.
    """
    in_scope = _compat.named_axes(declared) & {axis.name}
    if not in_scope and all(dim is None for dim in dims):
        results = call_primitive_rules(spec, operands)
        return results, [None] * len(results)
    batched = Batched.of(spec, axis, tuple(dims))
    if any(map(is_traced, operands)):
        results = call_primitive_rules(batched, operands)
    else:  # nothing above can differentiate this call
        results = list(batched.primal(*operands))
    return results, [0] * len(results)


register(
    rule_call_p,
    impl=_primal,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    linearize=_linearize,
)
support_taylor(rule_call_p)
