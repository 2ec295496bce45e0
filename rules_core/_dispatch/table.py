"""Dispatch: the rules of one key, and the rule for the types of a call.

Each key has its own small `multipledispatch.Dispatcher`, which finds the matching
rules; the most specific one wins as in Julia, a rule with a config before any rule
without one. Results are cached in plain dicts keyed by the tuple of types.
"""

from __future__ import annotations

import itertools
from abc import ABCMeta, get_cache_token
from collections.abc import Callable, Iterator
from functools import cache
from threading import RLock
from typing import Any
from weakref import WeakSet

from multipledispatch import Dispatcher
from multipledispatch.variadic import Variadic

from rules_core._base.errors import RuleClashError

from .fitting import fits
from .normal_form import Binder, binder_of
from .redefined import replaces, same_signature, warn_of_others
from .rule import Rule
from .rule_key import describe, is_method_key
from .specificity import best

__all__ = [
    "CHANGES",
    "LOCK",
    "Changes",
    "MethodCache",
    "NoConfig",
    "RuleSet",
    "Table",
    "nothing",
]

# Guards every table: registrations and missed look-ups are rare; warm look-ups take no
# lock.
LOCK = RLock()


class Changes:
    """Counts registrations, removals and switches, in any table.

    A cache that depends on many tables compares this one number before use.

    >>> from rules_core.extend import CHANGES
    >>> before = CHANGES.count
    >>> CHANGES.note()
    >>> CHANGES.count > before
    True
    """

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def note(self) -> None:
        """Count one change."""
        with LOCK:
            self.count += 1


CHANGES = Changes()

NoConfig = type(None)
Answer = Callable[..., Any]


def _quiet(_dispatcher: Any, _pairs: Any) -> None:
    """Ambiguities are reported by the look-up that has one, not here."""


def _signatures(rule: Rule) -> Iterator[tuple[type, ...]]:
    """Every tuple of single classes that a rule accepts."""
    fixed = len(rule.types)
    head = () if rule.config is None else ((rule.config,),)
    for arity in range(rule.required, fixed + (rule.variadic is None)):
        yield from itertools.product(*head, *rule.types[:arity])
    if rule.variadic is not None:
        tail = (_variadic(rule.variadic),)
        for signature in itertools.product(*head, *rule.types):
            yield signature + tail


@cache
def _variadic(types: tuple[type, ...]) -> Any:
    """Any number of arguments of some classes, one class of the dispatcher's own."""
    return Variadic[types]


_UNKNOWN: Any = object()


def nothing(*_args: Any) -> None:
    """The result if no rule applies."""


class MethodCache(dict[tuple[type, ...], "Rule | None"]):
    """Types of the arguments → the matching rule, or None; filled by misses."""

    __slots__ = ("_config", "_rules")

    def __init__(self, rules: RuleSet, config: type) -> None:
        super().__init__()
        self._rules, self._config = rules, config

    def __missing__(self, types: tuple[type, ...]) -> Rule | None:
        return self._rules.resolve(self._config, types)


class _Caches(dict[type, MethodCache]):
    """Config class → its `MethodCache`."""

    __slots__ = ("_rules",)

    def __init__(self, rules: RuleSet) -> None:
        super().__init__()
        self._rules = rules

    def __missing__(self, config: type) -> MethodCache:
        with LOCK:
            return self.setdefault(config, MethodCache(self._rules, config))


