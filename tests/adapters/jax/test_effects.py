"""What a body does besides its result: prints, callbacks, collectives, captured values.

Effects are compared with those of the function as a `jax.custom_vjp`, which JAX itself
keeps track of; collectives with the plain function.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback

import rules_core as rc
from rules_core import NoTangent, frule, rrule

SEEN: list[float] = []


def note(x):
    SEEN.append(float(np.sum(x)))


EFFECTS = {
    "debug": lambda x: jax.debug.callback(note, x),
    "io": lambda x: io_callback(note, None, x),
    "ordered": lambda x: io_callback(note, None, x, ordered=True),
}


def noted_primitive(effect):
    @rc.primitive
    def double(x):
        effect(x)
        return 2 * x

    @rrule.define(double)
    def double_rrule(x):
        return double(x), lambda dy: (NoTangent(), 2 * dy)

    return double


def noted_custom_vjp(effect):
    @jax.custom_vjp
    def double(x):
        effect(x)
        return 2 * x

    double.defvjp(lambda x: (double(x), None), lambda _, dy: (2 * dy,))
    return double


def scanned(f):
    return lambda x: jax.lax.scan(lambda c, _: (f(c), None), x, None, 3)[0]


def chosen(f):
    return lambda x: jax.lax.cond(x > 0, f, lambda x: x, x)


USES = {
    "jit": jax.jit,
    "jit of a call whose result is not used": lambda f: jax.jit(lambda x: (f(x), x)[1]),
    "eager grad": jax.grad,
    "jit grad": lambda f: jax.jit(jax.grad(f)),
    "grad jit": lambda f: jax.grad(jax.jit(f)),
    "scan": scanned,
    "jit scan": lambda f: jax.jit(scanned(f)),
    "jit cond": lambda f: jax.jit(chosen(f)),
    "jit grad cond": lambda f: jax.jit(jax.grad(chosen(f))),
}


def effects_of(use, f):
    SEEN.clear()
    y = use(f)(1.5)
    jax.effects_barrier()
    return float(y), list(SEEN)


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("effect", EFFECTS)
@pytest.mark.parametrize("use", USES)
def test_effects_are_kept(use, effect):
    expected = effects_of(USES[use], noted_custom_vjp(EFFECTS[effect]))
    assert expected[1]
    assert effects_of(USES[use], noted_primitive(EFFECTS[effect])) == expected


@pytest.mark.parametrize("effect", ["debug", "io"])
def test_effects_of_a_batch_are_kept(effect):
    double = noted_primitive(EFFECTS[effect])
    SEEN.clear()
    jax.jit(jax.vmap(double))(jnp.arange(3.0))
    jax.effects_barrier()
    assert sorted(SEEN) == [0.0, 1.0, 2.0]


def squares(x):
    return jax.lax.psum(x * x, "i")


def summed_primitive(rules):
    total = rc.primitive(lambda x: squares(x))
    if rules != "frule":

        @rrule.define(total)
        def total_rrule(x):
            return total(x), lambda dy: (NoTangent(), jax.lax.psum(2 * x * dy, "i"))

    if rules != "rrule":

        @frule.define(total)
        def total_frule(tangents, x):
            return total(x), jax.lax.psum(2 * x * tangents[1], "i")

    return total


def over_axis(f, c):
    """A collective over an axis that its own argument does not have."""
    return jax.vmap(lambda x: x * f(c), axis_name="i")(jnp.arange(3.0))


def nested(f, c):
    return jax.vmap(lambda y: y * over_axis(f, c), axis_name="i")(jnp.ones(2))


SCOPES = {
    "eager": lambda f: lambda c: over_axis(f, c),
    "jit": lambda f: jax.jit(lambda c: over_axis(f, c)),
    "inner jit": lambda f: lambda c: over_axis(jax.jit(f), c),
    "nested": lambda f: lambda c: nested(f, c),
    "jit nested": lambda f: jax.jit(lambda c: nested(f, c)),
    "jvp": lambda f: lambda c: jax.jvp(partial(over_axis, f), (c,), (1.0,))[1],
    "jit grad": lambda f: jax.jit(jax.grad(lambda c: over_axis(f, c).sum())),
    "grad nested": lambda f: jax.grad(lambda c: nested(f, c).sum()),
}


@pytest.mark.covering
@pytest.mark.parametrize("rules", ["rrule", "frule", "both"])
@pytest.mark.parametrize("scope", SCOPES)
def test_collectives_of_unmapped_arguments(scope, rules):
    expected = SCOPES[scope](squares)(2.0)
    np.testing.assert_allclose(SCOPES[scope](summed_primitive(rules))(2.0), expected)


def rounding(c, hide=lambda c: c):
    """A primitive that closes over what is differentiated."""
    held = hide(c)

    @rc.primitive
    def rounded(x):
        return jnp.round(jax.tree.leaves(held() if callable(held) else held)[0] * x)

    @rrule.define(rounded)
    def rounded_rrule(x):
        return rounded(x), lambda dy: (NoTangent(), c * dy)

    return rounded


HIDING = {
    "bare": lambda c: c,
    "container": lambda c: {"c": [c]},
    "function": lambda c: lambda: c,
}


@pytest.mark.covering
@pytest.mark.parametrize("hide", HIDING)
@pytest.mark.parametrize("transform", [jax.grad, jax.jacfwd])
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("x", [jnp.array(2.0), np.array(2.0), 2.0], ids=type)
def test_captured_value_is_refused(transform, compiled, x, hide):
    """Its derivative would be that of the body: here zero."""
    f = transform(lambda c: rounding(c, HIDING[hide])(x))
    with pytest.raises(
        jax.errors.UnexpectedTracerError, match=r"rounded .*closes over"
    ):
        (jax.jit(f) if compiled else f)(3.0)


def test_captured_value_without_rules_is_differentiated():
    def scale(c):
        return rc.primitive(lambda x: c * x)(jnp.array(2.0))

    assert float(jax.grad(scale)(3.0)) == 2.0


def test_captured_value_of_a_batch_is_used():
    found = jax.vmap(lambda c: rounding(c)(jnp.array(2.0)))(jnp.array([1.2, 3.0]))
    assert found.tolist() == [2.0, 6.0]


def test_captured_constant_is_used():
    rounded = rounding(jnp.array(3.0))
    assert float(jax.grad(lambda c: c * rounded(jnp.array(2.0)))(1.0)) == 6.0
