"""Custom operators: a host primal in a graph."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

import rules_core as rc
from rules_core.extend import (
    LEAF,
    Opener,
    flatten as flatten_layout,
    statics,
    unflatten,
)
from rules_torch._closures.outside_reads import Reader
from rules_torch._errors import UntraceableError
from rules_torch._values.exchange import exact_dtype
from rules_torch._values.leaves import flatten
from rules_torch._values.meta import common_device
from rules_torch._values.numpy_arrays import numpy_dtype, torch_dtype
from rules_torch._values.static_keys import exact
from rules_torch._values.symbolic_sizes import filled, lifted

from .jobs import PrimalJob, elementwise_dtype, single_precision
from .kernels import Kernels, define_opaque

__all__ = ["call_operator", "check_pure", "shapes_of"]

_TAKEN: Counter[str] = Counter()
# Where a primitive keeps its operators; torch registers them for good.
_OPERATORS = "_operators_torch"


def call_operator(job: PrimalJob, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
    """Call the operator that stands for a host primal on tensors without data."""
    primitive = job.primitive
    check_pure(primitive)
    shapes, job.result = shapes_of(job, tensors)
    sizes: list[Any] = []
    layout = lifted(job.layout, sizes)
    known = primitive.__dict__.setdefault(_OPERATORS, {})
    # Inductor keeps graphs by the names of their operators, also on disk. So a shape
    # rule that reads another value from outside belongs to another operator.
    outside = tuple((e.path, e.expected) for e in Reader(primitive).found)
    key = exact((layout, len(shapes), job.variant, outside))
    if key not in known:
        arity = len(tensors), len(sizes), len(shapes)
        known[key] = _define_host(job, layout, arity, outside)
    outputs = known[key](*tensors, *sizes)
    return [outputs] if isinstance(outputs, Tensor) else outputs


def check_pure(primitive: rc.Primitive) -> None:
    """Refuse a function with effects.

    Raises:
        UntraceableError: It is declared `pure=False`.
    """
    if not primitive.pure:
        raise UntraceableError(
            primitive.table.label,
            "it is declared pure=False, and a compiler may repeat or drop calls",
            "Call it outside of the compiled function.",
        )


def shapes_of(job: PrimalJob, tensors: Sequence[Tensor]) -> tuple[list[Any], Any]:
    """Shape and dtype of each output by the shape rule, and the result's layout."""
    primitive, examples = job.primitive, job.examples(tensors)
    if primitive.elementwise and primitive.table.shapes is None:
        shape = job.whole(torch.broadcast_shapes(*examples), tensors)
        one = (shape, elementwise_dtype(job.layout, tensors))
        many = getattr(primitive.fun, "nout", 1)
        names = tuple(range(many))
        result = ("sequence", tuple, names, (LEAF,) * many) if many > 1 else None
        return [one] * many, result
    rule = primitive.own_shapes or primitive.shape_rule
    if rule is None:
        raise UntraceableError(
            primitive.table.label,
            "it runs in NumPy, and the shape of its result is not known beforehand",
            "Register it with @shape_rule.define, or give to_torch(f, out=…).",
        )
    known = exact_dtype if job.foreign else numpy_dtype
    pairs = zip(examples, tensors, strict=True)
    described = [rc.ShapeDtype(shape, known(x.dtype)) for shape, x in pairs]
    args, kwargs = unflatten(job.layout, described)
    found: list[Any] = []
    layout = flatten_layout(rule(*args, **kwargs), found, _DESCRIBED)
    stood_for = single_precision(job, tensors)
    dtypes = [torch_dtype(s.dtype) for s in found]
    shapes = [job.whole(s.shape, tensors) for s in found]
    outputs = [
        (shape, stood_for.get(dtype, dtype))
        for shape, dtype in zip(shapes, dtypes, strict=True)
    ]
    return outputs, None if layout == LEAF else layout


_DESCRIBED = Opener(rc.ShapeDtype)