class RuleSet:
    """The rules of one kind for one key."""

    __slots__ = (
        "_before",
        "_changed",
        "_decorate",
        "_decorated",
        "_dispatchers",
        "_volatile",
        "binary",
        "caches",
        "quick",
        "rules",
        "unary",
    )

    def __init__(
        self,
        before: Callable[[], None],
        decorate: Callable[[Rule], Rule],
        changed: Callable[[], None] = nothing,
    ) -> None:
        self.rules: list[Rule] = []
        self.caches = _Caches(self)
        # Types, the config's first → the function that answers such a call unchanged:
        # `nothing` if no rule applies. Nested dicts for one and two arguments, because
        # making and hashing a tuple would dominate.
        self.unary: dict[type, dict[type, Answer]] = {}
        self.binary: dict[type, dict[type, dict[type, Answer]]] = {}
        self.quick: dict[tuple[type, ...], Answer] = {}
        # Results that depend on an ABC are valid until the next `ABC.register`
        # anywhere.
        self._volatile: dict[Any, tuple[object, Rule | None]] = {}
        self._before, self._decorate, self._changed = before, decorate, changed
        # One object per rule for all types: adapters compare rules by identity.
        self._decorated: dict[Rule, Rule] = {}
        self._dispatchers: tuple[Dispatcher, Dispatcher] | None = None

    def add(self, rule: Rule) -> None:
        """Register a rule; one from this place with an equal signature is replaced.

        Raises:
            RuleClashError: The signature is taken by a rule from another place.
        """
        with LOCK:
            others = [r for r in self.rules if not replaces(rule, r)]
            for old in others:
                if same_signature(old, rule):
                    raise RuleClashError(old, rule)
            if len(others) == len(self.rules):
                self.rules.append(rule)
            else:
                warn_of_others(rule, [r for r in self.rules if r not in others])
                self.rules = [*others, rule]
            self.forget()

    def remove(self, rules: list[Rule]) -> None:
        """Remove rules."""
        self.restore([rule for rule in self.rules if rule not in rules])

    def restore(self, rules: list[Rule]) -> None:
        """Go back to an earlier list of rules."""
        with LOCK:
            self.rules = list(rules)
            self.forget()

    def forget(self) -> None:
        """Clear every cache, in place: call sites may hold the dicts."""
        with LOCK:
            self._dispatchers = None
            self._volatile.clear()
            self._decorated.clear()
            self.unary.clear()
            self.binary.clear()
            self.quick.clear()
            for cache in self.caches.values():
                cache.clear()
            self._changed()
            CHANGES.note()

    def remember(self, config: type, *types: type) -> None:
        """Cache the function for normal-form calls that need no changes."""
        cache = self.caches[config]
        if types not in cache:
            return
        with LOCK:  # no rule is added in between
            rule = cache.get(types, _UNKNOWN)
            if rule is None:
                self._keep(config, types, nothing)
            elif rule is not _UNKNOWN and rule.plain:
                self._keep(config, types, rule.function)

    def _keep(self, config: type, types: tuple[type, ...], answer: Answer) -> None:
        if len(types) == 1:
            self.unary.setdefault(config, {})[types[0]] = answer
        elif len(types) == 2:
            first = self.binary.setdefault(config, {})
            first.setdefault(types[0], {})[types[1]] = answer
        else:
            self.quick[config, *types] = answer

    def resolve(self, config: type, types: tuple[type, ...]) -> Rule | None:
        """The rule for a call, or None, for a missed look-up.

        Raises:
            AmbiguousRulesError: Two rules match equally well.
        """
        seen = self._volatile.get((config, types))
        if seen is not None and seen[0] == get_cache_token():
            return seen[1]
        self._before()
        with LOCK:
            rule = self.select(config, types)
            answer = None if rule is None or rule.opted_out else self._ready(rule)
            if self._depends_on_abc():
                self._volatile[config, types] = (get_cache_token(), answer)
            else:
                self.caches[config][types] = answer
            return answer

    def _ready(self, rule: Rule) -> Rule:
        if rule not in self._decorated:
            self._decorated[rule] = self._decorate(rule)
        return self._decorated[rule]

    def select(self, config: type, types: tuple[type, ...]) -> Rule | None:
        """The winning entry, opt-outs included.

        Rules with the classes of the call come first, then those that match by Python's
        reading of annotations.
        """
        for rule in self.rules:
            if rule.declines_all and issubclass(config, rule.config or object):
                return rule
        for rules in (self.candidates(config, types), self.candidates(NoConfig, types)):
            if rules:
                return best(rules, types)
        wide = [rule for rule in self.rules if fits(rule, config, types)]
        wide = [rule for rule in wide if rule.config is not None] or wide
        return best(wide, types, wide=True) if wide else None

    def candidates(self, config: type, types: tuple[type, ...]) -> list[Rule]:
        """Matching rules, with a config if `config` is one, otherwise without."""
        with LOCK:
            if self._dispatchers is None:
                self._dispatchers = self._made()
            plain, configured = self._dispatchers
            if config is NoConfig:
                return _matches(plain, types)
            return _matches(configured, (config, *types))

    def _made(self) -> tuple[Dispatcher, Dispatcher]:
        """Dispatchers: most functions of a pack are never called in a program."""
        plain, configured = Dispatcher("plain"), Dispatcher("configured")
        for rule in self.rules:
            dispatcher = plain if rule.config is None else configured
            for signature in _signatures(rule):
                dispatcher.funcs.setdefault(signature, []).append(rule)
        return plain, configured

    def _depends_on_abc(self) -> bool:
        """Whether a later `ABC.register` could change the result unnoticed."""
        return any(
            isinstance(cls, ABCMeta)
            for rule in self.rules
            for alternatives in (*rule.types, rule.variadic or ())
            for cls in alternatives
        )


