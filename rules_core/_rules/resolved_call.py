"""A call and its rule, in normal form, ready to run.

`RuleCall` maps the tangents and cotangents of the user's call to those of the rule: a
method called through its class has one cotangent more than the rule returns, and a
`functools.partial` has cotangents for the arguments that it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any

from rules_core._base.arrays import is_array
from rules_core._base.errors import (
    RuleResultError,
    TangentCountError,
)
from rules_core._dispatch.registry import find_table
from rules_core._dispatch.rule import Rule
from rules_core._tangents.canonical import tangent_type, zero_tangent
from rules_core._tangents.containers import Tangent, backing
from rules_core._tangents.leaves import is_numpy
from rules_core._tangents.project import materialise
from rules_core._tangents.structure import structure
from rules_core._tangents.thunks import AbstractThunk
from rules_core._tangents.zeros import AbstractZero, NoTangent, ZeroTangent

from .named_cotangents import ordered_cotangents

__all__ = ["FRuleCall", "Outer", "RRuleCall", "RuleCall", "moves"]


class RuleCall:
    """The result of `resolve`: a rule together with its arguments.

    Attributes:
        rule: The rule.
        args: The rule's own arguments in normal form, the instance first.
        kwargs: Keyword-only arguments.
        config: The configuration of the look-up, or None.
        bound: Whether the callable is an instance: then it is `args[0]`, and `dself` is
            its cotangent.
        method: Whether the rule is for a method: its first argument is the instance,
            not the function.
    """

    __slots__ = (
        "args",
        "bound",
        "config",
        "given",
        "kwargs",
        "method",
        "outer",
        "rule",
    )

    def __init__(
        self,
        rule: Rule,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        config: Any,
        *,
        given: int,
        bound: bool = False,
        method: bool = False,
        outer: Outer | None = None,
    ) -> None:
        self.rule, self.args, self.kwargs, self.config = rule, args, kwargs, config
        self.given, self.bound, self.method, self.outer = given, bound, method, outer

    @property
    def cotangent_count(self) -> int:
        """How many cotangents the author's pullback must return."""
        return len(self.args) + (not self.method)

    def declared(self, y: Any) -> Any:
        """The rule's result as a host function declares it.

        An integer in place of a promised float has no tangent: the rule would be lost.
        """
        if isinstance(y, float) or (is_numpy(y) and y.dtype.kind in "fc"):
            return y
        table = find_table(self.rule.key)
        handle = None if table is None else table.primitive
        keep = None if handle is None else handle.keep
        if keep is None or _has_framework_array(y):
            return y
        return keep(y, self.args, self.kwargs)

    def check_cotangents(self, result: Any) -> tuple[Any, ...]:
        """The rule's cotangents in order, from a tuple or a dict by names.

        Raises:
            CotangentCountError: It is neither, or has another number of entries.
            CotangentNameError: A name is not that of an argument.
        """
        return ordered_cotangents(self.rule, result, self.cotangent_count, self.args)


def _has_framework_array(y: Any) -> bool:
    """Whether a result has an array of a framework, which compares it itself."""
    if is_array(y):
        return not is_numpy(y)
    level = structure(y)
    return level is not None and any(map(_has_framework_array, level.values))


class RRuleCall(RuleCall):
    """A call of an rrule."""

    __slots__ = ()

    def run(
        self, needs: tuple[bool, ...] | None = None
    ) -> tuple[Any, Callable[..., Any]]:
        """`(y, pullback)`, with `pullback(dy) = (dself, dx1, …)` of the user's call."""
        y, pullback = self.rule.call(self.config, (), self.args, self.kwargs, needs)
        if not callable(pullback):
            raise RuleResultError(self.rule, (y, pullback))
        y = self.declared(y)
        if self.outer is not None:
            pullback = self.outer.pullback(pullback, self)
        elif self.method != self.bound:
            pullback = self._shifted(pullback)
        return y, pullback

    def ordered(self, pullback: Callable[..., Any]) -> Callable[..., Any]:
        """The pullback of `run` with its cotangents in order, if it names them."""

        def ordered_pullback(dy: Any) -> Any:
            found = pullback(dy)
            return self.check_cotangents(found) if isinstance(found, dict) else found

        return ordered_pullback

    def _shifted(self, pullback: Callable[..., Any]) -> Callable[..., Any]:
        """A method called through its class, or a plain function as a method."""

        def shifted_pullback(dy: Any) -> tuple[Any, ...]:
            cotangents = self.check_cotangents(pullback(dy))
            return cotangents[1:] if self.bound else (NoTangent(), *cotangents)

        return shifted_pullback


