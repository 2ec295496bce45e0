"""`frule` and `rrule`: calling, defining and looking up rules.

Follows ChainRulesCore's `rules.jl` in what the rules mean.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, MethodWrapperType
from typing import Any, Generic, TypeVar, final

from ._annotations import read_signature
from ._calls import FRuleCall, Outer, RRuleCall, RuleCall
from ._config import CONFIGS, RuleConfig
from ._definition import check_arity, check_config, warn_if_hiding
from ._errors import RuleDefinitionError, RuleResultError
from ._keys import Target, describe, is_fleeting, is_ufunc_method, target_of
from ._lookup import all_arguments, unwrap
from ._primitive import Primitive
from ._registry import HOOKS, PACKS, being_imported, find_table, table_for
from ._rule import Location, Rule
from ._table import MethodCache, Table, nothing

__all__ = ["RuleKind", "frule", "rrule"]

F = TypeVar("F", bound=Callable[..., Any])
CallT = TypeVar("CallT", bound=RuleCall)

_BOUND = (MethodType, BuiltinFunctionType, MethodWrapperType)


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
        check_config(config, f"{self.kind}.define")
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
        target, partials = unwrap(f)
        table = find_table(target.key)
        if table is None:
            self._check_callable(f)
            PACKS.ensure(target.key)
            table = find_table(target.key)
            if table is None:
                return None
        return self._prepare(table, target, partials, args, kwargs or {}, config)

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
        given, used = len(args), kwargs
        args, kwargs = all_arguments(partials, args, kwargs)
        if target.bound:
            args = (target.instance, *args)
        bound_args, rest = table.binder(args, kwargs)
        types = tuple(map(type, bound_args))
        rule = self._rules(table).caches[type(config)][types]
        if rule is None:
            return None
        outer = None
        if partials:
            names = table.binder.names or ()
            outer = Outer(partials, names, used, bound=target.bound)
        return self._call(
            rule,
            bound_args,
            rest,
            config,
            given=given,
            bound=target.bound,
            method=table.method,
            outer=outer,
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
        cls, config = type(f), None
        if cls is not FunctionType and cls in CONFIGS:
            if not args:
                message = "rrule must get a function after the config."
                raise TypeError(message)
            config, f, args = f, args[0], args[1:]
            cls = type(f)
        if kw:
            return self._slow(config, f, args, kw)
        # The warm path: types are spelt out because `map` costs more than all the rest.
        try:
            table: Any = f.__rules_core__ if cls is FunctionType else HOOKS[cls](f)
            quick, count, on = table.quick, len(args), type(config)
            if count == 1:
                function = quick[on, type(args[0])]
            elif count == 2:
                function = quick[on, type(args[0]), type(args[1])]
            else:
                function = quick[on, *map(type, args)]
        except (AttributeError, KeyError, TypeError):
            return self._slow(config, f, args, kw)
        if table.key is not f:  # a `functools.wraps` copy
            return self._slow(config, f, args, kw)
        pair = function(*args)
        if type(pair) is tuple and len(pair) == 2:
            return pair
        if function is nothing:
            return None
        call = self.resolve(f, args, kw, config)
        raise RuleResultError(call and call.rule, pair)

    def _slow(
        self, config: Any, f: Any, args: tuple[Any, ...], kw: dict[str, Any]
    ) -> tuple[Any, Callable[..., Any]] | None:
        table = find_table(f)
        if table is None and type(f) is FunctionType:
            PACKS.ensure(f)
            if find_table(f) is None:
                return None
        elif table is not None and not kw and table.arity in (len(args), None):
            table.rrule.remember(type(config), *map(type, args))
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
        if args and type(args[0]) in CONFIGS:
            config, args = args[0], args[1:]
        if len(args) < 2:
            message = "frule must get (tangents, f, *args), a RuleConfig before them."
            raise TypeError(message)
        tangents, f, *rest = args
        call = self.resolve(f, tuple(rest), kw, config)
        if call is None:
            return None
        return call.run_lazy(tangents)


rrule = _RRule()
frule = _FRule()
