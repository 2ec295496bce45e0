"""Exported programs: one operator that stands for calls of primitives with rules.

A program of `torch.export` (or `make_fx`, or `torch.jit.trace`) is differentiated by
torch's own formulas of what is in it. So a primitive that has rules is an operator
there, and every way to differentiate or batch the operator calls the primitive again.
The operator is known as soon as this package is imported, and its first argument says
in text what is called, so that a program can be saved and loaded by another process.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

import rules_core as rc
from rules_core.extend import LEAF, unflatten
from rules_torch._compat import (
    below_autograd,
    forward_mode_active,
    functorch_active,
    noting_down_programs,
    root,
    scripting,
)
from rules_torch._errors import UntraceableError
from rules_torch._host.jobs import PrimalJob
from rules_torch._host.kernels import Kernels, define_looking
from rules_torch._host.operator import check_pure, shapes_of
from rules_torch._host.run import run_primal
from rules_torch._values.leaves import flatten
from rules_torch._values.meta import common_device
from rules_torch._values.static_keys import exact
from rules_torch._values.symbolic_sizes import filled, lifted

from .describe import Unspeakable, described, restored

__all__ = ["call_exported", "stays_whole"]

_CALLS: dict[str, _Call] = {}
_LOCAL: dict[Any, int] = {}  # calls without a name elsewhere, numbered


class _Call:
    """A primitive with the layouts of its arguments and, once it ran, its result."""

    def __init__(self, primitive: rc.Primitive, layout: Any) -> None:
        self.primitive, self.layout = primitive, layout
        self.result: Any = None

    def with_rules(
        self, tensors: Sequence[Tensor], sizes: Sequence[int]
    ) -> list[Tensor]:
        """By the adapter, as outside of the program."""
        args, kwargs = unflatten(filled(self.layout, sizes), tensors)
        return self._flat(self.primitive(*args, **kwargs), tensors)

    def primal(self, tensors: Sequence[Tensor], sizes: Sequence[int]) -> list[Tensor]:
        """The function alone."""
        args, kwargs = unflatten(filled(self.layout, sizes), tensors)
        return self._flat(run_primal(self.primitive, args, kwargs), tensors)

    def fake(self, tensors: Sequence[Tensor], sizes: Sequence[int]) -> list[Tensor]:
        """Tensors like the results, without data."""
        if not self.primitive.host:
            return self.primal(tensors, sizes)
        job = PrimalJob(self.primitive, filled(self.layout, sizes))
        shapes, result = shapes_of(job, tensors)
        self.result = LEAF if result is None else result
        device = common_device(job.label(), tensors)
        return [
            tensors[0].new_empty(shape, dtype=dtype, device=device)
            for shape, dtype in shapes
        ]

    def _flat(self, y: Any, tensors: Sequence[Tensor]) -> list[Tensor]:
        found: list[Tensor] = []
        self.result = flatten(y, found)
        # An operator must not return what it was given, nor a view of it.
        given = {id(root(x)) for x in tensors}
        return [y.clone() if id(root(y)) in given else y for y in found]


def stays_whole(tensors: Sequence[Tensor]) -> bool:
    """Whether a call is to stay in the program that is being written down.

    The programs of `make_fx` and `torch.jit.trace` can also hold derivatives that are
    taken while they are written down; those go through the rules.
    """
    if torch.compiler.is_exporting():
        return True
    if functorch_active() or forward_mode_active() or not noting_down_programs():
        return False
    if scripting():
        return not torch.onnx.is_in_onnx_export()  # which has no derivatives
    return not (torch.is_grad_enabled() and any(x.requires_grad for x in tensors))


def call_exported(
    primitive: rc.Primitive, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call a primitive in a program that is being exported, so that its rules stay.

    Raises:
        UntraceableError: The program transforms the primitive.
    """
    check_pure(primitive)
    if functorch_active():
        raise UntraceableError(
            primitive.table.label,
            "a transform of torch.func inside a module cannot be exported",
            "Export the module without it, and transform what is exported.",
        )
    tensors: list[Tensor] = []
    sizes: list[Any] = []
    name = _name_of(primitive, lifted(flatten((args, kwargs), tensors), sizes))
    found = _call(name, tensors, sizes)
    return unflatten(_CALLS[name].result, found)


def _call(name: str, tensors: list[Tensor], sizes: Sequence[int]) -> list[Tensor]:
    if not sizes:  # as in programs that were saved before there were any
        return torch.ops.rules_torch.call(name, tensors)
    return torch.ops.rules_torch.call(name, tensors, sizes)


def _name_of(primitive: rc.Primitive, layout: Any) -> str:
    """The call as text; a number where it has none, for this process."""
    try:
        name = f"{described(primitive)} {described(layout)}"
    except Unspeakable as reason:
        name = _local_name(primitive, layout, str(reason))
    known = _CALLS.get(name)
    if known is None or known.primitive is not primitive:  # it may be defined anew
        _CALLS[name] = _Call(primitive, layout)
    return name


def _local_name(primitive: rc.Primitive, layout: Any, reason: str) -> str:
    """A name by the call alone, for `torch.jit.trace` compares two traces."""
    label = primitive.table.label.replace(" ", "_")
    number = _LOCAL.setdefault(exact((primitive, layout)), len(_LOCAL))
    return f"{label}#{number} {reason}"


def _find(name: str) -> _Call:
    """The call that is meant, in the process that exported it or in another.

    Raises:
        UntraceableError: It cannot be found here.
    """
    call = _CALLS.get(name)
    if call is None:
        first, _, rest = name.partition(" ")
        if "#" in first:
            raise UntraceableError(
                first.partition("#")[0],
                f"the program was exported by another process, and {rest}",
                "Export it again in this process, or change that.",
            )
        call = _CALLS[name] = _Call(restored(first), restored(rest))
    return call


def _run(name: str, tensors: list[Tensor], sizes: Sequence[int] = ()) -> list[Tensor]:
    with torch.no_grad():
        return _find(name).primal(tensors, sizes)


def _run_with_rules(
    name: str, tensors: list[Tensor], sizes: Sequence[int] = ()
) -> list[Tensor]:
    if stays_whole(tensors):
        with below_autograd():
            return _call(name, tensors, sizes)
    return _find(name).with_rules(tensors, sizes)


def _run_fake(
    name: str, tensors: list[Tensor], sizes: Sequence[int] = ()
) -> list[Tensor]:
    return _find(name).fake(tensors, sizes)


define_looking(
    "call",
    "(str call, Tensor[] tensors, SymInt[] sizes=[]) -> Tensor[]",
    Kernels(run=_run, fake=_run_fake, with_rules=_run_with_rules),
)
