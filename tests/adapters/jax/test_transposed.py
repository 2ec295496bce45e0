"""Modes that are derived by transposing a rule which calls primitives on its tangent.

The cube is differentiated by rules that reach `c * d`, the only product in which the
tangent or cotangent `d` takes part, in one of many ways: packed with the constant `c`
into one array, in a container, in a closure. Everything is compared with JAX's own
derivative of `x * x * x`.
"""

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, UnsupportedError, frule, rrule
from rules_jax import to_jax

X = np.array([0.7, -1.2])
V, W = np.array([0.3, 1.1]), np.array([-0.4, 0.9])

# How a constant and a tangent become one argument, and two values again.
PACKINGS = {
    "concat": (
        lambda c, d: jnp.concatenate([c, d]),
        lambda z: (z[:2], z[2:]),
    ),
    "stack": (lambda c, d: jnp.stack([c, d]), lambda z: (z[0], z[1])),
    "columns": (
        lambda c, d: jnp.stack([c, d], axis=1).reshape(-1),
        lambda z: (z[::2], z[1::2]),
    ),
    "set": (
        lambda c, d: jnp.zeros(4).at[:2].set(c).at[2:].set(d),
        lambda z: (z[:2], z[2:]),
    ),
    "add": (
        lambda c, d: jnp.zeros(4).at[jnp.array([0, 3])].add(c).at[1:3].add(d),
        lambda z: (z[jnp.array([0, 3])], z[1:3]),
    ),
    "pad": (
        lambda c, d: jnp.pad(c, (0, 2)) + jnp.pad(d, (2, 0)),
        lambda z: tuple(jnp.split(z, 2)),
    ),
    "where": (
        lambda c, d: jnp.where(jnp.arange(4) < 2, jnp.tile(c, 2), jnp.tile(d, 2)),
        lambda z: (z[:2], z[2:]),
    ),
    "rolled": (
        lambda c, d: jnp.roll(jnp.concatenate([c, d])[::-1], 1),
        lambda z: (
            jnp.roll(z, -1)[::-1][:2],
            jnp.take(jnp.roll(z, 3), jnp.array([1, 0])),
        ),
    ),
    "scan": (
        lambda c, d: jax.lax.scan(
            lambda z, t: (jnp.concatenate([z[:2], z[2:] + t * d]), None),
            jnp.concatenate([c, jnp.zeros_like(d)]),
            jnp.array([0.25, 0.75]),
        )[0],
        lambda z: (z[:2], z[2:]),
    ),
    "dict": (lambda c, d: {"c": c, "d": d}, lambda z: (z["c"], z["d"])),
    "tuple": (lambda c, d: (c, [d]), lambda z: (z[0], z[1][0])),
    "complex": (lambda c, d: c + 1j * d, lambda z: (jnp.real(z), jnp.imag(z))),
}

# Entries of one array are told apart, but not the two parts of a complex number.
REFUSED = {"complex"}


def packed_product(packing, rules):
    """`c * d` as a primitive of one packed argument."""
    pack, unpack = PACKINGS[packing]

    @rc.primitive
    def times(z):
        c, d = unpack(z)
        return c * d

    if rules != "frule":

        @rrule.define(times)
        def times_rrule(z):
            c, d = unpack(z)

            def times_pullback(dy):
                return NoTangent(), pack(dy * d, dy * c)

            return times(z), times_pullback

    if rules != "rrule":

        @frule.define(times)
        def times_frule(tangents, z):
            (c, d), (dc, dd) = unpack(z), unpack(tangents[1])
            return times(z), dc * d + c * dd

    return lambda c, d: times(pack(c, d))


def cube_of(multiply, rules):
    """The cube, whose rules multiply the tangent by `3 x²` as they are told."""

    @rc.primitive
    def cube(x):
        return x * x * x

    if rules != "frule":

        @rrule.define(cube)
        def cube_rrule(x):
            return cube(x), lambda dy: (NoTangent(), multiply(3 * x * x, dy))

    if rules != "rrule":

        @frule.define(cube)
        def cube_frule(tangents, x):
            return cube(x), multiply(3 * x * x, tangents[1])

    return cube


def along(f, v=V):
    return lambda x: jax.jvp(f, (x,), (v,))[1]


