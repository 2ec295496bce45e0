"""Where a value exists and its derivative does not, Python raises no error."""

import itertools
import linecache
import math

import numpy as np
import pytest

from rules_autodiff import jvp, vjp

EXACT = 2.0**52  # an int of a number beyond it keeps its digits, and is refused
POINTS = (
    5e-324, 1e-310, 1e-200, 1e-150, 1e-17, 0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.5, 171.5,
    709.7, -745.1, 1e16, 1e150, 1e200, 1.7e308, -1.7e308, -1e-150, -5e-324,
)  # fmt: skip
CALLS = (
    *(f"math.{name}(x)" for name, f in vars(math).items() if callable(f)),
    *(f"math.{name}(x, y)" for name, f in vars(math).items() if callable(f)),
    *(f"x {op} y" for op in ("+", "-", "*", "/", "//", "%", "**")),
    *(f"number(x) {op} y" for op in ("/", "//", "%", "**")),
    *(f"number(x) {op} int(y)" for op in ("/", "//", "%")),
    "x ** -2", "x ** -3", "1.0 / x", "abs(x)", "divmod(x, y)[1]", "pow(x, y)",
)  # fmt: skip


def program_of(call):
    source = f"def program(x, y):\n    return {call}\n"
    name = f"<value of {call}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope = {"math": math, "number": np.float64, "__name__": __name__}
    exec(compile(source, name, "exec"), scope)
    return scope["program"]


def ways(program, args):
    return (
        lambda: vjp(program, *args, tier="tape")[1](1.0),
        lambda: vjp(program, *args)[1](1.0),
        lambda: jvp(program, args, (1.0, 0.5)),
    )


@pytest.mark.covering(every=10)
@pytest.mark.parametrize("call", CALLS)
def test_a_value_that_exists_has_a_derivative(call):
    program, seen = program_of(call), 0
    pairs = itertools.product(POINTS, POINTS if "y" in call else [1.0])
    with np.errstate(all="ignore"):
        for args in pairs:
            if "int(y)" in call and abs(args[1]) > EXACT:
                continue
            try:
                value = program(*args)
            except (TypeError, ValueError, ArithmeticError):
                continue
            if isinstance(value, float):
                seen += 1
                for way in ways(program, args):
                    way()
    assert seen or "math" in call


@pytest.mark.parametrize(
    ("call", "args", "slopes"),
    [
        ("x ** y", (1e-150, -2.0), (-math.inf, None)),
        ("x ** -2", (1e-150, 1.0), (-math.inf, 0.0)),
        ("x ** -3", (-1e-100, 1.0), (-math.inf, 0.0)),
        ("math.pow(x, y)", (1e-150, -2.0), (-math.inf, None)),
        ("number(x) / y", (1.5, 0.0), (math.inf, -math.inf)),
        ("math.lgamma(x)", (1e200, 1.0), (math.log(1e200), 0.0)),
        ("math.fmod(x, y)", (1.0, 5e-324), (1.0, -math.inf)),
    ],
)
def test_such_derivatives_are_infinite(call, args, slopes):
    with np.errstate(all="ignore"):
        found = vjp(program_of(call), *args)[1](1.0)
        rates = [jvp(program_of(call), args, t)[1] for t in ((1.0, 0.0), (0.0, 1.0))]
    for slope, ct, rate in zip(slopes, found, rates, strict=True):
        if slope is not None:
            assert np.isclose(float(ct), slope)
            assert np.isclose(float(rate), slope)
