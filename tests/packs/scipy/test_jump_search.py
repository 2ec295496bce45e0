"""Where a function jumps: found in every way of writing it, and in no smooth one."""

import math

import numpy as np
import pytest
import scipy.integrate
import scipy.special

import rules_core as rc
from rules_autodiff import grad, jvp
from rules_scipy.integrate._jumps import jump_at_end, jumps, rows_of
from rules_scipy.integrate._panels import panels_between, panels_of

P = 0.3712  # where jumps and steep places are
SMALL = 1e-7


def search(f, low=0.0, high=1.0, tolerance=1.49e-8, ends=True):
    """The jumps between the nodes of `quad`, and how often both called `f`."""
    nodes, count = [], 0

    def seen(t):
        nodes.append(t)
        return f(t)

    given = {"epsabs": tolerance, "epsrel": tolerance, "limit": 200, "full_output": 1}
    scipy.integrate.quad(seen, low, high, **given)

    def value(t):
        nonlocal count
        count += 1
        return np.array([f(t)])

    panels = panels_of([*nodes, low, high] if ends else nodes)
    return jumps(rows_of(value), panels, SMALL), count, len(set(nodes))


def divided(t):
    return (t - P) / abs(t - P)  # Python's division by zero


JUMPS = {
    "where": lambda t: np.where(t < P, 1.0, 2.0),
    "branch": lambda t: 1 if t < P else 2,
    "a comparison as a number": lambda t: 1.0 + (t >= P),
    "sign, with its 0": lambda t: np.sign(t - P),
    "heaviside": lambda t: np.heaviside(t - P, 0.5),
    "a division": divided,
    "a division by a root": lambda t: (t - P) / np.sqrt((t - P) ** 2),
    "arctan of a pole": lambda t: np.arctan(1.0 / (np.float64(t) - P)),
    "floor": lambda t: np.floor(t - P),
    "mod": lambda t: (t - P) % 1.0,
    "searchsorted": lambda t: [1.0, 2.0][np.searchsorted([P], t)],
    "copysign": lambda t: math.copysign(1.0, t - P),
    "among kinks": lambda t: abs(t - 0.5) + (t < P),
    "times a singular function": lambda t: (t < P) / math.sqrt(t),
    "beside a singular function": lambda t: 1 / math.sqrt(t) + (t < P),
    "beside a very singular one": lambda t: t**-0.9 + (t < P),
    "beside a logarithm": lambda t: math.log(t) + 1e-3 * (t < P),
    "beside a peak": lambda t: 1e6 * math.exp(-(((t - 0.2) / 1e-3) ** 2)) + (t < P),
    "beside a square root": lambda t: abs(t - P) ** 0.5 + (t < P),
    "beside a jump that is larger": lambda t: 100.0 * (t > P + 1e-9) + (t < P),
    "steeper than numbers": lambda t: math.tanh((t - P) * 1e18),
}


@pytest.mark.parametrize("name", JUMPS)
def test_a_jump_is_found(name):
    f = JUMPS[name]
    is_singular = "singular" in name or name == "beside a logarithm"
    with np.errstate(divide="ignore", invalid="ignore"):
        found = search(f, ends=not is_singular)[0]
    assert any(j.before <= P <= j.after < j.before + 1e-15 for j in found)


@pytest.mark.parametrize("size", [1e-6, 1e-4, 1e-2])
@pytest.mark.parametrize("tolerance", [1e-2, 1e-5, 1e-10])
def test_a_small_jump_is_found_with_any_tolerance(size, tolerance):
    found = search(lambda t: math.exp(t) + size * (t < P), tolerance=tolerance)[0]
    assert [j.before for j in found] == [pytest.approx(P, abs=1e-15)]
    np.testing.assert_allclose(found[0].size, size, rtol=1e-3)


