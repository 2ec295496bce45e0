"""Calls to be run in NumPy: tensors in, tensors out, for one example or a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NoReturn

import torch
from torch import Tensor

import rules_core as rc
from rules_core.extend import Opener, count_leaves, flatten, form_of, unflatten
from rules_torch._config import CONFIG
from rules_torch._values.exchange import lend, take
from rules_torch._values.leaves import as_array
from rules_torch._values.meta import common_device
from rules_torch._values.numpy_arrays import from_numpy, to_numpy, torch_dtype

from .lent_arrays import call_lent

__all__ = ["Job", "PrimalJob", "elementwise_dtype", "single_precision"]

Run = Callable[["Job", Sequence[Tensor]], Sequence[Tensor]]

_EMPTY = (
    "{}: a batch of no examples, which is called one example at a time, has no result. "
    "Define a batch rule with @batch_rule.define, or leave empty batches out."
)
_UNLIKE = (
    "{}: the examples of a batch must return alike, but differ in the shapes or "
    "dtypes of their results or of what a rule keeps, or in a result that is no array "
    "(an int, a string). Return arrays of one shape, or call it in a loop."
)

_SIZE = (
    "{}: its batch rule must return the batch axis first, of size {}, but got a result "
    "of shape {}. Return what is not batched with False."
)

_NO_NUMBERS = (
    "host function {} must return numbers of a dtype that PyTorch has, but got others, "
    "such as objects or texts. Convert the result in the function."
)
_UNPROMISED = (
    "{}: its batch rule must return what its declaration promises, of shape {} and {} "
    "for this batch, but got a result of shape {} and {}. Correct the batch rule or "
    "the declaration."
)


def _run_plainly(job: Job, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
    return job.run(tensors)


class Job:
    """Something to be done in NumPy, tensors in and tensors out."""

    def run(self, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        """Do it on tensors that have data."""
        raise NotImplementedError

    def refuse_tracing(self) -> NoReturn:
        """A compiler cannot have it in a graph."""
        raise NotImplementedError

    def batch(
        self,
        size: int,
        dims: Sequence[int | None],
        tensors: Sequence[Tensor],
        run: Run,
    ) -> tuple[Sequence[Tensor], Sequence[int | None]]:
        """Do it for a whole batch: one by one, unless there is a better way.

        `run` chooses the mechanism for the tensors that it is given.
        """
        if not size:  # nothing tells the number and shapes of the results
            raise rc.UnsupportedError(_EMPTY.format(self.label()))
        runs, forms = [], []
        for i in range(size):
            pairs = zip(tensors, dims, strict=True)
            runs.append(run(self, [_slice(x, d, i) for x, d in pairs]))
            forms.append((self.form(), [(x.shape, x.dtype) for x in runs[-1]]))
        if any(form != forms[0] for form in forms):
            raise rc.UnsupportedError(_UNLIKE.format(self.label()))
        outputs = [torch.stack(column) for column in zip(*runs, strict=True)]
        return outputs, [0] * len(outputs)

    def form(self) -> Any:
        """The layout of the last result."""
        return None

    def refuse(self) -> NoReturn:
        """A derivative is wanted that no rule covers."""
        raise NotImplementedError

    def label(self) -> str:
        """The job's name, for messages."""
        raise NotImplementedError


def _slice(x: Tensor, dim: int | None, index: int) -> Tensor:
    return x if dim is None else x.select(dim, index)


