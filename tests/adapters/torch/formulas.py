"""Primitives for the tests of the PyTorch adapter, made afresh for each test.

Each comes with its rules in one of three kinds (`"both"`, `"rrule"`, `"frule"`) and
with the same formula in plain torch, whose derivatives torch takes itself.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

import rules_core as rc

KINDS = ("both", "rrule", "frule")


def define(primitive: Any, kind: str, rrule: Any, frule: Any) -> None:
    if kind in ("both", "rrule"):
        rc.rrule.define(primitive)(rrule)
    if kind in ("both", "frule"):
        rc.frule.define(primitive)(frule)


def sinmul(kind: str = "both") -> SimpleNamespace:
    """`sin(x) x`; its pullback captures the input and two intermediates."""

    @rc.primitive
    def sinmul(x):
        xp = rc.array_namespace(x)
        return xp.sin(x) * x

    def sinmul_rrule(x):
        xp = rc.array_namespace(x)
        s, c = xp.sin(x), xp.cos(x)

        def sinmul_pullback(dy):
            return rc.NoTangent(), dy * (s + x * c)

        return s * x, sinmul_pullback

    def sinmul_frule(tangents, x):
        xp = rc.array_namespace(x)
        s, c = xp.sin(x), xp.cos(x)
        return s * x, tangents[1] * (s + x * c)

    define(sinmul, kind, sinmul_rrule, sinmul_frule)
    return SimpleNamespace(f=sinmul, native=lambda x: torch.sin(x) * x)


def expo(kind: str = "both") -> SimpleNamespace:
    """`exp(x)`; its pullback captures the output."""

    @rc.primitive
    def expo(x):
        return rc.array_namespace(x).exp(x)

    def expo_rrule(x):
        y = expo(x)

        def expo_pullback(dy):
            return rc.NoTangent(), dy * y

        return y, expo_pullback

    def expo_frule(tangents, x):
        y = expo(x)
        return y, tangents[1] * y

    define(expo, kind, expo_rrule, expo_frule)
    return SimpleNamespace(f=expo, native=torch.exp)


def cube(kind: str = "both") -> SimpleNamespace:
    """`x**3`; its pullback captures the input."""

    @rc.primitive
    def cube(x):
        return x * x * x

    def cube_rrule(x):
        def cube_pullback(dy):
            return rc.NoTangent(), 3 * x * x * dy

        return cube(x), cube_pullback

    def cube_frule(tangents, x):
        return cube(x), 3 * x * x * tangents[1]

    define(cube, kind, cube_rrule, cube_frule)
    return SimpleNamespace(f=cube, native=lambda x: x * x * x)


def weighted(kind: str = "both") -> SimpleNamespace:
    """`a sin(b)`, broadcast, through an explicit `Pullback`."""

    @rc.primitive
    def weighted(a, b):
        return a * rc.array_namespace(b).sin(b)

    def weighted_pullback(a, s, c, dy):
        return rc.NoTangent(), dy * s, dy * a * c

    def weighted_rrule(a, b):
        xp = rc.array_namespace(b)
        s = xp.sin(b)
        return a * s, rc.Pullback(weighted_pullback, a, s, xp.cos(b))

    def weighted_frule(tangents, a, b):
        xp = rc.array_namespace(b)
        s = xp.sin(b)
        return a * s, tangents[1] * s + a * xp.cos(b) * tangents[2]

    define(weighted, kind, weighted_rrule, weighted_frule)
    return SimpleNamespace(f=weighted, native=lambda a, b: a * torch.sin(b))


def host_sine(kind: str = "both") -> SimpleNamespace:
    """`sin` by NumPy; its rule calls a second host primitive whose rule calls it."""
    calls = {"sin": 0, "cos": 0}

    @rc.primitive(host=True, elementwise=True)
    def hsin(x):
        calls["sin"] += 1
        return np.sin(x)

    @rc.primitive(host=True, elementwise=True)
    def hcos(x):
        calls["cos"] += 1
        return np.cos(x)

    def hsin_rrule(x):
        def hsin_pullback(dy):
            return rc.NoTangent(), dy * hcos(x)

        return hsin(x), hsin_pullback

    def hcos_rrule(x):
        def hcos_pullback(dy):
            return rc.NoTangent(), -dy * hsin(x)

        return hcos(x), hcos_pullback

    def hsin_frule(tangents, x):
        return hsin(x), hcos(x) * tangents[1]

    def hcos_frule(tangents, x):
        return hcos(x), -hsin(x) * tangents[1]

    define(hsin, kind, hsin_rrule, hsin_frule)
    define(hcos, kind, hcos_rrule, hcos_frule)
    return SimpleNamespace(f=hsin, native=torch.sin, calls=calls)


def marker(kind: str = "both", *, host: bool = False) -> SimpleNamespace:
    """The identity, whose frule scales by 2 and whose rrule scales by 3.

    The rules call the primitive, so that every order is marked: `calls` counts them.
    """
    calls = {"primal": 0, "frule": 0, "rrule": 0, "pullback": 0}

    @rc.primitive(host=host, elementwise=host)
    def mark(x):
        calls["primal"] += 1
        return x * 1

    def mark_rrule(x):
        calls["rrule"] += 1

        def mark_pullback(dy):
            calls["pullback"] += 1
            return rc.NoTangent(), 3 * dy

        return mark(x), mark_pullback

    def mark_frule(tangents, x):
        calls["frule"] += 1
        return mark(x), 2 * tangents[1]

    define(mark, kind, mark_rrule, mark_frule)
    return SimpleNamespace(f=mark, calls=calls)