def _define_host(
    job: PrimalJob, layout: Any, arity: tuple[int, int, int], outside: Any
) -> Any:
    """The operator of a layout with sizes left open.

    Its arity: the numbers of tensors, of sizes and of results.
    """
    primitive, count = job.primitive, arity[0]
    job = job.again()  # an operator lives for ever: without the results of this call
    job.layout = layout

    def at(arguments: Sequence[Any]) -> tuple[PrimalJob, Sequence[Tensor]]:
        again = job.again()
        again.layout = filled(layout, arguments[count:])
        return again, arguments[:count]

    def run(*arguments: Any) -> Any:
        again, tensors = at(arguments)
        expected, result = shapes_of(again, tensors)
        found = again.run(tensors)
        _check_result(again, expected, result, found)
        pairs = zip(found, expected, strict=True)
        return _packed([_fit(primitive, x, meta) for x, meta in pairs])

    def fake(*arguments: Any) -> Any:
        again, tensors = at(arguments)
        expected, _ = shapes_of(again, tensors)
        device = common_device(primitive.table.label, tensors)
        return _packed([torch.empty(s, dtype=d, device=device) for s, d in expected])

    def with_rules(*arguments: Any) -> Any:
        again, tensors = at(arguments)

        def one(*tensors: Tensor) -> tuple[Tensor, ...]:
            args, kwargs = unflatten(again.layout, tensors)
            found: list[Tensor] = []
            flatten(primitive(*args, **kwargs), found)
            return tuple(found)

        if job.dims is None:
            return _packed(one(*tensors))
        return _packed(torch.vmap(one, job.dims)(*tensors))

    kernels = Kernels(run=run, fake=fake, with_rules=with_rules)
    kind = f"host{job.variant or ''}" + (f" {outside!r}" if outside else "")
    return _define(primitive, layout, kernels, arity, kind)


def _check_result(
    job: PrimalJob, expected: Sequence[Any], result: Any, found: Sequence[Tensor]
) -> None:
    """A graph has the result as declared; so it must be what the function returns.

    Raises:
        rc.UnsupportedError: Other arrays, or other constants beside them.
    """
    same = exact(_constants(job.result)) == exact(_constants(result))
    if same and len(found) == len(expected):
        return
    if job.primitive.elementwise and job.primitive.table.shapes is None:
        message = (
            f"{job.label()} is declared elementwise=True, which promises one array "
            f"unless it is a ufunc, but returned {_shown(found, job.result)}. Leave "
            "elementwise out, and add a shape_rule and a batch_rule."
        )
        raise rc.UnsupportedError(message)
    message = (
        f"{job.label()}: its shape rule must describe every array that the function "
        "returns and repeat every other value, but got "
        f"{_shown(expected, result)} where the function returned "
        f"{_shown(found, job.result)}. Correct the shape rule, and return arrays in "
        "place of numbers that depend on the data."
    )
    raise rc.UnsupportedError(message)


def _constants(layout: Any) -> list[Any]:
    return [] if layout is None else list(statics(layout))


def _shown(arrays: Sequence[Any], layout: Any) -> str:
    constants = ", ".join(map(repr, _constants(layout))) or "nothing"
    return f"{len(arrays)} arrays and {constants}"


def _fit(primitive: rc.Primitive, x: Tensor, meta: Any) -> Tensor:
    """A result as declared: its shape, a dtype that holds it, and rows one by one."""
    shape, dtype = meta
    if tuple(x.shape) != tuple(shape) or not _holds(dtype, x.dtype):
        message = (
            f"{primitive.table.label}: its shape rule must give the result's shape and "
            f"dtype, but got {tuple(shape)} of {dtype} where the function returned "
            f"{tuple(x.shape)} of {x.dtype}. Correct the shape rule."
        )
        raise rc.UnsupportedError(message)
    return x.to(dtype).contiguous()


def _holds(dtype: torch.dtype, found: torch.dtype) -> bool:
    """Whether a dtype holds the values of another, up to precision."""
    if dtype.is_complex != found.is_complex:
        return dtype.is_complex and found.is_floating_point
    if not found.is_floating_point and not found.is_complex:
        return torch.promote_types(dtype, found) is dtype
    return dtype.is_floating_point or dtype.is_complex


def _packed(tensors: Sequence[Tensor]) -> Any:
    return tensors[0] if len(tensors) == 1 else tuple(tensors)


def _define(
    primitive: rc.Primitive,
    layout: Any,
    kernels: Kernels,
    arity: tuple[int, int, int],
    kind: str,
) -> Any:
    """An operator of fixed arity: torch can batch those in every kind of vmap."""
    tensors, sizes, outputs = arity
    taken = [f"Tensor x{i}" for i in range(tensors)]
    taken += [f"SymInt n{i}" for i in range(sizes)]
    given = ", ".join(["Tensor"] * outputs)
    made = given if outputs == 1 else f"({given})"
    name = _name(primitive, f"{layout!r} {outputs} {kind}")
    return define_opaque(name, f"({', '.join(taken)}) -> {made}", kernels)


def _name(primitive: rc.Primitive, variant: str) -> str:
    """A name that is the same in every process, so that programs can be loaded."""
    fun = primitive.fun
    whole = f"{getattr(fun, '__module__', '')} {primitive.table.label} {variant}"
    label = re.sub(r"\W+", "_", primitive.table.label).strip("_") or "function"
    name = f"{label}_{hashlib.sha256(whole.encode()).hexdigest()[:8]}"
    _TAKEN[name] += 1  # the same definition once more, as in a notebook
    return name + (f"_{_TAKEN[name]}" if _TAKEN[name] > 1 else "")
