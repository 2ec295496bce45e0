"""A rule of one mode serves the other, at every order; what it lacks is told."""

from itertools import product

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import grad, jvp, linearize, vjp
from rules_core import NoTangent
from rules_core.testing import isolated_rules
from tests.engine.modes import ALL

X = np.array([1.0, 2.0])


def forward_alone(x, y):
    return x * x * x * y


def reverse_alone(x, y):
    return x * x * x * y


@pytest.fixture(autouse=True)
def _rules():
    with isolated_rules():

        @rc.frule.define(forward_alone)
        def forward_alone_frule(tangents, x, y):
            _, dx, dy = tangents
            return forward_alone(x, y), 3 * x * x * y * dx + x * x * x * dy

        @rc.rrule.define(reverse_alone)
        def reverse_alone_rrule(x, y):
            def reverse_alone_pullback(dz):
                return NoTangent(), 3 * x * x * y * dz, x * x * x * dz

            return reverse_alone(x, y), reverse_alone_pullback

        yield


EACH = pytest.mark.parametrize("f", [forward_alone, reverse_alone])


@EACH
@pytest.mark.parametrize("order", [1, 2, 3])
def test_every_mixture(f, order):
    known = {1: 60.0, 2: 60.0, 3: 30.0}[order]
    for names in product(ALL, repeat=order):

        def derivative(x):
            return f(x, 5.0)

        for name in names:
            derivative = ALL[name](derivative)
        assert derivative(2.0) == pytest.approx(known), names


@EACH
def test_maps_that_are_called_in_another_derivative(f):
    pullback = vjp(lambda x: f(x, 5.0), X)[1]
    push = linearize(lambda x: f(x, 5.0), X)[1]
    for linear in (lambda d: pullback(d)[0], push):
        np.testing.assert_allclose(grad(lambda d, m=linear: m(d).sum())(X), 15 * X * X)
        found = jvp(lambda d, m=linear: m(d) * d, (X,), (X,))[1]
        np.testing.assert_allclose(found, 30 * X**4)


def half_known(x, y):
    return x * y


def test_what_an_rrule_lacks_is_no_zero_in_forward_mode():
    @rc.rrule.define(half_known)
    def half_known_rrule(x, y):
        def half_known_pullback(dz):
            return NoTangent(), rc.not_implemented("nobody wrote it"), x * dz

        return x * y, half_known_pullback

    assert jvp(lambda y: half_known(2.0, y), (3.0,), (1.0,))[1] == 2.0
    told = (
        r"asked of the rrule .*half_known_rrule \(.*\) for argument 0\): nobody wrote"
    )
    for mode in ALL.values():
        with pytest.raises(rc.DerivativeNotImplemented, match=told) as error:
            mode(lambda x: half_known(x, 2.0))(3.0)
        assert "half_known, called at" in "".join(error.value.__notes__)
        assert __file__ in "".join(error.value.__notes__)


def test_what_an_frule_lacks_is_no_zero_in_reverse_mode():
    @rc.frule.define(half_known)
    def half_known_frule(tangents, x, y):
        return x * y, tangents[2] * x + rc.not_implemented("nobody wrote it")

    told = r"asked of the frule .*half_known_frule \(.*\)\): nobody wrote it"
    for mode in ALL.values():
        with pytest.raises(rc.DerivativeNotImplemented, match=told):
            mode(lambda x: half_known(x, 2.0))(3.0)


def test_an_rrule_with_too_few_cotangents_is_told_in_forward_mode():
    @rc.rrule.define(half_known)
    def half_known_rrule(x, y):
        return x * y, lambda dz: (y * dz, x * dz)

    with pytest.raises(rc.CotangentCountError, match="half_known_rrule"):
        jvp(lambda x: half_known(x, 2.0), (3.0,), (1.0,))