def transposed_linearize(f):
    return lambda x: jax.linear_transpose(jax.linearize(f, x)[1], x)(W)[0]


def weighed(f):
    return lambda x: (W * f(x)).sum()


TRANSFORMS = {
    "jvp": along,
    "jit jvp": lambda f: jax.jit(along(f)),
    "jacfwd": jax.jacfwd,
    "grad": lambda f: jax.grad(weighed(f)),
    "linearize": lambda f: lambda x: jax.linearize(f, x)[1](V),
    "transpose of linearize": transposed_linearize,
    "checkpoint": lambda f: jax.grad(weighed(jax.checkpoint(f))),
    "vmap jvp": lambda f: lambda x: jax.vmap(along(f))(jnp.stack([x, 2 * x])),
    "jvp vmap": lambda f: (
        lambda x: along(jax.vmap(f), jnp.stack([V, W]))(jnp.stack([x, 2 * x]))
    ),
    "hessian": lambda f: jax.hessian(weighed(f)),
    "reverse of forward": lambda f: jax.jacrev(along(f)),
    "reverse of reverse": lambda f: jax.grad(weighed(jax.grad(weighed(f)))),
    "forward of forward": lambda f: along(along(f), W),
    "third, forward": lambda f: along(along(along(f), W)),
    "third, mixed": lambda f: jax.jacfwd(jax.grad(weighed(along(f)))),
    "third, reverse": lambda f: jax.grad(
        weighed(jax.grad(weighed(jax.grad(weighed(f)))))
    ),
}


def expected(name):
    return np.asarray(TRANSFORMS[name](lambda x: x * x * x)(jnp.asarray(X)))


def check(cube, names, *, may_refuse=()):
    """At an array of JAX and at one of NumPy; what may be refused may be right too."""
    for name, x in product(names, (jnp.asarray(X), X)):
        try:
            found = TRANSFORMS[name](cube)(x)
        except UnsupportedError:
            assert name in may_refuse, name
            continue
        np.testing.assert_allclose(found, expected(name), rtol=1e-6, err_msg=name)


SOME = ["vmap jvp", "transpose of linearize", "reverse of forward"]


@pytest.mark.covering(every=19)
@pytest.mark.parametrize("inner", ["rrule", "frule", "both"])
@pytest.mark.parametrize("packing", PACKINGS)
def test_packed_cotangent(packing, inner):
    """Forward mode is the transposition of a pullback that packs its cotangent."""
    cube = cube_of(packed_product(packing, inner), "rrule")
    check(cube, SOME, may_refuse=SOME if packing in REFUSED else ())


@pytest.mark.covering(every=4, start=0)
@pytest.mark.parametrize("name", TRANSFORMS)
def test_packed_cotangent_in_every_mode(name):
    cube = cube_of(packed_product("concat", "rrule"), "rrule")
    check(cube, [name])


@pytest.mark.nightly
@pytest.mark.parametrize("packing", PACKINGS)
def test_packed_cotangent_in_full(packing):
    cube = cube_of(packed_product(packing, "rrule"), "rrule")
    check(cube, TRANSFORMS, may_refuse=TRANSFORMS if packing in REFUSED else ())


@pytest.mark.covering(every=13)
@pytest.mark.parametrize("inner", ["rrule", "frule"])
@pytest.mark.parametrize("packing", PACKINGS)
def test_packed_tangent(packing, inner):
    """Reverse mode is the transposition of an frule that packs its tangent."""
    cube = cube_of(packed_product(packing, inner), "frule")
    check(cube, SOME, may_refuse=SOME if packing in REFUSED else ())


@pytest.mark.covering(every=4, start=1)
@pytest.mark.parametrize("name", TRANSFORMS)
def test_packed_tangent_in_every_mode(name):
    """Under checkpoint JAX transposes the frule itself, and cannot do this one."""
    cube = cube_of(packed_product("concat", "both"), "frule")
    check(cube, [name], may_refuse=["checkpoint"])


