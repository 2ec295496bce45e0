"""`jvp`, `jacfwd` and `linearize` by written code, and where they leave it."""

import linecache
import math
import warnings

import numpy as np
import pytest

from rules_autodiff import (
    Const,
    UnsupportedProgram,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
)
from rules_autodiff.straight._unit import unit
from rules_core import NoTangent, frule, rrule, scalar_rule

X, V = np.array([0.4, -1.2, 0.7]), np.array([1.0, 0.5, -2.0])


def wave(x, a):
    y = np.zeros(len(x))
    total = 0.0
    for i in range(len(x)):
        y[i] = x[i] * math.sin(a) + total
        total = total + y[i] * a
    y[1:] -= x[:-1] * a
    return np.tanh(y).sum() + x @ y, y * a


def same(one, other):
    if isinstance(one, tuple):
        assert type(other) is tuple
        for x, y in zip(one, other, strict=True):
            same(x, y)
        return
    assert type(one) is type(other)
    assert np.shape(one) == np.shape(other)
    np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("tangents", [(V, 0.5), (V, None), (NoTangent(), 0.5)])
def test_the_same_by_both_ways(tangents):
    same(
        jvp(wave, (X, 0.7), tangents, tier="straight"),
        jvp(wave, (X, 0.7), tangents, tier="tape"),
    )


@pytest.mark.parametrize("argnums", [0, 1, (0, 1), (1, 0)])
@pytest.mark.parametrize("chunk_size", [None, 1, 3])
def test_jacobians(argnums, chunk_size):
    found = jacfwd(wave, argnums, chunk_size=chunk_size, tier="straight")(X, 0.7)
    same(found, jacfwd(wave, argnums, tier="tape")(X, 0.7))
    same(found, jacrev(wave, argnums)(X, 0.7))


def test_linearize():
    given = X.copy()
    y, f_jvp = linearize(wave, given, 0.7, tier="straight")
    given[0] = 9.0  # the map is that at the arguments of the call
    for tangents in ((V, 0.5), (V, None), (None, 2.0)):
        expected = jvp(wave, (X, 0.7), tangents, tier="tape")
        same((y, f_jvp(*tangents)), expected)


@pytest.mark.usefixtures("at_once")
def test_linear_maps_inside_other_derivatives():
    _, f_jvp = linearize(wave, X, 0.7)
    assert f_jvp.passed is not None
    inner = jvp(lambda v: f_jvp(v, 0.5)[0], (V,), (X,))
    np.testing.assert_allclose(inner[1], f_jvp(X, 0.0)[0])


@pytest.mark.usefixtures("at_once")
def test_maps_outlive_the_cache_of_lines():
    def product(x):
        return np.sin(x) * np.sqrt(x) + np.exp(-x)

    x = np.array([0.3, 1.2])
    _, f_jvp = linearize(product, x)
    linecache.clearcache()
    y, dy = jvp(lambda v: f_jvp(v) ** 2, (x,), (np.ones(2),))
    np.testing.assert_allclose(dy, 2.0 * f_jvp(x) * f_jvp(np.ones(2)))
    np.testing.assert_allclose(y, f_jvp(x) ** 2)


@pytest.mark.usefixtures("at_once")
def test_hooks_are_not_asked(monkeypatch):
    from rules_autodiff._forward.forward import ForwardRun

    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr(ForwardRun, "__init__", refuse)
    jvp(wave, (X, 0.7), (V, 0.5))
    jacfwd(wave)(X, 0.7)


def test_why_there_is_no_code():
    def asks(x):
        return x * len(globals())

    with pytest.raises(UnsupportedProgram, match="runs it by hooks"):
        jvp(asks, (2.0,), (1.0,), tier="straight")
    with pytest.raises(UnsupportedProgram, match="no argument has a tangent"):
        jvp(wave, (X, 0.7), (None, None), tier="straight")
    with pytest.raises(ValueError, match="tier must be"):
        jvp(wave, (X, 0.7), (V, 1.0), tier="fast")
    with pytest.raises(ValueError, match="tier must be"):
        jacfwd(wave, tier="fast")


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    ("f", "x", "wanted"),
    [
        (lambda x: math.sqrt(x) * 0.0, 0.0, None),
        (lambda x: x**0.5 if x > 0 else x * 2, 0.0, 2.0),
        (lambda x: math.hypot(x, x), 0.0, 0.0),
        (lambda x: abs(x), 0.0, 0.0),
        (lambda x: max(x, 0.0), 0.0, 0.5),
        (lambda x: math.sqrt(abs(x) + x), -1.0, math.nan),
    ],
    ids=["infinite", "power", "hypot", "abs", "max", "cancelled"],
)
def test_at_kinks_as_the_hooks(f, x, wanted):
    expected = jvp(f, (x,), (1.0,), tier="tape")
    np.testing.assert_equal(jvp(f, (x,), (1.0,)), expected)
    if wanted is not None:
        np.testing.assert_equal(expected[1], wanted)


