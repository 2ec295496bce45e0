"""The host matrix of PyTorch: what `check_rule` runs on tensors."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.func import jvp, vjp, vmap

import rules_core as rc
from rules_core.extend import Opener, unflatten
from rules_core.testing import Cell, FlatFunction, HostArrays
from rules_torch._values.leaves import TensorOpener, differentiable, flatten
from rules_torch._values.numpy_arrays import to_numpy

from ._errors import REFUSES

__all__ = ["cells"]

Wrap = Callable[[Any], Any]
Tensors = tuple[Tensor, ...]

COMPILERS = ("g++", "clang++", "cl")


def cells(level: str) -> Iterator[Any]:
    """Cells of a level: `"quick"` compiles nothing, `"full"` is everything."""
    yield Cell("eager", "value", _plain(_value))
    yield Cell("backward", "vjp", _plain(_backward))
    yield Cell("func.vjp", "vjp", _plain(_vjp))
    yield Cell("func.jvp", "jvp", _plain(_jvp))
    yield Cell("jvp(vjp)", "second", _plain(_forward_over_reverse))
    yield Cell("backward twice", "second", _plain(_backward_twice))
    yield Cell("vmap", "batched", _plain(_batched))
    yield Cell("vmap(vjp)", "batched_vjp", _plain(_batched_vjp))
    yield Cell("vmap(jvp)", "batched_jvp", _plain(_batched_jvp))
    if level != "full":
        return
    yield Cell("forward_ad", "jvp", _plain(_dual))
    yield Cell("vjp(jvp)", "second", _plain(_reverse_over_forward))
    yield Cell("compile", "value", _compiled(_value))
    yield Cell("compile, backward", "vjp", _compiled(_backward))
    yield Cell("compile(vjp)", "vjp", _compiled(_vjp))
    yield Cell("compile(jvp)", "jvp", _compiled(_jvp))
    yield Cell("compile(vmap)", "batched", _compiled(_batched))
    yield Cell("compile by inductor, backward", "vjp", _by_inductor)


def _same(f: Any) -> Any:
    return f


def _plain(run: Callable[..., Any]) -> Any:
    return lambda *args: run(_same, *args)


def _compiled(run: Callable[..., Any], backend: str = "aot_eager") -> Any:
    def compile_once(f: Any) -> Any:
        torch.compiler.reset()
        return torch.compile(f, backend=backend, fullgraph=True)

    def compiled(*args: Any) -> Any:
        try:
            return run(compile_once, *args)
        except RuntimeError as error:
            _raise_refusal(error)
            raise

    return compiled


def _raise_refusal(error: Exception) -> None:
    """Raise what this adapter says, if that is what Dynamo could not go on from."""
    text = str(error).partition("\n")[0]
    if REFUSES in text:
        raise rc.UnsupportedError(text) from None


def _by_inductor(*args: Any) -> Any:
    """Reverse mode in code that inductor wrote: it believes in strides and aliases."""
    names = (os.environ.get("CXX", ""), *COMPILERS)
    if not any(map(shutil.which, names)):
        message = f"inductor needs a C++ compiler, but there is none of {names[1:]}"
        raise rc.UnsupportedError(message)
    with warnings.catch_warnings():  # torch imports what it calls deprecated itself
        warnings.filterwarnings("ignore", "`torch.jit")
        # It runs the operators for complex numbers that eager code runs.
        warnings.filterwarnings("ignore", "Torchinductor does not support code gen")
        return _compiled(_backward, "inductor")(*args)


class _Opener(TensorOpener):
    """Tensors, NumPy's arrays and numbers."""

    def convert(self, value: Any) -> Tensor | None:
        """The tensor of an array or a number, which is a double."""
        if isinstance(value, (float, complex)):
            dtype = torch.complex128 if isinstance(value, complex) else torch.float64
            return torch.tensor(value, dtype=dtype)
        return super().convert(value)

    def open(self, value: Any) -> rc.Structure | None:
        """A container of NumPy's arrays, which are leaves here."""
        return Opener.open(self, value)


