"""Leaves of a call's arguments: whose they are, and what its rules ask about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, final

from rules_core._rules.named_cotangents import ordered_cotangents
from rules_core._tangents.zeros import NoTangent

from .layouts import Opener, count_leaves, flatten, leaf_paths, unflatten
from .tangent_leaves import build

__all__ = ["FlatCall"]


@final
class FlatCall:
    """Layouts of the arguments of one call, in normal form.

    Leaves of positional arguments come first, those of keyword arguments follow.

    Attributes:
        parts: One layout per positional argument.
        keywords: The layout of the dict of keyword arguments.
        slices: Where the leaves of each positional argument are.
        positional: The number of leaves in positional arguments.

    >>> from rules_core.extend import FlatCall, Opener
    >>> leaves, call = FlatCall.of(((1.0, 2.0), "a", 3.0), {}, Opener(float), ("p",))
    >>> leaves, call.needs([False, True, False]), call.name(1)
    ([1.0, 2.0, 3.0], (True, False, False), 'p[1]')
    """

    __slots__ = ("keywords", "names", "parts", "positional", "slices")

    def __init__(
        self, parts: Sequence[Any], keywords: Any, names: Sequence[str] | None = None
    ) -> None:
        self.parts, self.keywords, self.names = parts, keywords, names or ()
        starts = [0]
        for part in parts:
            starts.append(starts[-1] + count_leaves(part))
        self.slices = [slice(*pair) for pair in pairwise(starts)]
        self.positional = starts[-1]

    @classmethod
    def of(
        cls,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        opener: Opener,
        names: Sequence[str] | None = None,
    ) -> tuple[list[Any], FlatCall]:
        """The leaves of a call, and the call.

        Args:
            args: Positional arguments.
            kwargs: Keyword arguments.
            opener: What a leaf is, and how containers are opened.
            names: Names of the positional arguments, for messages.
        """
        leaves: list[Any] = []
        parts = [flatten(arg, leaves, opener) for arg in args]
        return leaves, cls(parts, flatten(kwargs, leaves, opener), names)

    @classmethod
    def within(cls, layout: Any, names: Sequence[str] | None = None) -> FlatCall:
        """The call of which `layout` is the layout of the pair `(args, kwargs)`."""
        positional, keywords = layout[3]
        return cls(positional[3], keywords, names)

    def fill(self, leaves: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments and keywords with these leaves."""
        rest = iter(leaves)
        args = tuple([unflatten(part, rest) for part in self.parts])
        return args, unflatten(self.keywords, rest)

    def needs(self, wanted: Sequence[bool], before: int = 0) -> tuple[bool, ...]:
        """Per argument of a rule, whether any of its leaves is wanted.

        Args:
            wanted: One flag per leaf.
            before: The number of arguments that the rule has in front of these, as the
                instance of a method.
        """
        flags = tuple([any(wanted[part]) for part in self.slices])
        return (False,) * before + flags

    def tangents(
        self, leaves: Sequence[Any], *, symbolic: bool = False
    ) -> tuple[Any, ...]:
        """The arguments of an frule, from a tangent for each leaf."""
        rest = iter(leaves)
        built = [build(part, rest, symbolic=symbolic) for part in self.parts]
        return NoTangent(), *built

    def cotangents(
        self,
        rule: Any,
        answer: Any,
        read: Callable[[int, Any, slice], Sequence[Any]],
        count: int,
    ) -> list[Any]:
        """One entry per leaf out of what a pullback returned; None for keywords.

        Args:
            rule: The rrule.
            answer: What its pullback returned.
            read: `(i, cotangent, part)` ↦ the entries of the i-th argument's leaves,
                which are those of the slice `part`.
            count: The number of leaves, those of keywords included.

        Raises:
            CotangentCountError: `answer` is neither a tuple of one cotangent per
                argument nor a dict.
            CotangentNameError: `answer` names what is no argument.
        """
        expected = len(self.parts) + 1
        answer = ordered_cotangents(rule, answer, expected)
        found: list[Any] = []
        for i, part in enumerate(self.slices):
            found += read(i, answer[i + 1], part)
        return found + [None] * (count - len(found))

    def keyword(self, wanted: Sequence[bool]) -> str | None:
        """The name of the first wanted leaf of a keyword, of which rules know nothing.

        A host raises an error then: a rule has no cotangent for keywords.
        """
        for i in range(self.positional, len(wanted)):
            if wanted[i]:
                return self.name(i)
        return None

    def argument(self, i: int) -> str:
        """The name of the i-th positional argument."""
        return self.names[i] if i < len(self.names) else f"args[{i}]"

    def name(self, i: int) -> str:
        """The name of the i-th leaf."""
        return list(self._paths())[i]

    def _paths(self) -> Iterator[str]:
        for i, part in enumerate(self.parts):
            yield from leaf_paths(part, self.argument(i))
        if self.keywords[0] != "static":
            for name, part in zip(self.keywords[2], self.keywords[3], strict=True):
                yield from leaf_paths(part, name)
