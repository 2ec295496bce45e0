"""Errors of floating-point numbers in derivatives, of which the program has none."""

from typing import Any

import numpy as np
import pytest

from rules_autodiff import (
    UnsupportedProgram,
    jacfwd,
    jacrev,
    jvp,
)


def raised_power(y):
    y = y * 1.0
    y **= 0.5
    return y


def narrowed(y):
    z = np.zeros(y.shape, np.float32)
    z[...] = y
    return z * 1.0


def gathered(y):
    z = np.zeros(y.shape, np.float32)
    np.add.at(z, ..., y)
    return z * 1.0


ODD = [0.0, 1.0, -1.0, 1e-310, 1e-200, 1e200, -1e-250, 709.0, -745.0]
FLOATING = {
    "x**0.5": lambda y: y**0.5,
    "x**1.5": lambda y: y**1.5,
    "x**-2": lambda y: y**-2.0,
    "2**x": lambda y: 2.0**y,
    "x**x": lambda y: y**y,
    "x*x": lambda y: y * y,
    "x/3": lambda y: y / 3e250,
    "3/x": lambda y: 3e-100 / y,
    "x % 2": lambda y: y % 1e-100,
    "abs": abs,
    "in place": raised_power,
    "float32": narrowed,
    "add.at": gathered,
    "sqrt": np.sqrt,
    "cbrt": np.cbrt,
    "log": np.log,
    "log1p": np.log1p,
    "exp": np.exp,
    "tan": np.tan,
    "tanh": np.tanh,
    "arcsin": np.arcsin,
    "arccosh": np.arccosh,
    "arctanh": np.arctanh,
    "arctan2": lambda y: np.arctan2(y, 1e-300),
    "hypot": lambda y: np.hypot(y, 1e-300),
    "norm": np.linalg.norm,
    "prod": lambda y: np.prod(np.concatenate([y, y])),
    "cumprod": lambda y: np.cumprod(np.concatenate([y, y])),
    "std": lambda y: np.std(np.concatenate([y, 2.0 * y])),
    "out": lambda y: np.power(y, 0.5, out=np.empty(y.shape)),
}


# Code that is written after some calls leaves out partials that nothing needs, and
# their errors: it would serve one of two that are compared, by what ran before.
TAPE: Any = {"tier": "tape"}


def along(f, x):
    return jvp(f, (x,), (np.full(x.shape, 1e30),), **TAPE)[1]


FLOATING_WAYS = {
    "jvp": along,
    "jacfwd": lambda f, x: jacfwd(f, **TAPE)(x),
    "jacrev": lambda f, x: jacrev(f, **TAPE)(x),
    "forward over reverse": lambda f, x: jacfwd(jacrev(f, **TAPE), **TAPE)(x),
    "reverse over forward": lambda f, x: jacrev(jacfwd(f, **TAPE), **TAPE)(x),
    "twice forward": lambda f, x: jacfwd(jacfwd(f, **TAPE), **TAPE)(x),
}


def found_by(way, f, x):
    """The derivative, or the error, with floating-point errors as exceptions."""
    with np.errstate(all="raise"):
        try:
            return FLOATING_WAYS[way](f, x)
        except (FloatingPointError, UnsupportedProgram):
            return None


WRITING = ("in place", "out")  # of which a program may not catch the error


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("way", FLOATING_WAYS)
@pytest.mark.parametrize("name", FLOATING)
def test_floating_point_errors_of_derivatives_are_none_of_the_program(name, way):
    """A program that catches them has the derivative of its `try`, or an error."""
    f = FLOATING[name]

    def catching(x):
        try:
            return f(x)
        except FloatingPointError:
            return 5.0 * x

    for value in ODD:
        x = np.array([value])
        with np.errstate(all="raise"):
            taken = catching(x)
        with np.errstate(all="ignore"):
            branch = np.array_equal(taken, f(x)) or not np.array_equal(taken, 5.0 * x)
        want = found_by(way, f if branch else lambda x: 5.0 * x, x)
        found = found_by(way, catching, x)
        if found is None:
            assert want is None or (name in WRITING and not branch)
        else:
            np.testing.assert_allclose(found, want, rtol=1e-15)


def test_warnings_of_derivatives_are_none_of_the_program():
    def catching(x):
        try:
            return x**0.5
        except RuntimeWarning:
            return 5.0 * x

    for way in FLOATING_WAYS.values():
        with pytest.raises(RuntimeWarning, match="divide by zero"):
            way(catching, np.zeros(1))


def test_a_floating_point_error_of_a_derivative_names_its_operation():
    with np.errstate(all="raise"), pytest.raises(FloatingPointError) as caught:
        jvp(lambda x: x**0.5, (np.zeros(1),), (np.ones(1),))
    (note,) = caught.value.__notes__
    assert "While the derivative of pow was computed" in note
    assert __file__ in note
