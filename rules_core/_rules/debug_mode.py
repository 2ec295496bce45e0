"""`debug_mode`: checks of every rule that runs.

In debug mode look-ups wrap each rule in checks of its contract: arity, tangent types,
shapes, dtypes, the first NaN, writes to inputs or cotangents, a broken in-place
promise. Otherwise it costs nothing: a switch clears the caches of look-ups.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rules_core._base.errors import DebugError
from rules_core._dispatch.configs import SupportsMutation, requirement
from rules_core._dispatch.registry import DECORATORS, all_tables
from rules_core._dispatch.rule import Rule
from rules_core._dispatch.rule_key import is_method_key
from rules_core._dispatch.table import CHANGES, LOCK
from rules_core._tangents.check import (
    check_dy,
    check_finite,
    check_same,
    check_tangent,
    snapshot,
)

from .named_cotangents import ordered_cotangents

__all__ = ["debug_mode", "is_watching", "switch_on_by_environment", "watching"]

_depth = 0
_WRITING = requirement(SupportsMutation)


def _switch(on: bool) -> None:
    global _depth  # noqa: PLW0603  one switch for the process, like the tables
    with LOCK:
        _depth += 1 if on else -1
        active = _watched in DECORATORS
        if (_depth > 0) == active:
            return
        _decorate(_watched, on=on)


def _decorate(wrap: Callable[[Rule], Rule], *, on: bool) -> None:
    """Let look-ups put a wrapper around every rule, or no longer."""
    with LOCK:
        if on:
            DECORATORS.append(wrap)
        else:
            DECORATORS.remove(wrap)
        for table in all_tables():
            table.frule.forget()
            table.rrule.forget()
        CHANGES.note()  # no table may exist yet


@contextmanager
def watching(wrap: Callable[[Rule], Rule]) -> Iterator[None]:
    """Put a wrapper around every rule that runs inside, in the whole process."""
    _decorate(wrap, on=True)
    try:
        yield
    finally:
        _decorate(wrap, on=False)


@contextmanager
def debug_mode() -> Iterator[None]:
    """Check every rule that runs inside: a context manager for the whole process.

    Each violation raises a `DebugError` that names the rule, its file and line, the
    argument and the path inside it. `RULES_CORE_DEBUG=1` switches it on from the start.

    Raises:
        DebugError: A rule broke its contract.

    >>> from rules_core import debug_mode, rrule
    >>> def square(x):
    ...     return x * x
    >>> @rrule.define(square)
    ... def square_rrule(x):
    ...     return x * x, lambda dy: 2 * x * dy
    >>> with debug_mode():
    ...     y, pullback = rrule(square, 3.0)
    ...     pullback(1.0)
    Traceback (most recent call last):
    rules_core.CotangentCountError: rrule square_rrule for square at ...
    """
    _switch(on=True)
    try:
        yield
    finally:
        _switch(on=False)


def is_watching() -> bool:
    """Whether every rule is watched: engines then run each one, and check more."""
    return bool(DECORATORS)


def switch_on_by_environment() -> None:
    """Honour `RULES_CORE_DEBUG=1`."""
    if os.environ.get("RULES_CORE_DEBUG", "0") not in ("", "0"):
        _switch(on=True)


def _watched(rule: Rule) -> Rule:
    watch = _watch_rrule if rule.kind == "rrule" else _watch_frule
    function = watch(rule)
    noted = getattr(rule.function, "__dict__", {})  # set by `scalar_rule`
    function.__dict__.update(noted)
    return rule.with_function(function)


def _split(rule: Rule, args: tuple[Any, ...]) -> tuple[Any, ...]:
    return args[(rule.config is not None) + (rule.kind == "frule") :]


def _arguments(rule: Rule, args: tuple[Any, ...]) -> dict[str, Any]:
    return {f"argument {i}": x for i, x in enumerate(_split(rule, args), 1)}


def _say(rule: Rule, text: str) -> str:
    return f"{rule.label}: {text}"


@contextmanager
def _unwritten(rule: Rule, values: dict[str, Any]) -> Iterator[None]:
    if rule.config is not None and issubclass(rule.config, _WRITING):
        values = {}  # such rules are meant to write
    before = {name: snapshot(value) for name, value in values.items()}
    yield
    for name, value in values.items():
        path = check_same(before[name], value)
        if path is not None:
            message = (
                f"{name}{path} was written to. The arguments of a rule belong to "
                "its caller: copy before changing."
            )
            raise DebugError(_say(rule, message))


def _complain(rule: Rule, what: str, problem: str | None) -> None:
    if problem is not None:
        raise DebugError(_say(rule, f"{what}{problem}"))


def _watch_rrule(rule: Rule) -> Callable[..., Any]:
    function = rule.function
    assert function is not None

    def watched_rrule(*args: Any, **kw: Any) -> Any:
        arguments = _arguments(rule, args)
        with _unwritten(rule, arguments):
            result = function(*args, **kw)
        if type(result) is not tuple or len(result) != 2:
            return result  # the call itself reports it
        y, pullback = result
        _complain(rule, "the primal output", check_finite(y, list(arguments.values())))
        needs = kw["needs"] if rule.needs else (True,) * len(arguments)
        return y, _watch_pullback(rule, y, pullback, arguments, needs)

    return watched_rrule


def _watch_pullback(
    rule: Rule,
    y: Any,
    pullback: Callable[..., Any],
    arguments: dict[str, Any],
    wanted: tuple[bool, ...],
) -> Callable[..., Any]:
    def watched_pullback(dy: Any) -> Any:
        if not rule.symbolic_zeros:
            _complain(rule, "the cotangent of the output", check_dy(y, dy))
        with _unwritten(rule, {**arguments, "the cotangent": dy}):
            cotangents = pullback(dy)
            _check_cotangents(rule, cotangents, arguments, dy, wanted)
        return cotangents

    return watched_pullback


def _check_cotangents(
    rule: Rule,
    found: Any,
    arguments: dict[str, Any],
    dy: Any,
    wanted: tuple[bool, ...],
) -> None:
    count = len(arguments) + (not is_method_key(rule.key))
    found = ordered_cotangents(rule, found, count, [*arguments.values()])
    tangents = found[len(found) - len(arguments) :]
    triples = zip(arguments.items(), tangents, wanted, strict=True)
    for (name, x), dx, is_wanted in triples:
        if not is_wanted:  # this entry is dropped
            continue
        what = f"the cotangent of {name}"
        _complain(rule, what, check_tangent(x, dx))
        _complain(rule, what, check_finite(dx, [x, dy]))


def _check_given(
    rule: Rule, arguments: dict[str, Any], tangents: tuple[Any, ...]
) -> None:
    if rule.symbolic_zeros:
        return
    own = tangents[len(tangents) - len(arguments) :]
    for (name, x), dx in zip(arguments.items(), own, strict=True):
        _complain(rule, f"the tangent of {name}", check_dy(x, dx))


def _watch_frule(rule: Rule) -> Callable[..., Any]:
    function = rule.function
    assert function is not None

    def watched_frule(*args: Any, **kw: Any) -> Any:
        arguments = _arguments(rule, args)
        tangents = args[rule.config is not None]
        _check_given(rule, arguments, tangents)
        named_tangents = {f"tangent {i}": t for i, t in enumerate(tangents)}
        with _unwritten(rule, {**arguments, **named_tangents}):
            result = function(*args, **kw)
        if type(result) is not tuple or len(result) != 2:
            return result
        y, dy = result
        inputs = [*arguments.values(), *tangents]
        _complain(rule, "the primal output", check_finite(y, inputs))
        _complain(rule, "the tangent of the output", check_tangent(y, dy))
        _complain(rule, "the tangent of the output", check_finite(dy, inputs))
        return result

    return watched_frule
