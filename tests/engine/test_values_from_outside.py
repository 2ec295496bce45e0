"""Values with derivatives that reach a function with rules not as an argument.

Its rule gives no derivative by what the body reads as a global, as an attribute of what
stands there or through a helper, nor by what an argument holds that has no tangent. The
derivative is right or there is an error that names the function: it was zero.
"""

import types
from typing import Any

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import (
    CoDual,
    Dual,
    NoFData,
    NoRData,
    UnsupportedProgram,
    frule_mutating,
    grad,
    jvp,
    linearize,
    opaque,
    rrule_mutating,
    stop_gradient,
)
from tests.engine.values_outside import (
    DICT,
    MODEL,
    PLACES,
    of_both,
    put_attribute,
    put_back,
    put_global,
)

MODES = {
    "auto": grad,
    "tape": lambda f: grad(f, tier="tape"),
    "jvp": lambda f: lambda t: jvp(f, (t,), (1.0,))[1],
    "linearize": lambda f: lambda t: linearize(f, t)[1](1.0),
    "nested": lambda f: lambda t: jvp(grad(f), (t,), (1.0,))[1],
}
FIRST_ORDER = ("auto", "tape", "jvp", "linearize")


def each_call(f, mode, count=4):
    """Results or errors of some calls: the first runs on the tape."""
    run = MODES[mode](f)
    for _ in range(count):
        try:
            yield run(3.0)
        except UnsupportedProgram as error:
            yield error


def assert_errors(f, text, modes=MODES):
    for mode in modes:
        for error in each_call(f, mode):
            assert isinstance(error, UnsupportedProgram), (mode, error)
            assert text in str(error)


def assert_right(f, modes=FIRST_ORDER):
    expected = (f(3.0 + 1e-6) - f(3.0 - 1e-6)) / 2e-6
    for mode in modes:
        for found in each_call(f, mode):
            assert found == pytest.approx(expected, rel=1e-6, abs=1e-9), mode


# How rules are declared for a body of one argument, each right by this argument.


def scalar(f):
    rc.scalar_rule(f, lambda y, x: (y / x,))
    return f


def of_primitive(f):
    return scalar(rc.primitive(f))


def on_host(f):
    f = rc.primitive(f)
    rc.scalar_rule(f, lambda y, x: (y / x,), host=True)
    return f


def with_rrule(f):
    @rc.rrule.define(f)
    def rule(x):
        y = f(x)
        return y, lambda dy: (rc.NoTangent(), dy * y / x)

    return f


def with_frule(f):
    @rc.frule.define(f)
    def rule(tangents, x):
        y = f(x)
        return y, tangents[1] * y / x

    return f


DECLARED = (scalar, of_primitive, on_host, with_rrule, with_frule)


@pytest.fixture(autouse=True)
def _as_it_was():
    yield
    put_back()


def renewed(f):
    """A function of its own, so that it has no rules yet."""
    made = types.FunctionType(f.__code__, f.__globals__, "body", None, f.__closure__)
    made.__module__, made.__qualname__ = __name__, "body"
    return made


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("declare", DECLARED)
@pytest.mark.parametrize("place", PLACES)
def test_what_the_body_reads(place, declare):
    put, body = PLACES[place]
    f = declare(renewed(body))

    def of_constant(w):
        put(w)
        return f(5.0)

    def of_active(w):
        put(w)
        return f(5.0 * w)

    assert_errors(of_constant, "body")
    assert_errors(of_active, "Pass it as an argument")


def test_the_error_names_rule_function_and_place():
    f = with_rrule(renewed(PLACES["attribute"][1]))

    def loss(w):
        put_attribute(w)
        return f(5.0)

    with pytest.raises(UnsupportedProgram) as caught:
        grad(loss)(3.0)
    for part in (f"{__name__}.body (rrule ", "test_values_from_outside.py:", "MODEL.w"):
        assert part in str(caught.value)


@pytest.mark.parametrize("declare", DECLARED)
def test_what_the_body_reads_of_constants(declare):
    f = declare(renewed(lambda x: MODEL.scale * x * DICT["w"]))
    seen = []

    def loss(w):
        MODEL.w = w
        DICT["other"] = [1.0]
        seen.append(w)
        return f(5.0 * w) + MODEL.w

    MODEL.scale, DICT["w"] = 2.0, 3.0
    assert_right(loss)


