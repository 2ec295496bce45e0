"""What may go into a call and come out: pytrees, statics, integers, keys, dtypes."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, Tangent


class Pair(NamedTuple):
    a: object
    b: object


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Line:
    slope: object
    offset: object


@jax.tree_util.register_dataclass
@dataclass
class Box:
    value: object


def line_function(returned):
    """slope * x + offset, whose pullback returns what `returned` makes of the pair."""

    @rc.primitive
    def line(p, x):
        return p.slope * x + p.offset

    @rc.rrule.define(line)
    def line_rrule(p, x):
        def line_pullback(dy):
            return NoTangent(), returned(dy * x, dy), dy * p.slope

        return line(p, x), line_pullback

    return line


@pytest.mark.parametrize(
    "returned",
    [
        lambda ds, do: Tangent(Line, slope=ds, offset=do),
        lambda ds, do: {"slope": ds, "offset": do},
        Line,
        lambda ds, do: rc.thunk(
            lambda: Tangent(Line, slope=rc.thunk(lambda: ds), offset=do)
        ),
    ],
    ids=["Tangent", "dict", "instance", "thunk"],
)
def test_dataclass(returned):
    line = line_function(returned)
    p, x = Line(jnp.asarray(2.0), jnp.asarray(3.0)), jnp.asarray(5.0)
    dp, dx = jax.grad(line, argnums=(0, 1))(p, x)
    assert isinstance(dp, Line)
    assert (dp.slope, dp.offset, dx) == (5, 1, 2)
    _, moved = jax.jvp(line, (p, x), (Line(jnp.asarray(1.0), jnp.asarray(10.0)), x))
    assert moved == 5 + 10 + 10


def test_absent_field_is_zero():
    line = line_function(lambda ds, do: Tangent(Line, slope=ds))
    p, x = Line(jnp.asarray(2.0), jnp.asarray(3.0)), jnp.asarray(5.0)
    assert jax.grad(line)(p, x) == Line(5.0, 0.0)


def test_mutable_dataclass_has_a_mutable_tangent():
    seen = []

    @rc.primitive
    def square(b):
        return Box(b.value**2)

    @rc.frule.define(square)
    def square_frule(tangents, b):
        seen.append(type(tangents[1]))
        return square(b), rc.MutableTangent(Box, value=2 * b.value * tangents[1].value)

    b = Box(jnp.asarray(3.0))
    _, moved = jax.jvp(square, (b,), (b,))
    assert moved.value == 18
    assert seen == [rc.MutableTangent]


def test_containers_in_and_out():
    seen = []

    @rc.primitive
    def mix(d, seq):
        return {"sum": d["x"] + seq[0], "pair": Pair(seq[1] * d["y"], None)}

    @rc.rrule.define(mix)
    def mix_rrule(d, seq):
        def mix_pullback(dy):
            seen.append(dy)
            ds, dp = dy["sum"], dy["pair"].a
            return NoTangent(), {"x": ds, "y": dp * seq[1]}, [ds, dp * d["y"]]

        return mix(d, seq), mix_pullback

    d = {"x": jnp.asarray(1.0), "y": jnp.asarray(2.0), "n": None}
    seq = [jnp.asarray(3.0), jnp.asarray(4.0)]
    out, pullback = jax.vjp(mix, d, seq)
    assert out == {"sum": 4.0, "pair": Pair(8.0, None)}
    found = pullback({"sum": jnp.asarray(10.0), "pair": Pair(jnp.asarray(1.0), None)})
    assert found == ({"x": 10.0, "y": 4.0, "n": None}, [10.0, 2.0])
    assert type(seen[0]) is Tangent
    assert type(seen[0]["pair"]) is Tangent


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
    total = lambda *args: pick(*args).sum()  # noqa: E731
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

    total = lambda x, y: add(x, y).sum()  # noqa: E731
    found = jax.grad(total, argnums=(0, 1))(jnp.ones((3, 1)), jnp.ones(4))
    assert found[0].tolist() == [[4.0]] * 3
    assert found[1].tolist() == [3.0] * 4


def test_donated_buffers():
    f = double([])
    step = jax.jit(
        lambda x: x - 0.1 * jax.grad(lambda x: f(x).sum())(x), donate_argnums=0
    )
    assert step(jnp.ones(2)).tolist() == pytest.approx([0.8, 0.8])


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


X2 = jnp.asarray(2.0)


@pytest.mark.parametrize("via", ["primitive", "linear", "custom_vjp"])
def test_pytrees_and_integers_through_every_back_end(via):
    from rules_jax import to_jax

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
    from rules_jax import to_jax

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


def test_pullbacks_of_ad_as_residuals():
    """What `rrule_via_ad` returns is a pytree: it may be kept in a `Pullback`."""

    @rc.primitive
    def apply(f, x):
        return f(x)

    def apply_pullback(inner, dy):
        df, dx = inner(dy)
        return NoTangent(), df, dx

    @rc.rrule.define(apply, config=rc.RuleConfig[rc.HasReverseMode])
    def apply_rrule(config, f, x):
        y, inner = rc.rrule_via_ad(config, f, x)
        return y, rc.Pullback(apply_pullback, inner)

    def total(c, x):
        return apply(lambda x: jnp.sin(c * x), x)

    c, x = jnp.asarray(0.3), jnp.asarray(0.7)
    want = jax.grad(lambda c, x: jnp.sin(c * x), (0, 1))(c, x)
    for run in (
        jax.grad(total, (0, 1)),
        jax.jit(jax.grad(total, (0, 1))),
        jax.grad(jax.jit(total), (0, 1)),
        jax.grad(jax.checkpoint(total), (0, 1)),
    ):
        np.testing.assert_allclose(run(c, x), want)
