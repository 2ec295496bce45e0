"""Cotangents of instances in every form that authors return, in all modes."""

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import grad, jacfwd, jvp, linearize
from rules_core import (
    NoTangent,
    NoTangentError,
    ProjectionError,
    Tangent,
    UnsupportedError,
    rrule,
    thunk,
)
from tests.specimens.instances import Frozen, Mutable, Named, Plain


class Tagged(Plain):
    """With an attribute that has no tangent."""

    def __init__(self, slope, offset):
        super().__init__(slope, offset)
        self.tag = "a"


CLASSES = [Named, Frozen, Mutable, Plain, Tagged]
WHOLE = {
    "tangent": lambda cls, a, b: Tangent(cls, slope=a, offset=b),
    "tangent reversed": lambda cls, a, b: Tangent(cls, offset=b, slope=a),
    "dict": lambda _, a, b: {"slope": a, "offset": b},
    "dict reversed": lambda _, a, b: {"offset": b, "slope": a},
    "tangent of a dict": lambda _, a, b: Tangent(dict, {"offset": b, "slope": a}),
    "instance": lambda cls, a, b: cls(a, b),
    "instance of thunks": lambda cls, a, b: cls(thunk(lambda: a), thunk(lambda: b)),
    "thunks": lambda cls, a, b: Tangent(
        cls, offset=thunk(lambda: b), slope=thunk(lambda: a)
    ),
}
ROWS = {"tuple": lambda _, a, b: (a, b), "list": lambda _, a, b: [a, b]}


def line(form):
    """`3 u² v` of an instance, with a rule that returns its cotangent in a form."""

    @rc.primitive
    def line(p):
        return np.sum(p.slope * p.slope * p.offset)

    @rrule.define(line)
    def line_rrule(p):
        u, v = p.slope, p.offset

        def line_pullback(dy):
            return NoTangent(), form(type(p), 2.0 * u * v * dy, u * u * dy)

        return line(p), line_pullback

    return line


POINTS = {"number": (1.5, 0.7), "array": (np.array([1.5, 2.0]), np.array([0.7, -1.0]))}
MODES = {
    "grad": lambda f, x: grad(f)(x),
    "jacfwd": lambda f, x: jacfwd(f)(x),
    "jvp": lambda f, x: jvp(f, (x,), (np.ones_like(x)[()],))[1],
    "linearize": lambda f, x: linearize(f, x)[1](np.ones_like(x)[()]),
    "forward over reverse": lambda f, x: jacfwd(grad(f))(x),
}


def expected(mode, place, u, v):
    """The derivative of `u² v` by one of them."""
    first = 2.0 * u * v if place == 0 else u * u
    if mode == "forward over reverse":
        second = 2.0 * v if place == 0 else 0.0 * u
        return np.diag(second) if np.ndim(second) else second
    return first if mode in ("grad", "jacfwd") else np.sum(first)


@pytest.mark.covering(every=25)
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", WHOLE | ROWS)
@pytest.mark.parametrize("cls", CLASSES)
def test_each_form(cls, form, mode, point):
    if form in ROWS and cls is Tagged:
        with pytest.raises(ProjectionError):
            run(cls, ROWS[form], mode, point, 0)
        return
    for place in range(2):
        found = run(cls, (WHOLE | ROWS)[form], mode, point, place)
        np.testing.assert_allclose(found, expected(mode, place, *POINTS[point]), 1e-12)


def run(cls, form, mode, point, place):
    f, (u, v) = line(form), POINTS[point]
    program = (lambda x: f(cls(x, v))) if place == 0 else (lambda x: f(cls(u, x)))
    return MODES[mode](program, (u, v)[place])


ZEROS = {
    "instance": lambda cls, a, _b: cls(a, rc.ZeroTangent()),
    "instance of None": lambda cls, a, _b: cls(a, None),
    "absent": lambda cls, a, _b: Tangent(cls, slope=a),
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", ZEROS)
@pytest.mark.parametrize("cls", CLASSES)
def test_a_zero_for_an_attribute(cls, form, mode):
    """The derivative of `u² 0.7` by `u`, and zero by the other."""
    found = run(cls, ZEROS[form], mode, "number", 0)
    assert found == pytest.approx(expected(mode, 0, *POINTS["number"]), 1e-12)
    if mode != "forward over reverse":
        assert run(cls, ZEROS[form], mode, "number", 1) == 0.0


@pytest.mark.parametrize("mode", ["grad", "jvp"])
@pytest.mark.parametrize("row", [(), []])
@pytest.mark.parametrize("cls", CLASSES)
def test_an_empty_row_is_no_cotangent(cls, row, mode):
    with pytest.raises(ProjectionError, match=r"slope, offset.* but got \[\]"):
        run(cls, lambda *_: row, mode, "number", 1)


@pytest.mark.parametrize("mode", ["grad", "jvp"])
@pytest.mark.parametrize("cls", CLASSES)
def test_a_thunk_of_no_tangent_within(cls, mode):
    def form(cls, a, _b):
        return Tangent(cls, slope=a, offset=thunk(NoTangent))

    with pytest.raises((NoTangentError, UnsupportedError), match="NoTangent"):
        run(cls, form, mode, "number", 1)


@pytest.mark.parametrize("mode", ["grad", "jvp"])
def test_a_thunk_of_no_tangent_within_a_tuple(mode):
    @rc.primitive
    def product(p):
        return p[0] * p[1]

    @rrule.define(product)
    def product_rrule(p):
        return product(p), lambda dy: (NoTangent(), (p[1] * dy, thunk(NoTangent)))

    with pytest.raises((NoTangentError, UnsupportedError), match="NoTangent"):
        MODES[mode](lambda x: product((2.0, x)), 3.0)