@pytest.mark.usefixtures("at_once")
def test_errors_and_warnings_of_the_program():
    def divides(x):
        try:
            y = 1.0 / x
        except ZeroDivisionError:
            y = x * 3.0
        return y

    assert jvp(divides, (0.0,), (1.0,)) == (0.0, 3.0)
    assert jvp(divides, (2.0,), (1.0,)) == (0.5, -0.25)

    def root(x):
        try:
            y = math.sqrt(x)  # at zero only the derivative raises
        except (ValueError, ZeroDivisionError):
            y = x * 3.0
        return y

    with np.errstate(all="ignore"):
        assert jvp(root, (0.0,), (1.0,)) == jvp(root, (0.0,), (1.0,), tier="tape")

    def logs(x):
        return np.log(x)

    with pytest.warns(RuntimeWarning, match="divide by zero"):
        jvp(logs, (np.array([0.0, 1.0]),), (np.ones(2),))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jvp(logs, (np.array([0.5, 1.0]),), (np.ones(2),))
    with pytest.raises(ValueError, match="math domain error"):
        jvp(lambda x: math.log(x), (-1.0,), (1.0,))


def fills(x, out):
    out[0] = x[0] * x[1]
    out *= 2.0
    return out @ x


@pytest.mark.usefixtures("at_once")
def test_writes_are_as_by_hooks():
    for tier in ("auto", "tape"):
        x, out = np.array([2.0, 3.0]), np.ones(2)
        jvp(fills, (x, out), (np.ones(2), np.zeros(2)), tier=tier)
        assert out.tolist() == [12.0, 2.0]
        out = np.ones(2)
        jacfwd(fills, (0, 1), tier=tier)(x, out)
        assert out.tolist() == [1.0, 1.0]
        jacfwd(fills, tier=tier)(x, out)
        assert out.tolist() == [12.0, 2.0]


@pytest.mark.usefixtures("at_once")
def test_results_are_in_memory_of_their_own():
    def same_twice(x):
        y = x * 1.0
        return y, y

    x = X.copy()
    y, dy = jvp(lambda x: x, (x,), (V,))
    assert y is not x
    assert not np.shares_memory(dy, V)
    (one, other), (d_one, d_other) = jvp(same_twice, (x,), (V,))
    d_one[0] = 9.0
    assert d_other[0] == V[0]
    assert one[0] == other[0]


@pytest.mark.usefixtures("alone", "at_once")
def test_rules_are_called():
    def cube(x):
        return x * x * x

    def cube_partials(y, x):
        return (30.0 * x * x,)  # tenfold, so that it is seen

    scalar_rule(cube, cube_partials)

    def program(x):
        return cube(x) + x

    assert jvp(program, (2.0,), (1.0,), tier="straight") == (10.0, 121.0)
    _, dy = jvp(program, (X,), (V,), tier="straight")
    np.testing.assert_allclose(dy, (30 * X * X + 1) * V)
    np.testing.assert_allclose(jacfwd(program)(X), np.diag(30 * X * X + 1))


@pytest.mark.usefixtures("alone")
def test_frules_are_called_and_rules_of_later():
    def twice(x):
        return x * 2.0

    def program(x):
        return twice(x) * x

    assert jvp(program, (3.0,), (1.0,), tier="straight") == (18.0, 12.0)

    @frule.define(twice)
    def twice_frule(tangents, x):
        return x * 2.0, tangents[1] * 20.0

    for _ in range(4):
        assert jvp(program, (3.0,), (1.0,)) == (18.0, 66.0)

    def other(x):
        return twice(x) * x

    for _ in range(3):  # what the rule returns is learned first
        jvp(other, (3.0,), (1.0,))
    assert jvp(other, (3.0,), (1.0,), tier="straight") == (18.0, 66.0)
    assert jvp(other, (X,), (V,))[1] == pytest.approx((20 * X + 2 * X) * V)


