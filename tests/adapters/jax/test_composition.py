"""Every arrangement of jvp, grad and vmap agrees with JAX's own derivative."""

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent
from rules_core.testing import isolated_rules

X = 0.7


def reference(x):
    return jnp.exp(-0.5 * x * x)


def grad(f):
    return jax.grad(f)


def jvp(f):
    return lambda x: jax.jvp(f, (x,), (jnp.ones_like(x),))[1]


def vmap(f):
    """A scalar function again, so that arrangements nest."""
    return lambda x: jnp.dot(
        jax.vmap(f)(x * jnp.array([1.0, 0.5])), jnp.array([2.0, -1.0])
    )


TRANSFORMS = {"g": grad, "j": jvp, "v": vmap}


def compose(word, f):
    """`"gvj"` is grad(vmap(jvp(f)))."""
    for letter in reversed(word):
        f = TRANSFORMS[letter](f)
    return f


def words(order):
    return ["".join(letters) for letters in product("gjv", repeat=order)]


def make(kind, rules):
    """The reference as a primitive, with its rules written in terms of itself."""
    if kind == "generic":

        @rc.primitive
        def bell(x):
            xp = rc.array_namespace(x)
            return xp.exp(-0.5 * x * x)
    else:

        @rc.primitive(host=True, elementwise=True)
        def bell(x):
            assert isinstance(x, np.ndarray)
            return np.exp(-0.5 * x * x)

    if rules in ("both", "frule"):

        @rc.frule.define(bell)
        def bell_frule(tangents, x):
            _, dx = tangents
            return bell(x), -x * bell(x) * dx

    if rules in ("both", "rrule"):

        @rc.rrule.define(bell)
        def bell_rrule(x):
            y = bell(x)

            def bell_pullback(dy):
                return NoTangent(), -x * y * dy

            return y, bell_pullback

    return bell


EXPECTED: dict[str, float] = {}


def expected(word):
    if word not in EXPECTED:
        EXPECTED[word] = float(compose(word, reference)(X))
    return EXPECTED[word]


# What a derivative is asked for at: JAX hands NumPy's values on as they are.
STARTS = [jnp.asarray, np.asarray, np.float64, float]


def check(kind, rules, order, step=1):
    """One word after the other, each from the next kind of value."""
    with isolated_rules():
        bell = make(kind, rules)
        for i, word in enumerate(words(order)[::step]):
            start = STARTS[(i + order) % len(STARTS)]
            found = compose(word, bell)(start(X))
            case = word, start
            assert float(found) == pytest.approx(expected(word), rel=1e-9), case


KINDS = ["generic", "host"]
RULES = ["both", "rrule", "frule"]


@pytest.mark.covering(every=8)
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("kind", KINDS)
def test_composition(kind, rules, order):
    check(kind, rules, order)


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("start", STARTS, ids=["jax", "numpy", "numpy scalar", "float"])
@pytest.mark.parametrize("rules", ["none", "rrule"])
def test_host_primal_from_every_kind_of_value(rules, start, order):
    """Without rules they are derived from the body, in NumPy's own namespace."""
    bell = make("host", rules)
    for word in words(order):
        found = compose(word, bell)(start(X))
        assert float(found) == pytest.approx(expected(word), rel=1e-9), word


@pytest.mark.full
@pytest.mark.slow
def test_composition_of_fourth_order():
    """A quarter of the words; every one of them is in the nightly run."""
    check("host", "both", 4, step=4)


@pytest.mark.nightly
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("kind", KINDS)
def test_composition_of_fourth_order_in_full(kind, rules):
    check(kind, rules, 4)
