"""Error classes: each holds its parts and renders one text.

Wording: the rule and the primal by name, what *must* hold, what came *but* instead,
then the remedy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = [
    "AmbiguousRulesError",
    "CotangentCountError",
    "CotangentNameError",
    "DebugError",
    "MixedHostsError",
    "NoTangentError",
    "PackImportError",
    "PrimitiveError",
    "ProjectionError",
    "RuleClashError",
    "RuleDefinitionError",
    "RuleResultError",
    "RulesCoreError",
    "TangentCountError",
    "UnsupportedError",
    "ViaADError",
]


class RulesCoreError(Exception):
    """Base of all errors of rules_core and its adapters.

    Errors can be pickled; references to rules are dropped.
    """

    def __reduce__(self) -> Any:
        words = {name: x for name, x in vars(self).items() if _are_words(x)}
        return _again, (type(self), str(self), words)


def _again(cls: type[RulesCoreError], text: str, words: dict[str, Any]) -> Any:
    error = cls.__new__(cls, text)
    error.args = (text,)
    vars(error).update(words)
    return error


def _are_words(x: Any) -> bool:
    return isinstance(x, str) or (type(x) is tuple and all(map(_are_words, x)))


class UnsupportedError(RulesCoreError, NotImplementedError):
    """An unsupported combination, by name; it would be wrong, or is not implemented."""


class RuleDefinitionError(RulesCoreError, TypeError):
    """A rule, opt-out or primitive was declared in a way that cannot work."""


class PrimitiveError(RulesCoreError, ValueError):
    """Declarations of a primitive, or declaration and result, contradict each other."""


class MixedHostsError(RulesCoreError, TypeError):
    """One call of a primitive has arrays of two frameworks."""


class ViaADError(RulesCoreError, TypeError):
    """A rule calls back into an AD system that lacks the required mode."""


class DebugError(RulesCoreError, AssertionError):
    """A rule broke its contract under `debug_mode`."""


class RuleClashError(RulesCoreError, ValueError):
    """One rule is defined twice, from two places."""

    def __init__(self, old: Any, new: Any) -> None:
        self.old, self.new = old, new
        super().__init__(
            f"{new.kind} for {new.target}({new.signature}) is defined twice: "
            f"{old.name} at {old.location} and {new.name} at {new.location}. "
            "Remove one of them, or give one a more specific signature."
        )


class AmbiguousRulesError(RulesCoreError, TypeError):
    """Two rules match a call equally well."""

    def __init__(self, first: Any, second: Any, types: Sequence[str]) -> None:
        self.first, self.second, self.types = first, second, tuple(types)
        super().__init__(
            f"{first.kind} for {first.target}({', '.join(types)}) is ambiguous: "
            f"{first.name}({first.signature}) at {first.location} and "
            f"{second.name}({second.signature}) at {second.location} fit equally "
            f"well. Define a rule that is more specific than both."
        )


_PAIRS = {"rrule": "(y, pullback)", "frule": "(y, dy)"}


class RuleResultError(RulesCoreError, TypeError):
    """A rule returned something other than its pair."""

    def __init__(self, rule: Any, result: Any) -> None:
        self.rule = rule
        super().__init__(
            f"{rule.label} must "
            f"return the pair {_PAIRS[rule.kind]}, but {_misfit(result)}."
            f"{_cure(rule.kind, result)}"
        )


class TangentCountError(RulesCoreError, TypeError):
    """`frule` received a wrong number of tangents."""

    def __init__(self, target: str, expected: int, tangents: Any) -> None:
        count = len(tangents) if type(tangents) is tuple else None
        got = _describe(tangents) if count is None else f"{count} of them"
        super().__init__(
            f"frule for {target}: the tangents must be a tuple of {expected} (one for "
            f"the function itself, then one per positional argument), but got {got}."
            + ("" if count is not None else " Pass (NoTangent(), dx1, …).")
        )


class CotangentCountError(RulesCoreError, TypeError):
    """A pullback returned a wrong number of cotangents."""

    def __init__(self, rule: Any, expected: int, result: Any) -> None:
        is_tuple = type(result) is tuple
        got = f"{len(result)} of them" if is_tuple else _describe(result)
        super().__init__(
            f"rrule {rule.name} for {rule.target} at {rule.location}: the pullback "
            f"must return a tuple of {expected} cotangents (one for the function "
            f"itself, then one per positional argument), but got {got}. Return "
            "NoTangent() for what has no tangent."
        )


class CotangentNameError(RulesCoreError, TypeError):
    """A pullback returned a dict with a name that is not that of an argument."""

    def __init__(self, rule: Any, names: Sequence[str], found: Any) -> None:
        self.rule = rule
        has = f"among the arguments ({', '.join(names)})" if names else "no names"
        cure = "Keyword-only arguments have no cotangent."
        if not names:
            cure = "Its signature has no names: return a tuple, NoTangent() first."
        super().__init__(
            f"rrule {rule.name} for {rule.target} at {rule.location}: a pullback that "
            f"returns a dict must name {'arguments' if names else 'nothing'}, {has}, "
            f"but got {found!r}. {cure}"
        )


class NoTangentError(RulesCoreError, ValueError):
    """A rule returned `NoTangent()` for a value that has a tangent.

    Args:
        rule: The rule.
        what: The value, such as `"the cotangent of argument 1"`.
    """

    def __init__(self, rule: Any, what: str) -> None:
        self.rule = rule
        own = ""
        if rule.kind == "frule":
            own = " (tangents[0] belongs to the function; arguments follow it)"
        super().__init__(
            f"{rule.label}: {what} is "
            f"NoTangent(), but its primal has a tangent. Return the derivative{own}, "
            "or ZeroTangent() where it is zero, or not_implemented(…)."
        )


class PackImportError(RulesCoreError, ImportError):
    """A rule pack that a look-up needs cannot be imported."""

    def __init__(self, pack: str, target: str, cause: str) -> None:
        self.pack, self.target, self.cause = pack, target, cause
        super().__init__(
            f"the rule pack {pack!r} ({target}) failed to import: {cause}. Repair or "
            f"uninstall it, or switch it off with RULES_CORE_PACKS=-{pack}."
        )


def _describe(value: Any) -> str:
    if type(value) is tuple:
        return f"a tuple of {len(value)}"
    return "None" if value is None else f"one value of type {type(value).__name__}"


def _misfit(result: Any) -> str:
    if type(result) is not tuple or len(result) != 2:
        return f"got {_describe(result)}"
    return (
        f"its second entry is {_describe(result[1])}, which cannot be called with a "
        "cotangent"
    )


def _cure(kind: str, result: Any) -> str:
    if result is None:
        return f" Return the pair, or use opt_out({kind}, f, …) to decline."
    return ""


class ProjectionError(RulesCoreError, ValueError):
    """A tangent is not in the tangent space of its primal.

    Attributes:
        path: The place in the argument, as a Python expression; empty if the tuple of
            all cotangents is wrong.
    """

    def __init__(self, path: str, must: str, got: str, cure: str = "") -> None:
        self.path, self.parts = path, (must, got, cure)
        subject = f"the tangent of {path}" if path else "the cotangents"
        cure = f" {cure}" if cure else ""
        super().__init__(f"{subject} must {must}, but got {got}.{cure}")

    def at(self, path: str) -> ProjectionError:
        """This error for another path, which names the rule too."""
        return ProjectionError(path, *self.parts)