_HOST = HostArrays(
    opener=_Opener(Tensor, numbers=True),
    to_numpy=to_numpy,
    like=lambda dx, x: torch.as_tensor(dx, dtype=x.dtype),
    is_smooth=differentiable,
)


def _flat(f: Any, primals: Any, kwargs: Any) -> FlatFunction:
    return FlatFunction(_HOST, _holding_tensors(f), primals, kwargs)


def _holding_tensors(f: Any) -> Any:
    """`f` with tensors in place of the NumPy arrays that it closes over.

    A NumPy array that Dynamo meets inside a transform, not before, fails the guard that
    Dynamo made of it there, whatever is done with the array.
    """
    if isinstance(f, np.generic):
        return torch.as_tensor(f)
    if isinstance(f, np.ndarray):
        found: list[Tensor] = []
        return unflatten(flatten(f, found), found)
    level = rc.structure(f)
    if level is None:
        return f
    values = list(map(_holding_tensors, level.values))
    same = all(new is old for new, old in zip(values, level.values, strict=True))
    return f if same else level.rebuild(values)


def _value(wrap: Wrap, f: Any, primals: Any, kwargs: Any) -> Any:
    flat = _flat(f, primals, kwargs)
    found = wrap(flat.full)(*flat.moving)
    if flat.out is None:  # compiled: the layout was seen by the compiler only
        flat.full(*flat.moving)
    return flat.value(found)


def _leaves_of(flat: FlatFunction) -> list[Tensor]:
    return [x.clone().requires_grad_() for x in flat.moving]


def _backward(wrap: Wrap, f: Any, primals: Any, kwargs: Any, cotangent: Any) -> Any:
    flat = _flat(f, primals, kwargs)
    seeds, leaves = flat.cotangents(cotangent), _leaves_of(flat)
    ys = wrap(flat)(*leaves)
    return flat.inputs(_grad(ys, leaves, seeds, create_graph=False))


def _grad(
    ys: Sequence[Tensor],
    leaves: Sequence[Tensor],
    seeds: Sequence[Tensor],
    *,
    create_graph: bool,
) -> Sequence[Tensor]:
    pairs = [(y, dy) for y, dy in zip(ys, seeds, strict=True) if y.requires_grad]
    if not pairs:
        return [torch.zeros_like(x) for x in leaves]
    return torch.autograd.grad(
        [y for y, _ in pairs],
        leaves,
        [dy for _, dy in pairs],
        create_graph=create_graph,
        allow_unused=True,
        materialize_grads=True,
    )


def _vjp(wrap: Wrap, f: Any, primals: Any, kwargs: Any, cotangent: Any) -> Any:
    flat = _flat(f, primals, kwargs)
    run = wrap(lambda xs, dys: vjp(flat, *xs)[1](dys))
    return flat.inputs(run(flat.moving, flat.cotangents(cotangent)))


def _jvp(wrap: Wrap, f: Any, primals: Any, kwargs: Any, tangents: Any) -> Any:
    flat = _flat(f, primals, kwargs)
    flat.full(*flat.moving)
    run = wrap(lambda xs, dxs: jvp(flat, xs, dxs)[1])
    return flat.outputs(run(flat.moving, flat.given(tangents)))


def _dual(_wrap: Wrap, f: Any, primals: Any, kwargs: Any, tangents: Any) -> Any:
    from torch.autograd import forward_ad

    flat = _flat(f, primals, kwargs)
    with forward_ad.dual_level():
        pairs = zip(flat.moving, flat.given(tangents), strict=True)
        ys = flat(*[forward_ad.make_dual(x, dx) for x, dx in pairs])
        unpacked = [forward_ad.unpack_dual(y) for y in ys]
        found = [torch.zeros_like(y) if dy is None else dy for y, dy in unpacked]
        return flat.outputs(found)


