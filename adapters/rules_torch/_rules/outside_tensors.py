"""Tensors that reach a primitive by another way than as an argument.

PyTorch would differentiate the body with respect to a parameter that it, or a function
that it is given, reads from outside; a rule, which takes the place of the body, does
not know of it. Whether any tensor with a derivative is in reach is found by a search,
which costs little where there is none; whether the result depends on it, by running the
body on arguments without derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import BuiltinFunctionType, FunctionType
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

import rules_core as rc
from rules_core.extend import unflatten
from rules_torch._closures.reachable import reachable
from rules_torch._closures.reads import INERT, Reads, package_of
from rules_torch._compat import (
    Levels,
    forward_mode_active,
    functorch_active,
    lacks_data,
)
from rules_torch._errors import KeywordDerivativeError, OutsideTensorError
from rules_torch._host.run import run_primal
from rules_torch._values.leaves import flatten

from .cuts import is_tracked
from .read_later import opaque_parts

__all__ = ["Outside", "outside_of", "refuse_in_arguments", "refuse_in_body"]

# Under this attribute a primitive keeps what its body reads.
_OUTSIDE = "_outside_torch"
# A tensor, and the name where it was met.
Found = tuple[Tensor | None, str]

_grad_enabled = torch.is_grad_enabled


# What one function reads: its package, and the values with their names.
Source = tuple[str, Callable[[], list[tuple[Any, str]]]]


class Outside:
    """Values that a primitive reads besides its arguments: its body, and helpers."""

    __slots__ = ("_sources",)

    def __init__(self, sources: list[Source]) -> None:
        self._sources = sources

    def active(self) -> list[Found]:
        """Tensors with a derivative in reach."""
        found: list[Found] = []
        for package, read in self._sources:
            values = read()
            found += _active(values, package) if values else []
        return found


def outside_of(primitive: rc.Primitive) -> Outside | None:
    """Reads of a primitive; None if it reads nothing but libraries."""
    helpers, found = primitive.__dict__.get(_OUTSIDE, (None, None))
    if helpers is not primitive.helpers:
        helpers = primitive.helpers
        sources = _sources(primitive.fun)
        for helper in helpers:
            sources += [*_sources(helper), *_defaults(helper)]
        found = Outside(sources) if sources else None
        primitive.__dict__[_OUTSIDE] = helpers, found
    outside: Outside | None = found
    return outside


def _sources(fun: Any) -> list[Source]:
    if isinstance(fun, FunctionType):
        reads = Reads(fun)
        return [] if reads.is_empty else [(package_of(fun), reads.values)]
    if type(fun) in INERT or isinstance(fun, (BuiltinFunctionType, type)):
        return []
    return [(package_of(fun), lambda: [(fun, type(fun).__name__)])]


def _defaults(helper: Any) -> list[Source]:
    """Defaults of a helper; those of the body are arguments of the call."""
    if not getattr(helper, "__defaults__", None):
        return []
    return [(package_of(helper), lambda: [(helper.__defaults__, helper.__name__)])]


def _active(roots: Iterable[tuple[Any, str]], package: str) -> list[Found]:
    """Reachable tensors; None in place of a tensor if there are too many."""
    levels = Levels()
    return [
        (x, name)
        for x, name in reachable(roots, package)
        if x is None or True in levels.tracking(x)
    ]


def refuse_in_body(
    primitive: rc.Primitive,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    tensors: Sequence[Tensor],
    has_rules: Callable[..., bool],
) -> None:
    """Refuse a call whose body depends on a tensor outside that has a derivative.

    Raises:
        OutsideTensorError: It does.
        KeywordDerivativeError: The tensor is a default.
    """
    outside = outside_of(primitive)
    if outside is None or not _differentiates() or any(map(lacks_data, tensors)):
        return
    found = outside.active()
    if found and has_rules(primitive, args, kwargs):
        helped = ", or a function that its rules call," if primitive.helpers else ""
        _refuse(primitive, args, kwargs, found, f"its body{helped}")


def refuse_in_arguments(
    primitive: rc.Primitive, layout: Any, tensors: Sequence[Tensor]
) -> None:
    """Refuse a call that depends on a tensor which an argument reads or hides.

    Raises:
        OutsideTensorError: It does.
    """
    if any(map(lacks_data, tensors)):
        return
    _, _, _, ((_, _, _, positional), (_, _, names, keywords)) = layout
    given = (*(primitive.names or ()), *map(str, range(len(positional))))
    parts = (*zip(given, positional, strict=False), *zip(names, keywords, strict=True))
    for name, part in parts:
        roots = opaque_parts(part)
        found = [x for root in roots for x in _active([(root, "")], package_of(root))]
        if found:
            args, kwargs = unflatten(layout, tensors)
            _refuse(primitive, args, kwargs, found, f"its argument {name!r}")


def _differentiates() -> bool:
    return _grad_enabled() or functorch_active() or forward_mode_active()


def _refuse(
    primitive: rc.Primitive,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    found: list[Found],
    who: str,
) -> None:
    """Raise if the body's result depends on what was found."""
    results = _results(primitive, args, kwargs)
    if not any(map(is_tracked, results)):
        return
    x, name = _guilty(found, results)
    if name in (getattr(primitive.fun, "__kwdefaults__", None) or ()):
        raise KeywordDerivativeError(primitive.table.label, name)
    raise OutsideTensorError(primitive.table.label, who, x, name)


