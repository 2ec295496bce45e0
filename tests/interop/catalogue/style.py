"""A style of rule: how an author writes it, as a program and its bare mathematics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import rules_core as rc

Program = Callable[[Any, Any], Any]
"""A function of two vectors of length 2 whose result is one more."""

May = Callable[[str, tuple[str, ...]], bool]
"""Whether a style may be refused in a host, given the transforms, innermost first."""


@dataclass(frozen=True)
class Style:
    """A rule, the mathematics that it stands for, and what may be refused."""

    name: str
    make: Callable[[], Program]
    plain: Program
    may_refuse: May

    def __str__(self) -> str:
        return self.name


STYLES: dict[str, Style] = {}


def never(host: str, word: tuple[str, ...]) -> bool:
    """Nothing is refused."""
    return False


def style(
    name: str, plain: Program | None = None, *, may_refuse: May = never
) -> Callable[[Callable[[], Program]], Callable[[], Program]]:
    """Add a maker of programs, with their mathematics, to the catalogue."""

    def add(make: Callable[[], Program]) -> Callable[[], Program]:
        assert name not in STYLES
        STYLES[name] = Style(name, make, plain or curve, may_refuse)
        return make

    return add


def curve(a: Any, b: Any) -> Any:
    """`sin(a) b²`, the mathematics of most styles."""
    return rc.array_namespace(a, b).sin(a) * b * b


def slopes(a: Any, b: Any) -> tuple[Any, Any]:
    """Its partial derivatives."""
    xp = rc.array_namespace(a, b)
    return xp.cos(a) * b * b, 2 * xp.sin(a) * b


def constant(*values: Any) -> list[Any]:
    """The values, without their derivatives: a body whose rule is skipped is wrong."""
    return [rc.ignore_derivatives(value) for value in values]


def hidden() -> rc.Primitive:
    """`curve`, whose body has no derivative of its own."""

    @rc.primitive
    def hidden_curve(a, b):
        return curve(*constant(a, b))

    return hidden_curve


def on_host(**flags: Any) -> rc.Primitive:
    """`curve` in NumPy alone."""

    @rc.primitive(host=True, **flags)
    def host_curve(a, b):
        return np.sin(a) * b * b

    if not flags.get("elementwise"):
        rc.shape_rule.define(host_curve)(lambda a, b: rc.ShapeDtype(a.shape, a.dtype))
    return host_curve
