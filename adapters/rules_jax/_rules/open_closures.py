"""Which closures may be taken apart: those of which everything that they hold is known.

A pullback that closes over arrays becomes a pytree of these arrays, without being
traced. Where something in it might hide an array, or where it writes to what it
captures, that is not safe, and it is traced instead.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import jax
import numpy as np
from jax import tree_util

import rules_core as rc
from rules_jax._values.callables import captured, parts_of

__all__ = ["is_open"]

_KNOWN = (
    jax.Array,
    bool,
    int,
    float,
    complex,
    str,
    type(None),
    ModuleType,
    np.dtype,
    np.generic,
    rc.AbstractZero,
    rc.Primitive,
    rc.RuleConfig,
)
_JITTED = type(jax.jit(len))


def is_open(function: Any) -> bool:
    """Whether a function may be taken apart into its arrays and the rest."""
    is_function = isinstance(function, (FunctionType, MethodType, partial))
    return is_function and _is_open(function, set())


def _is_open(value: Any, seen: set[int]) -> bool:
    if isinstance(value, _KNOWN) or id(value) in seen:
        return True
    seen.add(id(value))
    for cls, is_open in _BY_TYPE:
        if isinstance(value, cls):
            return is_open(value, seen)
    return not tree_util.all_leaves([value]) and all(
        _is_open(leaf, seen) for leaf in tree_util.tree_leaves(value)
    )


def _function(function: FunctionType, seen: set[int]) -> bool:
    return (
        not _writes(function.__code__)
        and all(_is_open(x, seen) for x in parts_of(function))
        and all(_is_closed(x, seen) for x in vars(function).values())
    )


def _method(method: MethodType, seen: set[int]) -> bool:
    return _is_open(method.__func__, seen) and _is_open(method.__self__, seen)


def _partial(value: partial[Any], seen: set[int]) -> bool:
    parts = (value.func, *value.args, *value.keywords.values())
    return all(_is_open(x, seen) for x in parts)


def _builtin(function: BuiltinFunctionType, _: set[int]) -> bool:
    """Not a method of some object, as `saved.get` is."""
    return function.__self__ is None or isinstance(function.__self__, ModuleType)


def _jitted(function: Any, seen: set[int]) -> bool:
    return _is_closed(function.__wrapped__, seen)


def _class(cls: type, _: set[int]) -> bool:
    """Not one that is made inside a function: its methods may capture arrays."""
    return "<locals>" not in cls.__qualname__


def _numpy(array: Any, _: set[int]) -> bool:
    return not array.dtype.hasobject


def _is_closed(value: Any, seen: set[int]) -> bool:
    """Whether something that stays as it is holds no array."""
    return _is_open(value, seen) and not any(True for _ in captured(value))


def _is_constant(value: Any, seen: set[int]) -> bool:
    """Whether a container that may be written to holds no array now."""
    if tree_util.all_leaves([value]) and not isinstance(value, set):
        return False  # a class of one's own, in which JAX sees nothing
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


_BY_TYPE: tuple[tuple[Any, Callable[[Any, set[int]], bool]], ...] = (
    (FunctionType, _function),
    (MethodType, _method),
    (partial, _partial),
    (BuiltinFunctionType, _builtin),
    (_JITTED, _jitted),
    (type, _class),
    (np.ndarray, _numpy),
    ((list, dict, set), _is_constant),
)