def _results(
    primitive: rc.Primitive, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> list[Tensor]:
    """Results of the body on arguments without derivatives."""
    tensors: list[Tensor] = []
    layout = flatten((args, kwargs), tensors)
    args, kwargs = unflatten(layout, [x.detach() for x in tensors])
    if primitive.host:
        return _Tracked().made_by(primitive, args, kwargs)
    outputs: list[Tensor] = []
    with torch.enable_grad(), torch.random.fork_rng(devices=[]):
        flatten(_computed(primitive, args, kwargs), outputs)
    return outputs


def _computed(
    primitive: rc.Primitive, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """All that the body and the helpers compute."""
    tensors: list[Tensor] = []
    flatten((args, kwargs), tensors)
    if primitive.host and tensors:
        y = run_primal(primitive, args, kwargs)
    else:
        y = primitive.run(*args, **kwargs)
    probe = primitive.probe
    return y if probe is None else (y, probe(y, *args, **kwargs))


class _Tracked(TorchFunctionMode):
    """Sees tensors with a derivative in a host function, which returns none."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: list[Tensor] = []

    def made_by(
        self, primitive: rc.Primitive, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> list[Tensor]:
        """The tensors of one call; one that NumPy refuses ends it."""
        try:
            with self, torch.enable_grad():
                _computed(primitive, args, kwargs)
        except (RuntimeError, TypeError):
            if not self._seen:
                raise
        return self._seen

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Note what has a derivative, which can come from outside alone."""
        del types
        try:
            y = func(*args, **kwargs or {})
        except RuntimeError:  # NumPy asks for its memory
            self._note(args[0] if args else None)
            raise
        self._note(y)
        return y

    def _note(self, y: Any) -> None:
        if isinstance(y, Tensor) and is_tracked(y):
            self._seen.append(y)


def _guilty(found: list[Found], results: list[Tensor]) -> Found:
    """The tensor on which the results depend, and its name; else the first."""
    variables, histories = _history(results)
    for x, name in found:
        if x is not None and (id(x) in variables or x.grad_fn in histories):
            return x, name
    return found[0]


def _history(results: list[Tensor]) -> tuple[set[int], set[Any]]:
    """Variables and steps of torch's graph from which results come."""
    todo = [y.grad_fn for y in results if y.grad_fn is not None]
    seen: set[Any] = set(todo)
    variables = {id(y) for y in results}
    while todo:
        node = todo.pop()
        if hasattr(node, "variable"):
            variables.add(id(node.variable))
        new = {n for n, _ in node.next_functions if n is not None} - seen
        seen |= new
        todo.extend(new)
    return variables, seen
