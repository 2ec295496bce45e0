"""Host primals: functions of NumPy arrays, called on torch tensors.

In plain eager code the function is simply called. Under `vmap` it stands behind an
opaque Function that takes a batch; where a compiler traces, behind a custom operator.
None of these has a derivative of its own: rules see to that, one level up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

import rules_core as rc
from rules_core.extend import unflatten
from rules_torch._compat import (
    NO_FUNCTIONALIZE,
    apply_function,
    call_function,
    functorch_active,
    is_fake,
    is_legacy_batched,
    lacks_data,
    noting_down,
    older_vmap_active,
)
from rules_torch._errors import FunctionalizeError, blame_not_generic
from rules_torch._values.leaves import flatten
from rules_torch._values.older_vmap import run_whole_batch

from .jobs import Job, PrimalJob
from .operator import call_operator

__all__ = ["Opaque", "run_opaque", "run_primal"]


def run_primal(
    primitive: rc.Primitive, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The primitive's own result, without rules."""
    if not primitive.host:
        return _run_generic(primitive, args, kwargs)
    tensors: list[Tensor] = []
    layout = flatten((args, kwargs), tensors)
    job = PrimalJob(primitive, layout)
    outputs = run_opaque(job, tensors)
    return outputs[0] if job.result is None else unflatten(job.result, outputs)


def _run_generic(
    primitive: rc.Primitive, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    try:
        return primitive.fun(*args, **kwargs)
    except (RuntimeError, TypeError, ValueError) as error:
        tensors = [x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
        if not any(map(lacks_data, tensors)):  # a compiler has words of its own
            blame_not_generic(f"the body of {primitive.table.label}", error)
        raise


def run_opaque(job: Job, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
    """Run a job by the mechanism that its tensors ask for."""
    if functorch_active():  # also for plain tensors: any operation would wrap them
        try:
            return call_function(Opaque, job, *tensors)
        except RuntimeError as error:
            if NO_FUNCTIONALIZE not in str(error):
                raise
            raise FunctionalizeError(job.label()) from None
    if older_vmap_active() and True in map(is_legacy_batched, tensors):
        found: Sequence[Tensor] = run_whole_batch(
            job.label(), lambda *xs: tuple(run_opaque(job, xs)), tensors
        )
        return found
    if torch.is_grad_enabled() and any(x.requires_grad for x in tensors):
        return _apply(job, *tensors)
    if any(map(is_fake, tensors)) or noting_down():
        if isinstance(job, PrimalJob):
            return call_operator(job, tensors)
        job.refuse_tracing()
    return job.run(tensors)


class Opaque(torch.autograd.Function):
    """A job that transforms of torch.func can batch and cannot look into."""

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """`Function.apply` without binding a signature at every call."""
        return call_function(cls, *args) if functorch_active() else _apply(*args)

    @staticmethod
    def forward(job: Job, *tensors: Tensor) -> tuple[Tensor, ...]:
        """The result, in NumPy."""
        return tuple(run_opaque(job, tensors))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Nothing to keep but the job, which knows what to say."""
        del output
        ctx.job = inputs[0]

    @staticmethod
    def backward(ctx: Any, *_seeds: Any) -> None:
        """Refused."""
        ctx.job.refuse()

    @staticmethod
    def jvp(ctx: Any, *_tangents: Any) -> None:
        """Refused."""
        ctx.job.refuse()

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], job: Job, *tensors: Tensor) -> Any:
        """The whole batch, as the job knows best."""
        outputs, dims = job.batch(info.batch_size, in_dims[1:], tensors, run_opaque)
        return tuple(outputs), tuple(dims)


_apply = apply_function(Opaque)
