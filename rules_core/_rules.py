"""`frule` and `rrule`: calling, defining and looking up rules.

Follows ChainRulesCore's `rules.jl` in what the rules mean.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any, Generic, TypeVar, final

from ._annotations import read_signature
from ._calls import FRuleCall, Outer, RRuleCall, RuleCall
from ._config import CONFIGS, RuleConfig
from ._definition import check_arity, check_config, warn_if_hiding
from ._errors import RuleDefinitionError, TangentCountError
from ._keys import Target, target_of
from ._lookup import unwrap
from ._primitive import Primitive
from ._project import materialise
from ._registry import ATTRIBUTE, HOOKS, PACKS, being_imported, find_table, table_for
from ._rule import Location, Rule
from ._table import MethodCache, Table
from ._thunks import AbstractThunk
from ._zeros import AbstractZero

__all__ = ["RuleKind", "frule", "rrule"]

F = TypeVar("F", bound=Callable[..., Any])
CallT = TypeVar("CallT", bound=RuleCall)


class RuleKind(Generic[CallT]):
    """What `frule` and `rrule` have in common."""

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
    ) -> Callable[[F], F]:
        """Register the decorated function as a rule for `f`; returns it unchanged.

        Args:
            f: The function, method (`Class.method`), class or primitive.
            config: A `RuleConfig` class, or `RuleConfig[traits]`: the rule applies to
                such configurations only and receives the configuration first.
            host: The rule's body is NumPy-only; inside JAX and PyTorch it runs as an
                opaque call, at first order only.
            symbolic_zeros: The rule takes `ZeroTangent()` where a tangent is zero.
            deterministic: Running the rule again on equal arguments gives equal
                results, so that PyTorch may do so in place of keeping residuals.

        Raises:
            RuleDefinitionError: The signature cannot serve `f`.
            RuleClashError: The same signature is taken by a rule from another place.

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
        table = self.table_to_define(f)
        check_config(config, self.kind)
        leading = (*(() if config is None else ("config",)), *self._leading)

        def register(function: F) -> F:
            where = Location.of(function)
            label = f"{self.kind} {where.name} for {table.label} at {where}"
            read = read_signature(function, label, leading)
            check_arity(table, label, read.required, len(read.types), read.variadic)
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
                host=host,
                symbolic_zeros=symbolic_zeros,
                deterministic=deterministic,
                persistent=being_imported(where.module),
            )
            self.register(table, rule)
            return function

        return register

    def register(self, table: Table, rule: Rule) -> None:
        """Add a rule that is already described (`opt_out`, `scalar_rule`, …)."""
        warn_if_hiding(self._rules(table).rules, rule)
        self._rules(table).add(rule)

    def resolve(
        self,
        f: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any] | None = None,
        config: RuleConfig | None = None,
    ) -> CallT | None:
        """The rule for a call together with its arguments, or None: for AD systems.

        The answer's `rule` says what the rule is and asks for, `args` and `kwargs` are
        in normal form, and `run` runs it.

        Raises:
            AmbiguousRulesError: Two rules fit equally well.
            TypeError: `f` itself would refuse these arguments.
        """
        target, outer = unwrap(f)
        table = find_table(target.key)
        if table is None:
            PACKS.ensure(target.key)
            table = find_table(target.key)
            if table is None:
                return None
        return self._prepare(table, target, outer, args, kwargs or {}, config)

    def _prepare(
        self,
        table: Table,
        target: Target,
        outer: partial[Any] | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        config: RuleConfig | None,
    ) -> CallT | None:
        given, used = len(args), kwargs
        if outer is not None:
            args, kwargs = (*outer.args, *args), {**outer.keywords, **kwargs}
        if target.bound:
            args = (target.instance, *args)
        bound_args, rest = table.binder(args, kwargs)
        types = tuple(map(type, bound_args))
        rule = self._rules(table).caches[type(config)][types]
        if rule is None:
            return None
        inner = None
        if outer is not None:
            names = table.binder.names or ()
            inner = Outer(outer, names, used, bound=target.bound)
        return self._call(
            rule,
            bound_args,
            rest,
            config,
            given=given,
            bound=target.bound,
            unbound=table.method and not target.bound,
            outer=inner,
        )

    def table(self, f: Any, config: RuleConfig | None = None) -> MethodCache:
        """The live dict `types → Rule or None` of a function, for hot call sites.

        Index it with the tuple of argument types of a call in normal form; a miss is
        resolved and kept, and registering a rule empties it in place.

        >>> import numpy as np
        >>> from rules_core import rrule
        >>> methods = rrule.table(np.sin)
        >>> rule = methods[(float,)]  # None, or a Rule whose `function` runs
        """
        target, _ = unwrap(f)
        found = table_for(target.key, f"{self.kind}.table")
        caches: dict[type, MethodCache] = self._rules(found).caches
        return caches[type(config)]

    def _rules(self, table: Table) -> Any:
        return getattr(table, self.kind)

    def table_to_define(self, f: Any) -> Table:
        if isinstance(f, partial):
            message = (
                f"{self.kind}.define: a partial has no rules of its own; define the "
                f"rule for {f.func!r}."
            )
            raise RuleDefinitionError(message)
        key = f.fun if type(f) is Primitive else f
        if getattr(type(key), "__name__", "") in (
            "method",
            "builtin_function_or_method",
        ):
            key = target_of(key).key
        return table_for(key, f"{self.kind}.define")

    def __reduce__(self) -> str:
        return self.kind

    def __repr__(self) -> str:
        return f"rules_core.{self.kind}"


