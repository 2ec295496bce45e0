"""A zero that a partial derivative made, before an infinite one: NaN in every mode.

Outer functions have an infinite slope at the value of the inner functions at zero, and
the slope of those is zero there, truly or by convention.
"""

import math

import numpy as np
import pytest
from scipy import special

from rules_autodiff import (
    UnsupportedProgram,
    derive_frule,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
)
from rules_core import NoTangent, frule, primitive

OUTER = {
    "sqrt": lambda u: np.sqrt(u),
    "power": lambda u: u**0.7,
    "np.power": lambda u: np.power(u, 0.5),
    "float_power": lambda u: np.float_power(u, 0.25),
    "reciprocal": lambda u: np.reciprocal(u),
    "quotient": lambda u: np.divide(1.0, u),
    "log": lambda u: np.log(u),
    "log2": lambda u: np.log2(u),
    "log10": lambda u: np.log10(u),
    "log1p": lambda u: np.log1p(u - 1.0),
    "cbrt": lambda u: np.cbrt(u),
    "arccos": lambda u: np.arccos(1.0 - u),
    "arcsin": lambda u: np.arcsin(1.0 - u),
    "arccosh": lambda u: np.arccosh(1.0 + u),
    "arctanh": lambda u: np.arctanh(1.0 - u),
    "xlogy": lambda u: special.xlogy(u, u),
    "entr": lambda u: special.entr(u),
    "ndtri": lambda u: special.ndtri(1.0 - u),
    "ellipk": lambda u: special.ellipk(1.0 - u),
    "of a list": lambda u: np.sqrt([u, 1.0])[0],
}
INNER = {
    "abs": lambda x: abs(x),
    "np.abs": lambda x: np.abs(x),
    "fabs": lambda x: np.fabs(x),
    "power": lambda x: x**2,
    "cube": lambda x: x**3,
    "square": lambda x: np.square(x),
    "product": lambda x: x * x,
    "maximum": lambda x: np.maximum(x, -x),
    "cos": lambda x: 1.0 - np.cos(x),
    "cosh": lambda x: np.cosh(x) - 1.0,
    "norm": lambda x: np.linalg.norm(np.array([x, x])),
    "hypot": lambda x: np.hypot(x, x),
    "sinc": lambda x: 1.0 - np.sinc(x),
    "where": lambda x: np.where(x >= 0.0, x, -x) * x,
    "clip": lambda x: np.clip(x, 0.0, 1.0) ** 2,
    "zero": lambda x: x * 0.0,
    "cancelled": lambda x: x - x,
    "sum": lambda x: np.sum(np.array([x, 2.0 * x]) ** 2),
    "dot": lambda x: np.array([x, x]) @ np.array([x, x]),
    "written": lambda x: written(x),
}
ONE = np.array([0.0, 1.5])
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def written(x):
    buffer = np.zeros(2)
    buffer[0] = x * x
    return buffer[0]


def ways(f, x):
    """The derivative by every mode, at the third call too."""
    for tier in ("tape", "auto"):
        for _ in range(1 if tier == "tape" else 3):
            yield grad(f, tier=tier)(x)
            yield jvp(f, (x,), (1.0,), tier=tier)[1]
    yield jacfwd(f)(x)
    yield jacrev(f)(x)
    yield linearize(f, x)[1](1.0)


@pytest.mark.covering(every=47)
@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("outer", OUTER)
def test_all_modes_give_nan(outer, inner):
    g, h = OUTER[outer], INNER[inner]
    found = list(ways(lambda x: g(np.float64(1.0) * h(x)), 0.0))
    if inner == "zero":  # of a zero that stays, as forward mode knows
        found = [dx for dx in found if dx != 0.0]
    assert np.isnan(found).all(), found


@pytest.mark.covering(every=47)
@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("outer", OUTER)
def test_a_zero_of_what_does_not_move_is_strong(outer, inner):
    """Beside it, in one array, an entry that moves."""
    g, h = OUTER[outer], INNER[inner]

    def f(x):
        return g(np.float64(1.0) * h(x[0])) + 2.0 * x[1]

    def rows(x):
        return np.array([f(x), 3.0 * x[1]])

    with np.errstate(all="ignore"):
        assert jvp(f, (ONE,), (np.array([0.0, 1.0]),))[1] == 2.0
        found = jacfwd(rows)(ONE)
    np.testing.assert_array_equal(found[:, 1], [2.0, 3.0])
    assert np.isnan(found[0, 0]) or inner == "zero"
    assert found[1, 0] == 0.0


def composed(g, h):
    return lambda x: g(h(x))


ENTRYWISE = ("sqrt", "power", "log", "cbrt", "arccos", "arctanh", "xlogy", "entr")


