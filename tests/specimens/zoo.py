"""How a wrong rule is put into the zoo, and what many of them share.

`make(wrong)` defines the rules of one specimen, wrong or corrected, and returns the
call to check. The corrected twin passes everything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rules_core import frule, rrule

ZOO: list[Specimen] = []


@dataclass(frozen=True)
class Call:
    """What `check_rule` is called with."""

    f: Callable[..., Any]
    args: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Specimen:
    """A wrong rule with its corrected twin.

    Attributes:
        name: What is wrong.
        fails: The one check that must see it.
        make: Defines the rules and returns the call.
    """

    name: str
    fails: str
    make: Callable[[bool], Call]


def specimen(fails: str) -> Callable[[Callable[[bool], Call]], Callable[[bool], Call]]:
    """Put a rule into the zoo."""

    def keep(make: Callable[[bool], Call]) -> Callable[[bool], Call]:
        ZOO.append(Specimen(make.__name__, fails, make))
        return make

    return keep


VECTOR = np.array([0.5, -1.25, 2.0])
MATRIX = np.array([[0.5, -1.25, 2.0], [1.5, 0.25, -0.75]])


def rrule_of(f, pullback_at, value=None):
    """Define `(y, dy ↦ pullback_at(dy, *args))` as the rrule of `f`."""

    @rrule.define(f)
    def zoo_rrule(*args):
        y = f(*args) if value is None else value(*args)

        def zoo_pullback(dy):
            return pullback_at(dy, *args)

        return y, zoo_pullback


def frule_of(f, pushforward_at):
    """Define `(f(*args), pushforward_at(tangents, *args))` as the frule of `f`."""

    @frule.define(f)
    def zoo_frule(tangents, *args):
        return f(*args), pushforward_at(tangents, *args)


def holomorphic(f):
    """Claim of the rrule of `f` what `scalar_rule(holomorphic=True)` claims."""
    rule = rrule.resolve(f, (VECTOR,)).rule
    rule.function.holomorphic = True
