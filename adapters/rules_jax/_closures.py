"""Which closures may be taken apart: those of which everything that they hold is known.

A pullback that closes over arrays becomes a pytree of these arrays, without being
traced. Where something in it might hide an array, or where it writes to what it
captures, that is not safe, and it is traced instead.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from functools import lru_cache, partial
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import jax
import numpy as np
from jax import tree_util

import rules_core as rc

from ._functions import parts_of

__all__ = ["is_open"]

_KNOWN = (
    jax.Array,
    bool,
    int,
    float,
    complex,
    str,
    type(None),
    type,
    BuiltinFunctionType,
    ModuleType,
    np.dtype,
    np.generic,
    np.ndarray,
    rc.AbstractZero,
    rc.Primitive,
    rc.RuleConfig,
)


def is_open(function: Any) -> bool:
    """Whether a function may be taken apart into its arrays and the rest."""
    return isinstance(function, FunctionType) and _is_open(function, set())


def _is_open(value: Any, seen: set[int]) -> bool:
    if isinstance(value, _KNOWN) or id(value) in seen:
        return True
    seen.add(id(value))
    if isinstance(value, FunctionType):
        parts = parts_of(value)
        return not _writes(value.__code__) and all(_is_open(x, seen) for x in parts)
    if isinstance(value, partial):
        parts = iter((value.func, *value.args, *value.keywords.values()))
        return all(_is_open(x, seen) for x in parts)
    if isinstance(value, (list, dict, set)):
        return _is_constant(value, seen)
    return not tree_util.all_leaves([value]) and all(
        _is_open(leaf, seen) for leaf in tree_util.tree_leaves(value)
    )


def _is_constant(value: Any, seen: set[int]) -> bool:
    """Whether a container that somebody may write to holds no array now."""
    leaves = tree_util.tree_leaves(value, is_leaf=lambda x: isinstance(x, set))
    return not any(isinstance(leaf, (jax.Array, set)) for leaf in leaves) and all(
        _is_open(leaf, seen) for leaf in leaves
    )


@lru_cache(maxsize=1024)
def _writes(code: CodeType) -> bool:
    """Whether a function sets variables of the functions around it."""
    return any(name in code.co_freevars for name in _written(code))


def _written(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("STORE_DEREF", "DELETE_DEREF"):
            yield instruction.argval
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from set(_written(inner)) & set(inner.co_freevars)
