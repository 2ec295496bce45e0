"""Programs that are written out, compared with differences and the tape."""

import copy

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, value_and_grad
from rules_core import NoTangent

STEP = 1e-6


def check_written(f, *args, by=None):
    """See that a program is written out, and that its derivatives are right.

    Its arguments stay as they are, also where it writes into them.
    """
    before = copy.deepcopy(args)
    active = tuple(i for i, x in enumerate(args) if has_derivative(x))
    active = active if by is None else by
    value, found = value_and_grad(f, active, tier="straight")(*args)
    tape_value, tape = value_and_grad(f, active, tier="tape")(*args)
    for x, y in zip(leaves(args), leaves(before), strict=True):
        assert np.array_equal(x, y)
    np.testing.assert_allclose(value, f(*before), rtol=1e-12)
    np.testing.assert_allclose(value, tape_value, rtol=1e-12)
    for place, own, other in zip(active, found, tape, strict=True):
        same(own, other)
        total = sum(
            np.sum(d * leaf)
            for d, leaf in zip(leaves(own), leaves(args[place]), strict=True)
            if has_derivative(leaf)
        )
        assert total == pytest.approx(difference(f, args, place), rel=1e-5, abs=1e-7)


def difference(f, args, place):
    """The derivative along an argument itself, by a central difference."""

    def at(step):
        moved = [*copy.deepcopy(args)]
        moved[place] = scaled(moved[place], 1 + step)
        return f(*moved)

    return (at(STEP) - at(-STEP)) / (2 * STEP)


def scaled(x, factor):
    if isinstance(x, tuple | list):
        parts = [scaled(part, factor) for part in x]
        return type(x)(parts) if type(x) in (tuple, list) else type(x)(*parts)
    if isinstance(x, dict):
        return {key: scaled(part, factor) for key, part in x.items()}
    return x * factor if has_derivative(x) else x


def has_derivative(x):
    if isinstance(x, np.ndarray):
        return x.dtype == float
    if isinstance(x, tuple | list):
        return any(map(has_derivative, x))
    if isinstance(x, dict):
        return any(map(has_derivative, x.values()))
    return isinstance(x, float)


def leaves(x):
    if isinstance(x, tuple | list):
        return [leaf for part in x for leaf in leaves(part)]
    if isinstance(x, dict):
        return [leaf for part in x.values() for leaf in leaves(part)]
    return [x]


def same(one, other):
    """Two derivatives of one form, which are equal."""
    assert type(one) is type(other)
    if isinstance(one, tuple | list | dict):
        assert len(one) == len(other)
        assert not isinstance(one, dict) or one.keys() == other.keys()
    for x, y in zip(leaves(one), leaves(other), strict=True):
        if isinstance(x, NoTangent):
            assert x == y
        else:
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12)


def check_refused(f, *args, reason):
    """See that a program is left to the tape, and for which reason."""
    with pytest.raises(UnsupportedProgram, match=reason):
        value_and_grad(f, 0, tier="straight")(*args)
    value_and_grad(f, 0)(*args)


def alone(*rest):
    """A function of star arguments alone."""
    return sum(i * x for i, x in enumerate(rest))
