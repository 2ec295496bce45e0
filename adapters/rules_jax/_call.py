"""A call of a primitive in JAX: which rules serve it and which back end runs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import tree_util

import rules_core as rc
from rules_jax._errors import REGISTER
from rules_jax._host.lent_arrays import call_lent
from rules_jax._host.primal import no_rule_text
from rules_jax._rules.by_custom_functions import (
    call_custom_jvp,
    call_custom_vjp,
    call_linear,
)
from rules_jax._rules.by_primitive import call_primitive_rules
from rules_jax._rules.flat_call import Spec, captured_text
from rules_jax._rules.read_later import as_at_call
from rules_jax._values.callables import (
    captured,
    captures_tracer,
    convert_callables,
    hidden_tracer,
    hides,
)
from rules_jax._values.leaves import Fixed, Template, is_traced, settle, split
from rules_jax._values.owned_caches import kept_by_owner
from rules_jax._values.placement import to_device

from . import _compat
from ._config import CONFIG
from ._from_jax import native_of

__all__ = ["BACK_ENDS", "OUT", "call_primitive", "refuse_captured", "spec_of"]

# Where a handle keeps the types of results that `to_jax(f, out=…)` was given.
OUT = "_out_jax"

BackEnd = Callable[[Any, Sequence[Any]], list[Any]]

BACK_ENDS: dict[str, BackEnd] = {
    "primitive": call_primitive_rules,
    "linear": call_linear,
    "custom_vjp": call_custom_vjp,
    "custom_jvp": call_custom_jvp,
}


def call_primitive(
    primitive: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    via: str | None = None,
) -> Any:
    """Call a primitive on JAX arrays, its rules attached where anything is traced."""
    if primitive.host and (native := native_of(primitive)) is not None:
        return native(*args, **kwargs)
    if any(map(_traced, args)) or (kwargs and any(map(_traced, kwargs.values()))):
        if primitive.helpers:
            refuse_captured(primitive)
        return _call_traced(primitive, args, kwargs, via)
    refuse_captured(primitive)
    if primitive.host:
        _refuse_jax_arrays(primitive, (*args, *kwargs.values()))
        return _call_host(primitive, args, kwargs)
    return primitive.fun(*args, **kwargs)


_PLAIN = (np.ndarray, np.generic, int, float, complex, str, type(None))


def _traced(x: Any) -> bool:
    """Whether a tracer is an argument, or in one, or in a function's closure."""
    if isinstance(x, jax.core.Tracer):
        return True
    if isinstance(x, (jax.Array, *_PLAIN)):
        return False
    return any(
        is_traced(leaf) or captures_tracer(leaf) or hidden_tracer(leaf) is not None
        for leaf in tree_util.tree_leaves(x)
    )