class FRuleCall(RuleCall):
    """A call of an frule."""

    __slots__ = ()

    def run(
        self, tangents: tuple[Any, ...], needs: tuple[bool, ...] | None = None
    ) -> tuple[Any, Any]:
        """`(y, dy)` for the tangents `(dself, dx1, …)` of the user's call.

        Raises:
            TangentCountError: Their number is wrong.
        """
        inner = self._inner(tangents)
        y, dy = self.rule.call(self.config, (inner,), self.args, self.kwargs, needs)
        return self.declared(y), dy

    def run_lazy(self, tangents: tuple[Any, ...]) -> tuple[Any, Any]:
        """Like `run`, with tangents that need not be concrete."""
        inner = self._inner(tangents)
        needs = None
        if self.rule.needs:
            needs = tuple(map(moves, inner[not self.method :]))
        if not self.rule.symbolic_zeros:
            primals = self.args if self.method else (self.rule.key, *self.args)
            inner = tuple(map(_concrete, primals, inner))
        y, dy = self.rule.call(self.config, (inner,), self.args, self.kwargs, needs)
        return self.declared(y), dy

    def _inner(self, tangents: tuple[Any, ...]) -> tuple[Any, ...]:
        """The rule's own tangents, with zeros for arguments outside the call."""
        count = self.given + 1
        full = count if self.outer else len(self.args) + (not self.bound)
        if type(tangents) is not tuple or len(tangents) not in (count, full):
            raise TangentCountError(self.rule.target, count, tangents)
        if self.outer is not None:
            dself, spread = self.outer.tangents(tangents)
        elif self.bound:
            dself, spread = NoTangent(), dict(enumerate(tangents))
        else:
            dself, spread = tangents[0], dict(enumerate(tangents[1:]))
        own = (spread.get(i, _ABSENT) for i in range(len(self.args)))
        filled = (
            self._still(x) if dx is _ABSENT else dx
            for x, dx in zip(self.args, own, strict=True)
        )
        return tuple(filled) if self.method else (dself, *filled)

    def _still(self, x: Any) -> Any:
        """The zero tangent of an argument outside the call."""
        if not self.rule.symbolic_zeros:
            return zero_tangent(x)
        return NoTangent() if tangent_type(x) is NoTangent else ZeroTangent()


def moves(tangent: Any) -> bool:
    """Whether any leaf of a tangent may be nonzero."""
    if isinstance(tangent, Tangent):
        return any(map(moves, backing(tangent).values()))
    return tangent is not None and not isinstance(tangent, AbstractZero)


_ABSENT = object()
_LAZY = (AbstractThunk, AbstractZero, Tangent, tuple, list, dict, type(None))


def _concrete(x: Any, dx: Any) -> Any:
    return materialise(x, dx) if isinstance(dx, _LAZY) else dx


class Outer:
    """Positions of the arguments of `functools.partial`s among the rule's arguments.

    A partial's own cotangent has the fields `func`, `args` and `keywords`.

    Args:
        partials: The outermost first.
        names: Of the rule's arguments.
        used: Names of the call's own arguments.
        bound: Whether the inner callable is an instance, the first argument.
    """

    __slots__ = ("bound", "first", "named", "partials", "prefix")

    def __init__(
        self,
        partials: tuple[partial[Any], ...],
        names: tuple[str, ...],
        used: Collection[str],
        *,
        bound: bool,
    ) -> None:
        self.partials, self.bound = partials, int(bound)
        self.prefix = self.bound + sum(len(p.args) for p in partials)
        self.named: list[dict[str, int]] = []
        places = {name: i for i, name in enumerate(names)}
        names_in_use = set(used)
        for part in partials:
            own = {n: places[n] for n in part.keywords if n in places}
            self.named.append({n: i for n, i in own.items() if n not in names_in_use})
            names_in_use |= own.keys()
        # After the first argument given by name the partials accept only keywords.
        by_name = [places[n] for p in partials for n in p.keywords if n in places]
        self.first = min(by_name, default=None)

    def pullback(self, pullback: Any, call: RuleCall) -> Callable[..., Any]:
        """Collect the partials' own cotangents from the rule's."""

        def partial_pullback(dy: Any) -> tuple[Any, ...]:
            dxs = call.check_cotangents(pullback(dy))
            own = dxs[not call.method :]
            head = own[0] if self.bound else NoTangent() if call.method else dxs[0]
            return self._own(head, own), *own[self.prefix : self.first]

        return partial_pullback

    def _own(self, head: Any, cotangents: tuple[Any, ...]) -> Any:
        start = self.bound
        for part, named in zip(self.partials[::-1], self.named[::-1], strict=True):
            end = start + len(part.args)
            head = Tangent(
                partial,
                func=head,
                args=Tangent(tuple, *cotangents[start:end]),
                keywords=Tangent(dict, {n: cotangents[i] for n, i in named.items()}),
            )
            start = end
        return head

    def tangents(self, tangents: tuple[Any, ...]) -> tuple[Any, dict[int, Any]]:
        """The tangent of the inner function, and those of its arguments by position."""
        head, *rest = tangents
        spread = dict(enumerate(rest, self.prefix))
        end = self.prefix
        for part, named in zip(self.partials, self.named, strict=True):
            start = end - len(part.args)
            if not isinstance(head, Tangent):
                return NoTangent(), spread
            spread.update((start + i, head.args[i]) for i in range(len(part.args)))
            spread.update((i, head.keywords[name]) for name, i in named.items())
            head, end = head.func, start
        if not self.bound:
            return head, spread
        return NoTangent(), {0: head, **spread}
