"""`explain`: which rule would run, and why the others lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rules_core._base.arrays import type_name
from rules_core._base.errors import AmbiguousRulesError, RulesCoreError
from rules_core._base.frameworks import load_imported_adapters
from rules_core._base.shown import ShownText
from rules_core._dispatch.configs import CONFIGS, HasForwardsMode, HasReverseMode
from rules_core._dispatch.fitting import fits, reasons
from rules_core._dispatch.registry import PACKS, find_table
from rules_core._dispatch.rule import Rule
from rules_core._dispatch.rule_key import describe
from rules_core._dispatch.table import RuleSet, Table
from rules_core._primitives.primitive import Primitive

from .derived_rules import derived_rule, why_not_derived
from .in_frameworks import in_hosts
from .lookup import handle_of, normal_form, unwrap
from .skipped import skipped_rules

__all__ = ["EXPLAINERS", "RuleNotFound", "explain", "explained", "for_configs"]

_NONE = type(None)
# Functions of other packages that explain their rules: explainer(f, args, kwargs) gives
# lines.
EXPLAINERS: list[Callable[[Any, tuple[Any, ...], dict[str, Any]], Iterable[str]]] = []


def explain(*args: Any, **kw: Any) -> ShownText:
    """Explain which rules a call would use, and why.

    Args:
        *args: `f` and its arguments; a `RuleConfig` may come first.
        **kw: Keyword arguments of the call.

    Returns:
        A text that shows itself. For rrule and frule: the rule that runs with its file
        and line, the other rules that match and why they lost, those that do not match
        and why, and whether the call is opted out. For a host primal without a rule,
        the derived rule. Then, whether JAX and PyTorch use the rules: there the arrays
        among the arguments (numbers, if there is none) are traced arrays; and, for a
        function with mutating rules, which one `rules_autodiff` runs.

    >>> from rules_core import explain
    >>> def f(x):
    ...     return x
    >>> explain(f, 1.0)
    rrule for f(float): no rule applies; none is defined.
    frule for f(float): no rule applies; none is defined.
    """
    config: Any = None
    if args and type(args[0]) in CONFIGS:
        config, args = args[0], args[1:]
    if not args or not callable(args[0]):
        got = repr(args[0]) if args else "nothing"
        message = f"explain(f, *args): f must be callable, but got {got}."
        raise TypeError(message)
    f, *rest = args
    f = f.primitive if type(getattr(f, "primitive", None)) is Primitive else f
    call = f, tuple(rest), kw, config
    parts = [_section(kind, *call) for kind in ("rrule", "frule")]
    load_imported_adapters()
    elsewhere = [line for told in EXPLAINERS for line in told(f, tuple(rest), kw)]
    lines = (*parts, *_derived(*call), *_users(*call), *elsewhere)
    return ShownText("\n".join(lines))


def _users(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], config: Any
) -> Iterator[str]:
    """Whether rules are skipped, and what the frameworks do with them."""
    table, types = _look(f, args, kwargs)
    if table is None or not (table.rrule.rules or table.frule.rules):
        return
    name = _name(f)
    if skipped_rules(table, type(config), types):
        yield (
            f"The rules of {name} are skipped: its own code is differentiated, with a "
            "RuleSkippedWarning."
        )
    if config is not None:
        return
    if type(f) is Primitive or table.primitive is not None:
        yield from in_hosts(table, types)
    else:
        yield (
            f"JAX and PyTorch do not use rules of {name}, for it is no primitive: "
            f"decorate it with rules_core.primitive, or call to_jax({name}) or "
            f"to_torch({name})."
        )


def _derived(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], config: Any
) -> Iterator[str]:
    """The derived rule of a host primal without a matching rule."""
    handle = f if type(f) is Primitive else handle_of(unwrap(f)[0].key)
    if type(handle) is not Primitive or not handle.host:
        return
    args, kwargs = handle.bind(args, kwargs)
    reason = why_not_derived(handle, args, kwargs, config)
    rule = derived_rule("rrule", handle, args, kwargs, config)
    if rule is not None:
        yield (
            f"{describe(f)} is a host primal without a rule: in JAX and PyTorch both "
            f"modes use the rule {rule.name} from its code at {rule.location}."
        )
    elif reason is not None:
        yield f"{describe(f)} is a host primal without a derived rule: {reason}."


class RuleNotFound(RulesCoreError, LookupError):
    """A required rule is missing; lists the nearest candidates."""

    def __init__(
        self, kind: str, target: str, types: str, notes: Iterable[str], when: str = ""
    ) -> None:
        self.kind, self.target, self.types = kind, target, types
        self.notes = tuple(notes)
        head = f"no {kind} applies to {target}({types}){when}."
        super().__init__("\n  ".join((head, *self.notes)))

    @staticmethod
    def build(
        kind: str,
        f: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any] | None = None,
        config: Any = None,
    ) -> RuleNotFound:
        """The error for a call, with the explanation of the candidates."""
        return _not_found(kind, f, args, kwargs or {}, config)


def _not_found(
    kind: str, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], config: Any
) -> RuleNotFound:
    """The error for a missing required rule, with the nearest candidates."""
    scalar = kind == "scalar_rule"
    table, types = _look(f, args, kwargs)
    shown = ", ".join(map(type_name, types))
    rules = [] if table is None else getattr(table, "rrule" if scalar else kind).rules
    if scalar:
        rules = [rule for rule in rules if rule.partials is not None]
    if not rules:
        key = describe(unwrap(f)[0].key)
        cure = f"scalar_rule({key}, partials)" if scalar else f"@{kind}.define({key})"
        cure = f"None is defined. Write one with {cure}."
        derived = _derived(f, args, kwargs, config)
        return RuleNotFound(kind, _name(f), shown, [cure, *derived])
    assert table is not None
    waiting = [] if scalar else for_configs(rules, type(config), types)
    if waiting and getattr(table, kind).select(type(config), types) is None:
        notes = [_told(rule) for rule in waiting[:3]]
        return RuleNotFound(kind, _name(f), shown, notes, " without a config")
    near = sorted(rules, key=lambda r: len(list(reasons(r, type(config), types))))
    winner = table.rrule.select(type(config), types) if scalar else None
    names = table.binder.names or ()
    notes = [_note(rule, type(config), types, winner, names) for rule in near[:3]]
    notes.extend(_derived(f, args, kwargs, config))
    return RuleNotFound(kind, _name(f), shown, notes)


def _name(f: Any) -> str:
    """A callable's name; for an instance, that of the method that is its key."""
    target, partials = unwrap(f)
    return describe(target.key if target.instance is f and not partials else f)


