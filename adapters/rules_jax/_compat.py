"""The one module that touches experimental or private names of JAX.

Everything else in this package uses JAX's public API. Each name here has a test in
`tests/adapters/jax/test_compat.py`; a JAX version without linearisation rules loses the
full back end and nothing else.
"""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

import jax
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

__all__ = [
    "HAS_LINEARIZATIONS",
    "Primitive",
    "Zero",
    "at_top_level",
    "axis_keywords",
    "cotangent_aval",
    "enable_x64",
    "fancy_batcher",
    "float0_zeros",
    "has_explicit_mesh",
    "held_weakly",
    "is_differentiable",
    "is_undefined_primal",
    "lower_by_tracing",
    "match_varying",
    "named_axes",
    "partial_eval",
    "placed_like",
    "pruned",
    "scan_counts",
    "set_derivatives",
    "set_linearization",
    "set_taylor",
    "trace_key",
    "varying_axes",
    "weaken",
    "without_consts",
    "zeros_of",
]

Zero = ad.Zero
is_undefined_primal = ad.is_undefined_primal


def _find_linearizations() -> Any:
    """JAX's table of linearisation rules, or None.

    Before 0.9.1 a rule was not told whether its linear half will be transposed.
    """
    try:
        from jax._src.interpreters import ad as private
    except ImportError:
        return None
    fallback = getattr(private, "fallback_linearize_rule", None)
    if fallback is None or "_is_vjp" not in inspect.signature(fallback).parameters:
        return None
    return getattr(private, "primitive_linearizations", None)


def _has_structured_residuals() -> bool:
    from jax._src.interpreters.ad import LinearizeTrace

    return "structured_residuals" in LinearizeTrace.__init__.__code__.co_names


_LINEARIZATIONS: Any = _find_linearizations()
HAS_LINEARIZATIONS = _LINEARIZATIONS is not None
_STRUCTURED = HAS_LINEARIZATIONS and _has_structured_residuals()


def set_linearization(primitive: Any, rule: Any) -> None:
    """Register `rule(reverse, nonzero, *primals) → (out, nonzero, residuals, map)`."""
    if HAS_LINEARIZATIONS:
        _LINEARIZATIONS[primitive] = _with_structure(rule) if _STRUCTURED else rule


def set_taylor(primitive: Any, rule: Any) -> None:
    """Register `rule(primals, series, **params) → (results, series)` with `jet`.

    A series holds the coefficients of a polynomial from the first order on.
    """
    try:
        from jax.experimental.jet import jet_rules
    except ImportError:  # a JAX without Taylor mode
        return
    jet_rules[primitive] = rule


def _with_structure(rule: Any) -> Any:
    """The rule as JAX 0.12 calls it: with a place for structured residuals."""

    def linearize(*args: Any, **params: Any) -> Any:
        out, nonzero, residuals, linear = rule(*args, **params)

        def linearized(residuals: Any, _: Any, *tangents: Any) -> Any:
            return linear(residuals, *tangents)

        return out, nonzero, residuals, None, linearized

    return linearize


def zeros_of(aval: Any) -> Any:
    """Zeros of an abstract value, with its sharding and varying axes."""
    return ad.zeros_like_aval(aval)


def float0_zeros(aval: Any) -> Any:
    """The cotangent of an integer value, as `jax.vjp` takes it."""
    return np.zeros(aval.shape, jax.dtypes.float0)


def cotangent_aval(aval: Any) -> Any:
    """The type of a cotangent of a value of this type (float0 for an integer)."""
    to_ct = getattr(aval, "to_ct_aval", None) or aval.to_tangent_aval
    return to_ct()


def weaken(x: Any) -> Any:
    """`x` with a weak type, as JAX gives to Python numbers."""
    parameters = {"new_dtype": x.dtype, "weak_type": True, "sharding": None}
    return jax.lax.convert_element_type_p.bind(x, **parameters)


def varying_axes(aval: Any) -> frozenset[str]:
    """Manual axes of `shard_map` over which a value differs."""
    manual = getattr(aval, "manual_axis_type", None)
    found = getattr(manual, "varying", None)
    if found is None:
        found = getattr(aval, "vma", None)
    return frozenset(found or ())


def match_varying(x: Any, aval: Any) -> Any:
    """`x` with the varying axes of `aval`: summed over those it has too many of."""
    have, want = varying_axes(jax.typeof(x)), varying_axes(aval)
    if have == want:
        return x
    if have - want:
        x = jax.lax.psum(x, tuple(sorted(have - want)))
    if want - have:
        x = _vary(x, tuple(sorted(want - have)))
    return x


def _vary(x: Any, axes: tuple[str, ...]) -> Any:
    if hasattr(jax.lax, "pcast"):
        return jax.lax.pcast(x, axes, to="varying")
    return jax.lax.pvary(x, axes)


