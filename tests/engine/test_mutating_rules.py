"""Mutating rules: CoDuals and Duals, fdata and rdata, aliasing."""

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import (
    CoDual,
    Dual,
    NoFData,
    NoRData,
    fdata_type,
    frule_mutating,
    grad,
    is_primitive,
    rdata_type,
    rrule_mutating,
    tangent,
    vjp,
)
from rules_autodiff.testing import check_program
from rules_core import NoTangent
from rules_core.testing import isolated_rules

X = np.array([0.5, -1.0, 2.0])


@pytest.fixture(autouse=True)
def _isolated():
    with isolated_rules():
        yield


def square_into(out, x):
    out[...] = x * x


def define_square():
    @rrule_mutating.define(square_into)
    def square_rule(f, out, x):
        before = out.primal.copy()
        out.primal[...] = x.primal * x.primal

        def square_pullback(dy):
            assert isinstance(dy, NoRData)
            ct = out.fdata.copy()
            out.fdata[...] = 0.0
            out.primal[...] = before
            x.fdata[...] += 2.0 * x.primal * ct
            return NoRData(), NoRData(), NoRData()

        return CoDual(None, NoFData()), square_pullback

    @frule_mutating.define(square_into)
    def square_frule(f, out, x):
        out.tangent[...] = 2.0 * x.primal * x.tangent
        out.primal[...] = x.primal * x.primal
        return Dual(None, NoTangent())


@pytest.fixture
def square():
    define_square()
    yield
    rrule_mutating.rules.pop(square_into)
    frule_mutating.rules.pop(square_into)


def aliased(x):
    y = x * 1.0
    square_into(y[1:], y[:-1] * 1.0)
    square_into(y, y)
    return y @ x


@pytest.mark.usefixtures("square")
def test_mutating_rule():
    assert is_primitive(square_into, X, X)
    check_program(aliased, X)


@pytest.mark.usefixtures("square")
def test_a_pullback_with_mutating_rules_is_run_again():
    def f(x):
        square_into(x, x * 2.0)
        return x @ x

    x = X.copy()
    _, pullback = vjp(f, x)
    first, second = pullback(1.0), pullback(1.0)
    np.testing.assert_allclose(first[0], 64 * X**3)
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(x, X)


def returns_argument(x):
    x *= 2.0
    return x


def test_wrong_aliasing_is_caught():
    """What aliases in the program must alias in the derivative."""

    @rrule_mutating.define(returns_argument)
    def wrong_rule(f, x):
        x.primal[...] *= 2.0

        def wrong_pullback(dy):
            x.primal[...] /= 2.0
            x.fdata[...] *= 2.0
            return NoRData(), NoRData()

        return CoDual(x.primal, np.zeros_like(x.primal)), wrong_pullback

    try:
        with pytest.raises(rc.RuleDefinitionError, match="alias"):
            grad(lambda x: returns_argument(x * 1.0) @ x)(X)
    finally:
        rrule_mutating.rules.pop(returns_argument)


def test_mutating_rules_of_two_places_clash():
    def f(x):
        return x

    def one_rule(f, x): ...

    def other_rule(f, x): ...

    rrule_mutating.define(f)(one_rule)
    rrule_mutating.define(f)(one_rule)
    with pytest.raises(rc.RuleClashError, match="is defined twice.*one_rule"):
        rrule_mutating.define(f)(other_rule)
    rrule_mutating.rules.pop(f)


def test_fdata_and_rdata():
    assert (fdata_type(2.0), rdata_type(2.0)) == (NoFData, float)
    assert (fdata_type(X), rdata_type(X)) == (np.ndarray, NoRData)
    assert (fdata_type("a"), rdata_type([1, 2])) == (NoFData, NoRData)
    assert (fdata_type((X, 1.0)), rdata_type((X, 1.0))) == (rc.Tangent, rc.Tangent)
    both = tangent((X, NoFData()), (NoRData(), 2.0))
    assert both[1] == 2.0
    assert both[0] is X
    with pytest.raises(TypeError, match="two parts of one tangent"):
        tangent(X, 1.0)
