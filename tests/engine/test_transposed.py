"""A rule of one mode serves the other, at every order; what it lacks is told."""

from itertools import product

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import grad, jacfwd, jacrev, jvp, linearize, vjp
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


@pytest.mark.covering(every=3)
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


# A container of x and y, how to take them out, and the cotangent of a rule in which y
# does not count.
HALVES = {
    "tuple": (
        lambda x, y: (x, y),
        lambda p: p,
        lambda dx: (dx, rc.ZeroTangent()),
    ),
    "list": (lambda x, y: [x, y], lambda p: p, lambda dx: [dx, None]),
    "dict": (
        lambda x, y: {"x": x, "y": y},
        lambda p: p.values(),
        lambda dx: {"x": dx, "y": rc.ZeroTangent()},
    ),
    "part of a dict": (
        lambda x, y: {"x": x, "y": y},
        lambda p: p.values(),
        lambda dx: rc.Tangent(dict, {"x": dx}),
    ),
    "nested": (
        lambda x, y: ((x, [y]),),
        lambda p: (p[0][0], p[0][1][0]),
        lambda dx: ((dx, rc.ZeroTangent()),),
    ),
    "thunk": (
        lambda x, y: (x, y),
        lambda p: p,
        lambda dx: (dx, rc.Thunk(rc.ZeroTangent)),
    ),
    "array": (
        lambda x, y: (x, np.array([y, y])),
        lambda p: (p[0], p[1][0]),
        lambda dx: (dx, rc.ZeroTangent()),
    ),
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("mode", ALL)
def test_what_an_rrule_says_is_zero_moves_nothing_in_forward_mode(half, mode):
    """A whole argument that is zero, and one entry of a container."""
    make, parts, cotangent = HALVES[half]

    def squared(p, other):
        x, _ = parts(p)
        return x * x

    @rc.rrule.define(squared)
    def squared_rrule(p, other):
        x, _ = parts(p)

        def squared_pullback(dy):
            return NoTangent(), cotangent(2 * x * dy), rc.ZeroTangent()

        return x * x, squared_pullback

    def moved(t):
        return squared(make(2.0 * t, 3.0 * t), t) * t

    assert ALL[mode](moved)(1.5) == pytest.approx(3 * 4 * 1.5**2)
    assert ALL[mode](lambda t: ALL[mode](moved)(t))(1.5) == pytest.approx(24 * 1.5)


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


# Shortcuts that a linear map may take: each is right, and has another derivative where
# it is taken than beside.
SHORTCUTS = {
    "close to zero": lambda d: np.allclose(d, 0),
    "no entry": lambda d: not np.any(d),
    "ones": lambda d: np.allclose(d, 1),
    "equal entries": lambda d: np.ndim(d) == 1 and np.all(d == d[0]),
    "whole numbers": lambda d: np.all(d == np.round(d)),
    "positive entries": lambda d: np.all(np.real(d) > 0),
    "small entries": lambda d: np.all(np.abs(d) < 0.1),
}


def bend(x):
    return np.sin(x) * 2.0


def linear_by_cases(factor, d, shortcut):
    """`factor * d`, computed otherwise where the shortcut is open."""
    if shortcut(d):
        return factor * np.array(np.asarray(d).tolist())
    return factor * d


def define_bend(kind, shortcut, host):
    if kind == "rrule":

        @rc.rrule.define(bend, host=host)
        def bend_rrule(x):
            def bend_pullback(dy):
                return NoTangent(), linear_by_cases(2.0 * np.cos(x), dy, shortcut)

            return bend(x), bend_pullback

    else:

        @rc.frule.define(bend, host=host)
        def bend_frule(tangents, x):
            return bend(x), linear_by_cases(2.0 * np.cos(x), tangents[1], shortcut)


FIRST = {
    "grad": lambda f: grad(lambda x: np.sum(f(x)))(X),
    "vjp": lambda f: vjp(f, X)[1](np.ones(2))[0],
    "jvp": lambda f: jvp(f, (X,), (np.ones(2),))[1],
    "jacrev": lambda f: np.sum(jacrev(f)(X), axis=0),
    "jacfwd": lambda f: np.sum(jacfwd(f)(X), axis=1),
    "linearize": lambda f: linearize(f, X)[1](np.ones(2)),
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("host", [False, True])
@pytest.mark.parametrize("shortcut", SHORTCUTS)
@pytest.mark.parametrize("kind", ["frule", "rrule"])
def test_a_linear_map_with_a_shortcut(kind, shortcut, host):
    define_bend(kind, SHORTCUTS[shortcut], host)
    for name, derivative in FIRST.items():
        found = derivative(bend)
        np.testing.assert_allclose(found, 2.0 * np.cos(X), err_msg=name)


@pytest.mark.parametrize("kind", ["frule", "rrule"])
def test_second_derivatives_of_a_map_with_a_shortcut(kind):
    define_bend(kind, SHORTCUTS["close to zero"], host=False)
    for name, derivative in FIRST.items():
        if name != "grad":
            found = derivative(lambda x: grad(lambda x: np.sum(bend(x)))(x))
            np.testing.assert_allclose(found, -2.0 * np.sin(X), err_msg=name)


NONLINEAR = {
    "clipped": lambda d: np.clip(d, -0.1, 0.1),
    "signs": np.sign,
    "of norm one": lambda d: d / np.sqrt(np.sum(d * d)),
    "squared": lambda d: d * d,
    "shifted": lambda d: d + 1.0,
}
DERIVED = {
    "rrule": ("jvp", "jacfwd", "linearize"),
    "frule": ("grad", "vjp", "jacrev", "linearize"),
}


@pytest.mark.parametrize("name", NONLINEAR)
@pytest.mark.parametrize("kind", ["frule", "rrule"])
def test_what_is_not_linear_serves_its_own_mode_only(kind, name):
    """Clipped gradients, say: there is no forward mode that belongs to them."""
    change = NONLINEAR[name]
    if kind == "rrule":

        @rc.rrule.define(bend)
        def bend_rrule(x):
            return bend(x), lambda dy: (NoTangent(), change(dy))

        own = grad(lambda x: np.sum(bend(x)))(X)
    else:

        @rc.frule.define(bend)
        def bend_frule(tangents, x):
            return bend(x), change(tangents[1])

        own = jvp(bend, (X,), (np.ones(2),))[1]
    np.testing.assert_allclose(own, change(np.ones(2)))
    for mode in DERIVED[kind]:
        with pytest.raises(rc.UnsupportedError, match="must .*be linear|is linear"):
            FIRST[mode](bend)


def parts(x):
    return {"y": np.sin(x) * 2.0, "z": (float(np.sum(x)), 3)}


def test_results_that_are_containers():
    @rc.rrule.define(parts)
    def parts_rrule(x):
        def parts_pullback(dy):
            if not np.any(dy["y"]) and dy["z"][0] == 0.0:
                return NoTangent(), np.zeros(2)
            return NoTangent(), 2.0 * np.cos(x) * dy["y"] + dy["z"][0]

        return parts(x), parts_pullback

    found = jvp(parts, (X,), (np.ones(2),))[1]
    np.testing.assert_allclose(found["y"], 2.0 * np.cos(X))
    assert found["z"][0] == pytest.approx(2.0)
    z = linearize(lambda x: parts(x)["z"][0] * parts(x)["y"], X)[1](np.ones(2))
    np.testing.assert_allclose(z, 2.0 * np.sin(X) * 2.0 + 2.0 * np.cos(X) * 3.0)
