"""Pullbacks as pytrees, so that JAX can carry them from forward to backward.

In this order: an explicit `Pullback(fn, *residuals)` and any pullback that is a pytree
itself are taken apart as they are; a closure is kept whole where nothing is traced; it
is taken apart where everything that it holds is known; else it is traced, and what it
captured becomes the residuals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, final

import jax
from jax import tree_util

import rules_core as rc

from . import _compat
from ._closures import is_open
from ._functions import convert_callables
from ._leaves import Template, has_tangent, split

__all__ = ["Saved", "save_pullback"]


class Load(Protocol):
    """The backward half of a pullback."""

    def __call__(self, arrays: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """Cotangents of the leaves, from residuals and cotangents of the results."""

    def zeros(self) -> list[Any]:
        """The answer to zero cotangents."""


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


@final
class _Kept(_Load):
    """A closure, as it is."""

    def __init__(self, pull: Any, pullback: Callable[..., Any]) -> None:
        super().__init__(pull)
        self.pullback = pullback

    def __call__(self, arrays: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        return list(self.pull(self.pullback, cotangents))


@final
class _Tree(_Load):
    """A pullback that is a pytree: its template is static."""

    def __init__(self, pull: Any, template: Template) -> None:
        super().__init__(pull)
        self.template = template

    def __call__(self, arrays: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        return list(self.pull(self.template.fill(arrays), cotangents))


@final
class _Explicit(_Load):
    """`Pullback(fn, *residuals)`."""

    def __init__(self, pull: Any, fn: Callable[..., Any], template: Template) -> None:
        super().__init__(pull)
        self.fn, self.template = fn, template

    def __call__(self, arrays: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        pullback = rc.Pullback(self.fn, *self.template.fill(arrays))
        return list(self.pull(pullback, cotangents))


@final
class _Traced(_Load):
    """A traced closure: a jaxpr whose leading inputs are the residuals."""

    def __init__(self, pull: Any, jaxpr: Any, present: Sequence[bool]) -> None:
        super().__init__(pull)
        self.jaxpr, self.present = jaxpr, present

    def __call__(self, arrays: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        given = instantiate(self.pull.outs.avals, cotangents)
        found = iter(jax.core.eval_jaxpr(self.jaxpr, (), *arrays, *given))
        return [next(found) if there else None for there in self.present]


def instantiate(avals: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
    """Arrays for the outputs that have a tangent, zeros where there is none given."""
    return [
        _compat.zeros_of(_compat.cotangent_aval(aval)) if ct is None else ct
        for aval, ct in zip(avals, cotangents, strict=True)
        if has_tangent(aval)
    ]


def expand(avals: Sequence[Any], given: Sequence[Any]) -> list[Any]:
    """The reverse of `instantiate`: None for outputs that have no tangent."""
    rest = iter(given)
    return [next(rest) if has_tangent(aval) else None for aval in avals]


def save_pullback(pull: Any, pullback: Callable[..., Any], *, eager: bool) -> Saved:
    """An author's pullback as a pytree."""
    if type(pullback) is rc.Pullback:
        arrays, template = split(convert_callables(pullback.residuals))
        return Saved(arrays, _Explicit(pull, pullback.fn, template))
    if not tree_util.all_leaves([pullback]):
        arrays, template = split(pullback)
        return Saved(arrays, _Tree(pull, template))
    if eager:
        return Saved((), _Kept(pull, pullback))
    if is_open(pullback):
        arrays, template = split(convert_callables(pullback))
        return Saved(arrays, _Tree(pull, template))
    return _trace(pull, pullback)


def _trace(pull: Any, pullback: Callable[..., Any]) -> Saved:
    avals = pull.outs.avals
    present: list[bool] = []

    def flat(*given: Any) -> list[Any]:
        found = pull(pullback, expand(avals, given))
        present.extend(x is not None for x in found)
        return [x for x in found if x is not None]

    zeros = [_compat.cotangent_aval(a) for a in avals if has_tangent(a)]
    closed = jax.make_jaxpr(flat)(*zeros)
    load = _Traced(pull, _compat.without_consts(closed), present)
    return Saved(closed.consts, load)