def _forward_over_reverse(
    wrap: Wrap, f: Any, primals: Any, kwargs: Any, tangents: Any, cotangent: Any
) -> Any:
    flat = _flat(f, primals, kwargs)
    seeds = flat.cotangents(cotangent)
    run = wrap(lambda xs, dxs: jvp(lambda *u: vjp(flat, *u)[1](seeds), xs, dxs)[1])
    return flat.inputs(run(flat.moving, flat.given(tangents)))


def _reverse_over_forward(
    wrap: Wrap, f: Any, primals: Any, kwargs: Any, tangents: Any, cotangent: Any
) -> Any:
    flat = _flat(f, primals, kwargs)
    seeds, dxs = flat.cotangents(cotangent), flat.given(tangents)
    run = wrap(lambda xs: vjp(lambda *u: jvp(flat, u, dxs)[1], *xs)[1](seeds))
    return flat.inputs(run(flat.moving))


def _backward_twice(
    _wrap: Wrap, f: Any, primals: Any, kwargs: Any, tangents: Any, cotangent: Any
) -> Any:
    """`J t` of the first derivative `g(x)`, as the derivative of `u ↦ ⟨Jᵀu, t⟩`."""
    flat = _flat(f, primals, kwargs)
    seeds, leaves, dxs = (
        flat.cotangents(cotangent),
        _leaves_of(flat),
        flat.given(tangents),
    )
    first = _grad(flat(*leaves), leaves, seeds, create_graph=True)
    dummies = [torch.zeros_like(g, requires_grad=True) for g in first]
    second = _grad(first, leaves, dummies, create_graph=True)
    return flat.inputs(_grad(second, dummies, dxs, create_graph=False))


def _stack(calls: Sequence[FlatFunction]) -> Tensors:
    columns = zip(*[call.moving for call in calls], strict=True)
    return tuple(torch.stack(column) for column in columns)


def _batched(wrap: Wrap, f: Any, examples: Any, kwargs: Any) -> Any:
    calls = [_flat(f, primals, kwargs) for primals in examples]
    first = calls[0]
    first.full(*first.moving)
    found = wrap(vmap(first.full))(*_stack(calls))
    rows = zip(*[y.unbind() for y in found], strict=True)
    return [first.value(row) for row in rows]


def _batched_vjp(
    wrap: Wrap, f: Any, examples: Any, kwargs: Any, cotangents: Any
) -> Any:
    calls = [_flat(f, primals, kwargs) for primals in examples]
    pairs = zip(calls, cotangents, strict=True)
    seeds = [call.cotangents(cotangent) for call, cotangent in pairs]
    stacked = tuple(torch.stack(column) for column in zip(*seeds, strict=True))
    run = wrap(vmap(lambda xs, dys: vjp(calls[0], *xs)[1](dys)))
    found = _unwarned(run, _stack(calls), stacked)
    rows = zip(*[dx.unbind() for dx in found], strict=True)
    return [calls[0].inputs(row) for row in rows]


def _batched_jvp(wrap: Wrap, f: Any, examples: Any, kwargs: Any, tangents: Any) -> Any:
    calls = [_flat(f, primals, kwargs) for primals in examples]
    first = calls[0]
    first.full(*first.moving)
    pairs = zip(calls, tangents, strict=True)
    moves = [call.given(each) for call, each in pairs]
    stacked = tuple(torch.stack(column) for column in zip(*moves, strict=True))
    run = wrap(vmap(lambda xs, dxs: jvp(first, xs, dxs)[1]))
    found = _unwarned(run, _stack(calls), stacked)
    rows = zip(*[dy.unbind() for dy in found], strict=True)
    return [first.outputs(row) for row in rows]


def _unwarned(run: Any, *args: Any) -> Any:
    """A call in which torch does not tell which of its own operators are slow."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "There is a performance drop")
        return run(*args)