class PrimalJob(Job):
    """The call of a host primal.

    Attributes:
        primitive: The primitive.
        layout: Layout of its arguments.
        result: Layout of its result once it has run; None for one tensor.
        dims: Where each tensor is batched; None for the call of one example.
    """

    dims: tuple[int | None, ...] | None = None

    def __init__(self, primitive: rc.Primitive, layout: Any) -> None:
        self.primitive, self.layout = primitive, layout
        self.foreign = rc.Foreign.of(primitive) is not None
        self.result: Any = None

    @property
    def variant(self) -> Any:
        """A key that tells operators of one primitive and layout apart."""
        return ()

    def again(self) -> PrimalJob:
        """A copy of the job, not run yet."""
        return PrimalJob(self.primitive, self.layout)

    def examples(self, tensors: Sequence[Tensor]) -> list[tuple[int, ...]]:
        """The shapes that the shape rule is asked about."""
        return [tuple(x.shape) for x in tensors]

    def whole(self, shape: Any, tensors: Sequence[Tensor]) -> tuple[int, ...]:
        """The shape of a result, from what the shape rule said."""
        del tensors
        return tuple(shape)

    def run(self, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        """Call the function; an elementwise result gets the arguments' dtype."""
        return self.read(self.on_arrays(self._call, tensors), tensors)

    def _call(self, arrays: list[Any]) -> list[Any]:
        args, kwargs = unflatten(self.layout, arrays)
        run = self.primitive.run if self.foreign else self.primitive.checked
        return [run(*args, **kwargs)]

    def on_arrays(
        self, fn: Callable[[list[Any]], Any], tensors: Sequence[Tensor]
    ) -> Any:
        """`fn` of the tensors as NumPy arrays."""
        if self.foreign:
            return fn(list(map(lend, tensors)))
        return call_lent(self.primitive, fn, tensors)

    def read(self, found: list[Any], tensors: Sequence[Tensor]) -> list[Tensor]:
        """The tensors of a NumPy result; keeps its layout.

        The result is alone in a list, and is taken out of it: what has no other
        reference need not be copied.
        """
        device = common_device(self.label(), tensors)
        if not isinstance(found[0], _NUMBERS) and as_array(found[0]) is None:
            leaves: list[Any] = []
            self.result = flatten(found.pop(), leaves, _RESULT)
            found = leaves
        if self.foreign:  # nothing else refers to its memory
            outputs = [take(y).to(device) for y in found]
        else:
            try:
                outputs = from_numpy(found, device)
            except TypeError as error:
                raise rc.UnsupportedError(_NO_NUMBERS.format(self.label())) from error
        if not self.primitive.elementwise:
            stood_for = single_precision(self, tensors)
            return [_cast(x, stood_for.get(x.dtype, x.dtype)) for x in outputs]
        dtype = elementwise_dtype(self.layout, tensors)
        return [_cast(x, dtype) for x in outputs]

    def batch(
        self,
        size: int,
        dims: Sequence[int | None],
        tensors: Sequence[Tensor],
        run: Run,
    ) -> tuple[Sequence[Tensor], Sequence[int | None]]:
        """By the batch rule; an elementwise function takes the batch as it is."""
        if self.primitive.elementwise and self.primitive.table.batches is None:
            ranks = [
                x.ndim - (d is not None) for x, d in zip(tensors, dims, strict=True)
            ]
            rank = max(ranks)
            pairs = zip(tensors, dims, strict=True)
            outputs = run(self, [_align(x, d, rank) for x, d in pairs])
            dtype = elementwise_dtype(self.layout, tensors, ranks)
            return [_cast(x, dtype) for x in outputs], [0] * len(outputs)
        flags = self._batched_arguments(dims)
        if self.primitive.batch_rule is None or flags is None:
            return super().batch(size, dims, tensors, run)
        job = BatchJob(self.primitive, self.layout, flags)
        pairs = zip(tensors, dims, strict=True)
        outputs = run(
            job,
            [
                _in_front(x, d, size) if flag else x
                for (x, d), flag in zip(pairs, job.wanted, strict=True)
            ],
        )
        self.result = job.result
        return outputs, [0] * len(outputs)

    def _batched_arguments(
        self, dims: Sequence[int | None]
    ) -> list[tuple[bool, int]] | None:
        """Per argument whether it is batched, and its number of tensors.

        None where a keyword is batched, of which a batch rule is not told.
        """
        left = iter(dims)
        flags = []
        for part in _parts(self.layout):
            own = [next(left) for _ in range(count_leaves(part))]
            flags.append((any(d is not None for d in own), len(own)))
        return None if any(d is not None for d in left) else flags

    def form(self) -> Any:
        """The layout of the result."""
        return form_of(self.result)

    def label(self) -> str:
        """The function's name."""
        return self.primitive.table.label

    def refuse(self) -> NoReturn:
        """No rule for this function."""
        fun = self.primitive.fun
        missing = rc.RuleNotFound.build("rrule", fun, (), {}, CONFIG)
        raise missing


def _align(x: Tensor, dim: int | None, rank: int) -> Tensor:
    """The batch axis first, then ones, so that the axes of the examples line up."""
    if dim is None:
        return x
    x = x.movedim(dim, 0)
    return x.reshape(x.shape[0], *(1,) * (rank - x.ndim + 1), *x.shape[1:])


def _in_front(x: Tensor, dim: int | None, size: int) -> Tensor:
    """The batch axis first; a container is batched as a whole."""
    return x.expand(size, *x.shape) if dim is None else x.movedim(dim, 0)


class BatchJob(PrimalJob):
    """A host primal on a whole batch, by its batch rule.

    Attributes:
        flags: Per argument, whether it is batched, and its number of tensors.
        wanted: Per tensor, whether it is batched.
    """

    def __init__(
        self, primitive: rc.Primitive, layout: Any, flags: Sequence[tuple[bool, int]]
    ) -> None:
        super().__init__(primitive, layout)
        self.flags = tuple(flags)
        self.wanted = [flag for flag, count in flags for _ in range(count)]
        self.dims = tuple(0 if flag else None for flag in self.wanted)

    @property
    def variant(self) -> Any:
        """Batches of different arguments are different operators."""
        return ("batch", self.flags)

    def again(self) -> PrimalJob:
        """A copy of the job, not run yet."""
        return BatchJob(self.primitive, self.layout, self.flags)

    def examples(self, tensors: Sequence[Tensor]) -> list[tuple[int, ...]]:
        """Shapes of the tensors of one example."""
        pairs = zip(tensors, self.wanted, strict=True)
        return [tuple(x.shape[1:] if flag else x.shape) for x, flag in pairs]

    def whole(self, shape: Any, tensors: Sequence[Tensor]) -> tuple[int, ...]:
        """The shape of a result of the whole batch."""
        return (self.size(tensors), *shape)

    def size(self, tensors: Sequence[Tensor]) -> int:
        """The number of examples."""
        pairs = zip(tensors, self.wanted, strict=True)
        size: int = next(x.shape[0] for x, flag in pairs if flag)
        return size

    def run(self, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        """Call the batch rule; what it did not batch is repeated."""
        rule, size = self.primitive.batch_rule, self.size(tensors)
        assert rule is not None

        def call(arrays: list[Any]) -> Any:
            args, kwargs = unflatten(self.layout, arrays)
            return rule(size, tuple(flag for flag, _ in self.flags), *args, **kwargs)

        found = self.on_arrays(call, tensors)
        if found is NotImplemented:
            return self._one_by_one(tensors)
        found, batched = [found[0]], found[1]
        outputs = self.read(found, tensors)
        flags = _flags(batched, len(outputs))
        pairs = list(zip(outputs, flags, strict=True))
        for x, flag in pairs:
            if flag and x.shape[:1] != (size,):
                raise rc.UnsupportedError(
                    _SIZE.format(self.label(), size, tuple(x.shape))
                )
        found = [x if flag else x.expand(size, *x.shape) for x, flag in pairs]
        return self._as_declared(found, tensors)

    def _as_declared(
        self, found: list[Tensor], tensors: Sequence[Tensor]
    ) -> Sequence[Tensor]:
        """The results of a batch as the function promises those of one example."""
        keep, size = self.primitive.keep, self.size(tensors)
        if keep is None or not size:
            return found
        pairs = zip(tensors, self.wanted, strict=True)
        example = [to_numpy(x[0] if flag else x) for x, flag in pairs]
        promised: list[Any] = []
        flatten(keep.ask(*unflatten(self.layout, example)), promised, _PROMISED)
        if len(promised) != len(found):
            return found
        stood_for = single_precision(self, tensors)
        return [
            self._fitted(x, (size, *p.shape), p.dtype, stood_for)
            for x, p in zip(found, promised, strict=True)
        ]

    def _fitted(self, x: Tensor, shape: Any, dtype: Any, stood_for: Any) -> Tensor:
        wanted = torch_dtype(dtype)
        left = x.is_complex() and not wanted.is_complex
        if (
            tuple(x.shape) != shape
            or left
            or (dtype.kind in "biu" and x.is_floating_point())
        ):
            raise rc.UnsupportedError(
                _UNPROMISED.format(self.label(), shape, wanted, tuple(x.shape), x.dtype)
            )
        return x.to(stood_for.get(wanted, wanted))

    def _one_by_one(self, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        """Run examples one by one, if the batch rule declined."""
        single = PrimalJob(self.primitive, self.layout)
        outputs, _ = Job.batch(
            single, self.size(tensors), self.dims or (), tensors, _run_plainly
        )
        self.result = single.result
        return outputs

    def batch(
        self,
        size: int,
        dims: Sequence[int | None],
        tensors: Sequence[Tensor],
        run: Run,
    ) -> tuple[Sequence[Tensor], Sequence[int | None]]:
        """A batch of batches, one by one."""
        return Job.batch(self, size, dims, tensors, run)


def _flags(batched: Any, count: int) -> list[bool]:
    """Per tensor of the result, whether a batch rule has batched it."""
    found: list[bool] = []
    flatten(batched, found, _FLAGS)
    return found * count if len(found) == 1 else found


def _cast(x: Tensor, dtype: torch.dtype) -> Tensor:
    if x.dtype is dtype:
        return x
    if x.is_complex() and not dtype.is_complex:  # the function left the real line
        dtype = {torch.float64: torch.complex128}.get(dtype, torch.complex64)
    return x.to(dtype)


def single_precision(
    job: PrimalJob, tensors: Sequence[Tensor]
) -> dict[torch.dtype, torch.dtype]:
    """The dtype that a function's float32 stands for: what it was given as such.

    NumPy has no bfloat16. `to_torch(f, out=…)` says itself what is meant.
    """
    if job.foreign or job.primitive.own_shapes is not None:
        return {}
    dtypes = {x.dtype for x in tensors if x.is_floating_point()}
    narrow = torch.bfloat16 in dtypes and torch.float32 not in dtypes
    return {torch.float32: torch.bfloat16} if narrow else {}


def elementwise_dtype(
    layout: Any, tensors: Sequence[Tensor], ranks: Sequence[int] | None = None
) -> torch.dtype:
    """The widest floating dtype among the arguments; integers alone give double.

    As in PyTorch a 0-d tensor does not widen the dtype of others. Of a batch, `ranks`
    are those of an example.
    """
    ranks = [x.ndim for x in tensors] if ranks is None else ranks
    pairs = [
        (x.dtype, rank)
        for x, rank in zip(tensors, ranks, strict=True)
        if x.is_floating_point() or x.is_complex()
    ]
    found = _promoted([(dtype, min(rank, 1)) for dtype, rank in pairs])
    has_complex = any(
        part[0] == "static" and isinstance(part[1], complex) for part in _parts(layout)
    )
    return found.to_complex() if has_complex else found


def _promoted(pairs: Sequence[tuple[torch.dtype, int]]) -> torch.dtype:
    """The dtype that PyTorch finds for tensors of these dtypes and ranks of 0 or 1."""
    whole, single = ([d for d, rank in pairs if rank == i] for i in (1, 0))
    if not whole or not single:
        return reduce(torch.promote_types, whole or single or [torch.float64])
    widest = reduce(torch.promote_types, whole)
    return widest.to_complex() if any(d.is_complex for d in single) else widest


def _parts(layout: Any) -> Sequence[Any]:
    positional = layout[3][0]
    return positional[3] if positional[0] != "static" else ()


_NUMBERS = (int, float, complex)  # a result that is one becomes a tensor
_RESULT = Opener((float, complex), as_array)
_FLAGS = Opener(bool)
_PROMISED = Opener(rc.ShapeDtype)
