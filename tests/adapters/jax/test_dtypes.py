"""Dtypes, weak types and shapes: what goes in comes out, and derivatives match it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent


def double(dtype_seen):
    @rc.primitive
    def twice(x):
        return x * 2

    @rc.rrule.define(twice)
    def twice_rrule(x):
        def twice_pullback(dy):
            dtype_seen.append(dy.dtype)
            return NoTangent(), dy * 2

        return twice(x), twice_pullback

    return twice


@pytest.mark.covering(every=3)
@pytest.mark.parametrize(
    "dtype", ["float32", "bfloat16", "float16", "float64", "complex64"]
)
def test_dtype_is_kept(dtype):
    seen = []
    f = double(seen)
    x = jnp.ones(2, dtype)
    with jax.numpy_dtype_promotion("strict"):
        y, pullback = jax.vjp(f, x)
        (found,) = pullback(y)
        _, moved = jax.jvp(f, (x,), (x,))
    assert {str(a.dtype) for a in (y, found, moved, *seen[:0])} == {dtype}
    assert set(map(str, seen)) == {dtype}


def test_weak_types_are_kept():
    f = double([])
    weak = jax.jit(f)(2.0)
    assert weak.weak_type
    assert (jnp.ones((), jnp.bfloat16) * weak).dtype == jnp.bfloat16
    assert jax.grad(f)(2.0).weak_type
    carried = jax.lax.scan(lambda c, _: (f(c), None), 1.0, None, length=3)[0]
    assert carried == 8


@pytest.mark.usefixtures("x32")
def test_single_precision_mode():
    seen = []
    f = double(seen)
    found = jax.grad(lambda x: f(x).sum())(np.ones(3))
    assert found.dtype == jnp.float32
    assert set(map(str, seen)) == {"float32"}


def test_cotangent_of_another_width_is_cast():
    @rc.primitive
    def f(x):
        return x * 1

    @rc.rrule.define(f)
    def f_rrule(x):
        return f(x), lambda dy: (NoTangent(), dy.astype("float64"))

    assert jax.grad(f)(jnp.ones((), "float32")).dtype == jnp.float32


def test_broadcast_cotangent_is_summed():
    @rc.primitive
    def add(x, y):
        return x + y

    @rc.rrule.define(add)
    def add_rrule(x, y):
        return add(x, y), lambda dy: (NoTangent(), dy, dy)

    total = lambda x, y: add(x, y).sum()
    found = jax.grad(total, argnums=(0, 1))(jnp.ones((3, 1)), jnp.ones(4))
    assert found[0].tolist() == [[4.0]] * 3
    assert found[1].tolist() == [3.0] * 4


def test_donated_buffers():
    f = double([])
    step = jax.jit(
        lambda x: x - 0.1 * jax.grad(lambda x: f(x).sum())(x), donate_argnums=0
    )
    assert step(jnp.ones(2)).tolist() == pytest.approx([0.8, 0.8])


def product(kind):
    flags = {"host": {"host": True, "elementwise": True}, "generic": {}}[kind]

    @rc.primitive(**flags)
    def times(x, s):
        return x * s

    @rc.frule.define(times)
    def times_frule(tangents, x, s):
        _, dx, ds = tangents
        return times(x, s), times(dx, s) + times(x, ds)

    @rc.rrule.define(times)
    def times_rrule(x, s):
        return times(x, s), lambda dy: (NoTangent(), dy * s, dy * x)

    return times


def summed(f):
    return jax.grad(lambda x, s: f(x, s).sum(), (0, 1))


WEAK = {
    "jit": lambda f, x: jax.jit(f)(x, 2.0),
    "weak array": lambda f, x: f(x, jnp.asarray(2.0)),
    "integer": lambda f, x: jax.jit(f)(x, 2),
    "vmap": lambda f, x: jax.jit(jax.vmap(f, (0, None)))(x, 2.0),
    "grad": lambda f, x: summed(f)(x, 2.0),
    "jit(grad)": lambda f, x: jax.jit(summed(f))(x, 2.0),
    "jvp": lambda f, x: jax.jvp(f, (x, 2.0), (x, 1.0)),
    "only weak": lambda f, x: jax.jit(jax.value_and_grad(f, (0, 1)))(1.5, 2.0),
    "beside": lambda f, x: jax.jit(lambda x, s: x * f(s, s))(x, 2.0),
    "integers and weak": lambda f, x: jax.jit(f)(jnp.arange(3), 2.0),
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("run", WEAK.values(), ids=WEAK)
@pytest.mark.parametrize("kind", ["generic", "host"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "complex64"])
def test_a_python_number_widens_nothing(kind, dtype, run):
    """Dtypes and weak types are those that JAX gives the formula itself."""
    x = jnp.ones(3, dtype)
    if dtype == "complex64" and run in (WEAK["grad"], WEAK["jit(grad)"]):
        run = lambda f, x: jax.vjp(f, x, 2.0)[1](x)
    found = run(product(kind), x)
    want = run(lambda x, s: x * s, x)
    described = [
        jax.tree.map(lambda a: (a.dtype, a.shape, a.weak_type), tree)
        for tree in (found, want)
    ]
    assert described[0] == described[1]
    jax.tree.map(np.testing.assert_array_equal, found, want)