def _call_host(primitive: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """NumPy called directly, on concrete arrays."""
    if not primitive.pure and not _compat.at_top_level():
        raise rc.UnsupportedError(_impure_text(primitive))
    if OUT not in primitive.__dict__ and primitive.shape_rule is None:
        convert = _to_own_numpy if primitive.needs_copies else _to_numpy
        given = jax.tree.map(convert, (args, kwargs))
        found = call_lent(primitive, lambda at: primitive.run(*at[0], **at[1]), given)
        return jax.tree.map(_to_jax, found)
    leaves, spec = spec_of(primitive, args, kwargs, (None, None))
    host = spec.host_primal
    promised, template = host.results(leaves)
    found = call_lent(host.function, host.run, [np.asarray(x) for x in leaves])
    found = host.function.check(found, promised)
    owned = host.function.owned
    placed = [to_device(x, leaves, owned=owned) for x in found]
    return template.fill(spec.typed(placed, leaves))


def _to_numpy(x: Any) -> Any:
    return np.asarray(x) if isinstance(x, jax.Array) else x


def _to_own_numpy(x: Any) -> Any:
    return np.array(x) if isinstance(x, (jax.Array, np.ndarray)) else x


def _to_jax(x: Any) -> Any:
    return jnp.array(x) if isinstance(x, (np.ndarray, np.generic)) else x


def _call_traced(
    primitive: Any, args: tuple[Any, ...], kwargs: dict[str, Any], via: Any
) -> Any:
    if primitive.host and not primitive.pure:
        raise rc.UnsupportedError(_impure_text(primitive))
    _refuse_hidden(primitive, (*args, *kwargs.values()))
    args, kwargs = convert_callables((args, kwargs))
    leaves, spec = spec_of(primitive, args, kwargs, None)
    if spec.frule is None and spec.rrule is None:
        return _without_rules(spec, leaves)
    results = _back_end(spec, via)(as_at_call(spec, leaves), leaves)
    return spec.outs(leaves).template.fill(results)


def _without_rules(spec: Spec, leaves: Sequence[Any]) -> Any:
    """A generic function is differentiated by JAX, a host function not at all."""
    args, kwargs = spec.fill(leaves)
    if spec.primitive.host:
        reason = rc.why_not_derived(spec.primitive, args, kwargs, CONFIG)
        spec.host_primal.function.refusal = no_rule_text(spec.name, reason)
        results = as_at_call(spec, leaves).primal(*leaves)
        return spec.outs(leaves).template.fill(results)
    return spec.primitive.fun(*args, **kwargs)


def _back_end(spec: Spec, via: str | None) -> BackEnd:
    if via is None:
        if _compat.HAS_LINEARIZATIONS:
            return call_primitive_rules
        return call_custom_jvp if spec.rrule is None else call_linear
    if via == "primitive" and not _compat.HAS_LINEARIZATIONS:
        message = (
            "via='primitive' needs what JAX has had since 0.9.1 and this JAX "
            f"{jax.__version__} has not: rules of primitives for linearisation. Leave "
            "via out, or use via='linear'."
        )
        raise rc.UnsupportedError(message)
    needed = {"custom_jvp": "frule", "custom_vjp": "rrule", "linear": "rrule"}.get(via)
    if needed is not None and getattr(spec, needed) is None:
        message = (
            f"via={via!r} needs an {needed} of {spec.name}, which has none for these "
            "arguments. Define one, or leave via out."
        )
        raise rc.UnsupportedError(message)
    return BACK_ENDS[via]


def spec_of(
    primitive: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    rules: tuple[Any, Any] | None,
) -> tuple[list[Any], Spec]:
    """Arrays of a call, and the spec of its form."""
    args, kwargs = primitive.bind(args, kwargs)
    if primitive.static_argnames:
        args, kwargs = _hold_static(primitive, args, kwargs)
    leaves: list[Any] = []
    templates = []
    for part in (*args, kwargs):
        arrays, template = split(part)
        leaves += arrays
        templates.append(template)
    *heads, tail = templates
    if primitive.host:
        leaves = settle(primitive.fun, leaves)
    if rules is None:
        rules = _find_rules(primitive, heads, tail, leaves)
    # What is known of a call may depend on defaults, which the program may change.
    _, defaults = split(primitive.table.binder.keyword_defaults)
    return leaves, _spec(primitive, tuple(heads), tail, *rules, defaults)


@kept_by_owner
def _spec(
    primitive: Any,
    heads: tuple[Template, ...],
    tail: Template,
    frule: Any,
    rrule: Any,
    _defaults: Template,
) -> Spec:
    def again(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return call_primitive(primitive, args, kwargs)

    out = primitive.__dict__.get(OUT)
    return Spec(primitive, heads, tail, frule, rrule, out, again)


def _find_rules(
    primitive: Any, heads: Sequence[Template], tail: Template, leaves: Sequence[Any]
) -> tuple[Any, Any]:
    start, args = 0, []
    for template in heads:
        args.append(template.fill(leaves[start : start + template.count]))
        start += template.count
    kwargs = tail.fill(leaves[start:])
    found = (
        rc.resolve_primitive(kind, primitive, tuple(args), kwargs, CONFIG)
        for kind in (rc.frule, rc.rrule)
    )
    frule, rrule = (None if call is None else call.rule for call in found)
    return frule, rrule


def _hold_static(
    primitive: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments named by `static_argnames` as static leaves, whatever they hold."""
    names = primitive.names or ()
    held = tuple(
        _fixed(primitive, names[i], x)
        if i < len(names) and names[i] in primitive.static_argnames
        else x
        for i, x in enumerate(args)
    )
    return held, {
        name: _fixed(primitive, name, x) if name in primitive.static_argnames else x
        for name, x in kwargs.items()
    }


def _fixed(primitive: Any, name: str, x: Any) -> Fixed:
    if _traced(x):
        message = (
            f"argument {name!r} of {primitive.__name__} is declared static "
            "(static_argnames), but got a traced value. Pass a concrete one: name it "
            "in static_argnames of jax.jit as well, or do not map over it."
        )
        raise rc.UnsupportedError(message)
    return Fixed(x)


def _refuse_hidden(primitive: Any, values: Sequence[Any]) -> None:
    for leaf in tree_util.tree_leaves(list(values)):
        cls = None if isinstance(leaf, (jax.Array, *_PLAIN)) else hidden_tracer(leaf)
        if cls is not None:
            raise rc.UnsupportedError(_hidden_text(primitive, cls))


def _refuse_jax_arrays(primitive: Any, values: Sequence[Any]) -> None:
    """While JAX traces, refuse objects that hide its arrays: NumPy would be traced."""
    if _compat.at_top_level():
        return
    for leaf in tree_util.tree_leaves(list(values)):
        if not isinstance(leaf, (jax.Array, *_PLAIN)) and hides(leaf, jax.Array):
            raise rc.UnsupportedError(_hidden_text(primitive, type(leaf)))


def _hidden_text(primitive: Any, cls: type) -> str:
    if cls is type(jax.jit(len)):
        return (
            f"an argument of {primitive.__name__} is a function that jax.jit has made "
            "and that captures a traced value, which JAX does not find there, so that "
            "its derivative would be lost. Pass the function without jax.jit, or give "
            "it the value as an argument."
        )
    return (
        f"an argument of {primitive.__name__} holds a traced value in an object of "
        f"type {cls.__qualname__}, which JAX takes for a constant, so that its "
        f"derivative would be lost. {REGISTER}, or pass the array itself."
    )


def refuse_captured(primitive: Any) -> None:
    """Refuse captured values that JAX may be tracing: they are no arguments of a rule.

    Raises:
        UnexpectedTracerError: It captures a value that may be differentiated.
    """
    table, functions = primitive.table, (primitive.fun, *primitive.helpers)
    if _compat.at_top_level() or not (table.rrule.rules or table.frule.rules):
        return
    for f in functions:
        if any(map(_compat.is_differentiable, captured(f))) or hidden_tracer(f):
            raise jax.errors.UnexpectedTracerError(captured_text(primitive.__name__))


def _impure_text(primitive: Any) -> str:
    return (
        f"{primitive.__name__} is a host function with effects (pure=False), and JAX "
        "may repeat or drop calls under a transformation. Call it outside of jax.jit, "
        "jax.grad and jax.vmap, or make it pure."
    )