@pytest.mark.usefixtures("alone", "at_once")
def test_a_function_with_an_rrule_alone_is_transposed_by_hooks():
    def twice(x):
        return x * 2.0

    @rrule.define(twice)
    def twice_rrule(x):
        return x * 2.0, lambda dy: (NoTangent(), dy * 20.0)

    for _ in range(3):
        assert jvp(lambda x: twice(x) * x, (3.0,), (1.0,)) == (18.0, 66.0)


def left_to_a_tape(x, scale=1.0, shift=0.0):
    names = {"x", "y"}  # a set is not in the language
    return x * scale + shift * len(names), x * x


def calls_it(x):
    y, z = left_to_a_tape(x)
    for _ in range(3):
        y = y * 1.1 + z
    return np.sin(y) + np.exp(-z) * y - z * 0.5


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("x", [0.7, X], ids=["number", "array"])
def test_a_call_that_is_not_written_out_leaves_the_program_to_hooks(x, monkeypatch):
    monkeypatch.setattr(unit, "WORTH", 0)
    dx = 1.0 if x is not X else V
    expected = jvp(calls_it, (x,), (dx,), tier="tape")
    for _ in range(4):
        vjp(calls_it, x)
        same(jvp(calls_it, (x,), (dx,)), expected)
        jacfwd(calls_it)(x)
        _, f_jvp = linearize(calls_it, x)
        same(f_jvp(dx), expected[1])
    with pytest.raises(UnsupportedProgram):
        jvp(calls_it, (x,), (dx,), tier="straight")


@pytest.mark.usefixtures("at_once")
def test_constants_keywords_and_levels():
    def f(x, c=2.0):
        return x * c

    assert jvp(f, (3.0, Const(2.0)), (1.0, None)) == (6.0, 2.0)
    assert jvp(f, (3.0,), (1.0,)) == (6.0, 2.0)
    np.testing.assert_allclose(jacfwd(f)(X, c=3.0), 3.0 * np.eye(3))
    assert jvp(lambda x: (x * x, "aux"), (3.0,), (1.0,), has_aux=True) == (
        9.0,
        6.0,
        "aux",
    )
    assert jvp(grad(lambda x: x**3), (2.0,), (1.0,)) == (12.0, 12.0)
    assert jvp(lambda x: jvp(lambda y: y**3, (x,), (1.0,))[1], (2.0,), (1.0,)) == (
        12.0,
        12.0,
    )


# second derivatives: the tangent, written out, is read again


def energy(x, a):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = math.exp(-x[i]) * x[i - 1] * a
    y[1:] += x[:-1] ** 3
    if y.sum() > 0:
        return np.sqrt(y @ y + 1) + np.maximum(x, a) @ x
    return np.linalg.norm(y) + np.tanh(x).mean() * a**2.5


@pytest.mark.parametrize("x", [X, -X])
def test_second_derivatives(x):
    tangents = (V, 0.5)
    found = hvp(energy, (x, 0.7), tangents, tier="straight")
    same(found, hvp(energy, (x, 0.7), tangents, tier="tape"))
    for argnums in (0, 1, (0, 1), (1, 0)):
        whole = hessian(energy, argnums, tier="straight")(x, 0.7)
        same(whole, hessian(energy, argnums, tier="tape")(x, 0.7))


@pytest.mark.usefixtures("at_once")
def test_second_derivatives_that_only_hooks_have():
    for f, x in (
        (lambda x: np.linalg.norm(x), np.zeros(2)),
        (lambda x: np.sum(x**1.5), np.array([0.0, 1.0])),
        (lambda x: np.prod(x), np.array([2.0, 3.0])),
    ):
        with np.errstate(all="ignore"):
            expected = hvp(f, (x,), (np.ones(2),), tier="tape")
            np.testing.assert_array_equal(hvp(f, (x,), (np.ones(2),)), expected)
    with pytest.raises(UnsupportedProgram, match="its result is no number"):
        hvp(lambda x: x * x, (X,), (V,), tier="straight")


@pytest.mark.usefixtures("alone", "at_once")
def test_rules_of_later_are_seen_by_second_derivatives():
    def twice(x):
        return x * 2.0

    def program(x):
        return twice(x) * x

    assert hvp(program, (3.0,), (1.0,)) == 4.0
    scalar_rule(twice, lambda y, x: (20.0,))
    for _ in range(3):
        assert hvp(program, (3.0,), (1.0,)) == hvp(program, (3.0,), (1.0,), tier="tape")
