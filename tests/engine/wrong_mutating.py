"""Mutating rules that are wrong in one way each, for the checks of `check_program`.

The function is `y = x² c` written into `out`, with a number as its result. Each wrong
rule is the right one with one step replaced.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from rules_autodiff import (
    CoDual,
    Dual,
    NoFData,
    NoRData,
    frule_mutating,
    rrule_mutating,
)

__all__ = [
    "KEPT",
    "WRONG",
    "forward_rule",
    "isolated_mutating_rules",
    "kernel",
    "program",
    "reverse_rule",
]

KEPT: list[Any] = []  # what rules keep from call to call, which they must not


@contextmanager
def isolated_mutating_rules() -> Iterator[None]:
    """Forget afterwards what was defined inside; what was there before stays."""
    kept = [(table, dict(table.rules)) for table in (rrule_mutating, frule_mutating)]
    yield
    for table, rules in kept:
        table.rules.clear()
        table.rules.update(rules)


def kernel(out, x, c):
    """Imagine compiled code here."""
    out[...] = x * x * c
    return float(x.sum() * c)


def program(x, c):
    """The kernel between operations that read what it writes, and what it reads."""
    out = x * 3.0
    total = kernel(out, x, c)
    return out @ np.arange(1.0, 1 + len(x)) + total * total


class Reverse:
    """The right rule, step by step."""

    def write(self, out, x, c):
        out[...] = x * x * c

    def value(self, x, c):
        return float(x.sum() * c)

    def result(self, y, x):
        return CoDual(y, NoFData())

    def take(self, out):
        ct = out.fdata.copy()
        out.fdata[...] = 0.0
        return ct

    def restore(self, out, before):
        out.primal[...] = before

    def accumulate(self, x, c, ct, dy):
        x.fdata[...] += 2 * x.primal * c * ct + c * dy

    def rdata(self, x, c, ct, dy):
        return NoRData(), NoRData(), NoRData(), float(ct @ x**2 + x.sum() * dy)


class Forward:
    """The right rule of forward mode, step by step."""

    def write(self, out, x, c):
        out[...] = x * x * c

    def value(self, x, c):
        return float(x.sum() * c)

    def push(self, out, x, c):
        out.tangent[...] = 2 * x.primal * x.tangent * c.primal + x.primal**2 * c.tangent

    def tangent(self, x, c):
        return float(x.tangent.sum() * c.primal + x.primal.sum() * c.tangent)


def reverse_rule(steps):
    def kernel_rule(f, out, x, c):
        before = out.primal.copy()
        steps.write(out.primal, x.primal, c.primal)

        def kernel_pullback(dy):
            ct = steps.take(out)
            steps.restore(out, before)
            steps.accumulate(x, c.primal, ct, dy)
            return steps.rdata(x.primal, c.primal, ct, dy)

        return steps.result(steps.value(x.primal, c.primal), x), kernel_pullback

    return kernel_rule


def forward_rule(steps):
    def kernel_frule(f, out, x, c):
        steps.push(out, x, c)
        steps.write(out.primal, x.primal, c.primal)
        return Dual(steps.value(x.primal, c.primal), steps.tangent(x, c))

    return kernel_frule


class WrongValue(Reverse):
    def value(self, x, c):
        return float(x.sum() * c) + 1.0


class WritesItsInput(Reverse):
    def result(self, y, x):
        x.primal[0] += 1.0
        return super().result(y, x)


class RestoresNothing(Reverse):
    def restore(self, out, before):
        """Forgotten."""


class Overwrites(Reverse):
    def accumulate(self, x, c, ct, dy):
        x.fdata[...] = 2 * x.primal * c * ct + c * dy


class ForgetsToZero(Reverse):
    def take(self, out):
        return out.fdata.copy()


class WrongSign(Reverse):
    def accumulate(self, x, c, ct, dy):
        x.fdata[...] -= 2 * x.primal * c * ct - c * dy


class ForgetsTheNumber(Reverse):
    def rdata(self, x, c, ct, dy):
        return NoRData(), NoRData(), NoRData(), 0.0


class CountsItsCalls(Reverse):
    def accumulate(self, x, c, ct, dy):
        KEPT.append(None)
        super().accumulate(x, c, ct, dy if len(KEPT) < 3 else 2 * dy)


class ReturnsTheCotangent(Reverse):
    def accumulate(self, x, c, ct, dy):
        """Returned instead."""

    def rdata(self, x, c, ct, dy):
        rest = super().rdata(x, c, ct, dy)
        return rest[0], rest[1], 2 * x * c * ct + c * dy, rest[3]


class ArrayForANumber(Reverse):
    def rdata(self, x, c, ct, dy):
        return NoRData(), NoRData(), NoRData(), ct * x**2


class TooFewRdata(Reverse):
    def rdata(self, x, c, ct, dy):
        return super().rdata(x, c, ct, dy)[1:]


class AddressOfANumber(Reverse):
    def result(self, y, x):
        return CoDual(y, np.zeros(()))


class ContainerAsAResult(Reverse):
    def result(self, y, x):
        return CoDual([y], NoFData())


class WrongForwardValue(Forward):
    def value(self, x, c):
        return float(x.sum() * c) + 1.0


class WritesItsInputForward(Forward):
    def tangent(self, x, c):
        x.primal[0] += 1.0
        return super().tangent(x, c)


class WrongTangent(Forward):
    def push(self, out, x, c):
        out.tangent[...] = 2 * x.primal * x.tangent * c.primal


class SlightlyWrongTangent(Forward):
    """Closer than finite differences could tell."""

    def tangent(self, x, c):
        return super().tangent(x, c) * (1 + 5e-7)


# By the check that must catch it, and the mode of the rule.
WRONG = [
    ("reverse mode: value must hold", WrongValue),
    ("reverse mode: state after the forward pass must hold", WritesItsInput),
    ("reverse mode: arguments restored must hold", RestoresNothing),
    ("reverse mode: increments are added must hold", Overwrites),
    ("reverse mode: derivative must hold", WrongSign),
    ("reverse mode: derivative must hold", ForgetsToZero),
    ("reverse mode: derivative must hold", ForgetsTheNumber),
    ("reverse mode: pullback called again must hold", CountsItsCalls),
    ("for argument 2 NoRData", ReturnsTheCotangent),
    ("for argument 3 a number", ArrayForANumber),
    ("a tuple of 4 rdata", TooFewRdata),
    ("which has no address", AddressOfANumber),
    ("must return a number, an array", ContainerAsAResult),
    ("forward mode: value must hold", WrongForwardValue),
    ("forward mode: state after the call must hold", WritesItsInputForward),
    ("forward mode gave", WrongTangent),
    ("both modes: adjoint must hold", SlightlyWrongTangent),
]
