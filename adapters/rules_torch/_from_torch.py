"""`from_torch`: a PyTorch function that carries its derivatives into every host.

Its rules are PyTorch's own AD. Pullback and pushforward are `from_torch` functions too,
so any order is there, in any host; on torch tensors the function is simply called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, update_wrapper
from typing import Any, final

import torch
from torch import Tensor

import rules_core as rc

from ._compat import fake_mode
from ._leaves import differentiable, flatten, flatten_plain, unflatten
from ._numpy import from_numpy, numpy_dtype, to_numpy, torch_dtype

__all__ = ["from_torch", "native_of"]


def native_of(primitive: rc.Primitive) -> Callable[..., Any] | None:
    """The PyTorch function inside a primitive made by `from_torch`, or None."""
    foreign = getattr(primitive.fun, "foreign", None)
    return foreign.f if isinstance(foreign, _Foreign) else None


def from_torch(f: Callable[..., Any]) -> rc.Primitive:
    """A PyTorch function as a primitive whose rules are PyTorch's own derivatives.

    Usable by `rrule`, `frule` and `check_rule`, on NumPy arrays, and in every other
    host; there it runs on the CPU. Tensors that `f` holds (the parameters of a module)
    are constants.

    Args:
        f: A function of tensors (and containers of them, and static values).

    >>> import numpy as np, torch
    >>> import rules_core as rc
    >>> from rules_torch import from_torch
    >>> softplus = from_torch(torch.nn.functional.softplus)
    >>> y, pullback = rc.rrule(softplus, np.asarray(0.0))
    >>> float(pullback(np.asarray(1.0))[1])
    0.5
    """
    return _Foreign(f).primitive


@final
class _Foreign:
    """A PyTorch function, its primitive, and the functions that its rules call."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.f = f
        self.primitive = rc.primitive(self._on_host(), host=True)
        rc.shape_rule.define(self.primitive)(self.shapes)
        rc.batch_rule.define(self.primitive)(self.batch)
        rc.rrule.define(self.primitive)(self._rrule())
        rc.frule.define(self.primitive)(self._frule())

    @cached_property
    def pull(self) -> rc.Primitive:
        """`(cotangents, args, kwargs) → cotangents`, flat, as a primitive."""
        return from_torch(_named(_vjp_of(self.f), f"pullback of {_name(self.f)}"))

    @cached_property
    def push(self) -> rc.Primitive:
        """`(tangents, args, kwargs) → tangents`, flat, as a primitive."""
        return from_torch(_named(_jvp_of(self.f), f"pushforward of {_name(self.f)}"))

    def _on_host(self) -> Callable[..., Any]:
        def on_host(*args: Any, **kwargs: Any) -> Any:
            args, kwargs = _to_torch((args, kwargs))
            with torch.no_grad():
                return _map(self.f(*args, **kwargs), Tensor, to_numpy)

        update_wrapper(on_host, self.f)
        on_host.foreign = self  # type: ignore[attr-defined]
        return on_host

    def shapes(self, *args: Any, **kwargs: Any) -> Any:
        """The shape rule: the function on tensors without data."""
        with fake_mode(), torch.no_grad():
            args, kwargs = _map((args, kwargs), rc.ShapeDtype, _empty)
            return _map(self.f(*args, **kwargs), Tensor, _described)

    def batch(self, size: int, in_batched: Any, *args: Any, **kwargs: Any) -> Any:
        """The batch rule: `torch.vmap`."""
        args, kwargs = _to_torch((args, kwargs))
        dims = tuple(_dims(flag, x) for flag, x in zip(in_batched, args, strict=True))

        def run(*args: Any) -> Any:
            leaves: list[Tensor] = []
            self.result = flatten(self.f(*args, **kwargs), leaves)
            return tuple(leaves)

        with torch.no_grad():
            found = torch.vmap(run, dims)(*args)
        arrays = [to_numpy(x) for x in found]
        flags = unflatten(self.result, [True] * len(arrays))
        return unflatten(self.result, arrays), flags

    def _rrule(self) -> Callable[..., Any]:
        def from_torch_rrule(*args: Any, **kwargs: Any) -> Any:
            y = self.primitive(*args, **kwargs)

            def from_torch_pullback(dy: Any) -> tuple[Any, ...]:
                found = iter(self.pull(_read(y, dy), args, kwargs))
                return rc.NoTangent(), *(_fill(x, found) for x in args)

            return y, from_torch_pullback

        return from_torch_rrule

    def _frule(self) -> Callable[..., Any]:
        def from_torch_frule(tangents: Any, *args: Any, **kwargs: Any) -> Any:
            y = self.primitive(*args, **kwargs)
            pairs = zip(args, tangents[1:], strict=True)
            given = tuple(leaf for x, dx in pairs for leaf in _read(x, dx))
            return y, _fill(y, iter(self.push(given, args, kwargs)))

        return from_torch_frule


def _name(f: Any) -> str:
    return getattr(f, "__name__", repr(f))


def _named(f: Any, name: str) -> Callable[..., Any]:
    f.__name__ = f.__qualname__ = name
    return f  # type: ignore[no-any-return]