def _matches(dispatcher: Dispatcher, types: tuple[type, ...]) -> list[Rule]:
    if not dispatcher.funcs:
        return []
    dispatcher.reorder(on_ambiguity=_quiet)
    matches = itertools.chain.from_iterable(dispatcher.dispatch_iter(*types))
    return list(dict.fromkeys(matches))


class Table:
    """All registrations for one key.

    Attributes:
        key: The callable.
        label: Its name for messages.
        method: Whether the key is an instance method.
        arity: Number of positional arguments in normal form; None if unknown, -1 if
            the normal form must be computed for every call.
        primitive: The registered handle, if any.
        shapes: The shape rule.
        batches: The batch rule.
        check: `check(args, kwargs)` raises an error for calls that no framework can do.
        shortcuts: Primitives whose shortcut is valid until the rules change.
        told: Calls that already had a warning that no rule applies.
    """

    __slots__ = (
        "__weakref__",
        "_binder",
        "arity",
        "batches",
        "binary",
        "check",
        "frule",
        "key",
        "label",
        "method",
        "primitive",
        "quick",
        "rrule",
        "shapes",
        "shortcuts",
        "told",
        "unary",
    )

    def __init__(
        self,
        key: Any,
        before: Callable[[Any], None],
        decorate: Callable[[Rule], Rule],
    ) -> None:
        self.key, self.label = key, describe(key)
        self.method = is_method_key(key)
        self._binder: Binder | None = None
        self.primitive: Any = None
        self.shapes: Rule | None = None
        self.batches: Rule | None = None
        self.check: Callable[[Any, Any], None] | None = None
        self.shortcuts: WeakSet[Any] = WeakSet()
        self.told: set[Any] = set()

        def before_resolving() -> None:
            before(key)

        self.rrule = RuleSet(before_resolving, decorate, self._changed)
        self.frule = RuleSet(before_resolving, decorate, self._changed)
        self.unary, self.binary = self.rrule.unary, self.rrule.binary
        self.quick = self.rrule.quick
        # Methods need special treatment of the instance: never the short path.
        self.arity: int | None = -1

    @property
    def binder(self) -> Binder:
        """Converts arguments to normal form; made at the first use."""
        if self._binder is None:
            binder = binder_of(self.key, self.label)
            if not self.method and not binder.required:
                names = binder.names
                self.arity = None if names is None else len(names)
                if names is not None and binder.variadic and not names:
                    self.arity = None
            self._binder = binder
        return self._binder

    def _changed(self) -> None:
        """Clear everything that depends on the rules."""
        self.told.clear()
        self.forget_shortcuts()

    def forget_shortcuts(self) -> None:
        """Let calls find out again by which mechanism they run."""
        if self.shortcuts:
            for handle in tuple(self.shortcuts):
                handle.shortcut = None
            self.shortcuts.clear()

    @property
    def has_rules(self) -> bool:
        """Whether there is a rule, of any kind."""
        if self.rrule.rules or self.frule.rules:
            return True
        return self.shapes is not None or self.batches is not None

    def rules(self) -> list[Rule]:
        """Every rule, of all four kinds."""
        side = [rule for rule in (self.shapes, self.batches) if rule is not None]
        return [*self.frule.rules, *self.rrule.rules, *side]
