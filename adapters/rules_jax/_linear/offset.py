"""Refusal of rules whose linear map is not zero at zero.

JAX transposes `2 * x * dy + 1` as if the constant were not there, and a pullback that
forgets `dy` as zero. The traced map is walked once, which costs no arithmetic: only
where a result need not be zero at zero is it computed there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from itertools import compress
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from rules_jax import _compat

__all__ = ["Offset", "refuse_offset"]

# Constants are looked into up to this size.
_SMALL = 1 << 16


class Offset(Enum):
    """Knowledge of a value at zero."""

    ZERO = "zero, made of the argument"
    NIL = "a constant zero"
    SOME = "made of constants, perhaps not zero"
    ALL = "made of constants, and no entry is zero"
    MIXED = "zeros beside such constants"
    UNKNOWN = "made by an operation that is not known here"


ZERO, NIL, SOME, ALL, MIXED, UNKNOWN = Offset

_CONSTANT = frozenset({NIL, SOME, ALL})


def refuse_offset(closed: Any, error: Callable[[], Exception]) -> Any:
    """None, or NaN to be added where what is traced as linear is not zero at zero.

    Args:
        closed: The map, traced.
        error: Makes what is raised where this is known at once.
    """
    zeros = [ZERO] * len(closed.in_avals)
    found = _walk(closed.jaxpr, closed.consts, zeros)
    if ALL in found:
        raise error()
    asked = [x in (SOME, MIXED) for x in found]
    if not any(asked):
        return None
    at = map(_compat.zeros_of, closed.in_avals)
    out = jax.core.eval_jaxpr(closed.jaxpr, closed.consts, *at)
    left = [jnp.any((y != 0) & jnp.isfinite(y)) for y in compress(out, asked)]
    there = jnp.any(jnp.stack(left))
    if isinstance(there, jax.core.Tracer):
        return jnp.where(there, jnp.nan, 0.0)
    if there:
        raise error()
    return None


def _walk(jaxpr: Any, consts: Sequence[Any], ins: Sequence[Offset]) -> list[Offset]:
    known = dict(zip(jaxpr.invars, ins, strict=True))
    known.update(zip(jaxpr.constvars, map(_constant, consts), strict=True))

    def read(place: Any) -> Offset:
        is_literal = isinstance(place, jax.extend.core.Literal)
        return _constant(place.val) if is_literal else known[place]

    for eqn in jaxpr.eqns:
        known.update(
            zip(eqn.outvars, _apply(eqn, list(map(read, eqn.invars))), strict=True)
        )
    return [read(x) for x in jaxpr.outvars]


def _constant(x: Any) -> Offset:
    if isinstance(x, jax.core.Tracer) or np.size(x) > _SMALL:
        return SOME
    try:
        there = np.asarray(x) != 0
    except TypeError:  # a key, or what else is no number
        return UNKNOWN
    if not np.any(there):
        return NIL
    return ALL if np.all(there) else SOME


def _apply(eqn: Any, ins: list[Offset]) -> list[Offset]:
    name = eqn.primitive.name
    if name in _STRUCTURED:
        return _STRUCTURED[name](eqn, ins)
    found = _OPERATIONS[name](ins) if name in _OPERATIONS else _other(ins)
    return [found] * len(eqn.outvars)


def _inner(jaxpr: Any, ins: Sequence[Offset]) -> list[Offset]:
    """The offsets of a jaxpr that is open, or closed over its constants."""
    return _walk(getattr(jaxpr, "jaxpr", jaxpr), getattr(jaxpr, "consts", ()), ins)


def _call(eqn: Any, ins: Sequence[Offset]) -> list[Offset]:
    return _inner(eqn.params.get("jaxpr") or eqn.params["call_jaxpr"], ins)


def _cond(eqn: Any, ins: Sequence[Offset]) -> list[Offset]:
    rows = [_inner(branch, ins[1:]) for branch in eqn.params["branches"]]
    found = [_joined(column) for column in zip(*rows, strict=True)]
    return [UNKNOWN] * len(found) if ins[0] is UNKNOWN else found


def _scan(eqn: Any, ins: Sequence[Offset]) -> list[Offset]:
    first, count = _compat.scan_counts(eqn.params)
    carry, rest = list(ins[first : first + count]), ins[first + count :]
    while True:
        found = _inner(eqn.params["jaxpr"], [*ins[:first], *carry, *rest])
        after = [_joined(pair) for pair in zip(carry, found[:count], strict=True)]
        if after == carry:
            return [*carry, *found[count:]]
        carry = after


def _while(eqn: Any, ins: Sequence[Offset]) -> list[Offset]:
    skipped = eqn.params["cond_nconsts"]
    first = skipped + eqn.params["body_nconsts"]
    carry = list(ins[first:])
    while True:
        found = _inner(eqn.params["body_jaxpr"], [*ins[skipped:first], *carry])
        after = [_joined(pair) for pair in zip(carry, found, strict=True)]
        if after == carry:
            return carry
        carry = after


def _other(ins: Sequence[Offset]) -> Offset:
    """A constant, if all operands are; otherwise nothing is known."""
    return SOME if ins and _CONSTANT.issuperset(ins) else UNKNOWN


def _kept(ins: Sequence[Offset]) -> Offset:
    return ins[0]


def _moved(ins: Sequence[Offset]) -> Offset:
    return SOME if ins[0] is ALL else ins[0]


def _sum(ins: Sequence[Offset]) -> Offset:
    if UNKNOWN in ins:
        return UNKNOWN
    if MIXED in ins:
        return MIXED
    left = [x for x in ins if x not in (ZERO, NIL)]
    if not left:
        return ZERO if ZERO in ins else NIL
    return left[0] if len(left) == 1 else SOME


def _product(ins: Sequence[Offset]) -> Offset:
    for whole in (ZERO, NIL, UNKNOWN, MIXED):
        if whole in ins:
            return whole
    return SOME


def _quotient(ins: Sequence[Offset]) -> Offset:
    if UNKNOWN in ins and ins[0] not in (ZERO, NIL):
        return UNKNOWN
    return _moved(ins)


def _joined(ins: Sequence[Offset]) -> Offset:
    """Arrays side by side, or one chosen of them."""
    if UNKNOWN in ins:
        return UNKNOWN
    if len(set(ins)) == 1:
        return ins[0]
    if {ZERO, NIL}.issuperset(ins):
        return ZERO
    return SOME if _CONSTANT.issuperset(ins) else MIXED


def _chosen(ins: Sequence[Offset]) -> Offset:
    return UNKNOWN if ins[0] is UNKNOWN else _joined(ins[1:])


_STRUCTURED: dict[str, Callable[[Any, Sequence[Offset]], list[Offset]]] = {
    **dict.fromkeys(
        "jit closed_call checkpoint custom_jvp_call custom_vjp_call".split(), _call
    ),
    "cond": _cond,
    "scan": _scan,
    "while": _while,
}

_OPERATIONS: dict[str, Callable[[Sequence[Offset]], Offset]] = {
    **dict.fromkeys(
        "neg reshape broadcast_in_dim transpose squeeze expand_dims copy copy_p rev "
        "slice".split(),
        _kept,
    ),
    **dict.fromkeys(
        "convert_element_type reduce_sum cumsum real imag conj dynamic_slice "
        "gather".split(),
        _moved,
    ),
    **dict.fromkeys(["add", "sub", "add_any", "complex"], _sum),
    **dict.fromkeys(
        ["mul", "dot_general", "conv_general_dilated", "strong_mul"], _product
    ),
    "div": _quotient,
    "select_n": _chosen,
    **dict.fromkeys(["concatenate", "pad"], _joined),
}
