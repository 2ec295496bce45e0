"""Misuse: each has its own error, whose whole text is tested."""

import math
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, UnsupportedError
from rules_core.testing import CheckFailed, check_rule

X = jnp.ones(3)


def define(pull=None, frule=None, y=None, **flags):
    """x * 2 with a given pullback, frule and primal value of the rule."""

    @rc.primitive
    def f(x):
        return x * 2

    if pull is not None:

        @rc.rrule.define(f, **flags)
        def f_rrule(x):
            return (f(x) if y is None else y(x)), pull

    if frule is not None:

        @rc.frule.define(f, **flags)
        def f_frule(tangents, x):
            return frule(tangents, x)

    return f


def grad(f):
    return jax.grad(lambda x: jnp.sum(f(x)))(X)


def jvp(f):
    return jax.jvp(f, (X,), (X,))


WHERE = "define.<locals>.f_{0} for define.<locals>.f at test_errors.py:LINE"


def text_of(run, f, error=Exception):
    """The message, without JAX's addition and with the line taken out."""
    with pytest.raises(error) as caught:
        run(f)
    text = str(caught.value).split("\n-----")[0]
    return re.sub(r"\.py:\d+", ".py:LINE", text)


def test_wrong_number_of_cotangents():
    f = define(lambda dy: (NoTangent(), dy, dy))
    assert text_of(grad, f, rc.CotangentCountError) == (
        f"rrule {WHERE.format('rrule')}: the pullback must return a tuple of 2 "
        "cotangents (one for the function itself, then one per positional argument), "
        "but got 3 of them. Return NoTangent() for what has no tangent."
    )


@pytest.mark.parametrize("run", [grad, lambda f: jax.jit(lambda: grad(f))()])
def test_wrong_shape_of_a_cotangent(run):
    f = define(lambda dy: (NoTangent(), jnp.ones((2, 2))))
    assert text_of(run, f, rc.RulesCoreError) == (
        f"rrule {WHERE.format('rrule')}: the cotangent of argument 0 has shape (2, 2), "
        "but must have the primal's shape (3,) or one that broadcasting gives it. "
        "Return an array like the primal."
    )


def test_a_cotangent_that_is_no_array():
    f = define(lambda dy: (NoTangent(), "three"))
    assert text_of(grad, f, rc.RulesCoreError) == (
        f"rrule {WHERE.format('rrule')}: the cotangent of argument 0 must be an array, "
        "a number or a zero, but got a value of type str. Return an array like the "
        "primal."
    )


def test_wrong_type_of_the_result():
    f = define(lambda dy: (NoTangent(), dy), y=lambda x: (x * 2).astype("float32"))
    assert text_of(grad, f, rc.RulesCoreError) == (
        f"rrule {WHERE.format('rrule')}: output 0 must have the type float64[3] of "
        "f's, but got float32[3]."
    )
    f = define(lambda dy: (NoTangent(), dy), y=lambda x: x[:2])
    assert "must have the type float64[3] of f's, but got float64[2]" in text_of(
        grad, f
    )


def test_wrong_structure_of_the_result():
    f = define(lambda dy: (NoTangent(), dy), y=lambda x: (x, x))
    assert text_of(grad, f, rc.RulesCoreError) == (
        f"rrule {WHERE.format('rrule')} must return what f returns, array, but got "
        "(array, array)."
    )


def test_wrong_tangent_of_an_frule():
    f = define(frule=lambda t, x: (x * 2, jnp.ones((2, 2))))
    assert text_of(jvp, f, rc.RulesCoreError) == (
        f"frule {WHERE.format('frule')}: the tangent has shape (2, 2), but must have "
        "the primal's shape (3,). Return an array like the primal."
    )


def test_an_frule_whose_result_depends_on_the_tangents():
    f = define(frule=lambda t, x: (x * 2 + t[1], 2 * t[1]))
    assert text_of(grad, f, rc.RulesCoreError) == (
        f"frule {WHERE.format('frule')}: the result y must not depend on the tangents, "
        "but it does. Compute it from the arguments."
    )


def test_numpy_in_a_rule_body():
    f = define(lambda dy: (NoTangent(), np.multiply(np.asarray(dy), 2)))
    assert text_of(lambda f: jax.jit(lambda: grad(f))(), f, UnsupportedError) == (
        f"rrule {WHERE.format('rrule')} calls NumPy on a traced JAX array, but rule "
        "bodies must be generic: use rules_core.array_namespace(x) and primitives, or "
        "declare the rule NumPy-only with @rrule.define(…, host=True)."
    )


def test_differentiated_keyword():
    @rc.primitive
    def f(x, *, scale):
        return x * scale

    @rc.rrule.define(f)
    def f_rrule(x, *, scale):
        return f(x, scale=scale), lambda dy: (NoTangent(), dy * scale)

    run = lambda f: jax.grad(lambda s: f(jnp.asarray(2.0), scale=s))(jnp.asarray(1.0))
    name = "test_differentiated_keyword.<locals>.f"
    assert text_of(run, f, UnsupportedError) == (
        f"rrule {name}_rrule for {name}: a keyword argument is being differentiated, "
        "but keyword arguments have no derivative. Pass it by position, or hold it "
        "constant with jax.lax.stop_gradient."
    )


def test_traced_static_argument():
    @rc.primitive(static_argnames="n")
    def f(x, n):
        return x * n

    run = lambda f: jax.jit(f)(jnp.asarray(1.0), 2)
    assert text_of(run, f, UnsupportedError) == (
        "argument 'n' of f is declared static (static_argnames), but got a traced "
        "value. Pass a concrete one: name it in static_argnames of jax.jit as well, or "
        "do not map over it."
    )