def in_closures():
    """Products in which one factor is captured by a function."""

    @rc.primitive
    def apply(f, x):
        return f(x)

    rrule.define(apply, config=rc.RuleConfig[rc.HasReverseMode])(_apply_rrule)
    return {
        "constant captured": lambda c, d: apply(lambda d: c * d, d),
        "tangent captured": lambda c, d: apply(lambda c: c * d, c),
        "nested": lambda c, d: apply(lambda d: apply(lambda c: c * d, c), d),
    }


def _apply_rrule(config, f, x):
    y, pullback = rc.rrule_via_ad(config, f, x)

    def apply_pullback(dy):
        df, dx = pullback(dy)
        return NoTangent(), df, dx

    return y, apply_pullback


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("rules", ["rrule", "frule"])
@pytest.mark.parametrize("which", ["constant captured", "tangent captured", "nested"])
def test_captured_factor(which, rules):
    cube = cube_of(in_closures()[which], rules)
    check(cube, SOME)


NONLINEAR = {
    "square": lambda d: d * d,
    "absolute": jnp.abs,
    "by itself": lambda d: jnp.concatenate([d, d])[:2] * d,
    "exponential": lambda d: jnp.exp(d) - 1,
    "rectified": lambda d: jnp.where(d > 0, d, 0),
}


def nonlinear_primitive(body, rules):
    @rc.primitive
    def bent(d):
        return body(d)

    if rules != "frule":

        @rrule.define(bent)
        def bent_rrule(d):
            y, pullback = jax.vjp(body, d)
            return y, lambda dy: (NoTangent(), pullback(dy)[0])

    if rules != "rrule":

        @frule.define(bent)
        def bent_frule(tangents, d):
            return jax.jvp(body, (d,), (tangents[1],))

    return bent


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("rules", ["rrule", "frule", "both"])
@pytest.mark.parametrize("body", NONLINEAR)
def test_nonlinear_primitive_is_not_transposed(body, rules):
    bent = nonlinear_primitive(NONLINEAR[body], rules)
    with pytest.raises(UnsupportedError, match="linear"):
        jax.linear_transpose(bent, jnp.asarray(X))(jnp.asarray(W))


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("rules", ["rrule", "frule", "both"])
@pytest.mark.parametrize("body", NONLINEAR)
def test_nonlinear_pullback_is_refused_in_forward_mode(body, rules):
    bent = nonlinear_primitive(NONLINEAR[body], rules)
    cube = cube_of(lambda c, d: c * bent(d), "rrule")
    for transform in (along, jax.jacfwd, lambda f: jax.jit(along(f))):
        with pytest.raises(UnsupportedError, match=r"cube_rrule.*not linear"):
            transform(cube)(jnp.asarray(X))


@pytest.mark.parametrize("rules", ["rrule", "frule"])
def test_linear_primitive_is_transposed(rules):
    """The counterpart: what does not depend on the argument is, as JAX does it."""
    turned = to_jax(lambda x: rc.array_namespace(x).roll(x, 1))
    if rules == "rrule":
        rrule.define(turned.primitive.fun)(
            lambda x: (turned(x), lambda dy: (NoTangent(), jnp.roll(dy, -1)))
        )
    else:
        frule.define(turned.primitive.fun)(
            lambda tangents, x: (turned(x), turned(tangents[1]))
        )
    (found,) = jax.linear_transpose(turned, jnp.asarray(X))(jnp.asarray(W))
    np.testing.assert_array_equal(found, np.roll(W, -1))


@pytest.mark.covering(every=2, start=1)
@pytest.mark.parametrize("kind", ["rrule", "frule"])
def test_linear_scatter_that_jax_does_not_transpose(kind):
    """JAX transposes `.at[…].set` for unique indices only; its derivative it does."""

    @rc.primitive
    def swapped(x):
        return rc.array_namespace(x).flip(x)

    def swap(d):
        return jnp.zeros(2).at[jnp.array([1, 0])].set(d)

    if kind == "rrule":
        rrule.define(swapped)(
            lambda x: (swapped(x), lambda dy: (NoTangent(), swap(dy)))
        )
    else:
        frule.define(swapped)(lambda tangents, x: (swapped(x), swap(tangents[1])))
    np.testing.assert_array_equal(along(swapped)(jnp.asarray(X)), V[::-1])
    np.testing.assert_array_equal(jax.grad(weighed(swapped))(jnp.asarray(X)), W[::-1])
