"""PyTorch as the AD system that a rule may call back into."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import compress
from typing import Any, ClassVar, NamedTuple, final

import torch
from torch import Tensor

import rules_core as rc
from rules_core.extend import (
    build_tangent,
    cotangent_of_constant,
    count_leaves,
    read_tangent,
    refuse_moving_constant,
    unflatten,
)
from rules_torch._closures.kept_tensors import check_kept, emptiable
from rules_torch._closures.parts import reaches_tensor
from rules_torch._values.leaves import differentiable, flatten
from rules_torch._values.numpy_arrays import to_numpy

from ._compat import functorch_active, unwrap_dead
from ._errors import blame_not_generic
from ._native_derivatives import pull_back, push_forward

__all__ = ["CONFIG", "TorchConfig"]


@final
class TorchConfig(rc.RuleConfig, rc.HasReverseMode, rc.HasForwardsMode):
    """The configuration that rules receive when PyTorch differentiates.

    `rrule_via_ad` and `frule_via_ad` differentiate any torch function by torch itself,
    to any order; tensors that the function captures have cotangents too. NumPy arrays,
    as a solver with `host=True` has them, become tensors for the derivative, which is
    made of NumPy arrays again where the call has no tensor.

    >>> import torch
    >>> from rules_core import rrule_via_ad
    >>> from rules_torch import TorchConfig
    >>> y, pullback = rrule_via_ad(TorchConfig(), torch.square, torch.tensor(3.0))
    >>> y, pullback(torch.tensor(1.0))[1]
    (tensor(9.), tensor(6.))
    """

    # Runs a function under watch for what it cuts. The adapter gives it: the module
    # that watches imports this one.
    watched: ClassVar[Callable[..., Any]]

    def rrule_via_ad(self, f: Any, *args: Any, **kw: Any) -> tuple[Any, Any]:
        """`(y, pullback)`; the pullback evaluates `f` again and may be kept."""
        pull = _pull_back_arrays if _is_numpy((f, args, kw)) else _pull_back
        before = [] if torch.compiler.is_compiling() else emptiable(f, args)
        y = f(*args, **kw)
        check_kept(f, before)
        return y, rc.Pullback(pull, f, args, kw)

    def frule_via_ad(
        self, tangents: tuple[Any, ...], f: Any, *args: Any, **kw: Any
    ) -> tuple[Any, Any]:
        """`(y, dy)` by one forward-mode evaluation."""
        if _is_numpy((f, args, kw)):
            y, dy = self._push(tangents, *map(_tensors, (f, args, kw)))
            return _arrays(y), _arrays(dy)
        return self._push(tangents, f, args, kw)

    def check_uncut(self, label: str, f: Any, *args: Any, **kw: Any) -> None:
        """Refuse a function that makes constants of its tensors, which torch allows.

        Raises:
            LostDerivativeError: It does.
        """
        if _is_numpy((f, args, kw)):
            f, args, kw = map(_tensors, (f, args, kw))
        if torch.compiler.is_compiling():  # without numbers, which it cannot take
            return
        run = _Flat(f, args, kw)
        chosen = run.chosen()
        points = [run.tensors[i] for i in chosen]
        fn = partial(self.watched, _Residual(label), run.smooth(chosen))
        pull_back(fn, points, lambda ys: [None] * len(ys))

    def _push(
        self, tangents: Any, f: Any, args: tuple[Any, ...], kw: dict[str, Any]
    ) -> tuple[Any, Any]:
        run = _Flat(f, args, kw)
        for x, dx in zip((f, *args), tangents, strict=True):
            refuse_moving_constant(x, dx, "PyTorch")
        given = rc.Tangent(tuple, *tangents)
        seeds = _leaves(run.layout[3][0], given, "the tangents")
        chosen = run.chosen()
        if not chosen:
            return f(*args, **kw), rc.NoTangent()
        points = [run.tensors[i] for i in chosen]
        dxs = [_concrete(seeds[i], run.tensors[i]) for i in chosen]
        ys, dys = push_forward(run.smooth(chosen), points, dxs)
        return run.primal(ys), run.tangent(dys)


class _Residual(NamedTuple):
    """A function that is differentiated once, for the errors about it."""

    label: str
    lost: str = "the derivative"
    host: bool = False


class _Flat:
    """A call `f(*args, **kw)` as a function of the tensors in it and in `f`."""

    def __init__(self, f: Any, args: tuple[Any, ...], kw: dict[str, Any]) -> None:
        self.tensors: list[Tensor] = []
        self.layout = flatten(((f, *args), kw), self.tensors)

    def chosen(self) -> list[int]:
        """The tensors among the positional arguments that have a tangent."""
        return [i for i, x in enumerate(self.tensors) if differentiable(x)]

    def smooth(self, chosen: Sequence[int]) -> Any:
        """The function of the chosen tensors, to the differentiable ones it returns."""

        def run(*xs: Tensor) -> tuple[Tensor, ...]:
            filled = list(self.tensors)
            for i, x in zip(chosen, xs, strict=True):
                filled[i] = x
            (f, *args), kw = unflatten(self.layout, filled)
            self.leaves: list[Tensor] = []
            before = [] if torch.compiler.is_compiling() else emptiable(f, tuple(args))
            self.result = flatten(f(*args, **kw), self.leaves)
            check_kept(f, before)
            self.floating = [differentiable(y) for y in self.leaves]
            return tuple(y for y in self.leaves if differentiable(y))

        return run

    def primal(self, ys: Sequence[Tensor]) -> Any:
        """The result, from its differentiable tensors."""
        rest = iter(ys)
        pairs = zip(self.leaves, self.floating, strict=True)
        return unflatten(
            self.result, [next(rest) if ok else unwrap_dead(y) for y, ok in pairs]
        )

    def seeds(self, dy: Any, outputs: Sequence[Tensor]) -> list[Tensor]:
        """Cotangents of the differentiable tensors of the result."""
        given = _leaves(self.result, dy, "the cotangent")
        smooth = compress(given, self.floating)
        return [_concrete(s, y) for s, y in zip(smooth, outputs, strict=True)]

    def tangent(self, dys: Sequence[Tensor]) -> Any:
        """The tangent of the result."""
        rest = iter(dys)
        leaves = (next(rest) if ok else rc.NoTangent() for ok in self.floating)
        return build_tangent(self.result, leaves)


def _leaves(layout: Any, tangent: Any, path: str) -> list[Any]:
    """The tangent of each tensor, from one of the whole value; None for zeros."""
    wanted = [True] * count_leaves(layout)
    return read_tangent(layout, tangent, wanted, path, lazy=True)


def _concrete(dx: Any, x: Tensor) -> Tensor:
    dx = rc.unthunk(dx)
    if isinstance(dx, rc.NotImplementedTangent):
        dx.throw("a rule calls back into torch with it")
    if dx is None or isinstance(dx, rc.AbstractZero):
        return torch.zeros_like(x)
    dx = _tensors(dx)
    return dx if isinstance(dx, Tensor) else torch.as_tensor(dx, dtype=x.dtype)


def _is_numpy(value: Any) -> bool:
    """Whether a call is about NumPy arrays, and about no tensor."""
    return not reaches_tensor(value) and reaches_tensor(value, _array_types())


def _array_types() -> tuple[type, ...]:
    import numpy as np

    return (np.ndarray, np.generic)


def _tensors(value: Any) -> Any:
    """A value with tensors for its NumPy arrays."""
    import numpy as np

    def tensor(array: Any) -> Tensor:
        found: list[Tensor] = []
        flatten(np.asarray(array), found)
        return found[0]

    return _mapped(tensor, _array_types(), value)


def _arrays(value: Any) -> Any:
    """A value with NumPy arrays for its tensors, which have no history."""
    return _mapped(lambda x: to_numpy(x.detach()), Tensor, value)


def _mapped(fn: Callable[[Any], Any], leaf: Any, value: Any) -> Any:
    if isinstance(value, leaf):
        return fn(value)
    if not reaches_tensor(value, leaf) or (level := rc.structure(value)) is None:
        return value
    return level.rebuild([_mapped(fn, leaf, item) for item in level.values])


def _pull_back_arrays(
    f: Any, args: tuple[Any, ...], kw: dict[str, Any], dy: Any
) -> tuple[Any, ...]:
    try:
        found = _pull_back(_tensors(f), _tensors(args), _tensors(kw), dy)
        return tuple(map(_arrays, found))
    except (RuntimeError, TypeError, ValueError) as error:
        name = getattr(f, "__qualname__", repr(f))
        blame_not_generic(f"{name}, which rrule_via_ad differentiates,", error)
        raise


def _pull_back(f: Any, args: tuple[Any, ...], kw: dict[str, Any], dy: Any) -> Any:
    """Cotangents `(df, dx1, …)` of a call, by torch's own reverse mode."""
    run = _Flat(f, args, kw)
    chosen = run.chosen()
    points = [run.tensors[i] for i in chosen]
    fn = run.smooth(chosen)
    with torch.set_grad_enabled(_is_tracked((*run.tensors, dy))):
        cotangents = pull_back(fn, points, lambda ys: run.seeds(dy, ys))
    found: list[Any] = [rc.NoTangent()] * len(run.tensors)
    for i, dx in zip(chosen, cotangents, strict=True):
        found[i] = rc.ZeroTangent() if dx is None else dx
    leaves = iter(found)
    built = [build_tangent(part, leaves) for part in run.layout[3][0][3]]
    pairs = zip((f, *args), built, strict=True)
    return tuple(cotangent_of_constant(x, dx, "PyTorch") for x, dx in pairs)


def _is_tracked(value: Any) -> bool:
    """Whether a derivative of the cotangents may be wanted.

    A tensor says whether it requires a gradient at the innermost level only; so inside
    a transform of torch.func the grad mode is left as it is.
    """
    if not torch.is_grad_enabled():
        return False
    tensors: list[Tensor] = []
    flatten(value, tensors)
    return functorch_active() or any(x.requires_grad for x in tensors)


CONFIG = TorchConfig()
