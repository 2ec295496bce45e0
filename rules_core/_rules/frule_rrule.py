"""`frule` and `rrule` as functions.

Both are plain functions with the methods of their `RuleKind` as attributes: Python
calls a function in half the time of an object with `__call__`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import FunctionType
from typing import Any, TypeVar, cast, final

from rules_core._base.errors import RuleResultError
from rules_core._base.rule_notes import note_rule
from rules_core._dispatch.configs import CONFIGS
from rules_core._dispatch.registry import HOOKS, PACKS, find_table
from rules_core._dispatch.rule_key import describe
from rules_core._dispatch.table import NoConfig, nothing
from rules_core._primitives.primitive import Primitive

from .explain import RuleNotFound
from .lookup import unwrap
from .resolved_call import FRuleCall, RRuleCall
from .rule_kind import RuleKind

__all__ = ["frule", "rrule"]

K = TypeVar("K", bound=RuleKind[Any])


@final
class _Absent:
    """No argument; a class of its own, so that look-ups by type never match it."""


_ABSENT: Any = _Absent()


def _carrying(kind: K) -> Callable[[Callable[..., Any]], K]:
    """Attach the methods and the name of a kind of rules to a function."""

    def carry(function: Any) -> K:
        in_full: Any = kind
        update_wrapper(function, in_full.__call__, assigned=("__doc__",), updated=())
        for name in (
            "at",
            "define",
            "kind",
            "register",
            "require",
            "resolve",
            "table",
            "table_to_define",
            "undefine",
        ):
            setattr(function, name, getattr(kind, name))
        return cast(K, function)

    return carry


@final
class _RRule(RuleKind[RRuleCall]):
    kind = "rrule"
    _call = RRuleCall
    _leading = ()

    def __call__(
        self, f: Any, /, *args: Any, **kw: Any
    ) -> tuple[Any, Callable[..., Any]] | None:
        """`rrule(f, *args, **kw)`: the reverse-mode rule of `f`, `(y, pullback)`.

        The pullback is the adjoint of the derivative, `dx = f'(x)* dy`. It returns one
        cotangent for the callable and one per positional argument, in normal form.

        The pullback may keep the arguments and `y` themselves, so do not write to them
        before its last call: nothing would tell that its numbers are wrong.

        Args:
            config: A `RuleConfig`, optionally, before all others.
            f: The callable.
            *args: Its arguments.
            **kw: Its keyword arguments.

        Returns:
            `(y, pullback)`, or None if no rule applies or the call is opted out;
            `rrule.require(f, *args, **kw)` raises `RuleNotFound` instead.

        Raises:
            AmbiguousRulesError: Two rules match equally well.
            RuleResultError: The rule does not return a pair.

        >>> from rules_core import NoTangent, rrule
        >>> def square(x):
        ...     return x * x
        >>> rrule(square, 3.0) is None
        True
        """
        if type(f) in CONFIGS:
            return self.answer(f, args[0] if args else _ABSENT, args[1:], kw)
        return self.answer(None, f, args, kw)

    def require(
        self, f: Any, /, *args: Any, **kw: Any
    ) -> tuple[Any, Callable[..., Any]]:
        """`y, pullback = rrule.require(f, *args)`: an error where no rule applies.

        Args:
            f: As in `rrule`; a `RuleConfig` may come first.
            *args: Its arguments.
            **kw: Its keyword arguments.

        Raises:
            RuleNotFound: No rule applies, or the call is opted out.

        >>> from rules_core import rrule
        >>> def square(x):
        ...     return x * x
        >>> y, pullback = rrule.require(square, 3.0)
        Traceback (most recent call last):
        ...
        rules_core.RuleNotFound: no rrule applies to square(float).
          None is defined. Write one with @rrule.define(square).
        """
        pair = self(f, *args, **kw)
        if pair is None:
            raise _missing(self, (f, *args), kw)
        return pair

    def answer(
        self, config: Any, f: Any, args: tuple[Any, ...], kw: dict[str, Any]
    ) -> tuple[Any, Callable[..., Any]] | None:
        if f is _ABSENT:
            message = "rrule must get a function after the config."
            raise TypeError(message)
        if not args and not kw:
            _refuse_decorating("rrule", f)
        table = find_table(f)
        if table is None and type(f) is FunctionType:
            PACKS.ensure(f)
            if find_table(f) is None:
                return None
        elif table is not None and not kw and table.arity in (len(args), None):
            table.rrule.remember(type(config), *map(type, args))
        call = self.resolve(f, args, kw, config)
        return None if call is None else call.run()


def _missing(
    kind: RuleKind[Any], call: tuple[Any, ...], kw: dict[str, Any]
) -> RuleNotFound:
    """The error of a call for which no rule was found; a config may come first."""
    config = None
    if type(call[0]) in CONFIGS:
        config, call = call[0], call[1:]
    f, *args = call
    return RuleNotFound.build(kind.kind, f, tuple(args), kw, config)


def _refuse_decorating(kind: str, f: Any) -> None:
    """Raise an error for `@rrule` and `@rrule(f)` in place of `@rrule.define(f)`."""
    f = f.fun if type(f) is Primitive else f
    if type(f) is not FunctionType:
        return
    if f.__code__.co_argcount <= len(f.__defaults__ or ()):
        return
    name = f.__qualname__
    leading = "tangents, " if kind == "frule" else ""
    message = (
        f"{kind}({leading}{name}) must get the arguments of {name} as well. To define "
        f"a rule for a function f, write @{kind}.define(f) above it."
    )
    raise TypeError(message)


_in_full = _RRule()


def _given(x: Any, y: Any, z: Any, rest: tuple[Any, ...]) -> tuple[Any, ...]:
    if z is not _ABSENT:
        return (x, y, z, *rest)
    if y is not _ABSENT:
        return x, y
    return () if x is _ABSENT else (x,)


# Explicit parameters avoid a tuple, nested dicts avoid another. `_in_full` handles
# everything that is not found here.
@_carrying(_in_full)
def rrule(
    f: Any,
    x: Any = _ABSENT,
    y: Any = _ABSENT,
    z: Any = _ABSENT,
    /,
    *rest: Any,
    **kw: Any,
) -> tuple[Any, Callable[..., Any]] | None:
    on, cls, config = NoConfig, type(f), None
    if cls is not FunctionType and cls in CONFIGS:
        # One by one: a single statement would make a tuple.
        config = f
        on = cls
        f = x
        x = y
        y = z
        z = _ABSENT
        if rest:
            z, rest = rest[0], rest[1:]
        cls = type(f)
    try:
        table: Any = f.__rules_core__ if cls is FunctionType else HOOKS[cls](f)
        if z is not _ABSENT:
            function = table.quick[on, type(x), type(y), type(z), *map(type, rest)]
        elif y is not _ABSENT:
            function = table.binary[on][type(x)][type(y)]
        else:
            function = table.unary[on][type(x)]
    except (AttributeError, KeyError, TypeError):
        return _in_full.answer(config, f, _given(x, y, z, rest), kw)
    if kw or table.key is not f:  # `functools.wraps` copies the attribute
        return _in_full.answer(config, f, _given(x, y, z, rest), kw)
    try:
        if z is not _ABSENT:
            pair = function(x, y, z, *rest)
        elif y is not _ABSENT:
            pair = function(x, y)
        else:
            pair = function(x)
    except Exception as error:
        args = _given(x, y, z, rest)
        call = _in_full.resolve(f, args, {}, config)
        if call is not None:
            note_rule(error, call.rule, args)
        raise
    if type(pair) is tuple and len(pair) == 2:
        return pair
    if function is nothing:
        return None
    call = _in_full.resolve(f, _given(x, y, z, rest), {}, config)
    raise RuleResultError(call and call.rule, pair)


@final
class _FRule(RuleKind[FRuleCall]):
    kind = "frule"
    _call = FRuleCall
    _leading = ("tangents",)

    def __call__(self, *args: Any, **kw: Any) -> tuple[Any, Any] | None:
        """`frule(tangents, f, *args, **kw)`: the forward-mode rule of `f`, `(y, dy)`.

        `dy = ḟ + f'(x) dx` with `tangents = (dself, dx1, …)`. Zeros and thunks among
        the tangents are made concrete, unless the rule accepts them.

        Args:
            config: A `RuleConfig`, optionally, before all others.
            tangents: One tangent for the callable and one per positional argument.
            f: The callable.
            *args: Its arguments.
            **kw: Its keyword arguments.

        Returns:
            `(y, dy)`, or None if no rule applies or the call is opted out;
            `frule.require(tangents, f, *args, **kw)` raises `RuleNotFound` instead.

        Raises:
            AmbiguousRulesError: Two rules match equally well.
            RuleResultError: The rule does not return a pair.
            TangentCountError: The number of tangents is wrong.

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
        config: Any = None
        if args and type(args[0]) in CONFIGS:
            config, args = args[0], args[1:]
        if not args or callable(args[0]):
            raise _without_tangents(args)
        if len(args) < 2:
            message = "frule must get (tangents, f, *args), a RuleConfig before them."
            raise TypeError(message)
        tangents, f, *rest = args
        call = self.resolve(f, tuple(rest), kw, config)
        if call is None:
            return None
        return call.run_lazy(tangents)

    def require(self, *args: Any, **kw: Any) -> tuple[Any, Any]:
        """`y, dy = frule.require(tangents, f, *args)`: an error where no rule applies.

        Args:
            *args: As in `frule`.
            **kw: Keyword arguments of the call.

        Raises:
            RuleNotFound: No rule applies, or the call is opted out.
        """
        pair = self(*args, **kw)
        if pair is None:
            config = args[:1] if type(args[0]) in CONFIGS else ()
            raise _missing(self, (*config, *args[len(config) + 1 :]), kw)
        return pair


def _without_tangents(args: tuple[Any, ...]) -> TypeError:
    """The error of `frule(f, *args)`, and of `@frule(f)`."""
    name = describe(unwrap(args[0])[0].key) if args else "f"
    given = f", but got {name}" if args else ""
    message = f"frule(tangents, f, *args) must get the tangents first{given}. "
    if len(args) < 2:
        return TypeError(
            f"{message}To define a rule for {name}, write @frule.define({name})."
        )
    dxs = ", ".join(f"dx{i}" for i in range(1, len(args)))
    call = f"frule((NoTangent(), {dxs}), {name}, …)"
    return TypeError(f"{message}Write {call}.")


_forward_in_full = _FRule()


@_carrying(_forward_in_full)
def frule(*args: Any, **kw: Any) -> tuple[Any, Any] | None:
    return _forward_in_full(*args, **kw)
