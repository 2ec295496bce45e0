"""The quick reverse pass, which asks for strong zeros only where it went wrong."""

import numpy as np
import pytest

from rules_autodiff import CoDual, NoFData, NoRData, grad, rrule_mutating, vjp
from rules_core import NoTangent, rrule
from rules_core.testing import isolated_rules

X = np.array([1.0, 2.0])
HERE = np.array([False, True])
INFINITE = np.array([np.inf, 3.0])


@pytest.fixture(autouse=True)
def _own_rules():
    with isolated_rules():
        yield


def through(g):
    """A sum in which the first entry of `g(x)` meets infinity, and does not count."""
    return lambda x: np.sum(np.where(HERE, g(x) * INFINITE, 0.0))


def ruled(pullback):
    """A function of one array with a rule that the engine has to trust."""

    def own(x):
        return x * 2.0

    def own_rrule(x):
        return x * 2.0, lambda dy: (NoTangent(), pullback(dy))

    rrule.define(own)(own_rrule)
    return own


def test_a_rule_that_swallows_what_is_no_number_gets_zero():
    """With `0 · ∞` in the cotangent, `nan_to_num` and `fmax` would hide it."""
    seen = []

    def clipped(dy):
        seen.append(dy)
        return np.fmax(np.nan_to_num(dy, nan=100.0), -1.0) * 2.0

    found = grad(through(ruled(clipped)))(X)
    assert found.tolist() == [0.0, 6.0]
    assert all(np.isfinite(dy).all() for dy in seen)


def test_a_rule_that_refuses_what_is_no_number_is_not_given_any():
    def checked(dy):
        return np.asarray_chkfinite(dy) * 2.0

    assert grad(through(ruled(checked)))(X).tolist() == [0.0, 6.0]


def test_a_rule_gets_an_infinite_cotangent_where_it_is_one():
    seen = []

    def noted(dy):
        seen.append(dy)
        return dy * 2.0

    own = ruled(noted)
    found = grad(lambda x: np.sum(own(x) * INFINITE))(X)
    assert found.tolist() == [np.inf, 6.0]
    assert seen[-1].tolist() == [np.inf, 3.0]


def test_a_mutating_rule_is_not_given_what_is_no_number():
    seen = []

    def scale(y):
        y *= 2.0

    @rrule_mutating.define(scale)
    def scale_rrule(_f, y):
        before = y.primal.copy()
        y.primal[...] *= 2.0

        def scale_pullback(_dy):
            seen.append(y.fdata.copy())
            y.primal[...] = before
            y.fdata[...] *= 2.0
            return NoRData(), NoRData()

        return CoDual(None, NoFData()), scale_pullback

    def own(x):
        y = x * 1.0
        scale(y)
        return y

    assert grad(through(own))(X).tolist() == [0.0, 6.0]
    assert seen
    assert np.isfinite(seen).all()


def test_writes_are_taken_back_once():
    log = []

    def f(x, y):
        y += x * x
        log.append(y[0])
        y[0] *= 1.0
        return through(lambda x: x * y)(x)

    y = np.array([1.0, 4.0])
    _, pullback = vjp(f, X, y)
    for _ in range(2):
        dx, dy = pullback(1.0)
        np.testing.assert_array_equal(dx, [0.0, 3 * (4 + 3 * 4)])
        np.testing.assert_array_equal(dy, [0.0, 6.0])
        np.testing.assert_array_equal(y, [1.0, 4.0])
        assert log == []


def test_infinities_in_the_middle_of_the_tape():
    """A cotangent that is no number may end in a constant: it hurts nobody there."""

    def f(x):
        y = np.array([5.0, 5.0]) + 0.0 * x
        z = y * INFINITE
        y[:] = 1.0
        return np.sum(np.where(HERE, z + x * y, x))

    assert grad(f)(X).tolist() == [1.0, 1.0]


def test_a_derivative_that_is_no_number_stays_none():
    found = grad(lambda x: np.sum(x * np.array([np.nan, 2.0])))(X)
    np.testing.assert_array_equal(found, [np.nan, 2.0])
    assert grad(lambda x: np.sum(x * INFINITE))(X).tolist() == [np.inf, 3.0]
    assert grad(lambda x: np.sum(x) * 1e200)(X).tolist() == [1e200, 1e200]


def test_floating_point_errors_of_the_quick_pass_are_nobodys():
    with np.errstate(all="raise"):
        assert grad(through(lambda x: x + 1.0))(X).tolist() == [0.0, 3.0]
        with pytest.raises(FloatingPointError):
            grad(through(ruled(lambda dy: dy / np.zeros(2))))(X)


@pytest.mark.filterwarnings("ignore:invalid value")  # complex numbers times infinity
@pytest.mark.parametrize("kind", ["list", "dict", "complex", "single"])
def test_arguments_of_every_kind_are_looked_at(kind):
    def f(x):
        if kind == "list":
            return through(lambda v: v * 1.0)(x[0])
        if kind == "dict":
            return through(lambda v: v * 1.0)(x["a"])
        return np.real(np.sum(np.where(HERE, x * INFINITE, 0.0)))

    given = {
        "list": [X], "dict": {"a": X}, "complex": X + 0j, "single": X.astype("f4")
    }[kind]  # fmt: skip
    found = grad(f)(given)
    found = {"list": lambda d: d[0], "dict": lambda d: d["a"]}.get(kind, np.real)(found)
    np.testing.assert_array_equal(found, [0.0, 3.0])
