"""A call that has found its rule: ready to run, in normal form.

`RuleCall` maps the tangents and cotangents of the call as the user wrote it onto those
of the rule: a method called through its class has a cotangent more than the rule
returns, and a `functools.partial` keeps part of them for itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ._errors import CotangentCountError, TangentCountError
from ._rule import Rule
from ._structural import Tangent
from ._zeros import NoTangent

__all__ = ["FRuleCall", "RRuleCall", "RuleCall"]


class RuleCall:
    """What `resolve` returns: a rule together with the arguments it will get.

    Attributes:
        rule: The rule.
        args: The rule's own arguments in normal form, the instance first.
        kwargs: Keyword-only arguments.
        config: The configuration of the look-up, or None.
        bound: Whether the callable is an instance, so that `args[0]` is it and `dself`
            its cotangent.
        unbound: Whether a method was called through its class.
    """

    __slots__ = (
        "args",
        "bound",
        "config",
        "given",
        "kwargs",
        "outer",
        "rule",
        "unbound",
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
        unbound: bool = False,
        outer: Outer | None = None,
    ) -> None:
        self.rule, self.args, self.kwargs, self.config = rule, args, kwargs, config
        self.given, self.bound, self.unbound, self.outer = given, bound, unbound, outer

    @property
    def cotangent_count(self) -> int:
        """How many cotangents the author's pullback must return."""
        return len(self.args) + (not (self.bound or self.unbound))

    def check_cotangents(self, result: Any) -> tuple[Any, ...]:
        """Refuse what is not a tuple with one entry per argument.

        Raises:
            CotangentCountError: Names the rule and both counts.
        """
        if type(result) is not tuple or len(result) != self.cotangent_count:
            raise CotangentCountError(self.rule, self.cotangent_count, result)
        return result


class RRuleCall(RuleCall):
    """A call of an rrule."""

    __slots__ = ()

    def run(
        self, needs: tuple[bool, ...] | None = None
    ) -> tuple[Any, Callable[..., Any]]:
        """`(y, pullback)`, with `pullback(dy) = (dself, dx1, …)` of the user's call."""
        y, pullback = self.rule.call(self.config, (), self.args, self.kwargs, needs)
        if self.unbound:
            pullback = _with_function(pullback, self)
        if self.outer is not None:
            pullback = self.outer.pullback(pullback, self)
        return y, pullback


class FRuleCall(RuleCall):
    """A call of an frule."""

    __slots__ = ()

    def run(
        self, tangents: tuple[Any, ...], needs: tuple[bool, ...] | None = None
    ) -> tuple[Any, Any]:
        """`(y, dy)` for the tangents `(dself, dx1, …)` of the user's call.

        Raises:
            TangentCountError: Their number does not fit.
        """
        if self.outer is not None:
            tangents = self.outer.tangents(tangents, self)
        inner = self._inner(tangents)
        return self.rule.call(self.config, (inner,), self.args, self.kwargs, needs)

    def _inner(self, tangents: tuple[Any, ...]) -> tuple[Any, ...]:
        expected = self.given + 1
        if type(tangents) is not tuple or len(tangents) not in (
            expected,
            self.cotangent_count + self.unbound,
        ):
            raise TangentCountError(self.rule.target, expected, tangents)
        own = tangents[1:] if self.unbound else tangents
        return own + (NoTangent(),) * (self.cotangent_count - len(own))


def _with_function(pullback: Any, call: RuleCall) -> Callable[..., Any]:
    """The pullback of a method that was called through its class."""

    def unbound_pullback(dy: Any) -> tuple[Any, ...]:
        return (NoTangent(), *call.check_cotangents(pullback(dy)))

    return unbound_pullback


class Outer:
    """How the arguments of a `functools.partial` lie among the rule's arguments.

    The partial's own cotangent has the fields `func`, `args` and `keywords`.
    """

    __slots__ = ("bound", "first", "named", "prefix")

    def __init__(
        self, f: partial[Any], names: tuple[str, ...], used: Any, *, bound: bool
    ) -> None:
        self.bound = int(bound)
        self.prefix = self.bound + len(f.args)
        self.named = {
            name: names.index(name)
            for name in f.keywords
            if name in names and name not in used
        }
        after = [i for i, name in enumerate(names) if name in f.keywords]
        # Past the first argument given by name the partial takes keywords only.
        self.first = min(after, default=None)

    def pullback(self, pullback: Any, call: RuleCall) -> Callable[..., Any]:
        """Gather the partial's own cotangents out of the rule's."""

        def partial_pullback(dy: Any) -> tuple[Any, ...]:
            found = pullback(dy)
            if not call.unbound:  # else it has been checked already
                found = call.check_cotangents(found)
            own = found if self.bound else found[1:]
            return self._own(found[0], own), *own[self.prefix : self.first]

        return partial_pullback

    def _own(self, head: Any, cotangents: tuple[Any, ...]) -> Any:
        named = {name: cotangents[i] for name, i in self.named.items()}
        return Tangent(
            partial,
            func=head,
            args=Tangent(tuple, *cotangents[self.bound : self.prefix]),
            keywords=Tangent(dict, named),
        )

    def tangents(self, tangents: tuple[Any, ...], call: RuleCall) -> tuple[Any, ...]:
        """Spread the partial's own tangent over the rule's arguments."""
        if type(tangents) is not tuple or len(tangents) != call.given + 1:
            raise TangentCountError(call.rule.target, call.given + 1, tangents)
        own, *rest = tangents
        spread: list[Any] = [NoTangent()] * len(call.args)
        spread[self.prefix : self.prefix + len(rest)] = rest
        head: Any = NoTangent()
        if isinstance(own, Tangent):
            head = own.func
            for i in range(self.bound, self.prefix):
                spread[i] = own.args[i - self.bound]
            for name, i in self.named.items():
                spread[i] = own.keywords[name]
        if self.bound:
            spread[0] = head
            return tuple(spread)
        return (head, *spread)
