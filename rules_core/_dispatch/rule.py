"""One registered rule: the author's function and its data for dispatch."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final

from rules_core._base.arrays import type_name
from rules_core._base.errors import RuleDefinitionError, RuleResultError
from rules_core._base.frameworks import framework_of
from rules_core._base.rule_notes import note_rule

from .rule_key import describe

__all__ = [
    "AGAIN", "AUTHORS", "FROM_VALUE", "LINEAR", "PARTIALS", "SELECTION", "UNASKED",
    "Location", "Rule", "union",
]  # fmt: skip

# The attribute in which functions of `scalar_rule` keep the partials, in rows.
PARTIALS = "__rules_core_partials__"
AUTHORS = "__rules_core_authors_partials__"
# That in which they keep their two steps: the value, and the pullback from it.
FROM_VALUE = "__rules_core_from_value__"
# Attributes of functions that tell an AD system more about their derivatives.
LINEAR = "__rules_core_linear__"
SELECTION = "__rules_core_selection__"
# That which lists the functions of a program that a pullback calls.
AGAIN = "__rules_core_again__"
# What is not known yet of a rule.
UNASKED: Final = object()


class Location:
    """Place of a definition: file, line, module and qualified name.

    `own`: whether the function has a name of its own (not `_`, not a lambda).
    """

    __slots__ = ("file", "line", "module", "name", "own")

    def __init__(
        self, file: str, line: int, module: str, name: str, *, own: bool = False
    ) -> None:
        self.file, self.line, self.module, self.name = file, line, module, name
        self.own = own

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Location:
        """Location of a function's definition."""
        inner = function
        while hasattr(inner, "__wrapped__"):  # not the wrapper's place
            inner = inner.__wrapped__
        code = getattr(inner, "__code__", None)
        name = getattr(function, "__qualname__", None)
        return cls(
            code.co_filename if code else "?",
            code.co_firstlineno if code else 0,
            getattr(function, "__module__", None) or "?",
            name or repr(function),
            own=(name or "_").rpartition(".")[2] not in ("_", "<lambda>"),
        )

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}"


