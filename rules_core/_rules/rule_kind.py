"""Defining and looking up rules, for `frule` and `rrule`.

Rules have the meaning of ChainRulesCore's `rules.jl`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import BuiltinFunctionType, MethodType, MethodWrapperType
from typing import Any, Generic, Never, TypeVar

from rules_core._base.errors import RuleDefinitionError
from rules_core._base.unknown_names import refuse_unknown
from rules_core._dispatch.call_site import refuse_bare
from rules_core._dispatch.configs import RuleConfig
from rules_core._dispatch.registry import PACKS, find_table, is_permanent, table_for
from rules_core._dispatch.rule import Location, Rule
from rules_core._dispatch.rule_key import (
    Target,
    describe,
    is_fleeting,
    is_ufunc_method,
    target_of,
)
from rules_core._dispatch.rule_signature import read_signature, read_types
from rules_core._dispatch.table import MethodCache, Table
from rules_core._primitives.primitive import Primitive

from .definition_checks import check_arity, check_config, warn_if_hiding
from .lookup import all_arguments, unwrap
from .resolved_call import Outer, RuleCall

__all__ = ["RuleKind"]

F = TypeVar("F", bound=Callable[..., Any])
CallT = TypeVar("CallT", bound=RuleCall)

_OPTIONS = ("config", "host", "symbolic_zeros", "deterministic")
_BOUND = (MethodType, BuiltinFunctionType, MethodWrapperType)


class RuleKind(Generic[CallT]):
    """A kind of rules: the common interface of `frule` and `rrule`."""

    kind: str
    _call: type[CallT]
    _leading: tuple[str, ...]

    def define(
        self,
        f: Any,
        *,
        config: type[RuleConfig] | None = None,
        host: bool = False,
        symbolic_zeros: bool = False,
        deterministic: bool = False,
        **unknown: Never,
    ) -> Callable[[F], F]:
        """Register the decorated function as a rule for `f`; returns it unchanged.

        Args:
            f: The function, method (`Class.method`), class or primitive.
            config: A `RuleConfig` class, or `RuleConfig[traits]`: the rule applies to
                such configurations only and receives the configuration first.
            host: The rule's body is NumPy-only; JAX and PyTorch run it as an opaque
                call, at first order only.
            symbolic_zeros: The rule accepts `ZeroTangent()` for a zero tangent.
            deterministic: Running the rule again on equal arguments gives equal
                results, so that PyTorch may do so instead of saving residuals.
            **unknown: An error, which names the nearest argument.

        Raises:
            RuleDefinitionError: The signature does not match `f`.
            RuleClashError: A rule from another place has this signature.

        >>> from rules_core import NoTangent, rrule
        >>> def square(x):
        ...     return x * x
        >>> @rrule.define(square)
        ... def square_rrule(x: float):
        ...     def square_pullback(dy):
        ...         return NoTangent(), 2 * x * dy
        ...
        ...     return x * x, square_pullback
        >>> y, pullback = rrule(square, 3.0)
        >>> pullback(1.0)
        (NoTangent(), 6.0)
        """
        refuse_bare(f, f"{self.kind}.define")
        refuse_unknown(f"{self.kind}.define", unknown, _OPTIONS)
        table = self.table_to_define(f)
        check_config(config, f"{self.kind}.define")
        leading = (*(() if config is None else ("config",)), *self._leading)

        def register(function: F) -> F:
            where = Location.of(function)
            label = f"{self.kind} {where.name} for {table.label} at {where}"
            read = read_signature(function, label, leading)
            check_arity(table, label, read, leading)
            rule = Rule(
                self.kind,
                table.key,
                function,
                where,
                read.types,
                required=read.required,
                variadic=read.variadic,
                config=config,
                needs=read.needs,
                keywords=read.keywords,
                opened=read.opened,
                host=host,
                symbolic_zeros=symbolic_zeros,
                deterministic=deterministic,
                persistent=is_permanent(where.module),
            )
            self.register(table, rule)
            return function

        return register

    def register(self, table: Table, rule: Rule) -> None:
        """Add a rule from its description (`opt_out`, `scalar_rule`, …)."""
        warn_if_hiding(self._rules(table).rules, rule)
        self._rules(table).add(rule)

    def undefine(
        self, f: Any, *types: Any, config: type[RuleConfig] | None = None
    ) -> None:
        """Remove rules and opt-outs of `f`.

        Args:
            f: The function, as in `define`.
            *types: One class, ABC, union or `Array` per argument of the rule, as in its
                annotations; `object` for an argument without annotation. None at all:
                all rules of `f`.
            config: Only rules for these configurations.

        Raises:
            RuleDefinitionError: There is no such rule.

        >>> from rules_core import NoTangent, rrule
        >>> def square(x):
        ...     return x * x
        >>> @rrule.define(square)
        ... def square_rrule(x: float):
        ...     return x * x, lambda dy: (NoTangent(), 2 * x * dy)
        >>> rrule.undefine(square, float)
        >>> rrule(square, 3.0) is None
        True
        """
        table = self.table_to_define(f)
        label = f"{self.kind}.undefine({table.label})"
        check_config(config, label)
        read = [set(alternatives) for alternatives in read_types(types, label)]
        rules = self._rules(table)
        matches = [
            rule
            for rule in rules.rules
            if (not types or [set(t) for t in rule.types] == read)
            and config in (None, rule.config)
        ]
        if not matches:
            listed = "; ".join(f"({r.signature}) at {r.location}" for r in rules.rules)
            message = (
                f"{label} must name a rule that is defined, but got none of them. "
                f"There are: {listed or 'none'}."
            )
            raise RuleDefinitionError(message)
        rules.remove(matches)

    def resolve(
        self,
        f: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any] | None = None,
        config: RuleConfig | None = None,
    ) -> CallT | None:
        """The rule for a call together with its arguments, or None: for AD systems.

        The result's `rule` describes the rule, `args` and `kwargs` are in normal form,
        and `run` runs it.

        Raises:
            AmbiguousRulesError: Two rules match equally well.
            TypeError: `f` itself rejects these arguments.
        """
        target, partials = unwrap(f)
        table = find_table(target.key)
        if table is None:
            self._check_callable(f)
            PACKS.ensure(target.key)
            table = find_table(target.key)
            if table is None:
                return None
        return self._prepare(table, target, partials, args, kwargs or {}, config)

    def at(self, f: Any) -> Callable[..., CallT | None] | None:
        """`resolve` for one function, which is looked up once; None: without rules.

        It is valid until the rules change (`rules_core.extend.CHANGES`).

        >>> import numpy as np
        >>> from rules_core import rrule
        >>> resolve = rrule.at(np.sin)  # resolve(args, kwargs, config)
        >>> resolve is None or resolve((1.0,), {}, None).args
        (1.0,)
        """
        target, partials = unwrap(f)
        PACKS.ensure(target.key)
        table = find_table(target.key)
        if table is None:
            return None
        return partial(self._prepare, table, target, partials)

    def _check_callable(self, f: Any) -> None:
        if not callable(f):
            form = ", ".join((*self._leading, "f", "*args"))
            message = f"{self.kind}({form}): f must be callable, but got {f!r}."
            raise TypeError(message)
        if type(f) is type(RuleConfig):
            message = (
                f"{self.kind}: a config must be an instance, but got the class. Pass "
                f"{f.__qualname__}()."
            )
            raise TypeError(message)

    def _prepare(
        self,
        table: Table,
        target: Target,
        partials: tuple[partial[Any], ...],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        config: RuleConfig | None,
    ) -> CallT | None:
        count, used = len(args), kwargs
        args, kwargs = all_arguments(partials, args, kwargs)
        if target.bound:
            args = (target.instance, *args)
        bound_args, rest = table.binder(args, kwargs)
        types = tuple(map(type, bound_args))
        rule = self._rules(table).caches[type(config)][types]
        if rule is None:
            return None
        if rule.keywords:
            rest = rule.with_defaults(rest, table.binder.keyword_defaults)
        outer = None
        if partials:
            names = table.binder.names or ()
            outer = Outer(partials, names, used, bound=target.bound)
        return self._call(
            rule,
            bound_args,
            rest,
            config,
            given=count,
            bound=target.bound,
            method=table.method,
            outer=outer,
        )

    def table(self, f: Any, config: RuleConfig | None = None) -> MethodCache:
        """The live dict `types → Rule or None` of a function, for hot call sites.

        Index it with the tuple of argument types of a call in normal form; a miss is
        resolved and cached, and registering a rule clears it in place.

        >>> import numpy as np
        >>> from rules_core import rrule
        >>> methods = rrule.table(np.sin)
        >>> rule = methods[(float,)]  # None, or a Rule whose `function` runs
        """
        target, _ = unwrap(f)
        entry = table_for(target.key, f"{self.kind}.table")
        caches: dict[type, MethodCache] = self._rules(entry).caches
        return caches[type(config)]

    def _rules(self, table: Table) -> Any:
        return getattr(table, self.kind)

    def table_to_define(self, f: Any) -> Table:
        if isinstance(f, partial):
            message = (
                f"{self.kind}.define: a partial has no rules of its own; define the "
                f"rule for {describe(unwrap(f)[0].key)}."
            )
            raise RuleDefinitionError(message)
        key = (
            target_of(f).key if isinstance(f, _BOUND) and not is_ufunc_method(f) else f
        )
        if type(key) is Primitive:
            key = key.fun
        if is_fleeting(key):
            message = (
                f"{self.kind}.define: {describe(key)} is made anew each time that it "
                "is read (partialmethod, singledispatchmethod). Define the rule for "
                "the method inside."
            )
            raise RuleDefinitionError(message)
        return table_for(key, f"{self.kind}.define")
