"""What may go into a call and come out: statics, keywords, integers, keys."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent
from rules_jax import to_jax

X2 = jnp.asarray(2.0)


def power_function():
    seen = []

    @rc.primitive
    def power(x, n, *, scale=1.0, mode="plain"):
        return scale * x**n

    @rc.rrule.define(power)
    def power_rrule(x, n, *, scale=1.0, mode="plain"):
        seen.append((n, mode))

        def power_pullback(dy):
            return NoTangent(), dy * scale * n * x ** (n - 1), NoTangent()

        return power(x, n, scale=scale), power_pullback

    return power, seen


def test_static_and_keyword_arguments():
    power, seen = power_function()
    x = jnp.asarray(2.0)
    assert jax.grad(power)(x, 3) == 12
    assert jax.jit(jax.grad(lambda x: power(x, n=3, scale=2.0, mode="other")))(x) == 24
    assert seen[-1] == (3, "other")
    assert type(seen[-1][0]) is int


def test_traced_keyword_that_is_not_differentiated():
    power, _ = power_function()
    f = jax.jit(lambda x, s: jax.grad(lambda x: power(x, 2, scale=s))(x))
    assert f(jnp.asarray(2.0), jnp.asarray(5.0)) == 20


def test_integer_and_boolean_arrays_have_no_tangent():
    seen = []

    @rc.primitive
    def pick(x, index, mask):
        return rc.array_namespace(x).where(mask, x[index], 0.0)

    @rc.rrule.define(pick)
    def pick_rrule(x, index, mask):
        def pick_pullback(dy):
            dx = jnp.zeros_like(x).at[index].add(jnp.where(mask, dy, 0.0))
            return NoTangent(), dx, NoTangent(), NoTangent()

        return pick(x, index, mask), pick_pullback

    @rc.frule.define(pick)
    def pick_frule(tangents, x, index, mask):
        seen.append(tangents)
        return pick(x, index, mask), pick(tangents[1], index, mask)

    x, index = jnp.arange(3.0), jnp.array([2, 2])
    mask = jnp.array([True, False])
    total = lambda *args: pick(*args).sum()
    assert jax.grad(total)(x, index, mask).tolist() == [0, 0, 1]
    _, *free = jax.grad(total, argnums=(0, 1, 2), allow_int=True)(x, index, mask)
    assert [f.dtype for f in free] == [jax.dtypes.float0] * 2
    tangents = tuple(np.zeros(a.shape, jax.dtypes.float0) for a in (index, mask))
    jax.jvp(pick, (x, index, mask), (x, *tangents))
    jax.jit(jax.jacfwd(pick))(x, index, mask)
    for given in seen:
        assert [type(t) for t in given[2:]] == [NoTangent] * 2


def test_random_keys():
    @rc.primitive
    def jitter(x, key):
        return x * jax.random.uniform(key)

    @rc.rrule.define(jitter)
    def jitter_rrule(x, key):
        def jitter_pullback(dy):
            return NoTangent(), dy * jax.random.uniform(key), NoTangent()

        return jitter(x, key), jitter_pullback

    for key in (jax.random.key(0), jax.random.PRNGKey(0)):
        expected = jax.random.uniform(key)
        assert jax.grad(jitter)(jnp.asarray(2.0), key) == expected
        assert jax.jit(jax.grad(jitter))(jnp.asarray(2.0), key) == pytest.approx(
            expected
        )
        keys = jax.random.split(key, 3)
        found = jax.vmap(jax.grad(jitter), in_axes=(None, 0))(jnp.asarray(2.0), keys)
        assert found.shape == (3,)


def several():
    seen = []

    @rc.primitive
    def several(x):
        xp = rc.array_namespace(x)
        return xp.sin(x), xp.astype(xp.floor(x), xp.int32), x * x

    @rc.rrule.define(several)
    def several_rrule(x):
        def several_pullback(dy):
            seen.append(dy)
            d0, _, d2 = dy
            return NoTangent(), d0 * rc.array_namespace(x).cos(x) + 2 * x * d2

        return several(x), several_pullback

    return several, seen


def test_several_outputs_some_integer():
    f, seen = several()
    x = jnp.asarray(0.5)
    assert jax.grad(lambda x: f(x)[2])(x) == 1
    assert type(seen[-1][1]) is NoTangent
    assert seen[-1][0] == 0
    y, moved = jax.jvp(f, (x,), (jnp.asarray(1.0),))
    assert y[1].dtype == jnp.int32
    assert moved[1].dtype == jax.dtypes.float0
    assert float(moved[2]) == 1
    out = jax.jit(jax.vmap(f))(jnp.arange(3.0))
    assert [o.dtype for o in out] == [jnp.float64, jnp.int32, jnp.float64]
    assert jax.grad(lambda x: f(x)[1].astype(float))(x) == 0


def test_static_argnames_hold_arrays():
    @rc.primitive(static_argnames="table")
    def look(x, table):
        assert isinstance(table, np.ndarray)
        return x * table[1]

    @rc.rrule.define(look)
    def look_rrule(x, table):
        assert isinstance(table, np.ndarray)
        return look(x, table), lambda dy: (NoTangent(), dy * table[1], NoTangent())

    table = np.array([1.0, 7.0])
    assert jax.grad(look)(jnp.asarray(2.0), table) == 7
    assert jax.jit(lambda x: jax.grad(look)(x, table))(jnp.asarray(2.0)) == 7


def test_numpy_arrays_beside_jax_are_promoted():
    @rc.primitive
    def dot(x, y):
        return (x * y).sum()

    @rc.rrule.define(dot)
    def dot_rrule(x: rc.Array, y: rc.Array):
        return dot(x, y), lambda dy: (NoTangent(), dy * y, dy * x)

    found = jax.grad(dot)(jnp.ones(2), np.array([2.0, 3.0]))
    assert isinstance(found, jax.Array)
    assert found.tolist() == [2, 3]


def test_constants_of_a_call_have_zero_tangents():
    """A Python number is a constant of the call; its tangent is zero, not absent."""
    seen = []

    @rc.primitive
    def f(x, a, n, p):
        return a * x**n + p[0]

    @rc.frule.define(f)
    def f_frule(tangents, x, a: float, n: int, p: tuple):
        seen.append(tangents)
        _, dx, da, _, dp = tangents
        return f(x, a, n, p), a * n * x ** (n - 1) * dx + da * x**n + dp[0]

    _, moved = jax.jvp(lambda x: f(x, 3.0, 2, (1.5, "s")), (X2,), (X2,))
    assert float(moved) == 3 * 2 * 2 * 2
    _, _, da, dn, dp = seen[0]
    assert (type(da), da, type(dn)) == (float, 0.0, NoTangent)
    assert dp[0] == 0.0
    assert type(dp[1]) is NoTangent


@pytest.mark.parametrize("via", ["primitive", "linear", "custom_vjp"])
def test_pytrees_and_integers_through_every_back_end(via):
    f, _ = several()
    run = to_jax(f, via=via)
    x = jnp.asarray(0.5)
    for wrap in (lambda g: g, jax.jit, jax.vmap):
        at = jnp.stack([x]) if wrap is jax.vmap else x
        made = wrap(run)
        found = jax.grad(lambda x, made=made: made(x)[2].sum())(at)
        assert jnp.ravel(found)[0] == 1
        assert made(at)[1].dtype == jnp.int32
    assert jax.grad(lambda x: run(x)[1] * run(x)[0])(x) == 0


def test_integers_through_custom_jvp():
    @rc.primitive
    def f(x, k):
        return {"y": x * k, "k": k}

    @rc.frule.define(f)
    def f_frule(tangents, x, k):
        assert type(tangents[2]) is NoTangent
        return f(x, k), {"y": tangents[1] * k, "k": NoTangent()}

    run = to_jax(f, via="custom_jvp")
    assert jax.grad(lambda x: run(x, jnp.arange(3))["y"].sum())(X2) == 3
    assert jax.jacfwd(lambda x: run(x, jnp.arange(3))["y"])(X2).tolist() == [0, 1, 2]
