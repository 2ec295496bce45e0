"""Cuts: tensors with a derivative that a rule turns into numbers, or detaches.

What a rule computes from a number is a constant to PyTorch. The first derivative, which
the rule states, is right all the same; a derivative of it would be silently zero. So a
rule is watched wherever a derivative of what it computes can be asked for, and nowhere
else: plain `backward()` pays nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from rules_torch._compat import (
    forward_mode_active,
    functorch_active,
    has_tangent,
    is_batched,
    is_legacy_batched,
    is_pushing_at,
    is_wrapped,
    lowered_to,
    tangent_here,
    unwrap_dead,
    unwrapped,
    without_wrappers,
    wrapper_level,
)
from rules_torch._errors import LostDerivativeError
from rules_torch._values.leaves import differentiable

__all__ = [
    "are_tracked",
    "differentiating",
    "is_tracked",
    "own_level",
    "watched",
    "watched_if_tracked",
]

_grad_enabled = torch.is_grad_enabled
_inferring = torch.is_inference_mode_enabled
_frame = sys._getframe  # noqa: SLF001 (the only way to the caller)

# Functions that were seen to keep derivatives, without and with recording.
_KEEPING: tuple[set[Any], set[Any]] = (set(), set())

# The levels of torch.func whose derivatives are being taken here: what is computed now
# is what they return, so that it is not differentiated at these levels.
_OWN: ContextVar[frozenset[int]] = ContextVar("_OWN", default=frozenset())


def watched(rule: Any, fn: Callable[..., Any], *args: Any) -> Any:
    """`fn(*args)`, in which a rule must not cut what has a derivative.

    Raises:
        LostDerivativeError: It does.
    """
    return _Watch(rule).run(fn, *args)


def watched_if_tracked(
    rule: Any, tensors: Iterable[Tensor | None], fn: Callable[..., Any], *args: Any
) -> Any:
    """`fn(*args)`, watched if any of its tensors has a derivative beyond this one."""
    if rule is not None and not rule.host and are_tracked(tensors):
        return watched(rule, fn, *args)
    return fn(*args)


def are_tracked(tensors: Iterable[Tensor | None]) -> bool:
    """Whether any of some tensors may have a derivative beyond the one taken here."""
    return any(x is not None and _may_be_tracked(x) for x in tensors)


@contextmanager
def differentiating(level: int | None) -> Iterator[None]:
    """While the backward pass of a level of torch.func runs."""
    token = _OWN.set(_OWN.get() if level is None else _OWN.get() | {level})
    try:
        yield
    finally:
        _OWN.reset(token)


def own_level(saved: Sequence[Tensor]) -> int | None:
    """The level whose backward pass is given `saved`; None once it has ended.

    An input of the call was wrapped at this level, and nothing at one further in.
    """
    wrapped = [x for x in saved if is_wrapped(x)]
    if not wrapped or any(unwrap_dead(x) is not x for x in wrapped):
        return None
    return max(map(wrapper_level, wrapped))


class _Watch(TorchFunctionMode):
    """Sees what a rule asks tensors for."""

    def __init__(self, rule: Any) -> None:
        super().__init__()
        self._rule, self._recording = rule, _grad_enabled()
        self._keeping = _KEEPING[self._recording]

    def run(self, fn: Callable[..., Any], *args: Any) -> Any:
        """`fn(*args)`, watched."""
        with self:
            return fn(*args)

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Refuse a cut of what has a derivative, in the code of the rule itself."""
        del types
        kwargs = kwargs or {}
        if func in _CUTS or not _NUMBERS.isdisjoint(kwargs):
            cut = _CUTS.get(func, _numbers)(args, kwargs)
            if any(map(is_tracked, _tensors_in(cut))) and _is_own(_frame(1)):
                raise LostDerivativeError(self._rule, _name(func))
        found = func(*args, **kwargs)
        if func not in _CONSTANT and (func not in self._keeping or self._is_off()):
            made = args[:1] if func is Tensor.__setitem__ else found
            self._check_kept(func, (args, kwargs), made)
        return found

    def _is_off(self) -> bool:
        """Whether torch records less here than where the rule began."""
        return (self._recording and not _grad_enabled()) or _inferring()

    def _check_kept(self, func: Any, given: Any, found: Any) -> None:
        """Refuse a result without a derivative, of tensors that have one.

        Torch records nothing inside `torch.no_grad()`, and nothing of some functions.
        """
        made = [x for x in _tensors_in(found) if differentiable(x)]
        lost = made and self._loses(func, list(_tensors_in(given)), made)
        if lost and _is_own(_frame(2)):
            raise LostDerivativeError(self._rule, _cause(func, self._recording))

    def _loses(self, func: Any, given: list[Tensor], made: list[Tensor]) -> bool:
        """Whether nothing that is made has the derivative of what is given."""
        off = self._is_off()
        if off and self._recording and any(map(_is_recorded, given)):
            return True
        if any(map(is_legacy_batched, made)):  # these do not show their histories
            return False
        has = is_tracked if self._recording else _is_dual
        if not any(map(has, made)):
            return any(map(has, given))
        if not off:
            self._keeping.add(func)
        return False


def _may_be_tracked(x: Tensor) -> bool:
    """Whether `x` has a derivative as far as that is told without effort."""
    if _is_recorded(x) or (forward_mode_active() and has_tangent(without_wrappers(x))):
        return True
    return any(map(_is_pushing, [level for level, _ in _wrappers(x)]))


def _is_pushing(level: int) -> bool:
    return level not in _OWN.get() and is_pushing_at(level)


def is_tracked(x: Tensor) -> bool:
    """Whether a derivative with respect to `x` can be asked for later."""
    return _is_recorded(x) or _is_dual(x)


