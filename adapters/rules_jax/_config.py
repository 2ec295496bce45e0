"""JAX as an AD system that rules may call back into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import jax
import jax.numpy as jnp

import rules_core as rc
from rules_core.extend import cotangent_of_constant, refuse_moving_constant
from rules_jax._values.callables import convert_callables
from rules_jax._values.leaves import Template, has_tangent, split
from rules_jax._values.project import project
from rules_jax._values.tangents import build, read

from . import _compat

__all__ = ["CONFIG", "JaxConfig"]


class JaxConfig(rc.RuleConfig, rc.HasForwardsMode, rc.HasReverseMode):
    """The configuration that rules are given inside JAX: both modes, by JAX's own AD.

    >>> import jax.numpy as jnp
    >>> import rules_core as rc
    >>> from rules_jax import JaxConfig
    >>> y, pullback = rc.rrule_via_ad(JaxConfig(), jnp.sin, jnp.asarray(0.0))
    >>> float(pullback(jnp.asarray(2.0))[1])
    2.0
    """

    # A NumPy-only rrule runs for its pullback alone; the value is the function's.
    own_values = False

    def frule_via_ad(self, tangents: Any, f: Any, *args: Any, **kw: Any) -> Any:
        """`(y, dy)` by `jax.jvp`."""
        flat = _Flat(f, args, kw)
        if len(tangents) != len(flat.templates):
            raise TypeError(_count_text(f, len(flat.templates), len(tangents)))
        given = flat.tangents(tangents)
        y, moved = jax.jvp(flat, flat.moving, given)
        return flat.result(y), build(flat.out, _canonical(y, moved))

    def rrule_via_ad(self, f: Any, *args: Any, **kw: Any) -> Any:
        """`(y, pullback)` by `jax.vjp`; the function itself has a cotangent."""
        flat = _Flat(f, args, kw)
        y, transposed = jax.vjp(flat, *flat.moving)
        back = _Back(flat, [jax.typeof(x) for x in y])
        return flat.result(y), rc.Pullback(back, transposed)


CONFIG = JaxConfig()


def _count_text(f: Any, expected: int, got: int) -> str:
    return (
        f"frule_via_ad of {getattr(f, '__name__', f)!s} must have {expected} tangents "
        "(one for the function itself, then one per positional argument), but got "
        f"{got}. Give NoTangent() for what has no tangent."
    )


class _Flat:
    """A call as a function of those leaves that have a tangent."""

    def __init__(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.given = (f, *args)
        parts = [split(x) for x in convert_callables(self.given)]
        self.templates = [template for _, template in parts]
        self.leaves = [x for leaves, _ in parts for x in leaves]
        self.kwargs = kwargs
        self.where = [
            i for i, x in enumerate(self.leaves) if has_tangent(jax.typeof(x))
        ]
        self.moving = [self.leaves[i] for i in self.where]
        self.out: Template = self.templates[0]

    def __call__(self, *moving: Any) -> list[Any]:
        leaves = list(self.leaves)
        for i, x in zip(self.where, moving, strict=True):
            leaves[i] = x
        f, *args = self.fill(leaves)
        flat, self.out = split(f(*args, **self.kwargs))
        return flat

    def fill(self, leaves: Sequence[Any]) -> list[Any]:
        filled, start = [], 0
        for template in self.templates:
            filled.append(template.fill(leaves[start : start + template.count]))
            start += template.count
        return filled

    def result(self, flat: Sequence[Any]) -> Any:
        return self.out.fill(flat)

    def tangents(self, tangents: Sequence[Any]) -> list[Any]:
        found: list[Any] = []
        what = "the tangent given to frule_via_ad"
        values = zip(self.given, self.templates, tangents, strict=True)
        for x, template, tangent in values:
            refuse_moving_constant(x, tangent, "JAX")
            leaves = self.leaves[len(found) : len(found) + template.count]
            wanted = [has_tangent(jax.typeof(x)) for x in leaves]
            found += read(template, tangent, wanted, what)
        avals = [jax.typeof(x) for x in self.leaves]
        return [
            _compat.zeros_of(avals[i])
            if found[i] is None
            else project(found[i], avals[i], what, tangent=True)
            for i in self.where
        ]


@final
class _Back:
    """The static part of a pullback of `rrule_via_ad`; JAX's own is the residual."""

    def __init__(self, flat: _Flat, avals: Sequence[Any]) -> None:
        self.form, self.avals = flat.out, avals
        self.templates, self.where = flat.templates, flat.where
        self.count = len(flat.leaves)
        none = rc.NoTangent()
        self.constants = [cotangent_of_constant(x, none, "JAX") for x in flat.given]

    def __call__(self, transposed: Any, dy: Any) -> tuple[Any, ...]:
        wanted = [has_tangent(aval) for aval in self.avals]
        given = read(self.form, dy, wanted, "the cotangent given to rrule_via_ad")
        pairs = zip(given, self.avals, strict=True)
        found = transposed([_cotangent(x, aval) for x, aval in pairs])
        flat: list[Any] = [rc.NoTangent()] * self.count
        for i, x in zip(self.where, found, strict=True):
            flat[i] = jnp.conj(x) if jnp.iscomplexobj(x) else x
        built, start = [], 0
        for template, none in zip(self.templates, self.constants, strict=True):
            leaves = flat[start : start + template.count]
            built.append(build(template, leaves) if leaves else none)
            start += template.count
        return tuple(built)


def _canonical(values: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
    return [
        t if has_tangent(jax.typeof(x)) else rc.NoTangent()
        for x, t in zip(values, tangents, strict=True)
    ]


def _cotangent(x: Any, aval: Any) -> Any:
    if not has_tangent(aval):
        return _compat.float0_zeros(aval)
    if x is None:
        return _compat.zeros_of(aval)
    x = project(x, aval, "the cotangent given to rrule_via_ad")
    return jnp.conj(x) if jnp.iscomplexobj(x) else x
