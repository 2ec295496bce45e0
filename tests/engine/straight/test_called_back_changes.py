"""Functions that rules call back: what changes between calls, and what code leaves."""

import gc
import weakref
from functools import partial

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import EngineConfig, grad
from rules_core import rrule_via_ad
from tests.engine.applied import applied, rules_of_applied

CONFIG = EngineConfig()
V, ONES = np.array([0.4, 1.3]), np.ones(2)
SCALE = 2.0


@pytest.fixture(autouse=True)
def _written(at_once):
    with rules_of_applied():
        yield


def slope(f, x):
    """The derivative by rrule_via_ad, and whether generated code gave it."""
    y, pullback = rrule_via_ad(CONFIG, f, x)
    return pullback(np.ones_like(y) if np.ndim(y) else 1.0)[1], bool(pullback.passed)


def captures(a):
    def f(x):
        return a * x * x

    def put(value):
        nonlocal a
        a = value

    return f, put


def test_a_captured_variable_gets_another_value():
    f, put = captures(2.0)
    assert slope(f, 3.0) == (12.0, True)
    put(5.0)
    assert slope(f, 3.0) == (30.0, True)


def test_a_captured_variable_gets_a_value_of_another_kind():
    f, put = captures(2.0)
    assert slope(f, 3.0) == (12.0, True)
    put(V)
    np.testing.assert_allclose(slope(f, ONES)[0], 2.0 * V)
    put(3)
    assert slope(f, 3.0) == (18.0, True)
    put(None)
    with pytest.raises(TypeError, match="NoneType"):
        slope(f, 3.0)


def reads_a_global(x):
    return SCALE * x


def test_a_global_gets_another_value(monkeypatch):
    assert slope(reads_a_global, 3.0) == (2.0, True)
    monkeypatch.setitem(globals(), "SCALE", 7.0)
    assert slope(reads_a_global, 3.0) == (7.0, True)
    monkeypatch.setitem(globals(), "SCALE", V)
    np.testing.assert_allclose(slope(reads_a_global, ONES)[0], V)


def helper(x):
    return x * x


def calls_helper(x):
    return helper(x) * 1.0


def test_a_global_function_is_replaced(monkeypatch):
    assert slope(calls_helper, 3.0) == (6.0, True)
    monkeypatch.setitem(globals(), "helper", lambda x: x * x * x)
    assert slope(calls_helper, 3.0)[0] == 27.0


def of_function(g):
    return lambda x: g(x) * 1.0


@pytest.mark.parametrize("place", ["itself", "captured", "global"])
def test_a_function_gets_a_rule_later(place):
    f = {"itself": helper, "captured": of_function(helper), "global": calls_helper}[
        place
    ]
    assert slope(f, 3.0) == (6.0, True)

    @rc.rrule.define(helper)
    def helper_rrule(x):
        return x * x, lambda dy: (rc.NoTangent(), 100.0 * dy)

    assert slope(f, 3.0)[0] == 100.0


def test_debug_mode_watches_what_is_called_back():
    assert slope(helper, 3.0) == (6.0, True)
    with rc.debug_mode():
        assert slope(helper, 3.0) == (6.0, False)
    assert slope(helper, 3.0) == (6.0, True)


def test_a_container_in_two_places_has_one_cotangent():
    def f(a, b):
        return a["k"] * b["k"] * b["k"]

    one = {"k": 2.0}
    y, pullback = rrule_via_ad(CONFIG, f, one, one)
    assert pullback.passed is None
    assert y == 8.0
    assert rrule_via_ad(CONFIG, f, one, {"k": 2.0})[1](1.0)[1:] == (
        {"k": 4.0},
        {"k": 8.0},
    )


def test_the_value_may_be_written_to():
    y, pullback = rrule_via_ad(CONFIG, lambda x: np.exp(x), V)
    assert pullback.passed
    y[:] = 0.0
    np.testing.assert_allclose(pullback(ONES)[1], np.exp(V))


def test_cotangents_may_be_written_to():
    _, pullback = rrule_via_ad(CONFIG, lambda x, y: x + y, V, V)
    dy = ONES.copy()
    _, dx, dz = pullback(dy)
    dx[:] = 5.0
    np.testing.assert_array_equal(dz, ONES)
    np.testing.assert_array_equal(dy, ONES)
    np.testing.assert_array_equal(pullback(dy)[1], ONES)


def test_zeros_are_strong():
    f, x = lambda x, k: np.sqrt(x) * k, np.array([0.0, 4.0])
    for _ in range(3):  # code with strong zeros is written in its turn
        _, pullback = rrule_via_ad(CONFIG, f, x, np.array([0.0, 1.0]))
        np.testing.assert_allclose(pullback(ONES)[1], [0.0, 0.25])


def test_a_warning_is_given_once():
    with pytest.warns(RuntimeWarning) as told:
        y, _ = rrule_via_ad(CONFIG, lambda x: np.log(x), np.zeros(2))
    assert np.isinf(y).all()
    assert [str(w.message) for w in told] == ["divide by zero encountered in log"]


def test_an_error_of_the_program():
    def f(x):
        return x.reshape(3)

    with pytest.raises(ValueError, match="reshape"):
        rrule_via_ad(CONFIG, f, V)