@final
class _RRule(RuleKind[RRuleCall]):
    """`rrule(f, *args, **kw)`: the reverse-mode rule of `f`, `(y, pullback)`.

    The pullback is the adjoint of the derivative, `dx = f'(x)* dy`. It returns one
    cotangent for the callable and one per positional argument, in normal form.

    Args:
        config: A `RuleConfig`, optionally, before all others.
        f: The callable.
        *args: Its arguments.
        **kw: Its keyword arguments.

    Returns:
        `(y, pullback)`, or None where no rule applies or the call is opted out.

    Raises:
        AmbiguousRulesError: Two rules fit equally well.
        RuleResultError: The rule does not return a pair.

    >>> from rules_core import NoTangent, rrule
    >>> def square(x):
    ...     return x * x
    >>> rrule(square, 3.0) is None
    True
    """

    kind = "rrule"
    _call = RRuleCall
    _leading = ()

    def __call__(
        self, f: Any, *args: Any, **kw: Any
    ) -> tuple[Any, Callable[..., Any]] | None:
        config: Any = None
        if type(f) in CONFIGS:
            config, f, args = f, args[0], args[1:]
        # The short path: all arguments given, no keywords, a rule that takes them.
        table = None
        if not kw:
            if type(f) is FunctionType:
                table = getattr(f, ATTRIBUTE, None)
            elif type(f) in HOOKS:
                table = HOOKS[type(f)](f)
        if table is not None and table.key is f and table.arity in (len(args), None):
            types = (type(args[0]),) if len(args) == 1 else tuple(map(type, args))
            rule = table.rrule.caches[type(config)][types]
            if rule is None:
                return None
            if rule.plain and rule.function is not None:
                pair = rule.function(*args)
                if type(pair) is tuple and len(pair) == 2:
                    return pair
        call = self.resolve(f, args, kw, config)
        return None if call is None else call.run()


@final
class _FRule(RuleKind[FRuleCall]):
    """`frule(tangents, f, *args, **kw)`: the forward-mode rule of `f`, `(y, dy)`.

    `dy = ḟ + f'(x) dx` with `tangents = (dself, dx1, …)`. Zeros and thunks among the
    tangents are made concrete unless the rule takes them as they are.

    Args:
        config: A `RuleConfig`, optionally, before all others.
        tangents: One tangent for the callable and one per positional argument.
        f: The callable.
        *args: Its arguments.
        **kw: Its keyword arguments.

    Returns:
        `(y, dy)`, or None where no rule applies or the call is opted out.

    Raises:
        AmbiguousRulesError: Two rules fit equally well.
        RuleResultError: The rule does not return a pair.
        TangentCountError: The number of tangents does not fit.

    >>> from rules_core import NoTangent, frule
    >>> def square(x):
    ...     return x * x
    >>> @frule.define(square)
    ... def square_frule(tangents, x):
    ...     _, dx = tangents
    ...     return x * x, 2 * x * dx
    >>> frule((NoTangent(), 1.0), square, 3.0)
    (9.0, 6.0)
    """

    kind = "frule"
    _call = FRuleCall
    _leading = ("tangents",)

    def __call__(self, *args: Any, **kw: Any) -> tuple[Any, Any] | None:
        config: Any = None
        if type(args[0]) in CONFIGS:
            config, args = args[0], args[1:]
        tangents, f, *rest = args
        call = self.resolve(f, tuple(rest), kw, config)
        if call is None:
            return None
        if type(tangents) is not tuple:
            raise TangentCountError(call.rule.target, len(rest) + 1, tangents)
        if not call.rule.symbolic_zeros and any(map(_is_lazy, tangents)):
            instance = call.bound and call.outer is None
            tangents = _concrete(tangents, call.args[0] if instance else f, rest)
        return call.run(tangents)


def _is_lazy(tangent: Any) -> bool:
    return isinstance(tangent, (AbstractThunk, AbstractZero))


def _concrete(tangents: tuple[Any, ...], f: Any, args: list[Any]) -> tuple[Any, ...]:
    if len(tangents) != len(args) + 1:
        return tangents  # the count is reported where the rule's name is known
    return tuple(
        materialise(x, dx) if _is_lazy(dx) else dx
        for x, dx in zip((f, *args), tangents, strict=True)
    )


rrule = _RRule()
frule = _FRule()