def _is_recorded(x: Tensor) -> bool:
    """Whether `x` has a history, but for the levels whose derivative this is."""
    own = _OWN.get()
    for level, wrapper in _wrappers(x):
        if wrapper.requires_grad and level not in own:
            return True
    return without_wrappers(x).requires_grad


def _is_dual(x: Tensor) -> bool:
    """Whether `x` has a tangent, at any level of forward mode."""
    if functorch_active():
        for level, wrapper in _wrappers(x):
            if _is_pushing(level):
                with lowered_to(level):
                    if tangent_here(wrapper):
                        return True
        with lowered_to(0):
            return tangent_here(without_wrappers(x))
    return tangent_here(x)


def _wrappers(x: Tensor) -> Iterator[tuple[int, Tensor]]:
    """The wrappers of `x` of transforms that differentiate, outermost first."""
    x = unwrap_dead(x)
    while is_wrapped(x):
        if not is_batched(x):
            yield wrapper_level(x), x
        x = unwrap_dead(unwrapped(x))


def _tensors_in(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _tensors_in(item)
    elif isinstance(value, dict):
        yield from _tensors_in(list(value.values()))


# Through these modules a rule calls something else, which has rules of its own, or what
# drops histories because it must: other primitives, other Functions, checkpoints.
_OTHERS = frozenset(
    (
        "rules_torch._autograd.eager",
        "rules_torch._autograd.host_shortcut",
        "rules_torch._autograd.repeated_call",
        "rules_torch._autograd.tensor_shortcut",
        "rules_torch._autograd.transforms",
        "rules_torch._dispatch",
        "rules_torch._host.jobs",
        "rules_torch._host.run",
        "torch.autograd.function",
        "torch.utils.checkpoint",
    )
)
# Methods and functions that are written in Python, and how these ask a mode.
_PASSED = frozenset(
    (
        "torch._tensor", "torch.autograd", "torch.autograd.functional",
        "torch._ops", "torch.nn.init", "torch.overrides", "torch.storage", __name__,
    )
)  # fmt: skip


def _is_own(frame: Any) -> bool:
    """Whether the rule itself, or a function that it calls, is what asks a tensor."""
    while frame is not None and frame.f_globals.get("__name__") in _PASSED:
        frame = frame.f_back
    if frame is None or _is_library(frame.f_globals.get("__name__", "")):
        return False
    while frame is not None and frame.f_code is not _Watch.run.__code__:
        if frame.f_globals.get("__name__") in _OTHERS:
            return False
        frame = frame.f_back
    return True


def _is_library(module: str) -> bool:
    return module.partition(".")[0] in ("torch", "rules_torch")


def _self(args: Any, kwargs: Any) -> Any:
    return args or kwargs


def _listed(args: Any, kwargs: Any) -> Any:
    """Tensors in a list, which lose their histories; one alone keeps it."""
    del kwargs
    return args if args and isinstance(args[0], (tuple, list)) else ()


def _converted(args: Any, kwargs: Any) -> Any:
    """Tensors in a list; one alone too where its history is taken away."""
    forgets = kwargs.get("requires_grad") is False
    return (args, kwargs) if forgets else _listed(args, kwargs)


def _numbers(args: Any, kwargs: Any) -> Any:
    """Tensors in the place of numbers, which lose their tangents."""
    del args
    return [kwargs[name] for name in _NUMBERS & kwargs.keys()]


def _after(count: int) -> Callable[[Any, Any], Any]:
    """All but the first arguments, which only give a shape."""
    return lambda args, kwargs: (args[count:], kwargs)


def _unless_graph(args: Any, kwargs: Any) -> Any:
    """Tensors that `torch.autograd.grad` differentiates, unless it records how."""
    return () if kwargs.get("create_graph") else args[:1]


# Keywords of torch's functions that are numbers: a tensor becomes one.
_NUMBERS = frozenset(("alpha", "beta"))

# Functions that return what has no derivative, and which of their arguments lose it.
_CUTS: dict[Any, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(
        (
            Tensor.__array__, Tensor.__complex__, Tensor.__dlpack__, Tensor.__float__,
            Tensor.data.__get__, Tensor.data_ptr, Tensor.detach, Tensor.detach_,
            Tensor.item, Tensor.numpy, Tensor.tolist, Tensor.untyped_storage,
            torch.arange, torch.detach, torch.detach_, torch.full, torch.linspace,
            torch.logspace, torch.scalar_tensor, torch.tensor,
        ),
        _self,
    ),
    torch.as_tensor: _listed,
    torch.asarray: _converted,
    **dict.fromkeys(
        (
            torch.full_like, Tensor.data.__set__, Tensor.new_full, Tensor.new_tensor,
        ),
        _after(1),
    ),
    torch.autograd.grad: _unless_graph,
}  # fmt: skip

# Functions that return what does not depend on the entries of their arguments, or only
# by jumps; and samples, which torch takes for constants.
_CONSTANT = frozenset(
    (
        *_CUTS, Tensor.new, Tensor.new_empty, Tensor.new_empty_strided, Tensor.new_ones,
        Tensor.new_zeros, torch.empty_like, torch.histc, torch.normal, torch.ones_like,
        torch.rand_like, torch.randint_like, torch.randn_like, torch.zeros_like,
    )
)  # fmt: skip


def _cause(func: Any, recording: bool) -> str:
    """The call that makes the result of a function a constant, as authors write it."""
    if _inferring():
        return "torch.inference_mode()"
    return "torch.no_grad()" if recording and not _grad_enabled() else _name(func)


def _name(func: Any) -> str:
    """The name by which an author knows a function."""
    if func == Tensor.data.__get__:
        return ".data"
    name = func.__name__
    return f"{name.strip('_')}()" if name.startswith("__") else f"{name}()"
