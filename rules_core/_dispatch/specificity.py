"""Which of the rules that match a call is the most specific, as in Julia."""

from __future__ import annotations

from collections.abc import Iterator

from rules_core._base.arrays import is_array_type
from rules_core._base.errors import AmbiguousRulesError

from .fitting import widened
from .rule import Rule

__all__ = ["at_most", "best"]


def best(rules: list[Rule], types: tuple[type, ...], *, wide: bool = False) -> Rule:
    """The most specific of the rules that match a call.

    Args:
        rules: Rules that match.
        types: The classes of the call's arguments.
        wide: Whether they match only by Python's reading of annotations (`fitting`).

    Raises:
        AmbiguousRulesError: Two rules match equally well.
    """
    count = len(types)

    def wins(a: Rule, b: Rule) -> bool:
        return _wins(a, b, count, wide=wide)

    for rule in rules:
        if all(other is rule or wins(rule, other) for other in rules):
            return rule
    arrays = [rule for rule in rules if not _as_numbers(rule, types)]
    if 0 < len(arrays) < len(rules):
        return best(arrays, types, wide=wide)
    front = [r for r in rules if not any(wins(o, r) for o in rules if o is not r)]
    first, second = list(dict.fromkeys((*front, *rules)))[:2]
    raise AmbiguousRulesError(first, second, [cls.__name__ for cls in types])


def _as_numbers(rule: Rule, types: tuple[type, ...]) -> bool:
    """Whether a rule matches a NumPy scalar only because `np.float64` is a `float` too.

    It is an array first, like `np.float32`, which is not a `float`.
    """
    pairs = zip(_alternatives(rule, len(types)), types, strict=True)
    return any(
        is_array_type(cls)
        and all(c in (float, complex) for c in fits if issubclass(cls, c))
        for fits, cls in pairs
    )


def _wins(a: Rule, b: Rule, count: int, *, wide: bool) -> bool:
    if not at_most(a, b, count, wide=wide):
        return False
    return not at_most(b, a, count, wide=wide) or _tighter(a, b)


def _tighter(a: Rule, b: Rule) -> bool:
    """Tie-break: prefer the rule that accepts fewer argument counts."""
    if a.variadic is None or b.variadic is None:
        return b.variadic is not None and a.variadic is None
    more = max(len(a.types), len(b.types)) + 1
    if at_most(a, b, more) and at_most(b, a, more):
        return a.required > b.required
    return at_most(a, b, more)


def at_most(a: Rule, b: Rule, count: int, *, wide: bool = False) -> bool:
    """Whether each call of `count` arguments that `a` accepts is accepted by `b`."""
    if b.config is not None and not issubclass(a.config or object, b.config):
        return False
    mine, theirs = _alternatives(a, count), _alternatives(b, count)
    if wide:
        mine, theirs = map(widened, mine), map(widened, theirs)
    return all(map(_within, mine, theirs))


def _within(a: tuple[type, ...], b: tuple[type, ...]) -> bool:
    return all(any(issubclass(x, y) for y in b) for x in a)


def _alternatives(rule: Rule, count: int) -> Iterator[tuple[type, ...]]:
    yield from rule.types[:count]
    for _ in range(count - len(rule.types)):
        yield rule.variadic or (object,)