def _map(value: Any, cls: type, fn: Callable[[Any], Any]) -> Any:
    """`fn` of every instance of `cls` inside tuples, lists and dicts."""
    found: list[Any] = []
    layout = flatten_plain(value, found, lambda x: isinstance(x, cls))
    return unflatten(layout, [fn(x) for x in found])


def _to_torch(value: Any) -> Any:
    found: list[Any] = []
    layout = flatten_plain(value, found, lambda x: hasattr(x, "__array__"))
    return unflatten(layout, [from_numpy(x, (), None) for x in found])


def _empty(shape: rc.ShapeDtype) -> Tensor:
    return torch.empty(shape.shape, dtype=torch_dtype(shape.dtype))


def _described(x: Tensor) -> rc.ShapeDtype:
    return rc.ShapeDtype(tuple(x.shape), numpy_dtype(x.dtype))


def _dims(flag: Any, value: Any) -> Any:
    """`in_dims` of an argument: its tensors are batched as the flag says."""
    if isinstance(flag, (tuple, list)):
        return type(flag)(_dims(f, v) for f, v in zip(flag, value, strict=True))
    return 0 if flag else None


def _moves(x: Any) -> bool:
    """Whether an array of any host, or a number, has a tangent."""
    if not rc.is_array(x):
        return isinstance(x, (float, complex))
    return str(x.dtype).rpartition(".")[2].startswith(("float", "complex", "bfloat"))


def _read(primal: Any, tangent: Any) -> tuple[Any, ...]:
    """The tangents of the moving leaves of a value, zeros made concrete."""
    return tuple(_pairs(primal, rc.unthunk(tangent)))


def _pairs(primal: Any, tangent: Any) -> Iterator[Any]:
    if rc.is_array(primal) or isinstance(primal, (float, complex)):
        if _moves(primal):
            zero = isinstance(tangent, rc.AbstractZero) or tangent is None
            yield primal * 0 if zero else tangent
        return
    level = rc.structure(primal)
    if level is None:
        return
    for name, value in zip(level.names, level.values, strict=True):
        yield from _pairs(value, _entry(level, tangent, name))


def _entry(level: rc.Structure, tangent: Any, name: Any) -> Any:
    if isinstance(tangent, rc.AbstractZero) or tangent is None:
        return rc.ZeroTangent()
    return rc.unthunk(
        getattr(tangent, name) if level.keyed == "field" else tangent[name]
    )


def _fill(primal: Any, found: Iterator[Any]) -> Any:
    """The tangent of a value out of those of its moving leaves."""
    if rc.is_array(primal) or isinstance(primal, (float, complex)):
        return next(found) if _moves(primal) else rc.NoTangent()
    level = rc.structure(primal)
    if level is None:
        return rc.NoTangent()
    items = [_fill(value, found) for value in level.values]
    if all(isinstance(item, rc.NoTangent) for item in items):
        return rc.NoTangent()
    if level.keyed == "position":
        return rc.Tangent(level.primal, *items)
    fields: dict[Any, Any] = dict(zip(level.names, items, strict=True))
    if level.keyed == "key":
        return rc.Tangent(level.primal, fields)
    return (rc.MutableTangent if level.mutable else rc.Tangent)(level.primal, **fields)


class _Flat:
    """A call as a function of its moving tensors, with its moving results."""

    def __init__(self, f: Any, args: Any, kwargs: Any) -> None:
        self.f = f
        found: list[Any] = []
        self.layout = flatten_plain((tuple(args), kwargs), found, _is_leaf)
        self.leaves = [torch.as_tensor(x, dtype=_number_dtype(x)) for x in found]
        self.where = [i for i, x in enumerate(self.leaves) if differentiable(x)]
        self.moving = tuple(self.leaves[i] for i in self.where)

    def __call__(self, *moving: Tensor) -> tuple[Tensor, ...]:
        leaves = list(self.leaves)
        for i, x in zip(self.where, moving, strict=True):
            leaves[i] = x
        args, kwargs = unflatten(self.layout, leaves)
        found: list[Tensor] = []
        flatten(self.f(*args, **kwargs), found)
        return tuple(y for y in found if differentiable(y))


def _is_leaf(x: Any) -> bool:
    return isinstance(x, (Tensor, float, complex))


def _number_dtype(x: Any) -> Any:
    if isinstance(x, Tensor):
        return x.dtype
    return torch.complex128 if isinstance(x, complex) else torch.float64


def _as(given: Sequence[Any], like: Sequence[Tensor]) -> tuple[Tensor, ...]:
    pairs = zip(given, like, strict=True)
    return tuple(torch.as_tensor(t, dtype=x.dtype) for t, x in pairs)


def _vjp_of(f: Any) -> Callable[..., Any]:
    def pullback(cotangents: Any, args: Any, kwargs: Any) -> Any:
        flat = _Flat(f, args, kwargs)
        ys, back = torch.func.vjp(flat, *flat.moving)
        return back(_as(cotangents, ys))

    return pullback


def _jvp_of(f: Any) -> Callable[..., Any]:
    def pushforward(tangents: Any, args: Any, kwargs: Any) -> Any:
        flat = _Flat(f, args, kwargs)
        return torch.func.jvp(flat, flat.moving, _as(tangents, flat.moving))[1]

    return pushforward
