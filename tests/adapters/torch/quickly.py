"""Primitives whose calls are quick, for tests of `_autograd.repeated_call`."""

from __future__ import annotations

import torch

import rules_core as rc


def points(*values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def slope(f, *xs, **options):
    return torch.autograd.grad(f(*xs).sum(), xs, **options)


def ruled(rule):
    """A primitive `x² + 0` with a rule; its calls are quick if they can be."""

    @rc.primitive
    def f(x):
        return x**2

    rc.rrule.define(f)(rule)
    return f


def is_quick(y):
    return type(y.grad_fn).__name__ == "QuickFunctionBackward"


def square_pullback(x, dy):
    return rc.NoTangent(), 2 * x * dy


def square(x: rc.Array):
    return x**2, rc.Pullback(square_pullback, x)