@pytest.mark.covering(every=4)
@pytest.mark.parametrize("outer", ENTRYWISE)
def test_jacobians_of_arrays_are_alike(outer):
    x = np.array([0.0, 0.3, 0.6])
    for inner in (lambda x: x * 1.0, np.abs, np.square):
        f = composed(OUTER[outer], inner)
        one, other = jacfwd(f)(x), jacrev(f)(x)
        np.testing.assert_allclose(one, other, rtol=1e-12)
        assert not one[0, 1:].any()
        assert not one[1:, 0].any()
        assert not np.isfinite(one[0, 0])


SELECTED = {
    "where": lambda x: np.sqrt(np.where(x > 0.0, x, 0.0)),
    "maximum": lambda x: np.sqrt(np.maximum(x, 0.0)),
    "mask": lambda x: np.sqrt(x * (x > 0.0)),
    "max": lambda x: np.sqrt(np.max(np.stack([x, 0.0 * x + 0.0]) * 1.0, axis=0)),
    "constant": lambda x: np.sqrt(np.zeros(2)) + x,
    "stored": lambda x: np.sqrt(stored(x)),
}


def stored(x):
    y = x * x
    y[y > 0.0] = 0.0
    return y


@pytest.mark.parametrize("name", SELECTED)
def test_selections_do_not_move(name):
    f, x = SELECTED[name], np.array([-1.0, -2.0])
    with np.errstate(all="ignore"):
        want = np.eye(2) if name == "constant" else np.zeros((2, 2))
        if name == "max":  # of a product with zero
            x = np.array([4.0, 4.0])
            want = np.eye(2) / 4.0
        np.testing.assert_array_equal(jacfwd(f)(x), want)
        np.testing.assert_array_equal(jacrev(f)(x), want)


def test_second_derivatives():
    x = np.array([0.0, 1.0, 4.0])

    def f(x):
        return np.sum(np.abs(x) ** 1.5)

    want = np.diag([np.nan, 0.75, 0.375])
    for tier in ("tape", "auto", "auto", "auto", "auto"):
        np.testing.assert_allclose(hessian(f, tier=tier)(x), want)
        np.testing.assert_allclose(
            hvp(f, (x,), (np.ones(3),), tier=tier), np.diag(want)
        )
        moving = np.array([0.0, 1.0, 1.0])
        np.testing.assert_allclose(hvp(f, (x,), (moving,), tier=tier), [0, 0.75, 0.375])
    assert math.isnan(hessian(lambda x: abs(x) ** 1.5)(0.0))
    assert math.isnan(jacfwd(grad(lambda x: abs(x) ** 1.5))(0.0))
    assert math.isnan(
        jvp(lambda x: jvp(np.sqrt, (x * x,), (2.0 * x,))[0], (0.0,), (1.0,))[1]
    )


ROOTS = {
    "math": lambda x: math.sqrt(abs(x)),
    "of a square": lambda x: math.sqrt(x * x),
    "numpy": lambda x: np.sqrt(abs(x)),
    "power": lambda x: abs(x) ** 0.5,
    "cbrt": lambda x: np.cbrt(abs(x)),
    "acos": lambda x: math.acos(1.0 - x * x),
}


@pytest.mark.covering(every=2)
@pytest.mark.parametrize("tier", ["tape", "auto"])
@pytest.mark.parametrize("name", ROOTS)
def test_second_derivatives_of_roots(name, tier):
    f = ROOTS[name]
    for _ in range(3):
        assert math.isnan(hessian(f, tier=tier)(0.0))
        assert math.isnan(hvp(f, (0.0,), (1.0,), tier=tier))
        assert math.isnan(jacfwd(jacfwd(f, tier=tier), tier=tier)(0.0))
        assert math.isnan(jacrev(jacfwd(f, tier=tier), tier=tier)(0.0))


@pytest.mark.parametrize(
    "f", [math.sqrt, np.sqrt, lambda x: x**0.5], ids=["math", "numpy", "power"]
)
def test_an_infinite_slope_is_no_constant(f):
    for second in (hessian(f), jacfwd(jacfwd(f)), jacrev(jacrev(f)), jacrev(jacfwd(f))):
        assert second(0.0) == -math.inf
    assert hessian(lambda x: 1.0 / x + f(x * 1.0) * 0.0)(2.0) == pytest.approx(0.25)


def test_infinities_of_what_moves_stay():
    for f in (np.sqrt, np.cbrt, lambda x: x**0.3):
        assert jvp(f, (0.0,), (2.0,))[1] == math.inf
    assert jvp(lambda x: np.sqrt(np.maximum(x, 0.0)), (0.0,), (1.0,))[1] == math.inf