class Rule:
    """A rule, or an opt-out, as registered.

    Attributes:
        kind: `"rrule"` or `"frule"`.
        function: The author's function; None for an opt-out.
        key: The callable that the rule is for.
        types: The signature, one tuple of alternative classes per argument.
        required: How many of the arguments have no default in the rule.
        variadic: Alternatives of `*args`, or None.
        config: The `RuleConfig` class that the rule requires, or None.
        host: Whether the rule is NumPy-only.
        symbolic_zeros: Whether it accepts `ZeroTangent` for a cotangent or tangent.
        deterministic: Whether an adapter may run it again instead of saving residuals.
        needs: Whether it takes `needs`, the arguments that need a cotangent.
        constant: Whether it was declared `non_differentiable`: then `NoTangent()` is
            valid for a primal that has a tangent.
        plain: Whether it takes the arguments unchanged.
        outside: What its code reads besides its arguments, once that was looked for.
    """

    __slots__ = (
        "config",
        "constant",
        "deterministic",
        "function",
        "host",
        "key",
        "keywords",
        "kind",
        "needs",
        "opened",
        "outside",
        "persistent",
        "plain",
        "required",
        "symbolic_zeros",
        "target",
        "types",
        "variadic",
        "where",
    )

    def __init__(
        self,
        kind: str,
        key: Any,
        function: Callable[..., Any] | None,
        where: Location,
        types: tuple[tuple[type, ...], ...],
        *,
        required: int | None = None,
        variadic: tuple[type, ...] | None = None,
        config: type | None = None,
        needs: bool = False,
        keywords: frozenset[str] = frozenset(),
        opened: bool = True,
        host: bool = False,
        symbolic_zeros: bool = False,
        deterministic: bool = False,
        persistent: bool = False,
        constant: bool = False,
    ) -> None:
        self.kind, self.key, self.function, self.where = kind, key, function, where
        self.types, self.variadic, self.config = types, variadic, config
        self.required = len(types) if required is None else required
        self.needs, self.keywords, self.host = needs, keywords, host
        self.opened = opened
        self.symbolic_zeros, self.deterministic = symbolic_zeros, deterministic
        self.persistent, self.constant = persistent, constant
        self.target = describe(key)
        asks = config is not None or needs or bool(keywords)
        self.plain = not asks and function is not None
        self.outside: Any = UNASKED

    @property
    def name(self) -> str:
        """Qualified name of the author's function."""
        return self.where.name

    @property
    def file(self) -> str:
        """File that defines the rule."""
        return self.where.file

    @property
    def line(self) -> int:
        """Line of the definition."""
        return self.where.line

    @property
    def module(self) -> str:
        """Module that defines the rule."""
        return self.where.module

    @property
    def location(self) -> str:
        """File name and line of the definition, for messages."""
        return str(self.where)

    @property
    def label(self) -> str:
        """Kind, name, function and place, for messages."""
        return f"{self.kind} {self.name} for {self.target} at {self.location}"

    @property
    def opted_out(self) -> bool:
        """Whether this entry is an opt-out."""
        return self.function is None

    @property
    def declines_all(self) -> bool:
        """Whether this entry is an opt-out for all arguments of a function."""
        return self.opted_out and not self.types and self.variadic == (object,)

    @property
    def partials(self) -> Callable[..., Any] | None:
        """The partials of a `scalar_rule`, one row per output: `(y, *args) -> rows`."""
        return getattr(self.function, PARTIALS, None)

    @property
    def authors_partials(self) -> Callable[..., Any] | None:
        """The partials of a `scalar_rule` as their author wrote them."""
        return getattr(self.function, AUTHORS, None)

    @property
    def steps(self) -> tuple[Callable[..., Any], Callable[..., Any]] | None:
        """The two steps of a `scalar_rule`: the value, and the pullback from it.

        `value(args, kwargs)` and `pullback_of(y, args, kwargs)`.
        """
        return getattr(self.function, FROM_VALUE, None)

    @property
    def pulls(self) -> Callable[..., Any] | None:
        """Of a rule whose pullback only moves, scales and adds: value and adjoints.

        `pulls(args, kwargs)` gives the value and, for each argument, the adjoint
        `dx = pull(dy)` in the argument's shape or broadcast, or None: a constant. It
        makes no 0 · ∞, and raises no error for infinities.
        """
        return getattr(self.function, LINEAR, None)

    @property
    def selection(self) -> Callable[..., Any] | None:
        """The partials of a selection such as `np.maximum`: 1, 0, or between at ties.

        Where a partial is zero, so is the cotangent, also of an infinity.
        """
        return getattr(self.function, SELECTION, None)

    @property
    def again(self) -> tuple[Callable[..., Any], ...]:
        """Functions of the program that the pullback calls, after the value."""
        return getattr(self.function, AGAIN, ())

    @property
    def signature(self) -> str:
        """The types it applies to, for messages."""
        parts = [union(alternatives) for alternatives in self.types]
        if self.variadic is not None:
            parts.append("*" + union(self.variadic))
        if self.config is not None:
            parts.insert(0, f"config: {self.config.__name__}")
        return ", ".join(parts)

    def check_keywords(self, kwargs: dict[str, Any]) -> None:
        """Raise an error for keyword-only arguments that the rule does not accept."""
        if self.opened or not kwargs:
            return
        for name in kwargs:
            if name not in self.keywords:
                message = (
                    f"{self.kind} {self.name} for {self.target} at {self.location} "
                    f"does not take the keyword argument {name!r} of this call. Add "
                    f"{name!r} as a keyword-only parameter of the rule and use it."
                )
                raise RuleDefinitionError(message)

    def with_defaults(
        self, kwargs: dict[str, Any], defaults: dict[str, Any]
    ) -> dict[str, Any]:
        """The keyword arguments of a call, with the function's own defaults.

        Only keywords that the rule declares: it may omit unused ones, and its
        `**kwargs` get the keywords of the call.
        """
        own = {name: x for name, x in defaults.items() if name in self.keywords}
        return {**own, **kwargs}

    def call(
        self,
        config: Any,
        head: tuple[Any, ...],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        needs: tuple[bool, ...] | None = None,
    ) -> tuple[Any, Any]:
        """Run the author's function with its declared inputs, and check for a pair."""
        self.check_keywords(kwargs)
        if self.config is not None:
            head = (config, *head)
        if self.needs:
            mask = (True,) * len(args) if needs is None else needs
            kwargs = {**kwargs, "needs": mask}
        assert self.function is not None
        try:
            result = self.function(*head, *args, **kwargs)
        except Exception as error:
            note_rule(error, self, args)
            raise
        if type(result) is not tuple or len(result) != 2:
            raise RuleResultError(self, result)
        return result

    def with_function(self, function: Callable[..., Any]) -> Rule:
        """This rule with another function; name and place stay."""
        new = Rule.__new__(Rule)
        for slot in Rule.__slots__:
            setattr(new, slot, getattr(self, slot))
        new.function, new.outside = function, UNASKED
        return new

    def __repr__(self) -> str:
        state = "opt-out of " if self.opted_out else ""
        return (
            f"<{state}{self.kind} for {self.target}({self.signature}), {self.location}>"
        )


def union(alternatives: tuple[type, ...]) -> str:
    """Alternative classes in the notation of annotations."""
    frameworks = [framework_of(cls) for cls in alternatives]
    traced = [cls for f in frameworks if f is not None for cls in f.traced]
    # The class that users know includes them.
    known = [f is not None and f.array in alternatives for f in frameworks]
    pairs = zip(alternatives, known, strict=True)
    shown = [cls for cls, is_known in pairs if not (is_known and cls in traced)]
    return " | ".join(map(_class_name, shown))


def _class_name(cls: type) -> str:
    if cls is object:
        return "any"
    return type_name(cls) if cls.__name__ == "Array" else cls.__name__