def _look(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Table | None, tuple[type, ...]]:
    target, _ = unwrap(f)
    PACKS.ensure(target.key)
    bound, _ = normal_form(f, args, kwargs)
    return find_table(target.key), tuple(map(type, bound))


def _section(
    kind: str, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], config: Any
) -> str:
    table, types = _look(f, args, kwargs)
    call = f"{_name(f)}({', '.join(map(type_name, types))})"
    head = f"{kind} for {call}" + (f" with {config!r}" if config is not None else "")
    rules = None if table is None else getattr(table, kind)
    if table is None or rules is None or not rules.rules:
        return f"{head}: no rule applies; none is defined."
    return explained(head, rules, config, types, table.binder.names or ())


def explained(
    head: str, rules: RuleSet, config: Any, types: tuple[type, ...], names: Any = ()
) -> str:
    """A heading, the rule that runs, and the reasons why the others do not."""
    others = _others(rules, config, types, names)
    return "\n".join((f"{head}: {_verdict(rules, config, types)}", *others))


def _verdict(rules: RuleSet, config: Any, types: tuple[type, ...]) -> str:
    try:
        winner = rules.select(type(config), types)
    except AmbiguousRulesError as error:
        return f"ambiguous, the call would raise. {error}"
    if winner is None:
        waits = for_configs(rules.rules, type(config), types)
        return "a rule applies if a config is given." if waits else "no rule applies."
    if winner.opted_out:
        return f"opted out at {winner.location}, so no rule applies."
    return f"{winner.name}({winner.signature}) at {winner.location} runs."


def _others(
    rules: RuleSet, config: Any, types: tuple[type, ...], names: Any
) -> Iterator[str]:
    try:
        winner = rules.select(type(config), types)
    except AmbiguousRulesError:
        winner = None
    waiting = for_configs(rules.rules, type(config), types) if winner is None else []
    for rule in rules.rules:
        if rule is winner:
            continue
        if any(rule is other for other in waiting):
            yield f"  {_told(rule)}"
        elif fits(rule, type(config), types):
            yield f"  {_named(rule)} applies too, but {_why_lost(rule, winner)}."
        else:
            yield f"  {_why_not(rule, type(config), types, names)}"


def for_configs(rules: Iterable[Rule], config: type, types: tuple[type, ...]) -> Any:
    """The rules that a call without a config misses for that reason alone."""
    if config is not _NONE:
        return []
    return [r for r in rules if r.config is not None and fits(r, r.config, types)]


# The traits that every AD system of this distribution has.
_COMMON = (HasReverseMode, HasForwardsMode)


def _told(rule: Rule) -> str:
    """What calls a rule that needs a config."""
    tangents = "tangents, " if rule.kind == "frule" else ""
    call = f"{rule.kind}(config, {tangents}{describe(rule.key)}, …)"
    needed: Any = rule.config
    if not all(trait in _COMMON for trait in needed.needs or (needed,)):
        return f"{_named(rule)} applies in {call} with a {needed.__name__}."
    return (
        f"{_named(rule)} applies where an AD system passes its config: in vjp and jvp "
        f"of rules_core, in rules_autodiff, JAX and PyTorch; or in {call}, with "
        "rules_core.testing.FiniteDifferenceConfig() for example."
    )


def _named(rule: Rule) -> str:
    what = "the opt-out" if rule.opted_out else rule.name
    return f"{what}({rule.signature}) at {rule.location}"


def _why_lost(rule: Rule, winner: Rule | None) -> str:
    if winner is None:
        return "so does another, and neither is more specific"
    if winner.config is not None and rule.config is None:
        return "a rule with a config wins over any without"
    return "it is less specific"


def _why_not(rule: Rule, config: type, types: tuple[type, ...], names: Any) -> str:
    why = "; ".join(reasons(rule, config, types, names))
    return f"{_named(rule)} does not apply: {why}."


def _note(
    rule: Rule,
    config: type,
    types: tuple[type, ...],
    winner: Rule | None,
    names: Any,
) -> str:
    if not fits(rule, config, types):
        return _why_not(rule, config, types, names)
    if rule.opted_out:
        return f"{_named(rule)} declines this call."
    why = "the call is opted out" if winner is None else f"{_named(winner)} wins"
    return f"{_named(rule)} would apply, but {why}."