def test_what_stores_is_refused_as_on_the_tape():
    seen = []

    def stores(x):
        seen.append(1)
        return x * x

    def writes_argument(x):
        x[0] = 2.0
        return x * x

    for f, x in ((stores, 3.0), (writes_argument, V.copy())):
        with pytest.raises(rc.RulesCoreError, match="must not write to its arguments"):
            slope(f, x)
    assert seen == []


def test_what_draws_is_no_code():
    def draws(x):
        return x * np.random.default_rng(0).normal()

    drawn, written = slope(draws, 3.0)
    assert not written
    assert drawn == np.random.default_rng(0).normal()


def test_a_program_may_write_into_a_copy():
    def writes(x):
        y = x.copy()
        y[0] = 0.0
        return y

    dx, written = slope(writes, V)
    assert written
    np.testing.assert_array_equal(dx, [0.0, 1.0])


class Scaled:
    def __init__(self, a):
        self.a = a

    def __call__(self, x):
        return self.a * x * x

    def counting(self, x):
        self.a = self.a + 1.0
        return self.a * x


def test_an_instance_changes():
    scaled = Scaled(2.0)
    assert slope(scaled, 3.0) == (12.0, True)
    scaled.a = 5.0
    assert slope(scaled, 3.0) == (30.0, True)
    scaled.a = V
    np.testing.assert_allclose(slope(scaled, ONES)[0], 2.0 * V)
    scaled.b = 1.0
    scaled.a = 3.0
    assert slope(scaled, 3.0) == (18.0, True)
    df = rrule_via_ad(CONFIG, of_function(scaled), 3.0)[1](1.0)[0]
    assert (df.g.a, df.g.b) == (9.0, 0.0)


def test_a_class_changes(monkeypatch):
    scaled = Scaled(2.0)
    assert slope(scaled, 3.0) == (12.0, True)
    monkeypatch.setattr(Scaled, "__call__", lambda self, x: self.a * x)
    assert slope(scaled, 3.0)[0] == 2.0
    monkeypatch.undo()
    assert slope(scaled, 3.0)[0] == 12.0
    reads = property(lambda _: 10.0, lambda *_: None)
    monkeypatch.setattr(Scaled, "a", reads, raising=False)
    assert slope(scaled, 3.0)[0] == 60.0
    monkeypatch.undo()
    monkeypatch.setattr(
        Scaled,
        "__getattribute__",
        lambda self, name: 7.0 if name == "a" else object.__getattribute__(self, name),
    )
    assert slope(scaled, 3.0)[0] == 42.0


@pytest.mark.parametrize("place", ["itself", "captured", "method"])
def test_a_method_gets_a_rule_later(place):
    scaled = Scaled(2.0)
    f = {"itself": scaled, "captured": of_function(scaled), "method": scaled.__call__}[
        place
    ]
    assert slope(f, 3.0) == (12.0, True)

    @rc.rrule.define(Scaled.__call__)
    def scaled_rrule(self, x):
        return self.a * x * x, lambda dy: (rc.ZeroTangent(), 100.0 * dy)

    assert slope(f, 3.0)[0] == 100.0


def test_an_instance_that_changes_itself_is_refused_as_on_the_tape():
    with pytest.raises(rc.RulesCoreError, match="must not write to its arguments"):
        slope(Scaled(2.0).counting, 3.0)


def test_an_instance_in_two_places_has_one_tangent():
    one, other = Scaled(2.0), Scaled(2.0)

    def f(a, b):
        return a.a * b.a * b.a

    _, pullback = rrule_via_ad(CONFIG, f, one, one)
    assert pullback.passed is None
    _, apart = rrule_via_ad(CONFIG, f, one, other)
    assert apart.passed
    assert [d.a for d in apart(1.0)[1:]] == [4.0, 8.0]


def test_partial_functions_use_the_tape():
    assert slope(partial(lambda a, x: a * x, 2.0), 3.0) == (2.0, False)


def test_an_instance_that_a_differentiated_program_makes():
    for _ in range(3):
        assert grad(lambda k: applied(Scaled(k * k), 3.0))(2.0) == 36.0
        assert grad(lambda k: applied(Scaled(k).__call__, k))(2.0) == 12.0


# nested in a derivative


def total(x, y):
    """What is differentiated: a rule calls back what the program defines."""

    def inner(v):
        return v * v * x + np.sin(y * v)

    return applied(inner, 1.5)


def test_what_a_differentiated_program_defines():
    for _ in range(3):
        found = grad(total, (0, 1))(0.7, 0.3)
    np.testing.assert_allclose(found, (1.5**2, np.cos(0.45) * 1.5))


def test_second_derivatives():
    def first(y):
        return grad(total, 1)(0.7, y)

    for _ in range(3):
        assert grad(first)(0.3) == pytest.approx(-np.sin(0.45) * 2.25)
        assert grad(grad(lambda v: applied(lambda u: u**3 * v, v)))(2.0) == 48.0


def test_a_pullback_that_a_program_captures():
    y, pullback = rrule_via_ad(CONFIG, lambda x: x**3, 2.0)
    assert pullback.passed
    assert grad(lambda dy: pullback(dy)[1] * dy)(1.0) == 24.0
    assert (y, pullback(1.0)[1]) == (8.0, 12.0)


def test_no_function_is_kept_alive():
    f, _ = captures(np.zeros(3))
    slope(f, ONES[:1])
    gone = weakref.ref(f)
    del f, _
    gc.collect()
    assert gone() is None