def placed_like(shape: tuple[int, ...], dtype: Any, avals: Any, spec: Any) -> Any:
    """An abstract array that varies over every manual axis that one of `avals` does.

    Args:
        shape: Of the array.
        dtype: Of the array.
        avals: Types with the same mesh.
        spec: How it is spread over the axes of an explicit mesh, one entry per axis.
    """
    axes = frozenset().union(*map(varying_axes, avals))
    model = next((a for a in avals if varying_axes(a) or has_explicit_mesh(a)), None)
    if model is None:
        return jax.core.ShapedArray(shape, dtype)
    sharding = model.sharding.update(spec=jax.sharding.PartitionSpec(*spec))
    if hasattr(model, "manual_axis_type"):
        varying = {"manual_axis_type": type(model.manual_axis_type)(varying=axes)}
    else:
        varying = {"vma": axes}
    return model.update(
        shape=shape, dtype=dtype, weak_type=False, sharding=sharding, **varying
    )


def has_explicit_mesh(aval: Any) -> bool:
    """Whether the type says over which axes of a mesh a value is spread."""
    return bool(aval.sharding.mesh.explicit_axes)


def axis_keywords(axis: Any) -> dict[str, Any]:
    """Keywords for `jax.vmap` that make the same batch axis again."""
    from jax._src import core

    name = None if axis.name is core.no_axis_name else axis.name
    mesh_axes = axis.spmd_name or getattr(axis, "explicit_mesh_axis", None)
    return {"axis_size": axis.size, "axis_name": name, "spmd_axis_name": mesh_axes}


T = TypeVar("T")


def held_weakly(cls: type[T]) -> type[T]:
    """Class decorator: JAX's tracing caches do not keep instances alive.

    Parameters of a primitive are part of the key of JAX's abstract evaluation, which
    keeps the last 2,048 of them, with the residuals and closures that they hold.
    """
    from jax._src import util

    known = getattr(util, "weakref_cache_key_types", None)
    if known is not None:
        known.add(cls)
    return cls


def without_consts(closed: Any) -> Any:
    """The jaxpr with its constants as leading inputs, holding none of them itself."""
    from jax._src.interpreters import partial_eval as pe

    return pe.convert_constvars_jaxpr(closed.jaxpr)


def partial_eval(closed: Any, unknown: list[bool], instantiate: list[bool]) -> Any:
    """A jaxpr in two: what depends on the unknown inputs, and the rest.

    Returns `(known, unknown, out_unknown)`; the known one has further outputs, which
    are the leading inputs of the unknown one.
    """
    from jax._src.interpreters import partial_eval as pe

    return pe.partial_eval_jaxpr_nounits(closed, unknown, instantiate)[:3]


def pruned(jaxpr: Any, used: list[bool]) -> tuple[Any, list[bool]]:
    """The jaxpr with these outputs only, and which of its inputs it still needs."""
    from jax._src.interpreters import partial_eval as pe

    kept, needed = pe.dce_jaxpr(jaxpr, used)
    return kept, list(needed)


def trace_key() -> Any:
    """Hashable summary of everything global that tracing depends on.

    Axis names in scope, mesh, x64, promotion mode, matmul precision: what JAX's own
    caches are keyed with.
    """
    from jax._src import config

    return config.trace_context()


def enable_x64(on: bool) -> Any:
    """Context in which double precision is on or off."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(on)
    from jax import experimental

    return experimental.enable_x64(on)


def is_differentiable(x: Any) -> bool:
    """Whether a derivative of `x` may be taken: a tracer, but not of a batch alone."""
    from jax._src.interpreters.batching import BatchTracer

    while isinstance(x, BatchTracer):
        x = x.val
    return isinstance(x, jax.core.Tracer)


def named_axes(effects: Any) -> set[Any]:
    """Names of the axes over which a computation has collectives, by its effects."""
    from jax._src import core

    return {e.name for e in effects if isinstance(e, core.NamedAxisEffect)}


def at_top_level() -> bool:
    """Whether no transformation is in progress in this thread."""
    from jax._src import core

    return bool(core.trace_ctx.is_top_level())


def lower_by_tracing(
    primitive: Any,
    function: Any,
    *,
    on_export: Any = None,
    platform: str | None = None,
) -> None:
    """Lower a primitive as the computation that `function` traces to.

    Args:
        primitive: The primitive.
        function: Of its arguments and parameters.
        on_export: Called with the parameters if the program is exported, or None.
        platform: The platform for which it is lowered like this, None for any other.
    """
    traced = mlir.lower_fun(function, multiple_results=True)

    def lower(ctx: Any, *args: Any, **params: Any) -> Any:
        if on_export and ctx.module_context.lowering_parameters.for_export:
            on_export(**params)
        return traced(ctx, *args, **params)

    mlir.register_lowering(primitive, lower, platform=platform)


def set_derivatives(primitive: Any, *, jvp: Any, transpose: Any) -> None:
    """Register a primitive's forward rule and its transposition."""
    ad.primitive_jvps[primitive] = jvp
    ad.primitive_transposes[primitive] = transpose


def fancy_batcher(primitive: Any, rule: Any) -> None:
    """Register a batching rule that is told the axis' size, name and mesh axes."""
    batching.fancy_primitive_batchers[primitive] = rule


def scan_counts(params: Any) -> tuple[int, int]:
    """How many constants and carried values a `scan` has, by its parameters."""
    inputs = params.get("ft_in")  # of newer JAX
    if inputs is None:
        return params["num_consts"], params["num_carry"]
    consts, carry, _ = inputs.unpack()
    return len(consts), len(carry)
