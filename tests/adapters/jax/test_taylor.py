"""`jax.experimental.jet`, Taylor mode, through rules."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.jet import jet

import rules_core as rc
from rules_core import NoTangent

X = jnp.asarray([0.3, 0.7])
SERIES = [jnp.asarray([0.5, -1.0]), jnp.asarray([2.0, 0.1]), jnp.asarray([-0.4, 3.0])]
KINDS = ["both", "frule", "rrule"]


def product(kind, *, host=False):
    """`sin(x) y` with the rules that `kind` names."""

    def space(x):
        return rc.array_namespace(x)

    @rc.primitive(host=host, elementwise=host)
    def f(x, y):
        return space(x).sin(x) * y

    if kind != "rrule":

        @rc.frule.define(f)
        def f_frule(tangents, x, y):
            _, dx, dy = tangents
            xp = space(x)
            return f(x, y), xp.cos(x) * y * dx + xp.sin(x) * dy

    if kind != "frule":

        @rc.rrule.define(f)
        def f_rrule(x, y):
            xp = space(x)
            s, c = xp.sin(x), xp.cos(x)
            return f(x, y), lambda dz: (NoTangent(), dz * c * y, dz * s)

    return f


def derivatives_of(f, x, series):
    """Derivatives of `f` along the curve of `series`, by jvp within jvp."""

    def curve(t):
        return f(x + sum(c * t**k / np.prod(range(1, k + 1)) for k, c in series))

    found = []
    for _ in series:
        curve = slope(curve)
        found.append(curve(0.0))
    return found


def slope(curve):
    return lambda t: jax.jvp(curve, (t,), (1.0,))[1]


@pytest.mark.covering(every=7)
@pytest.mark.parametrize("host", [False, True], ids=["generic", "host"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_taylor_coefficients(kind, host, wrap):
    f = product(kind, host=host)

    def program(f):
        return lambda x: f(x, f(x, 2.0 + x)) if not host else f(x, 3.0 * x)

    y, found = jet(wrap(program(f)), (X,), (SERIES,))

    def native(x, y):
        return jnp.sin(x) * y

    np.testing.assert_allclose(y, program(native)(X), rtol=1e-12)
    wanted = derivatives_of(program(native), X, list(enumerate(SERIES, 1)))
    np.testing.assert_allclose(found, wanted, rtol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_taylor_of_a_gradient_and_of_a_batch(kind):
    f = product(kind)

    def run(f):
        return jet(jax.vmap(jax.grad(lambda x: f(x, x * x))), (X,), (SERIES[:2],))

    found, wanted = run(f), run(lambda x, y: jnp.sin(x) * y)
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-10), found, wanted
    )


def test_the_rule_makes_the_coefficients(marked):
    f = marked().f
    _, (first,) = jet(f, (X[0],), ([1.0],))
    assert float(first) == pytest.approx(2 * np.cos(0.3))


def test_integers_have_no_coefficients():
    @rc.primitive
    def powers(x, n):
        return x**n, n + 1

    @rc.frule.define(powers)
    def powers_frule(tangents, x, n):
        return powers(x, n), (n * x ** (n - 1) * tangents[1], NoTangent())

    _, found = jet(lambda x: powers(x, jnp.arange(1, 3)), (X,), (SERIES,))
    wanted = derivatives_of(lambda x: x ** jnp.arange(1, 3), X, [*enumerate(SERIES, 1)])
    np.testing.assert_allclose(found[0], wanted, rtol=1e-10)
    assert all(term.tolist() == [0, 0] for term in found[1])


def test_single_precision_is_kept():
    f = product("frule")
    x = X.astype("float32")
    y, found = jet(lambda x: f(x, x), (x,), ([c.astype("float32") for c in SERIES],))
    assert {y.dtype, *(c.dtype for c in found)} == {jnp.dtype("float32")}


def test_a_derivative_that_no_rule_covers():
    @rc.primitive(host=True, elementwise=True)
    def cube(x):
        return x**3

    @rc.frule.define(cube, host=True)
    def cube_frule(tangents, x):
        return np.power(x, 3), 3 * np.power(x, 2) * tangents[1]

    _, (first,) = jet(cube, (X,), (SERIES[:1],))
    np.testing.assert_allclose(first, 3 * X**2 * SERIES[0], rtol=1e-12)
    with pytest.raises(rc.UnsupportedError, match=re.escape("cube")):
        jet(cube, (X,), (SERIES,))