def test_a_function_that_closes_over_a_tracer():
    from rules_jax import to_jax

    def run(_):
        def outer(c):
            def inner(x):
                return x * c

            rc.scalar_rule(inner, lambda y, x: (2.0,))
            return jax.grad(to_jax(inner))(jnp.asarray(1.0))

        return jax.jit(outer)(jnp.asarray(3.0))

    assert text_of(run, None, jax.errors.UnexpectedTracerError).startswith(
        "inner has rules and closes over a traced value, but its rules differentiate "
        "its arguments only. Pass the value as an argument."
    )


def test_a_rule_for_other_types_of_array():
    @rc.primitive
    def f(x):
        return x * 2

    @rc.rrule.define(f)
    def f_rrule(x: np.ndarray):
        return f(x), lambda dy: (NoTangent(), 7 * dy)

    with pytest.warns(rc.RuleSkippedWarning, match=r"is jax\.Array, not ndarray"):
        assert jax.grad(f)(jnp.asarray(1.0)) == 2


def test_a_wrong_structure_inside_a_cotangent():
    @rc.primitive
    def f(p):
        return p[0] * p[1]

    @rc.rrule.define(f)
    def f_rrule(p):
        return f(p), lambda dy: (NoTangent(), (dy,))

    name = "test_a_wrong_structure_inside_a_cotangent.<locals>.f"
    run = lambda f: jax.grad(f)((jnp.asarray(1.0), jnp.asarray(2.0)))
    assert text_of(run, f, rc.RulesCoreError) == (
        f"rrule {name}_rrule for {name} at test_errors.py:LINE: the cotangent of "
        "argument 0 must have the entries [0, 1] of a tuple, but got [0]. Return one "
        "entry for each."
    )


def test_numpy_in_a_primitive_that_is_traced():
    """JAX's own error, with what to write instead; once, however deep the calls."""

    @rc.primitive
    def sine(x):
        return np.sin(x)

    @rc.primitive
    def twice(x):
        return sine(sine(x))

    with pytest.raises(jax.errors.TracerArrayConversionError) as caught:
        jax.jit(twice)(X)
    advice = [note for note in caught.value.__notes__ if "rules_core" in note]
    assert advice == [
        "A primitive's function and rules run on JAX's own arrays: take what they call "
        "from rules_core.array_namespace(x), not from numpy, or declare "
        "primitive(host=True) what needs NumPy."
    ]
    with pytest.raises(CheckFailed, match="take what they call from rules_core"):
        check_rule(sine_with_a_rule(sine), np.ones(3), hosts=("jax",))


def sine_with_a_rule(sine):
    def sine_partials(_, x):
        return (np.cos(x),)

    rc.scalar_rule(sine, sine_partials)
    return sine


@pytest.mark.parametrize("bend", [math.cos, lambda x: 2.0 if x > 0 else 3.0, int])
@pytest.mark.parametrize("kind", ["rrule", "pullback", "frule"])
def test_errors_about_traced_values_name_the_rule(bend, kind):
    @rc.primitive
    def wave(x):
        return rc.array_namespace(x).sin(x)

    if kind == "frule":

        @rc.frule.define(wave)
        def wave_frule(tangents, x):
            return wave(x), bend(x) * tangents[1]
    else:

        @rc.rrule.define(wave)
        def wave_rrule(x):
            early = bend(x) if kind == "rrule" else None
            return wave(x), lambda dy: (
                rc.NoTangent(),
                dy * (bend(x) if early is None else early),
            )

    with pytest.raises(jax.errors.ConcretizationTypeError) as caught:
        jax.jit(jax.grad(wave))(1.0)
    notes = " ".join(caught.value.__notes__)
    assert f"wave_{'frule' if kind == 'frule' else 'rrule'} for" in notes
    assert "test_errors.py:" in notes


BENT = {
    "math": lambda x: math.cos(x) * x,
    "if": lambda x: x if x > 0 else -x,
    "float": lambda x: float(x) * x,
    "assert": lambda x: x * 1.0 if not x < 0 else None,
    "int": lambda x: (1.0, 2.0, 3.0)[int(x)] * x,
}
TAKEN = {
    "grad": lambda f: jax.grad(lambda x: f(x) * x)(2.0),
    "jit": lambda f: jax.jit(f)(2.0),
    "inside another": lambda f: jax.jit(rc.primitive(lambda x: f(x) + 1))(2.0),
    "vmap": lambda f: jax.vmap(f)(jnp.asarray([1.0, 2.0])),
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("bend", BENT)
@pytest.mark.parametrize("way", TAKEN)
def test_errors_about_traced_values_name_the_body(bend, way):
    @rc.primitive
    def bent(x):
        return BENT[bend](x)

    rc.rrule.define(bent)(lambda x: (bent(x), lambda dy: (rc.NoTangent(), dy)))
    bent(jnp.asarray(2.0))  # an eager call is not traced
    with pytest.raises(jax.errors.ConcretizationTypeError) as caught:
        TAKEN[way](bent)
    told = [x for x in caught.value.__notes__ if x.startswith("This happened in the")]
    assert len(told) == 1
    assert "of bent at test_errors.py:" in told[0]
    assert "host=True" in told[0]


def test_a_body_that_needs_numbers_by_the_advice():
    @rc.primitive(host=True, elementwise=True)
    def bent(x):
        return np.where(x > 0, x, -x) if x.ndim else np.float32(x if x > 0 else -x)

    @rc.primitive(static_argnames=("way",))
    def turned(x, way):
        return x if way > 0 else -x

    assert float(jax.jit(bent)(-2.0)) == 2.0
    assert float(jax.jit(lambda x: turned(x, -1.0))(-2.0)) == 2.0