def test_containers_and_functions_of_several_arguments():
    def f(p):
        return {"a": np.sqrt([abs(p["x"]), 4.0]), "b": (np.hypot(*p["v"]), [3])}

    found = jacfwd(f)({"x": 0.0, "v": (3.0, 4.0)})
    assert np.isnan(found["a"]["x"]).tolist() == [True, False]
    assert found["a"]["v"][0].tolist() == [0.0, 0.0]
    assert found["b"][0]["v"] == (0.6, 0.8)
    _, dy = jvp(lambda x, y: np.sqrt(x * y), (0.0, 2.0), (0.0, 1.0))
    assert dy == 0.0  # x stays
    _, dy = jvp(lambda x, y: np.sqrt(x * y), (0.0, 2.0), (1.0, 1.0))
    assert dy == math.inf
    assert jvp(lambda x, y: np.sqrt(x) * y, (0.0, 2.0), (0.0, 1.0))[1] == 0.0


def test_the_arguments_are_as_after_one_call():
    def f(x, seen):
        y = np.sqrt(np.abs(x))
        x[1] += 1.0
        seen.append(1)
        return y[0] + x[1]

    x, seen = np.array([0.0, 1.0]), []
    assert math.isnan(jvp(f, (x, seen), (np.ones(2), None))[1])
    assert x.tolist() == [0.0, 2.0]
    x = [0.0, 1.0]
    assert math.isnan(jvp(lambda x: f_of_list(x), (x,), ([1.0, 1.0],))[1])
    assert x == [0.0, 2.0]


def f_of_list(x):
    y = np.sqrt(abs(x[0]))
    x[1] = x[1] + 1.0
    return y + x[1]


def test_a_program_runs_once_unless_a_zero_met_infinity():
    calls = []

    def f(x):
        calls.append(1)
        return np.sqrt(np.abs(x)).sum()

    jvp(f, (np.array([1.0, 2.0]),), (np.array([0.0, 1.0]),), tier="tape")
    assert len(calls) == 1


def test_a_program_that_differs_each_time_is_an_error():
    numbers = iter(np.arange(1.0, 9.0))

    def f(x):
        return np.sqrt(np.abs(x)) + next(numbers)

    with pytest.raises(UnsupportedProgram, match="one value each time"):
        jvp(f, (0.0,), (1.0,))


def test_derived_rules():
    for f, wanted in ((np.abs, math.nan), (lambda x: x + 0.0, math.inf)):
        frule = derive_frule(composed(np.sqrt, f))
        for _ in range(3):
            _, dy = frule((NoTangent(), 1.0), 0.0)
            np.testing.assert_equal(float(dy), wanted)
            assert frule((NoTangent(), 0.0), 0.0)[1] == 0.0


@pytest.mark.full
def test_rules_of_solvers_pass_on_whether_a_value_moves():
    from scipy.integrate import quad

    def f(x, y):
        area = quad(lambda t: x * t, 0.0, 1.0)[0]
        return np.sqrt(np.float64(area) ** 2) + y

    assert jvp(f, (0.0, 1.0), (0.0, 1.0))[1] == 1.0
    assert math.isnan(jvp(f, (0.0, 1.0), (1.0, 0.0))[1])


@primitive
def root(x):
    return np.sqrt(x)


@frule.define(root)
def root_frule(tangents, x):
    y = root(x)
    return y, tangents[1] * 0.5 / y


AGAIN = {
    "abs": lambda x: np.sqrt(np.abs(x)),
    "square": lambda x: np.sqrt(x**2) * x,
    "weights": lambda x: np.sqrt(x) * np.array([0.0, 1.0]),
    "frule alone": lambda x: root(x) * np.array([0.0, 1.0]),
    "numbers": lambda x: np.stack([np.sqrt(x[0] * x[0]) * x[1], np.sqrt(x[1])]),
    "cosine": lambda x: np.cos(np.sqrt(x)) * x,
}


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("f", AGAIN.values(), ids=AGAIN)
def test_a_pullback_leaves_nothing_for_the_next_call(f, order):
    """After a second look at the zeros too, which may end in doubt."""
    x = np.array([0.0, 4.0])
    program = f if order == 1 else grad(lambda x: np.sum(f(x)))
    directions = [np.array(d) for d in ([1.0, 0.0], [0.0, 1.0], [1.0, 1.0])]
    with np.errstate(all="ignore"):
        fresh = [vjp(program, x)[1](d)[0] for d in directions]
        pullback = vjp(program, x)[1]
        for i in (0, 1, 2, 1, 0, 2, 2):
            np.testing.assert_array_equal(pullback(directions[i])[0], fresh[i])
