"""Rules that call back into the engine, to third order, in every mixture of modes."""

from itertools import product
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import UnsupportedProgram, grad
from rules_core import HasReverseMode, NoTangent, RuleConfig, ZeroTangent, rrule_via_ad
from rules_core.testing import isolated_rules
from tests.engine.modes import ALL, pushed
from tests.interop import callbacks
from tests.interop.callbacks import fixed_point
from tests.interop.test_callbacks_in_engine import PROGRAMS, X, integral

D = np.array([0.7, -0.4, 0.5])


BOTH = {"forward": pushed, "reverse": grad}


def mixtures(modes, order):
    return [
        pytest.param([modes[n] for n in reversed(names)], id="-".join(names))
        for names in product(modes, repeat=order)
    ]


THIRD = pytest.mark.parametrize("modes", mixtures(BOTH, 3))
SECOND = pytest.mark.parametrize("modes", mixtures(ALL, 2))


def derivative(f, modes):
    for mode in modes:
        f = mode(f)
    return f


def babylonian(a):
    """√a, the fixed point of Heron's step."""
    return fixed_point(lambda a, x: 0.5 * (x + a / x), a, 1.0)


def settled(a):
    """The `x` with `x = cos(a x)/4 + a/10`; `a` is captured as well."""

    def step(theta, x):
        return 0.25 * np.cos(theta["a"][0] * x) + 0.1 * a

    return fixed_point(step, {"a": [a]}, 0.5)


def settled_by_mpmath(a):
    return mpmath.findroot(lambda x: mpmath.cos(a * x) / 4 + a / 10 - x, 0.3)


@pytest.fixture(autouse=True)
def _quick_and_precise(monkeypatch):
    monkeypatch.setattr(callbacks, "MOST_STEPS", 12)  # they converge fast
    with mpmath.workdps(40):
        yield


@pytest.mark.covering(every=3)
@SECOND
def test_second_order_of_a_square_root(modes):
    assert derivative(babylonian, modes)(2.0) == pytest.approx(-0.25 * 2**-1.5)


@pytest.mark.covering(every=2)
@THIRD
def test_third_order_of_a_square_root(modes):
    assert derivative(babylonian, modes)(2.0) == pytest.approx(0.375 * 2**-2.5)


@pytest.mark.covering(every=8)
@SECOND
def test_second_order_of_a_fixed_point(modes):
    known = float(mpmath.diff(settled_by_mpmath, 0.9, 2))
    assert derivative(settled, modes)(0.9) == pytest.approx(known, rel=1e-9)


@pytest.mark.covering(every=8, start=1)
@THIRD
def test_third_order_of_a_fixed_point(modes):
    known = float(mpmath.diff(settled_by_mpmath, 0.9, 3))
    assert derivative(settled, modes)(0.9) == pytest.approx(known, rel=1e-9)


@pytest.mark.covering(every=13, start=9)
@THIRD
@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
def test_third_order_along_a_line(f, modes):
    """Against differences of second derivatives, which differences have shown right."""

    def along(t):
        return f(X + t * D)

    second, step = pushed(pushed(along)), 1e-4
    known = (second(step) - second(-step)) / (2 * step)
    assert derivative(along, modes)(0.0) == pytest.approx(known, rel=1e-5)


def laced(t, a):
    """exp(-a² t²) by way of a list, an array, a dict and an object of its own."""
    parts, row, table, box = [a * t], np.zeros(2), {}, SimpleNamespace(square=0.0)
    row[:] = parts[0]
    row[1] *= parts.pop()
    table["square"] = row[1]
    box.square = table["square"]
    return np.exp(-box.square)


@pytest.mark.covering(every=2)
@pytest.mark.parametrize("inner", BOTH.values(), ids=BOTH)
def test_pullbacks_of_what_writes_to_its_own(inner):
    """They are made again below a derivative whose forward pass is over."""

    def program(a):
        return integral(laced, 0.0, 0.7, a)

    known = mpmath.diff(
        lambda a: mpmath.quad(lambda t: mpmath.exp(-((a * t) ** 2)), [0, 0.7]), 0.9, 3
    )
    found = derivative(program, [inner, grad, grad])(0.9)
    assert found == pytest.approx(float(known), rel=1e-9)


STATE = [0.0]


def writes_a_global(t, a):
    STATE[0] = a * t
    return np.exp(-STATE[0])


def writes_what_it_captured():
    state = np.zeros(1)

    def integrand(t, a):
        state[0] += a * t
        return np.exp(-a * t)

    return integrand


@pytest.mark.covering(every=3)
@THIRD
@pytest.mark.parametrize("kind", ["captured", "global"])
def test_writes_that_others_see_are_refused(kind, modes):
    f = writes_a_global if kind == "global" else writes_what_it_captured()
    with pytest.raises(UnsupportedProgram, match="must not write to its arguments"):
        derivative(lambda a: integral(f, 0.0, 0.7, a), modes)(0.9)


def test_a_rule_that_is_wrong_at_second_order_alone_is_caught():
    """Its adjoint is a constant, so its own derivative lacks a term."""

    def half_right(f, theta, x0):
        return fixed_point(f, theta, x0)

    with isolated_rules():

        @rc.rrule.define(half_right, config=RuleConfig[HasReverseMode])
        def half_right_rrule(config, f, theta, x0):
            x = half_right(f, theta, x0)
            _, pullback_at_x = rrule_via_ad(config, f, theta, rc.ignore_derivatives(x))

            def half_right_pullback(dy):
                def adjoint(dy, w):
                    return dy + pullback_at_x(w)[2]

                w = fixed_point(adjoint, dy, dy)
                return NoTangent(), ZeroTangent(), pullback_at_x(w)[1], ZeroTangent()

            return x, half_right_pullback

        def f(a):
            return half_right(lambda a, x: 0.25 * np.cos(a * x), a, 0.5)

        def exact(a):
            return mpmath.findroot(lambda x: mpmath.cos(a * x) / 4 - x, 0.3)

        assert grad(f)(0.9) == pytest.approx(float(mpmath.diff(exact, 0.9)))
        wrong = grad(grad(f))(0.9)
        assert abs(wrong - float(mpmath.diff(exact, 0.9, 2))) > 1e-3