LOG: list[Any] = []


def test_what_the_body_keeps_of_its_calls():
    def body(x):
        LOG.append(x)
        return 2.0 * x

    f = scalar(body)

    def loss(w):
        MODEL.w = w
        return f(w) * f(MODEL.w)

    assert_right(loss)


def test_a_constant_that_is_put_outside():
    f = scalar(renewed(PLACES["attribute"][1]))

    def loss(w):
        MODEL.w = stop_gradient(w)
        return f(5.0) + w

    for mode in FIRST_ORDER:
        assert list(each_call(loss, mode)) == [1.0] * 4


def test_functions_without_derivative():
    @rc.primitive
    def count(x):
        return MODEL.w * x

    rc.non_differentiable(count)

    def loss(w):
        MODEL.w = w
        return count(5.0) + w

    for mode in FIRST_ORDER:
        assert list(each_call(loss, mode)) == [1.0] * 4


# What a function with rules captures itself is the tangent of the function.


def capturing(declare):
    w = 2.0

    def body(x):
        return w * x

    def put(value):
        nonlocal w
        w = value

    return declare(body), put


def with_both(f):
    rc.rrule.define(f)(lambda x: (f(x), lambda dy: (rc.NoTangent(), dy * f(x) / x)))
    rc.frule.define(f)(lambda tangents, x: (f(x), tangents[1] * f(x) / x))
    return f


@pytest.mark.parametrize("declare", [*DECLARED, with_both])
def test_captured_values_of_which_the_rule_knows_nothing(declare):
    f, put = capturing(declare)

    def loss(w):
        put(w)
        return f(5.0)

    for mode in FIRST_ORDER:
        run = MODES[mode](loss)
        for _ in range(4):
            with pytest.raises((UnsupportedProgram, rc.NoTangentError), match="body"):
                run(3.0)


def test_captured_values_whose_tangent_the_frule_reads():
    def declare(f):
        @rc.frule.define(f)
        def rule(tangents, x):
            y = f(x)
            return y, tangents[1] * y / x + tangents[0].w * x

        return f

    f, put = capturing(declare)

    def loss(w):
        put(w)
        return f(5.0 * w)

    for mode in FIRST_ORDER:
        for found in each_call(loss, mode):
            assert found == pytest.approx(30.0)


def scaled(x):
    x *= MODEL.w


@rrule_mutating.define(scaled)
def scaled_rrule(f, x):
    w = MODEL.w
    x.primal[...] *= w

    def scaled_pullback(_):
        x.primal[...] /= w
        x.fdata[...] *= w
        return NoRData(), NoRData()

    return CoDual(None, NoFData()), scaled_pullback


@frule_mutating.define(scaled)
def scaled_frule(f, x):
    x.primal[...] *= MODEL.w
    x.tangent[...] *= MODEL.w
    return Dual(None, rc.NoTangent())


def test_what_a_function_with_mutating_rules_reads():
    def loss(w):
        x = np.ones(2) * w
        MODEL.w = w
        scaled(x)
        return x.sum()

    assert_errors(loss, "MODEL.w", FIRST_ORDER)


@opaque
def unseen(x):
    return MODEL.w * x


def test_what_an_opaque_function_reads():
    def loss(w):
        MODEL.w = w
        return unseen(5.0) + w

    assert_errors(loss, "MODEL.w", FIRST_ORDER)


def test_written_code_leaves_such_calls_to_the_tape():
    """The first calls put nothing outside, and are written out."""
    f = scalar(renewed(of_both))

    def by_attribute(w):
        if w > 2.0:
            MODEL.w = w
        return f(5.0 * w)

    def by_global(w):
        if w > 2.0:
            put_global(w)
        return f(5.0 * w)

    for loss in (by_attribute, by_global):
        derivative = grad(loss)
        for w in (1.0, 1.0, 1.0, 3.0, 1.0, 3.0):
            put_attribute(1.0)
            put_global(1.0)
            if w < 2.0:
                assert derivative(w) == 5.0
            else:
                with pytest.raises(UnsupportedProgram, match="as an argument"):
                    derivative(w)
