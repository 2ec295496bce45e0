"""Pullbacks as pytrees, so that JAX can carry them from forward to backward.

In this order: an explicit `Pullback(fn, *residuals)` and any pullback that is a pytree
itself are taken apart as they are, unless something in them that JAX takes for a
constant is traced; a closure is kept whole where nothing is traced; it is taken apart
where everything that it holds is known; else it is traced, and what it captured becomes
the residuals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, final

from jax import tree_util

import rules_core as rc
from rules_jax import _compat
from rules_jax._values.callables import (
    captures_tracer,
    convert_callables,
    hidden_tracer,
)
from rules_jax._values.leaves import Template, split

from .open_closures import is_open
from .restored_state import restored
from .traced_pullback import trace_pullback

__all__ = ["Saved", "save_pullback"]


class Load(Protocol):
    """The backward half of a pullback."""

    def __call__(self, arrays: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """Cotangents of the leaves, from residuals and cotangents of the results."""

    def zeros(self) -> list[Any]:
        """The answer to zero cotangents."""


tree_util.register_pytree_with_keys(
    rc.Residual,
    lambda residual: (
        ((tree_util.GetAttrKey("arrays"), residual.arrays),),
        residual.make,
    ),
    lambda make, children: rc.Residual(make, *children[0]),
)


tree_util.register_pytree_node(
    rc.Pullback,
    lambda pullback: (pullback.residuals, pullback.fn),
    lambda fn, residuals: rc.Pullback(fn, *residuals),
)


@tree_util.register_pytree_node_class
@final
class Saved:
    """Residual arrays (children) and what to do with them and cotangents (static)."""

    __slots__ = ("arrays", "load")

    def __init__(self, arrays: Sequence[Any], load: Load) -> None:
        self.arrays, self.load = arrays, load

    def run(self, cotangents: Sequence[Any]) -> list[Any]:
        """Cotangents of the leaves; None for zero, on both sides."""
        if all(ct is None for ct in cotangents):
            return self.load.zeros()
        return self.load(self.arrays, cotangents)

    def tree_flatten(self) -> tuple[tuple[Any, ...], Load]:
        """Children and static part."""
        return tuple(self.arrays), self.load

    @classmethod
    def tree_unflatten(cls, load: Load, arrays: Sequence[Any]) -> Saved:
        """The reverse."""
        return cls(arrays, load)


class _Load:
    """Base of the ways back."""

    def __init__(self, pull: Any) -> None:
        self.pull = pull

    def zeros(self) -> list[Any]:
        """The answer to zero cotangents."""
        return [None] * len(self.pull.avals)

    def run(self, pullback: Callable[..., Any], cotangents: Sequence[Any]) -> list[Any]:
        """Run the pullback; a traced run leaves nothing behind in it."""
        if _compat.at_top_level():
            return list(self.pull(pullback, cotangents))
        with restored(pullback):
            return list(self.pull(pullback, cotangents))


@final
class _Kept(_Load):
    """A closure, as it is."""

    def __init__(self, pull: Any, pullback: Callable[..., Any]) -> None:
        super().__init__(pull)
        self.pullback = pullback

    def __call__(self, arrays: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        return self.run(self.pullback, cotangents)


@final
class _Tree(_Load):
    """A pullback that is a pytree: its template is static."""

    def __init__(self, pull: Any, template: Template) -> None:
        super().__init__(pull)
        self.template = template

    def __call__(self, arrays: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        return self.run(self.template.fill(arrays), cotangents)


@final
class _Explicit(_Load):
    """`Pullback(fn, *residuals)`."""

    def __init__(self, pull: Any, fn: Callable[..., Any], template: Template) -> None:
        super().__init__(pull)
        self.fn, self.template = fn, template

    def __call__(self, arrays: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        pullback = rc.Pullback(self.fn, *self.template.fill(arrays))
        return self.run(pullback, cotangents)


def save_pullback(pull: Any, pullback: Callable[..., Any], *, eager: bool) -> Saved:
    """An author's pullback as a pytree."""
    is_closure = tree_util.all_leaves([pullback])
    if eager and is_closure:
        return Saved((), _Kept(pull, pullback))
    if not eager and not (is_open(pullback) if is_closure else _is_tree(pullback)):
        return Saved(*trace_pullback(pull, pullback))
    if type(pullback) is rc.Pullback:
        arrays, template = split(convert_callables(pullback.residuals))
        return Saved(arrays, _Explicit(pull, pullback.fn, template))
    arrays, template = split(convert_callables(pullback))
    return Saved(arrays, _Tree(pull, template))


def _is_tree(pullback: Any) -> bool:
    """Whether every traced value in a pytree is where JAX finds it."""
    fn = None
    if isinstance(pullback, (rc.Pullback, tree_util.Partial)):
        fn = pullback.fn if isinstance(pullback, rc.Pullback) else pullback.func
    leaves = tree_util.tree_leaves(pullback)
    return not captures_tracer(fn) and all(
        hidden_tracer(leaf) is None for leaf in (fn, *leaves)
    )