@pytest.mark.parametrize("place", [1e-9, 2e-3, 1 / 3, 0.5, 0.998, 1.0 - 1e-12])
def test_a_jump_is_found_anywhere(place):
    assert len(search(lambda t: t + (t > place), tolerance=1e-2)[0]) == 1


def test_many_jumps_are_found():
    places = [j.before for j in search(lambda t: np.round(20 * t), tolerance=1e-2)[0]]
    np.testing.assert_allclose(sorted(places), (np.arange(20) + 0.5) / 20, atol=1e-15)


STEEP = {"tanh": math.tanh, "erf": math.erf, "ramp": lambda x: min(max(x, -1), 1)}


@pytest.mark.parametrize("width", [1e-6, 1e-9, 1e-12, 1e-15])
@pytest.mark.parametrize("name", STEEP)
def test_a_place_that_is_steep_between_two_nodes_counts_as_a_jump(width, name):
    tolerance = 1e-3 if width > 1e-12 else 1.49e-8
    found = search(lambda t: STEEP[name]((t - P) / width), tolerance=tolerance)[0]
    assert len(found) == 1
    assert found[0].before - 3 * width <= P <= found[0].after + 3 * width


SMOOTH = {
    "exp": math.exp,
    "tanh": lambda t: math.tanh(100 * (t - P)),
    "a steep tanh": lambda t: math.tanh(1e3 * (t - P)),
    "erf": lambda t: math.erf(1e3 * (t - P)),
    "softplus": lambda t: np.logaddexp(0.0, 100 * (t - P)),
    "a wave": lambda t: math.sin(40 * t),
    "a short wave": lambda t: math.sin(400 * t),
    "a pole beyond the end": lambda t: 1 / (1.001 - t),
    "a narrow peak": lambda t: 1 / (1 + ((t - P) / 1e-2) ** 2),
    "a flat function": lambda t: math.exp(-1 / t) if t > 0 else 0.0,
    "a quotient of zeros": lambda t: math.expm1(t) / t if t > 0 else 1.0,
    "a constant": lambda t: 1,
    "a Bessel function": lambda t: scipy.special.jv(2, 30 * t),
    "a root at the end": math.sqrt,
    "a kink": lambda t: abs(t - P),
    "a kink of the slope": lambda t: max(t - P, 0.0) ** 2,
    "a power": lambda t: abs(t - P) ** 1.5,
    "a root": lambda t: abs(t - P) ** 0.5,
}


@pytest.mark.parametrize("tolerance", [1e-3, 1e-8])
@pytest.mark.parametrize("name", SMOOTH)
def test_what_is_continuous_has_no_jump(name, tolerance):
    found, count, nodes = search(SMOOTH[name], tolerance=tolerance)
    assert found == []
    if name in ("exp", "tanh", "a wave", "a constant"):
        assert count < 8 * nodes  # what is analytic is recognised soon


def test_rounding_is_no_jump():
    f = lambda t: (1.0 + 1e-6 * math.sin(t)) - 1.0  # exact to ten digits
    assert search(f)[0] == []


def test_numbers_of_single_precision_are_no_jumps():
    f = lambda t: np.stack([np.sin(t.astype(np.float32))], axis=-1)
    assert jumps(f, panels_of(np.linspace(0.0, 1.0, 40)), SMALL) == []


def test_each_component_has_its_own_scale():
    f = lambda t: np.array([1e6 * math.exp(t), 1e-6 * (t < P)])
    (found,) = jumps(rows_of(f), panels_of(np.linspace(0.0, 1.0, 40)), SMALL)
    np.testing.assert_allclose(found.size, [0.0, 1e-6], atol=1e-15)


def test_a_path_that_bends_at_nodes_has_no_jump():
    nodes = np.linspace(0.0, 1.0, 11)
    f = lambda t: np.array([abs(t - nodes).min() ** 2])
    assert jumps(rows_of(f), panels_between(nodes), SMALL) == []


