"""`from_torch`: a PyTorch function that carries its derivatives into every host.

Its rules are PyTorch's own AD. Pullback and pushforward are `from_torch` functions too,
so any order is there, in any host; on torch tensors the function is simply called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import compress, repeat
from typing import Any, final

import numpy as np
import torch
from torch import Tensor

import rules_core as rc
from rules_core.extend import (
    Opener,
    flatten as flatten_layout,
    leaf_flags,
    of_moving,
    unflatten,
)
from rules_torch._values.exchange import check_unwritten, exact_dtype, give, take
from rules_torch._values.leaves import as_array, differentiable
from rules_torch._values.numpy_arrays import torch_dtype

from ._compat import data_dependent, fake_mode

__all__ = ["from_torch", "native_of"]


def native_of(primitive: rc.Primitive) -> Callable[..., Any] | None:
    """The PyTorch function inside a primitive made by `from_torch`, or None."""
    foreign = rc.Foreign.of(primitive)
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


rc.non_differentiable(from_torch)  # a program may call it when it is differentiated


@final
class _Foreign(rc.Foreign):
    """A PyTorch function, its primitive, and the functions that its rules call."""

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """`f` of NumPy arrays."""
        with torch.inference_mode(mode=False), torch.no_grad():
            layout, taken = _take(args, kwargs)
            args, kwargs = unflatten(layout, taken)
            found: list[Tensor] = []
            layout = _results(self.f(*args, **kwargs), found)
            check_unwritten(self.name, taken)
            return unflatten(layout, give(found))

    def shapes(self, *args: Any, **kwargs: Any) -> Any:
        """The shape rule: the function on tensors without data."""
        with fake_mode(), torch.no_grad():
            args, kwargs = _map((args, kwargs), rc.ShapeDtype, _empty)
            try:
                result = self.f(*args, **kwargs)
            except data_dependent as error:
                message = _DATA.format(self.name)
                raise rc.UnsupportedError(message) from error
            return _map(result, Tensor, _described)

    def batch(self, size: int, in_batched: Any, *args: Any, **kwargs: Any) -> Any:
        """The batch rule: `torch.vmap`."""
        result: list[Any] = []

        def run(*leaves: Tensor) -> Any:
            args, kwargs = unflatten(layout, leaves)
            found: list[Tensor] = []
            result.append(_results(self.f(*args, **kwargs), found))
            return tuple(found)

        with torch.inference_mode(mode=False), torch.no_grad():
            layout, taken = _take(args, kwargs)
            dims = [0 if x else None for x in leaf_flags(layout, (in_batched, False))]
            mapped = torch.vmap(run, tuple(dims))
            found = list(mapped(*taken))
            check_unwritten(self.name, taken)
            return unflatten(result[0], give(found)), self.batched(result[0])

    def vjp(self) -> Callable[..., Any]:
        """By `torch.func.vjp`."""
        return _vjp_of(self.f)

    def jvp(self) -> Callable[..., Any]:
        """By `torch.func.jvp`."""
        return _jvp_of(self.f)


def _map(value: Any, cls: Any, fn: Callable[[Any], Any]) -> Any:
    """`fn` of every instance of `cls` inside tuples, lists and dicts."""
    found: list[Any] = []
    layout = flatten_layout(value, found, Opener(cls))
    return unflatten(layout, [fn(x) for x in found])


def _take(args: Any, kwargs: Any) -> tuple[Any, list[Tensor]]:
    """The layout of the arguments, and tensors in place of NumPy arrays.

    Where there are none, Python's numbers become tensors: `f` may need one.
    """
    found: list[Any] = []
    layout = flatten_layout((args, kwargs), found, _ARRAYS)
    if not found:
        args = _map(args, (float, complex), np.asarray)
        layout = flatten_layout((args, kwargs), found, _ARRAYS)
    return layout, [take(x) for x in found]


# NumPy's float64 is one of Python's floats, and an array.
_ARRAYS = Opener((), as_array, numbers=True)


def _numeric(x: Any) -> Any:
    """An array of numbers of any library; None for others."""
    if as_array(x) is None:
        return None
    return x if rc.Foreign.moves(x) or getattr(x.dtype, "kind", "") in "biu" else None


def _copied(x: Any) -> Tensor | None:
    return None if _numeric(x) is None else take(x).clone()


_RESULTS, _NUMBERS = Opener(Tensor, _copied), Opener((Tensor, float, complex), _numeric)


def _results(value: Any, found: list[Tensor]) -> Any:
    """The layout of a result; its tensors are appended, and copies of its arrays."""
    return flatten_layout(value, found, _RESULTS)


def _empty(shape: rc.ShapeDtype) -> Tensor:
    return torch.empty(shape.shape, dtype=torch_dtype(shape.dtype))


def _described(x: Tensor) -> rc.ShapeDtype:
    return rc.ShapeDtype(tuple(x.shape), exact_dtype(x.dtype))


class _Flat:
    """A call as a function of its moving tensors, with its moving results.

    Attributes:
        numbers: Of the last results, which were numbers or NumPy arrays.
    """

    def __init__(self, f: Any, args: Any, kwargs: Any) -> None:
        self.f = f
        self.numbers: tuple[bool, ...] = ()
        found: list[Any] = []
        self.layout = flatten_layout((tuple(args), kwargs), found, _LEAVES)
        self.leaves = [_alone(_tensor(x)) for x in found]
        self.where = [i for i, x in enumerate(self.leaves) if differentiable(x)]
        self.moving = tuple(self.leaves[i] for i in self.where)

    def __call__(self, *moving: Tensor) -> tuple[Tensor, ...]:
        leaves = list(self.leaves)
        for i, x in zip(self.where, moving, strict=True):
            leaves[i] = x
        found, numbers = self._results(leaves)
        inexact = list(map(differentiable, found))
        self.numbers = tuple(compress(numbers, inexact))
        return tuple(compress(found, inexact))

    def _results(self, leaves: Sequence[Tensor]) -> tuple[list[Tensor], list[bool]]:
        """Results for these arguments; and which of them `f` returned as numbers."""
        args, kwargs = unflatten(self.layout, leaves)
        found: list[Any] = []
        flatten_layout(self.f(*args, **kwargs), found, _NUMBERS)
        numbers = [not isinstance(y, Tensor) for y in found]
        return list(map(_tensor, found)), numbers

    def check_numbers(self, wanted: Iterable[bool] = repeat(True)) -> None:
        """Numbers in a result are constants: they must not depend on a tensor's data.

        Args:
            wanted: Which results have a derivative that is asked for.

        Raises:
            rc.UnsupportedError: They do, as those of `x.item()`, or it cannot be known.
        """
        if not any(compress(self.numbers, wanted)):
            return
        try:
            with fake_mode(), torch.no_grad():
                empty = [torch.empty(x.shape, dtype=x.dtype) for x in self.leaves]
                self._results(empty)
        except Exception as error:
            name = getattr(self.f, "__name__", repr(self.f))
            raise rc.UnsupportedError(_NOT_CONSTANT.format(name)) from error


_LEAVES = Opener((Tensor, float, complex))
_DATA = (
    "{} must have a result whose shapes and numbers do not depend on the data of its "
    "arguments where another framework traces or batches it. Return tensors without "
    "item() or float(), and take torch.where in place of if."
)
_NOT_CONSTANT = (
    "{} must return tensors where its result depends on its arguments, but got a "
    "number or a NumPy array that is not known without their data, and that PyTorch "
    "holds constant: its derivative would be lost. Return the tensor, without item(), "
    "float() or numpy()."
)


def _alone(x: Tensor) -> Tensor:
    """A tensor whose entries have a place each, which forward mode writes to."""
    return x.contiguous() if 0 in x.stride() else x


def _tensor(x: Any) -> Tensor:
    if isinstance(x, (Tensor, float, complex)):
        return torch.as_tensor(x, dtype=_number_dtype(x))
    return take(x)


def _number_dtype(x: Any) -> Any:
    if isinstance(x, Tensor):
        return x.dtype
    return torch.complex128 if isinstance(x, complex) else torch.float64


def _as(given: Sequence[Any], like: Sequence[Tensor]) -> tuple[Tensor, ...]:
    pairs = zip(given, like, strict=True)
    return tuple(_alone(torch.as_tensor(t, dtype=x.dtype)) for t, x in pairs)


def _vjp_of(f: Any) -> Callable[..., Any]:
    def pullback(cotangents: Any, args: Any, kwargs: Any) -> Any:
        flat = _Flat(f, args, kwargs)
        wanted = [ct is not None for ct in cotangents]
        ys, back = torch.func.vjp(
            lambda *xs: tuple(compress(flat(*xs), wanted)), *flat.moving
        )
        flat.check_numbers(wanted)
        return back(_as(list(compress(cotangents, wanted)), ys))

    return pullback


def _jvp_of(f: Any) -> Callable[..., Any]:
    def pushforward(tangents: Any, args: Any, kwargs: Any) -> Any:
        flat = _Flat(f, args, kwargs)
        active = [t is not None for t in tangents]
        along, xs = of_moving(flat, flat.moving, active)
        given = _as(list(compress(tangents, active)), xs)
        tangent = torch.func.jvp(along, xs, given)[1]
        flat.check_numbers()
        return tangent

    return pushforward
