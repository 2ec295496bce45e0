"""Custom operators: a host primal in a graph."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

import rules_core as rc

from ._errors import UntraceableError
from ._exchange import exact_dtype
from ._host import PrimalJob, elementwise_dtype
from ._leaves import flatten, flatten_plain, leaf_names, unflatten
from ._meta import common_device
from ._numpy import numpy_dtype, torch_dtype
from ._operators import Kernels, define_opaque

__all__ = ["call_operator", "check_pure", "shapes_of"]

_TAKEN: Counter[str] = Counter()
_OPERATORS: dict[Any, Any] = {}


def call_operator(job: PrimalJob, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
    """Call the operator that stands for a host primal on tensors without data."""
    primitive = job.primitive
    check_pure(primitive)
    shapes, job.result = shapes_of(job, tensors)
    key = (primitive, job.layout, len(shapes), job.variant)
    operator = _find(key, lambda: _define_host(job, len(shapes)))
    outputs = operator(*tensors)
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


def _find(key: Any, define: Callable[[], Any]) -> Any:
    try:
        if key not in _OPERATORS:
            _OPERATORS[key] = define()
        return _OPERATORS[key]
    except TypeError:  # a static argument is not hashable
        return define()


def shapes_of(job: PrimalJob, tensors: Sequence[Tensor]) -> tuple[list[Any], Any]:
    """Shape and dtype of each output by the shape rule, and the result's layout."""
    primitive, examples = job.primitive, job.examples(tensors)
    if primitive.elementwise and primitive.table.shapes is None:
        shape = job.whole(torch.broadcast_shapes(*examples), tensors)
        one = (shape, elementwise_dtype(job.layout, tensors))
        many = getattr(primitive.fun, "nout", 1)
        names = tuple(range(many))
        result = ("sequence", tuple, names, (("tensor",),) * many) if many > 1 else None
        return [one] * many, result
    rule = primitive.__dict__.get("_out_torch") or primitive.shape_rule
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
    layout = flatten_plain(rule(*args, **kwargs), found, _is_described)
    outputs = [(job.whole(s.shape, tensors), torch_dtype(s.dtype)) for s in found]
    return outputs, None if layout == ("tensor",) else layout


def _is_described(value: Any) -> bool:
    return isinstance(value, rc.ShapeDtype)


def _define_host(job: PrimalJob, outputs: int) -> Any:
    primitive, layout = job.primitive, job.layout
    job = job.again()  # an operator lives for ever: without the results of this call

    def run(*tensors: Tensor) -> Any:
        again = job.again()
        expected, _ = shapes_of(again, tensors)
        found = again.run(tensors)
        return _packed(
            [_fit(primitive, x, meta) for x, meta in zip(found, expected, strict=True)]
        )

    def fake(*tensors: Tensor) -> Any:
        expected, _ = shapes_of(job.again(), tensors)
        device = common_device(primitive.table.label, tensors)
        return _packed([torch.empty(s, dtype=d, device=device) for s, d in expected])

    def one(*tensors: Tensor) -> tuple[Tensor, ...]:
        args, kwargs = unflatten(layout, tensors)
        found: list[Tensor] = []
        flatten(primitive(*args, **kwargs), found)
        return tuple(found)

    def with_rules(*tensors: Tensor) -> Any:
        if job.dims is None:
            return _packed(one(*tensors))
        return _packed(torch.vmap(one, job.dims)(*tensors))

    kernels = Kernels(run=run, fake=fake, with_rules=with_rules)
    return _define(primitive, layout, kernels, outputs, f"host{job.variant or ''}")


def _fit(primitive: rc.Primitive, x: Tensor, meta: Any) -> Tensor:
    """A result in the declared dtype; its shape must be the declared one."""
    shape, dtype = meta
    if tuple(x.shape) != tuple(shape) or x.is_complex() != dtype.is_complex:
        message = (
            f"{primitive.table.label}: its shape rule must give the result's shape and "
            f"dtype, but got {tuple(shape)} of {dtype} where the function returned "
            f"{tuple(x.shape)} of {x.dtype}. Correct the shape rule."
        )
        raise rc.UnsupportedError(message)
    return x.to(dtype)


def _packed(tensors: Sequence[Tensor]) -> Any:
    return tensors[0] if len(tensors) == 1 else tuple(tensors)


def _arity(layout: Any) -> int:
    return sum(1 for _ in leaf_names(layout, ""))


def _define(
    primitive: rc.Primitive, layout: Any, kernels: Kernels, outputs: int, kind: str
) -> Any:
    """An operator of fixed arity: torch can batch those in every kind of vmap."""
    taken = ", ".join(f"Tensor x{i}" for i in range(_arity(layout)))
    given = ", ".join(["Tensor"] * outputs)
    schema = f"({taken}) -> " + (given if outputs == 1 else f"({given})")
    name = _name(primitive, f"{layout!r} {outputs} {kind}")
    return define_opaque(name, schema, kernels)


def _name(primitive: rc.Primitive, variant: str) -> str:
    """A name that is the same in every process, so that programs can be loaded."""
    fun = primitive.fun
    whole = f"{getattr(fun, '__module__', '')} {primitive.table.label} {variant}"
    label = re.sub(r"\W+", "_", primitive.table.label).strip("_") or "function"
    name = f"{label}_{hashlib.sha256(whole.encode()).hexdigest()[:8]}"
    _TAKEN[name] += 1  # the same definition once more, as in a notebook
    return name + (f"_{_TAKEN[name]}" if _TAKEN[name] > 1 else "")
