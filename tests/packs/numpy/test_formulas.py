"""One formula in every namespace, in written code and on the fast tape."""

from __future__ import annotations

import cmath
import math
import types

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff._tape.fast.elementwise import UNARY
from rules_autodiff.straight._operations.elementwise import CURVES, QUICKER
from rules_autodiff.straight._operations.formulas import pull_of
from rules_autodiff.straight._runtime.helpers import HELPERS
from rules_numpy._declare.derivative import DECLARED, constant
from rules_numpy.formulas import CMATH, FORMULAS, MATH, in_framework, in_namespace

COUNT = 1000
LOGARITHMS = ("log", "log2", "log10", "sqrt", "cbrt")
INSIDE = {
    **dict.fromkeys(("arcsin", "arccos", "arctanh"), (-0.99, 0.99)),
    **dict.fromkeys(LOGARITHMS, (0.05, 9.0)),
    "log1p": (-0.9, 9.0),
    "arccosh": (1.01, 9.0),
}
SHORT = {f"arc{name}": f"a{name}" for name in (
    "sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh",
)}  # fmt: skip
# What `math` computes in another way, and why.
APART = {
    "erf": "NumPy has none",
    "erfc": "NumPy has none",
    "remainder": "NumPy rounds the quotient down, math.remainder to the nearest",
}
TWO = ("arctan2", "copysign", "divide", "fmod", "hypot", "logaddexp", "logaddexp2",
       "nextafter", "remainder")  # fmt: skip


def same(found, expected, name):
    """Equal but for the last place, in which the functions of two libraries differ."""
    eps = np.finfo(float).eps
    # Near 1 the value of tanh is rounded, and 1 - z² adds as much to (1 - z)(1 + z).
    atol = 4 * eps if name == "tanh" else 0.0
    np.testing.assert_allclose(found, expected, rtol=8 * eps, atol=atol)


def points(name, count=COUNT):
    low, high = INSIDE.get(name, (-3.0, 3.0))
    rng = np.random.default_rng(7)
    shape = (2, count) if name in TWO else (1, count)
    return rng.uniform(low, high, shape)


def value(name, *xs):
    return getattr(np, name)(*xs)


def of_numbers(name):
    return getattr(math, SHORT.get(name, name), None)


CURVES_AND_TWO = [*CURVES, *TWO]
IN_MATH = [
    name
    for name in CURVES_AND_TWO
    if of_numbers(name) is not None and name not in APART
]


@pytest.mark.parametrize("name", IN_MATH)
def test_math_has_the_partials_of_numpy(name):
    xs = points(name)
    expected = FORMULAS[name].partials(value(name, *xs), *xs)
    numbers = in_namespace(FORMULAS[name], MATH)
    found = [numbers(of_numbers(name)(*x), *x) for x in xs.T.tolist()]
    for column, partial in zip(zip(*found, strict=True), expected, strict=True):
        if isinstance(partial, rc.AbstractZero):
            assert set(map(type, column)) == {type(partial)}
        else:
            same(column, np.broadcast_to(partial, COUNT), name)


COMPLEX = [name for name in CURVES if FORMULAS[name].holomorphic]
COMPLEX = [name for name in COMPLEX if hasattr(cmath, SHORT.get(name, name))]


@pytest.mark.parametrize("name", COMPLEX)
def test_cmath_has_the_partials_of_numpy(name):
    f = getattr(cmath, SHORT.get(name, name))
    zs = points(name)[0] + 1j * points(name)[0][::-1]
    expected = FORMULAS[name].partials(getattr(np, name)(zs), zs)[0]
    numbers = in_namespace(FORMULAS[name], CMATH)
    found = [numbers(f(z), z)[0] for z in zs.tolist()]
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=0.0)


FRAMEWORKS = [
    name
    for name in CURVES_AND_TWO
    if FORMULAS[name].runs_in_frameworks and FORMULAS[name].functions
]


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_frameworks_have_the_partials_of_numpy(name):
    xs = points(name)
    y = value(name, *xs)
    expected = FORMULAS[name].partials(y, *xs)
    found = in_framework(FORMULAS[name])(np, y, *xs)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-14, atol=0.0)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", CURVES)
def test_written_code_has_the_formula(name):
    f = getattr(np, name)
    (x,) = points(name)
    y, dz = value(name, x), np.linspace(-1.0, 2.0, COUNT)
    expected = dz * FORMULAS[name].partials(y, x)[0]
    texts = {pull_of(f, "np"), QUICKER.get(f, pull_of(f, "np"))}
    for text in texts:
        found = evaluated(text, x, y, dz)
        same(found, expected, name)
    if of_numbers(name) is None:
        return
    ys = [of_numbers(name)(at) for at in x.tolist()]
    triples = zip(x.tolist(), ys, dz.tolist(), strict=True)
    found = [evaluated(pull_of(f, "math"), *three) for three in triples]
    same(found, expected, name)


def evaluated(text, x, y, dz):
    code = text.replace("{0}", "(x)").replace("{z}", "(y)").replace("{dz}", "(dz)")
    return eval(code, HELPERS, {"x": x, "y": y, "dz": dz})


@pytest.mark.parametrize("f", UNARY, ids=repr)
def test_the_fast_tape_has_the_partials_of_numpy(f):
    rule = UNARY[f]
    rule.read_formula()
    (x,) = points(f.__name__)
    y = value(f.__name__, x)
    expected = FORMULAS[f.__name__].partials(y, x)[0]
    at = y if rule.result else x
    same(rule.partial(at), expected, f.__name__)
    same(rule.of_array(at.copy()), expected, f.__name__)
    numbers = [rule.of_number(t) for t in at.tolist()]
    same(numbers, expected, f.__name__)


def declared(f):
    """The code under the rules of a function, without what wraps it."""
    partials = DECLARED[f][0]
    while hasattr(partials, "__wrapped__"):
        partials = partials.__wrapped__
    return partials.__code__


# `log_to_base` is a part of `log` in `math` and `cmath`.
@pytest.mark.parametrize("name", sorted({*FORMULAS} - {"log_to_base"}))
def test_the_pack_is_declared_by_the_formula(name):
    """In NumPy, `math` and `cmath`: one text, whoever runs it."""
    functions = [
        getattr(module, spelling, None)
        for module in (np, math, cmath)
        for spelling in (name, SHORT.get(name, name))
    ]
    ours = {f for f in functions if f is not None and f in DECLARED}
    ours -= {math.log, cmath.log}  # which take a base
    # Whole numbers in Python, floats in NumPy.
    ours = {f for f in ours if DECLARED[f][0] is not constant}
    assert ours
    assert {declared(f) for f in ours} == {FORMULAS[name].partials.__code__}


def test_a_formula_in_another_namespace_keeps_its_name_and_place():
    sin = in_namespace(FORMULAS["sin"], MATH)
    assert isinstance(sin, types.FunctionType)
    assert sin.__qualname__ == "sin_partials"
    assert "formulas.py" in rc.explain(math.sin, 1.0)


@pytest.mark.parametrize("x", [1e200, -1e200])
def test_large_numbers_do_not_overflow_in_math(x):
    _, pullback = rc.rrule(math.asinh, x)
    np.testing.assert_allclose(pullback(1.0)[1], 1e-200, rtol=1e-14)


@pytest.mark.parametrize("f", [math.atan2, np.arctan2])
def test_the_angle_at_the_origin_is_undefined(f):
    _, pullback = rc.rrule(f, 0.0, 0.0)
    assert all(map(math.isnan, pullback(1.0)[1:]))
