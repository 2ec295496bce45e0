"""Primitives: functions that run, with their rules, in any framework."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import WRAPPER_ASSIGNMENTS
from types import CellType, FunctionType, MethodType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast, final, overload

from rules_core._base.compiler_hooks import traced_as
from rules_core._base.errors import PrimitiveError, RuleDefinitionError
from rules_core._base.rule_notes import note_attribute
from rules_core._base.type_parameters import P, R
from rules_core._dispatch.registry import is_permanent, table_for
from rules_core._dispatch.rule_key import describe
from rules_core._dispatch.table import LOCK, Table

from .copies import with_copies
from .find_host import ARRAYLESS, check_captured, find_adapter
from .kept_promises import Keep, keeper, kept
from .shape_and_batch_rules import (
    elementwise_batch_rule,
    elementwise_shape_rule,
    is_plain_ufunc,
    ufunc_shape_rule,
    vectorized_batch_rule,
)

__all__ = ["FLAGS", "Primitive", "acting_handle", "check_flags", "names_of", "register"]

Instance = TypeVar("Instance")
Others = ParamSpec("Others")

# Unregistered primitives whose rules a framework is running, by the wrapped function.
_ACTING: ContextVar[dict[int, Primitive] | None] = ContextVar("acting", default=None)

_DEFAULTS: dict[str, Any] = {
    "host": False,
    "elementwise": False,
    "vectorized": False,
    "static_argnames": frozenset(),
    "pure": True,
    "copy_in": False,
    "copy_out": False,
    "native": None,
}
FLAGS = tuple(_DEFAULTS)


@final
class Primitive(Generic[P, R]):
    """A function that frameworks call through their adapters, so that its rules apply.

    Made by `primitive`. The rule key is the wrapped function. For type checkers
    `Primitive[P, R]` has the signature and the result of the function.

    Attributes:
        fun: The wrapped function, which is the rule key.
        host: Whether it needs NumPy arrays.
        elementwise: Whether it maps broadcast elements one by one.
        vectorized: Whether it accepts further leading axes.
        static_argnames: Names of constant arguments.
        pure: Whether a framework may repeat or drop calls.
        copy_in: Whether it receives copies of its arrays.
        copy_out: Whether its results are copied.
        native: Compiled code that computes the same: declared, or a ufunc itself.
        run: Calls it, with these copies.
        own_shapes: A shape rule of this primitive alone.
        helpers: Functions that its rules call, which may read values from outside as
            its body may.
        probe: Shows adapters whether the helpers use a value from outside.
        shortcut: The adapter's fast path for positional arguments; it returns
            `NotImplemented`, without effects, if it does not apply.

    >>> from rules_core import primitive
    >>> @primitive(host=True, elementwise=True)
    ... def cube(x):
    ...     return x**3
    >>> cube, cube.host, cube.fun(2.0)
    (<primitive cube, host=True, elementwise=True>, True, 8.0)
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "cells",
        "copy_in",
        "copy_out",
        "elementwise",
        "fun",
        "helpers",
        "host",
        "native",
        "own_shapes",
        "persistent",
        "probe",
        "pure",
        "run",
        "shortcut",
        "static_argnames",
        "table",
        "vectorized",
    )

    def __init__(
        self,
        fun: Callable[P, R],
        *,
        host: bool = False,
        elementwise: bool = False,
        vectorized: bool = False,
        static_argnames: str | Iterable[str] = (),
        pure: bool = True,
        copy_in: bool | str | tuple[str, ...] = False,
        copy_out: bool = False,
        native: Any = None,
    ) -> None:
        self.fun: Callable[P, R] = fun
        self.host, self.elementwise, self.pure = host, elementwise, pure
        self.vectorized, self.copy_in, self.copy_out = vectorized, copy_in, copy_out
        self.native = fun if native is None and _has_ufunc(fun) else native
        self.static_argnames = names_of(static_argnames)
        self.table: Table = table_for(fun, "primitive")
        self._check_static()
        self._check_host()
        self.run = with_copies(fun, copy_in=copy_in, copy_out=copy_out)
        self.cells: tuple[Any, ...] = getattr(fun, "__closure__", None) or ()
        self.own_shapes: Callable[..., Any] | None = None
        self.helpers: tuple[Any, ...] = ()
        self.probe: Callable[..., Any] | None = None
        self.persistent = False
        self.shortcut: Callable[[tuple[Any, ...]], R] | None = None
        self.__wrapped__ = fun
        self.__qualname__ = describe(fun)
        for name in WRAPPER_ASSIGNMENTS:
            if name not in ("__annotations__", "__type_params__") and hasattr(
                fun, name
            ):
                setattr(self, name, getattr(fun, name))

    def _check_static(self) -> None:
        parameters = self.table.binder.parameters if self.static_argnames else None
        if parameters is None or self.static_argnames <= parameters:
            return
        message = (
            f"primitive {describe(self.fun)}: static_argnames must be among its "
            f"arguments ({', '.join(sorted(parameters))}), but got "
            f"{', '.join(sorted(self.static_argnames - parameters))}."
        )
        raise RuleDefinitionError(message)

    def _check_host(self) -> None:
        label = f"primitive {describe(self.fun)}"
        if self.elementwise and self.vectorized:
            message = (
                f"{label} must be elementwise or vectorized, but got both. Leave "
                "vectorized out: elementwise functions are."
            )
            raise RuleDefinitionError(message)
        for name in ("copy_in", "copy_out", "native"):
            value = self.flags[name]
            if value and not self.host:
                shown = f"{name}={'…' if name == 'native' else value}"
                message = (
                    f"{label}: {shown} must go with host=True, for other functions "
                    "run on the framework's own arrays. Add host=True."
                )
                raise RuleDefinitionError(message)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        shortcut = self.shortcut  # once: another thread may define a rule
        try:
            if shortcut is not None and not kwargs:
                y = shortcut(args)
                if y is not NotImplemented:
                    return y
            adapter = find_adapter(args, kwargs)
            if adapter is None:
                if self.cells or self.helpers:
                    check_captured(self, args, kwargs)
                return cast("R", self.checked(*args, **kwargs))
            if self.table.check is not None:
                self.table.check(args, kwargs)
            return cast("R", adapter.call(self, args, kwargs))
        except AttributeError as error:
            note_attribute(error)
            raise

    def call_traced(self, *args: Any, **kwargs: Any) -> Any:
        """A call as a compiler traces it: there are no shortcuts in a graph."""
        adapter = find_adapter(args, kwargs)
        if adapter is None:
            return self.checked(*args, **kwargs)
        if self.table.check is not None:
            self.table.check(args, kwargs)
        return adapter.call(self, args, kwargs)

    traced_as(__call__, call_traced)

    @property
    def keep(self) -> Keep | None:
        """`keep(y, args, kwargs)`: the result of `run` as it was declared, or an error.

        None where there is nothing to compare.
        """
        return cast("Keep | None", self._promise[1])

    @property
    def checked(self) -> Callable[..., Any]:
        """`run`, with results as they were declared."""
        return cast("Callable[..., Any]", self._promise[2])

    @property
    def _promise(self) -> tuple[Any, ...]:
        """The shape rule of now, with what holds calls to it."""
        shapes = self.table.shapes
        known: tuple[Any, ...] | None = self.__dict__.get("_promises")
        if known is None or known[0] is not shapes:
            keep = keeper(self)
            known = shapes, keep, self.run if keep is None else kept(self.run, keep)
            self.__dict__["_promises"] = known
        return known

    def search_also(self, helpers: Iterable[Any], probe: Callable[..., Any]) -> None:
        """Let what functions of a rule read from outside count as the body's.

        Args:
            helpers: The functions.
            probe: `probe(y, *args, **kw)` computes by the helpers, from a result.
        """
        self.helpers, self.probe = tuple(helpers), probe
        own = getattr(self.fun, "__closure__", None) or ()
        self.cells = (*own, *(c for helper in self.helpers for c in _cells(helper)))

    def keep_shortcut(self, make: Callable[[], Callable[..., R]]) -> None:
        """Make a shortcut, which later calls try until the function's rules change."""
        with LOCK:  # no rule is added in between
            self.table.shortcuts.add(self)
            self.shortcut = make()

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Primitive[P, R]: ...
    @overload
    def __get__(
        self: Primitive[Concatenate[Instance, Others], R],
        instance: Instance,
        owner: type | None = None,
    ) -> Callable[Others, R]: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def bind(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments in normal form, as rules receive them."""
        return self.table.binder(args, kwargs)

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the positional parameters, None if unknown."""
        return self.table.binder.names

    @contextmanager
    def acting(self) -> Iterator[None]:
        """While a rule of `fun` runs, let it find this unregistered primitive.

        `to_jax` and `to_torch` wrap a function that has no primitive of its own; a rule
        made by `scalar_rule` then calls this one, so that the rule applies again at the
        next order.
        """
        token = _ACTING.set({**(_ACTING.get() or {}), id(self.fun): self})
        try:
            yield
        finally:
            _ACTING.reset(token)

    @property
    def shape_rule(self) -> Callable[..., Any] | None:
        """`(*ShapeDtype) → ShapeDtype`, registered or supplied; ufuncs know theirs."""
        if self.table.shapes is not None:
            return self.table.shapes.function
        if self.elementwise:
            return self._supplied("_shapes", elementwise_shape_rule)
        if self.host and is_plain_ufunc(self.fun):
            return self._supplied("_shapes", ufunc_shape_rule)
        return None

    @property
    def batch_rule(self) -> Callable[..., Any] | None:
        """`(axis_size, in_batched, *args)`, registered or supplied by a flag."""
        if self.table.batches is not None:
            return self.table.batches.function
        if self.vectorized:
            return self._supplied("_batches", vectorized_batch_rule)
        if self.elementwise or (self.host and is_plain_ufunc(self.fun)):
            return self._supplied("_batches", elementwise_batch_rule)
        return None

    def _supplied(
        self, name: str, make: Callable[..., Callable[..., Any]]
    ) -> Callable[..., Any]:
        """One object per primitive: frameworks cache traces by its identity."""
        if name not in self.__dict__:
            self.__dict__[name] = make(self.run)
        return cast("Callable[..., Any]", self.__dict__[name])

    @property
    def needs_copies(self) -> bool:
        """Whether an adapter must pass copies of its arrays, and copy the results.

        A function with rules does not write to its arguments, nor does a ufunc; any
        other may write to them, and keep its results.
        """
        if not self.host or _is_ufunc(self.fun):
            return False
        if self.copy_in and self.copy_out:  # `run` makes them
            return False
        rules = (*self.table.rrule.rules, *self.table.frule.rules)
        return all(rule.opted_out for rule in rules)

    @property
    def flags(self) -> dict[str, Any]:
        """The flags of its declaration."""
        flags = {name: getattr(self, name) for name in _DEFAULTS}
        if self.native is self.fun:
            flags["native"] = None
        return flags

    def __reduce__(self) -> Any:
        if _found_by_name(self):
            return self.__qualname__
        if self.table.primitive is self:
            return _registered, (self.fun, self.flags)
        return _unregistered, (self.fun, self.flags)

    def __tangent_structure__(self) -> None:
        """A primitive is a function and has no tangent."""

    def __copy__(self) -> Primitive:
        return self

    def __deepcopy__(self, memo: Any) -> Primitive:
        return self

    def __repr__(self) -> str:
        flags = "".join(
            f", {name}={value!r}"
            for name, value in self.flags.items()
            if value != _DEFAULTS[name]
        )
        return f"<primitive {describe(self.fun)}{flags}>"


ARRAYLESS.add(Primitive)


def _is_ufunc(f: Any) -> bool:
    return type(f).__name__ == "ufunc"


def _has_ufunc(f: Any) -> bool:
    """Whether it is a ufunc, or has one, as what `numba.vectorize` makes."""
    return _is_ufunc(f) or _is_ufunc(getattr(f, "ufunc", None))


def acting_handle(f: Any) -> Primitive | None:
    """The unregistered primitive of `f` whose rules are running, or None."""
    acting = _ACTING.get()
    return None if acting is None else acting.get(id(f))


def _cells(helper: Any) -> tuple[Any, ...]:
    """Cells with all that a function may read besides arguments and globals."""
    own = isinstance(helper, FunctionType)
    if own and not helper.__defaults__ and not helper.__kwdefaults__:
        return helper.__closure__ or ()
    return (CellType(helper),)


def names_of(static_argnames: str | Iterable[str]) -> frozenset[str]:
    if isinstance(static_argnames, str):
        return frozenset((static_argnames,))
    value: Any = static_argnames
    names = frozenset(value if isinstance(value, Iterable) else (value,))
    for name in names:
        if not isinstance(name, str):
            message = f"static_argnames must be names of arguments, but got {name!r}."
            raise RuleDefinitionError(message)
    return names


def _found_by_name(handle: Primitive) -> bool:
    """Whether the primitive is found under its own module and name."""
    module = getattr(handle, "__module__", None)
    try:
        entry: Any = importlib.import_module(module or "")
        for part in handle.__qualname__.split("."):
            entry = getattr(entry, part)
    except (ImportError, AttributeError, ValueError):
        return False
    return entry is handle


def _registered(fun: Any, flags: dict[str, Any]) -> Any:
    return register(fun, flags)


def _unregistered(fun: Any, flags: dict[str, Any]) -> Primitive:
    return Primitive(fun, **flags)


def check_flags(handle: Primitive[P, R], given: dict[str, Any]) -> Primitive[P, R]:
    for name, value in given.items():
        if value not in (handle.flags[name], getattr(handle, name)):
            message = (
                f"primitive {describe(handle.fun)} was made with "
                f"{name}={getattr(handle, name)!r}, but is now asked for with "
                f"{name}={value!r}. Declare it once, with all its flags."
            )
            raise PrimitiveError(message)
    return handle


def register(f: Any, flags: dict[str, Any]) -> Primitive:
    """The primitive of a function, made if there is none.

    Raises:
        PrimitiveError: It exists with other flags.
        RuleDefinitionError: `f` cannot be wrapped.
    """
    if isinstance(f, (staticmethod, classmethod)):
        message = (
            f"primitive must wrap the function of {describe(f)}, but got the "
            f"{type(f).__name__}. Write @{type(f).__name__} above @primitive."
        )
        raise RuleDefinitionError(message)
    if not callable(f):
        message = f"primitive must wrap a callable, but got {f!r}."
        raise RuleDefinitionError(message)
    with LOCK:
        table = table_for(f, "primitive")
        if table.primitive is None:
            table.primitive = Primitive(f, **flags)
            table.primitive.persistent = is_permanent(
                getattr(f, "__module__", "") or ""
            )
        return check_flags(table.primitive, flags)
