"""Derived rules: an AD system derives them from a host function's own code.

JAX and PyTorch cannot differentiate a function that needs NumPy. If it has no rule, an
AD system for Python code can derive one. Such a system is an entry point of the group
`rules_core.derivers`, so that neither the core nor an adapter imports one by name.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Protocol

from rules_core._base.errors import RulesCoreError
from rules_core._dispatch.registry import find_table
from rules_core._dispatch.rule import AGAIN, Location, Rule
from rules_core._primitives.primitive import Primitive

from .lookup import all_arguments, unwrap
from .resolved_call import FRuleCall, RRuleCall, RuleCall
from .skipped import warn_if_skipped

__all__ = ["Deriver", "derived_rule", "resolve_primitive", "why_not_derived"]

GROUP = "rules_core.derivers"
CALLS: dict[str, type[RuleCall]] = {"rrule": RRuleCall, "frule": FRuleCall}


class Deriver(Protocol):
    """Interface of a package that derives rules of host primals.

    Derived rules are generic, like an author's: they call the primitive and further
    primitives, so that frameworks can trace, batch and differentiate them. It may have
    an attribute `config`, for `vjp` and `jvp` of NumPy arrays.
    """

    name: str

    def refusal(self, fun: Callable[..., Any], /) -> str | None:
        """The reason why it cannot derive rules of a function; None if it can try."""

    def derive(self, kind: str, primitive: Primitive, /) -> Callable[..., Any]:
        """The function of an rrule or frule, which takes `needs=`."""


@cache
def find_deriver() -> Any:
    """The installed deriver, imported, or None."""
    from importlib.metadata import entry_points

    points = {point.value: point for point in entry_points(group=GROUP)}
    if len(points) > 1:
        message = (
            f"two packages derive rules of host functions: {' and '.join(points)}. "
            "Uninstall one of them."
        )
        raise RulesCoreError(message)
    for point in points.values():
        return point.load()
    return None


def resolve_primitive(
    kind: Any,
    primitive: Primitive,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    config: Any = None,
) -> RuleCall | None:
    """The rule for a primitive's call in a framework, or None: for adapters.

    Like `kind.resolve`, with the derived rule for a host primal without a rule. Rules
    that do not match the call are skipped with a `RuleSkippedWarning`.

    Args:
        kind: `rrule` or `frule`.
        primitive: The primitive.
        args: Arguments of the call.
        kwargs: Its keyword arguments.
        config: The configuration of the framework.

    >>> import numpy as np
    >>> from rules_core import Primitive, resolve_primitive, rrule
    >>> def double(x):
    ...     x *= 2.0
    ...     return x
    >>> call = resolve_primitive(rrule, Primitive(double, host=True), (np.ones(2),), {})
    >>> call.rule.name
    'derived by rules_autodiff'
    """
    call: RuleCall | None = kind.resolve(primitive.fun, args, kwargs, config)
    if call is not None:
        return call
    warn_if_skipped(primitive.fun, args, kwargs, config)
    if not primitive.host:
        return None
    args, kwargs = primitive.bind(args, kwargs)
    rule = derived_rule(kind.kind, primitive, args, kwargs, config)
    if rule is None:
        return None
    return CALLS[kind.kind](rule, args, kwargs, config, given=len(args))


def derived_rule(
    kind: str,
    primitive: Primitive,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    config: Any,
) -> Rule | None:
    """The derived rule for a call of a host primal without a matching rule, or None.

    An opt-out of either kind disables it, and an author's rule of the other kind serves
    both modes.
    """
    if not primitive.host or _entry(primitive.fun, args, kwargs, config) is not None:
        return None
    cache = primitive.__dict__.setdefault("_derived", {})
    if kind not in cache:
        cache[kind] = _make(kind, primitive)
    rule: Rule | None = cache[kind]
    return rule


def why_not_derived(
    primitive: Primitive, args: tuple[Any, ...], kwargs: dict[str, Any], config: Any
) -> str | None:
    """The reason why a host primal without rules has no derived rule, for messages."""
    entry = _entry(primitive.fun, args, kwargs, config)
    if entry is not None:
        return f"it is opted out at {entry.location}" if entry.opted_out else None
    return _refusal(primitive)


def _refusal(primitive: Primitive) -> str | None:
    deriver = find_deriver()
    if deriver is None:
        return "no package is installed that derives one"
    if not primitive.pure:
        return "it is declared pure=False, and a derived rule runs it again"
    reason: str | None = deriver.refusal(primitive.fun)
    return reason


def _entry(
    fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any], config: Any
) -> Rule | None:
    """The entry for such a call, of either kind, opt-outs included."""
    target, partials = unwrap(fun)
    table = find_table(target.key)
    if table is None or not (table.rrule.rules or table.frule.rules):
        return None
    args, kwargs = all_arguments(partials, args, kwargs)
    if target.bound:
        args = (target.instance, *args)
    types = tuple(map(type, table.binder(args, kwargs)[0]))
    rules = (table.rrule.select(type(config), types),
             table.frule.select(type(config), types))  # fmt: skip
    return next((rule for rule in rules if rule is not None), None)


def _make(kind: str, primitive: Primitive) -> Rule | None:
    if _refusal(primitive) is not None:
        return None
    fun, deriver = primitive.fun, find_deriver()
    place = Location.of(_code_of(fun))
    where = Location(place.file, place.line, place.module, f"derived by {deriver.name}")
    function = deriver.derive(kind, primitive)
    setattr(function, AGAIN, (fun,))
    return Rule(
        kind,
        fun,
        function,
        where,
        (),
        variadic=(object,),
        needs=True,
    )


def _code_of(fun: Any) -> Any:
    """The code of a callable; for an instance that of its call."""
    key = unwrap(fun)[0].key
    return getattr(key, "__func__", key)