AT_ENDS = {
    "a step": (lambda t: 1.0 if t < 1.0 else 2.0, True),
    "a step behind": (lambda t: 1.0 if t <= 1.0 else 2.0, False),
    "a sign": (lambda t: np.sign(1.0 - t), True),
    "a root": (lambda t: math.sqrt(1.0 - t), False),
    "a pole": (lambda t: 1.0 / (1.0 - t), False),
    "a logarithm": (lambda t: math.log(1.0 - t), False),
    "a kink": (lambda t: abs(1.0 - t), False),
}


@pytest.mark.parametrize("name", AT_ENDS)
def test_jumps_at_ends(name):
    f, jumped = AT_ENDS[name]
    rows = rows_of(lambda t: np.array([f(t)]))
    assert (jump_at_end(rows, 1.0, 0.0, SMALL) is not None) is jumped


# limits


def quad(f, a, b):
    return scipy.integrate.quad(f, a, b, epsabs=1e-2, epsrel=1e-2)[0]


def step(p):
    return lambda t: np.where(t < p, 1.0, 2.0)


AT_LIMITS = {
    "a jump that moves with the limit": lambda p: quad(step(p), 0.0, p),
    "both parts": lambda p: quad(step(p), 0.0, p) + quad(step(p), p, 1.0),
    "a jump that rests": lambda p: quad(step(0.3), 0.0, p),
    "a sign": lambda p: quad(lambda t: np.sign(t - p), p, 1.0),
}


def forwards(f):
    return lambda p: jvp(f, (p,), (1.0,))[1]


@pytest.mark.parametrize("mode", [grad, forwards], ids=["reverse", "forward"])
@pytest.mark.parametrize("name", AT_LIMITS)
def test_a_function_that_jumps_at_a_limit_has_no_derivative_there(name, mode):
    """The function at the limit is not that beside it."""
    with pytest.raises(rc.DerivativeNotImplemented, match="jump"):
        mode(AT_LIMITS[name])(0.3)


def test_parts_with_functions_of_one_side_have_derivatives():
    f = lambda p: quad(lambda t: 1.0 + 0 * t, 0.0, p) + quad(lambda t: 2.0, p, 1.0)
    np.testing.assert_allclose(grad(f)(0.3), -1.0)
    beside = lambda p: quad(step(0.3), 0.0, p)
    np.testing.assert_allclose(grad(beside)(0.300001), 2.0)
    np.testing.assert_allclose(grad(beside)(0.299999), 1.0)


def test_limits_at_which_a_function_is_infinite():
    """Warnings are errors here: SciPy does not call the function there."""
    f = lambda p: quad(lambda t: np.exp(p * t) / np.sqrt(t), 0.0, 1.0)
    change = f(0.31) - f(0.3)
    np.testing.assert_allclose(grad(f)(0.305), 100 * change, rtol=1e-3)
    np.testing.assert_allclose(grad(lambda p: quad(np.log, 0.0, p))(0.3), np.log(0.3))
    with pytest.raises(rc.DerivativeNotImplemented, match="jump"):
        grad(lambda p: quad(lambda t: 1 / np.sqrt(t) + (t < p), 0.0, 1.0))(0.3)


@pytest.mark.full
def test_integrals_in_integrals_are_exact_to_a_tolerance_only():
    def f(p):
        inner = lambda x: quad(lambda y: np.sqrt(y + 1e-3 * x) * p, 0.0, 1.0)
        return scipy.integrate.quad(inner, 0.0, 1.0, epsrel=1e-3)[0]

    np.testing.assert_allclose(grad(f)(0.3), f(1.0), rtol=1e-5)


@pytest.mark.parametrize("p", [0.0, 0.4, -1.3])
def test_equal_limits(p):
    f = lambda q: quad(lambda t: np.cos(q * t), q, p) + quad(np.exp, p, q)
    np.testing.assert_allclose(grad(f)(p), np.exp(p) - np.cos(p * p))
