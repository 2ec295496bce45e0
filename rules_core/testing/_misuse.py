"""Errors for calls of the testers that cannot test anything."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from numbers import Integral, Real
from typing import Any

from rules_core import RuleConfig, RulesCoreError

from ._leaf import describe

__all__ = ["CheckCallError", "check_options", "check_subject"]

LEVELS = ("quick", "full")


class CheckCallError(RulesCoreError, ValueError):
    """A call of a tester that cannot test anything."""

    __module__ = "rules_core.testing"


def check_subject(front: str, f: Any) -> None:
    """Raise an error unless `f` is callable.

    Raises:
        CheckCallError: `f` cannot be called.
    """
    if not callable(f):
        message = (
            f"{front}(f, *args): f must be the function whose rules are checked, but "
            f"got {describe(f)}. Its arguments follow it: {front}(f, x), not "
            f"{front}(f(x))."
        )
        raise CheckCallError(message)


def check_options(front: str, options: Mapping[str, Any]) -> None:
    """Raise an error for unknown options and invalid values.

    Raises:
        CheckCallError: An option is unknown, or its value is invalid.
    """
    names = [name for name in _OPTIONS if name not in _LACKS[front]]
    for name, value in options.items():
        if name not in names:
            message = (
                f"{front} has no option {name!r}; there are {', '.join(names)}. "
                f"A keyword argument of f itself goes into fkwargs={{{name!r}: …}}."
            )
            raise CheckCallError(message)
        good, must = _OPTIONS[name]
        if not good(value):
            message = f"{front}: {name} must be {must}, but got {describe(value)}."
            raise CheckCallError(message)


def _is_tolerance(value: Any) -> bool:
    return isinstance(value, Real) and 0 <= float(value) < math.inf


def _are_names(value: Any) -> bool:
    if isinstance(value, str) or not isinstance(value, Collection):
        return False
    return all(isinstance(name, str) for name in value)


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and int(value) >= 0


def _are_keywords(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(name, str) for name in value)


_OPTIONS: dict[str, tuple[Any, str]] = {
    "fkwargs": (
        lambda value: value is None or _are_keywords(value),
        "the dict of keyword arguments of f",
    ),
    "tangents": (
        lambda value: value is None or isinstance(value, (tuple, list)),
        "a tuple with one tangent per argument, None for a random one",
    ),
    "cotangent": (lambda _value: True, ""),
    "rtol": (
        lambda value: value is None or _is_tolerance(value),
        "a finite number that is not negative, or None",
    ),
    "atol": (_is_tolerance, "a finite number that is not negative"),
    "level": (lambda value: value in LEVELS, "'quick' or 'full'"),
    "hosts": (
        lambda value: value is None or _are_names(value),
        "a tuple of names such as ('jax',), or None for all that are installed",
    ),
    "config": (
        lambda value: value is None or isinstance(value, RuleConfig),
        "an instance of a RuleConfig, or None",
    ),
    "skip": (
        _are_names,
        "a tuple of names of checks such as ('rrule.derivative',)",
    ),
    "seed": (_is_count, "an integer that is not negative"),
}

_LACKS = {
    "check_rule": (),
    "check_rrule": ("hosts",),
    "check_frule": ("hosts",),
    "check_scalar": ("tangents", "cotangent", "level"),
}
