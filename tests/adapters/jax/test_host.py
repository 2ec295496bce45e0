"""Host primals: called directly, by callback, over batches."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rules_core as rc
import rules_jax
from rules_core import NoTangent, ShapeDtype
from rules_jax import to_jax


class Counted:
    """cosh on the host, with a rule in terms of itself, counting its calls."""

    def __init__(self, **flags):
        self.shapes = []
        seen = self.shapes

        @rc.primitive(host=True, **flags)
        def cosh(x):
            assert isinstance(x, np.ndarray)
            seen.append(x.shape)
            return np.cosh(x)

        @rc.rrule.define(cosh)
        def cosh_rrule(x: rc.Array):
            y = cosh(x)

            def cosh_pullback(dy):
                return NoTangent(), dy * rc.array_namespace(x).sinh(x)

            return y, cosh_pullback

        self.f = cosh


@pytest.fixture
def counted():
    return Counted(elementwise=True)


def test_eager_call_reaches_numpy_directly(counted, monkeypatch):
    monkeypatch.setattr(jax, "pure_callback", None)
    y = counted.f(jnp.arange(3.0))
    assert isinstance(y, jax.Array)
    assert counted.shapes == [(3,)]
    found = jax.grad(lambda x: counted.f(x).sum())(jnp.arange(3.0))
    np.testing.assert_allclose(found, np.sinh(np.arange(3)))


@pytest.mark.parametrize("compile_", [False, True])
def test_a_batch_is_one_call(counted, compile_):
    f = jax.vmap(jax.vmap(counted.f))
    x = jnp.arange(24.0).reshape(2, 3, 4)
    found = (jax.jit(f) if compile_ else f)(x)
    np.testing.assert_allclose(found, np.cosh(x))
    assert counted.shapes == [(2, 3, 4)]


def test_gradient_of_a_batch_is_one_call(counted):
    f = jax.jit(jax.vmap(jax.grad(lambda x: counted.f(x).sum())))
    np.testing.assert_allclose(f(jnp.ones((5, 2))), np.sinh(np.ones((5, 2))))
    assert counted.shapes in ([], [(5, 2)])  # the value is not needed for the gradient
    counted.shapes.clear()
    f = jax.jit(jax.vmap(jax.value_and_grad(counted.f)))
    f(jnp.arange(5.0))
    assert counted.shapes == [(5,)]


def test_elementwise_arguments_of_different_rank():
    shapes = []

    @rc.primitive(host=True, elementwise=True)
    def add(x, y, z):
        shapes.append(np.shape(y))
        return x + y + z

    x, y, z = jnp.ones((4, 3)), jnp.arange(4.0), jnp.ones((2, 1))
    f = jax.vmap(add, in_axes=(0, 0, None))
    expected = np.stack([np.asarray(x[i] + y[i] + z) for i in range(4)])
    np.testing.assert_array_equal(f(x, y, z), expected)
    assert len(shapes) == 1
    back = jax.vmap(add, in_axes=(1, None, None), out_axes=2)
    assert back(x.T, jnp.asarray(1.0), z).shape == (2, 3, 4)
    assert jax.vmap(lambda x: add(x, 1.0, z))(x).shape == (4, 2, 3)


def test_elementwise_dtypes():
    @rc.primitive(host=True, elementwise=True)
    def times(x, n):
        return np.float64(x) * n

    wide, narrow = jnp.ones(2, jnp.float64), jnp.ones(2, jnp.float32)
    n = jnp.arange(2)
    for run in (times, jax.jit(times)):
        assert run(narrow, n).dtype == jnp.float32
        assert run(wide, n).dtype == jnp.float64
        assert run(narrow, wide).dtype == jnp.float64


@pytest.mark.usefixtures("x32")
def test_elementwise_in_single_precision_mode():
    @rc.primitive(host=True, elementwise=True)
    def half(n):
        return n / 2

    for run in (half, jax.jit(half), jax.vmap(half)):
        assert run(jnp.arange(3)).dtype == jnp.float32


def gram():
    shapes = []

    @rc.primitive(host=True)
    def gram(A):
        shapes.append(A.shape)
        return A.T @ A

    @rc.shape_rule.define(gram)
    def gram_shape(A):
        return ShapeDtype((A.shape[1], A.shape[1]), A.dtype)

    @rc.rrule.define(gram)
    def gram_rrule(A):
        return gram(A), lambda dy: (NoTangent(), A @ (dy + dy.T))

    return gram, shapes


A = np.random.default_rng(0).normal(size=(5, 3, 2))


def test_shape_rule():
    f, _ = gram()
    x = jnp.asarray(A[0])
    np.testing.assert_allclose(jax.jit(f)(x), A[0].T @ A[0])
    assert jax.eval_shape(f, x).shape == (2, 2)
    found = jax.jit(jax.hessian(lambda x: f(x).sum()))(x)
    want = jax.hessian(lambda x: (x.T @ x).sum())(x)
    np.testing.assert_allclose(found, want, atol=1e-12)


def test_without_a_batch_rule_one_callback_loops(monkeypatch):
    f, shapes = gram()
    np.testing.assert_allclose(jax.jit(jax.vmap(f))(A), A.transpose(0, 2, 1) @ A)
    assert shapes == [(3, 2)] * 5
    assert jax.vmap(f)(jnp.zeros((0, 3, 2))).shape == (0, 2, 2)


def test_batch_rule():
    f, shapes = gram()
    seen = []

    @rc.batch_rule.define(f)
    def gram_batch(size, in_batched, A):
        seen.append((size, in_batched, A.shape))
        return A.transpose(0, 2, 1) @ A, True

    want = A.transpose(0, 2, 1) @ A
    np.testing.assert_allclose(jax.jit(jax.vmap(f))(A), want)
    assert seen == [(5, (True,), (5, 3, 2))]
    twice = jax.vmap(jax.vmap(f))(jnp.stack([A, 2 * A]))
    np.testing.assert_allclose(twice, np.stack([want, 4 * want]))
    assert seen[1:] == [(10, (True,), (10, 3, 2))]
    assert shapes == []


def test_batch_rule_with_unbatched_arguments_and_results():
    seen = []

    @rc.primitive(host=True)
    def pair(p, k, n):
        return p["a"] * n, k

    @rc.shape_rule.define(pair)
    def pair_shape(p, k, n):
        return p["a"], k

    @rc.batch_rule.define(pair)
    def pair_batch(size, in_batched, p, k, n):
        seen.append(in_batched)
        return (p["a"] * n, k), (True, in_batched[1])

    p, k = {"a": jnp.arange(3.0)}, jnp.ones(2)
    first, second = jax.vmap(pair, in_axes=(0, None, None))(p, k, 4)
    assert first.tolist() == [0, 4, 8]
    assert second.shape == (3, 2)
    assert seen == [({"a": True}, False, False)]
    outer = jax.vmap(jax.vmap(pair, (0, None, None)), (None, 0, None))
    first, second = outer(p, jnp.ones((5, 2)), 4)
    assert first.shape == (5, 3)
    assert second.shape == (5, 3, 2)
    assert seen[1:] == [({"a": True}, True, False)]


def test_several_results_and_out():
    def split(x):
        return {"whole": np.floor(x).astype(int), "rest": x - np.floor(x)}

    out = {"whole": ShapeDtype((2,), np.int32), "rest": ShapeDtype((2,), "float64")}
    f = to_jax(split, host=True, out=out)
    found = jax.jit(f)(jnp.array([1.5, 2.25]))
    assert found["whole"].dtype == jnp.int32
    assert found["rest"].tolist() == [0.5, 0.25]
    g = to_jax(split, host=True, out=lambda x: {"whole": x, "rest": x})
    assert jax.jit(g)(jnp.ones(3))["whole"].dtype == jnp.float64


BATCHED = {"name": False, "n": False, "none": None}


def declared_with_constants(*, host):
    """Arrays beside a text, None and a number, which the shape rule repeats."""

    @rc.primitive(host=True)
    def f(x, n=2):
        return {"name": "square", "n": n, "none": None, "y": [x * x]}

    rc.shape_rule.define(f)(
        lambda x, n=2: {"name": "square", "n": 2, "none": None, "y": [x]}
    )

    @rc.rrule.define(f, host=host)
    def f_rrule(x, n=2):
        return f(x, n), lambda dy: (rc.NoTangent(), 2 * x * dy["y"][0], rc.NoTangent())

    @rc.frule.define(f, host=host)
    def f_frule(tangents, x, n=2):
        return f(x, n), rc.Tangent(dict, {"y": [2 * x * tangents[1]]})

    return f


@pytest.mark.parametrize("host", [False, True])
def test_constants_that_the_shape_rule_repeats(host):
    f = declared_with_constants(host=host)
    x = jnp.asarray([0.5, 1.5])

    def run(x):
        result = f(x)
        assert result["name"] == "square"
        assert result["none"] is None
        return result["y"][0] * result["n"]  # 2 x²

    np.testing.assert_allclose(run(x), 2 * x * x)
    np.testing.assert_allclose(jax.jit(run)(x), 2 * x * x)
    np.testing.assert_allclose(jax.jit(jax.jacrev(run))(x), np.diag(4 * x))
    np.testing.assert_allclose(jax.jacfwd(run)(x), np.diag(4 * x))
    slopes = jax.vmap(jax.grad(lambda x: run(x).sum()))(jnp.stack([x, 2 * x]))
    np.testing.assert_allclose(slopes, [4 * x, 8 * x])
    rc.batch_rule.define(f)(
        lambda size, batched, x, n=2: (f(x, n), {**BATCHED, "y": [True]})
    )
    np.testing.assert_allclose(jax.vmap(run)(jnp.stack([x, 2 * x]))[1], 8 * x * x)


def test_constants_that_the_shape_rule_gets_wrong():
    f = declared_with_constants(host=False)
    match = r"must return what its shape rule promises.*'n': 2.*but got 3, 'square'"
    with pytest.raises(rules_jax.RuleOutputError, match=match):
        f(jnp.asarray([0.5]), 3)


def test_views_and_buffers_that_the_function_keeps():
    buffer = np.zeros(3)

    @rc.primitive(host=True, elementwise=True)
    def into_buffer(x):
        buffer[:] = x
        return buffer

    first = into_buffer(jnp.ones(3))
    second = jax.jit(into_buffer)(2 * jnp.ones(3))
    third = jax.jit(into_buffer)(3 * jnp.ones(3))
    into_buffer(jnp.zeros(3))
    assert [first[0], second[0], third[0]] == [1, 2, 3]

    @rc.primitive(host=True, elementwise=True)
    def backwards(x):
        return np.broadcast_to(x[::-1], x.shape)

    assert jax.jit(backwards)(jnp.arange(3.0)).tolist() == [2, 1, 0]
    assert backwards(jnp.arange(3.0)).tolist() == [2, 1, 0]


def test_host_call_inside_control_flow(counted):
    def loop(x):
        return jax.lax.fori_loop(0, 3, lambda _, c: jnp.log(counted.f(c)) + 1, x)

    def plain(x):
        for _ in range(3):
            x = jnp.log(jnp.cosh(x)) + 1
        return x

    x = jnp.asarray(0.3)
    np.testing.assert_allclose(jax.grad(loop)(x), jax.grad(plain)(x))
    np.testing.assert_allclose(jax.jit(jax.hessian(loop))(x), jax.hessian(plain)(x))
    f = jax.jit(jax.grad(lambda x: jax.lax.cond(x > 0, counted.f, jnp.sin, x)))
    np.testing.assert_allclose(f(x), np.sinh(0.3))


def test_constant_inside_jit_is_folded(counted):
    f = jax.jit(lambda x: x * counted.f(jnp.asarray(1.0)))
    f(jnp.asarray(2.0)), f(jnp.asarray(3.0))
    assert len(counted.shapes) <= 2


@pytest.mark.covering(every=2)
@pytest.mark.parametrize("compile_", [False, True])
def test_scalar_rule_of_a_function_that_has_no_handle(compile_):
    """The rule calls the function itself, and reaches the handle of `to_jax`."""

    def cube(x):
        assert isinstance(x, np.ndarray)
        return x**3

    rc.scalar_rule(cube, lambda y, x: (3 * x**2,))
    f = to_jax(cube, host=True, elementwise=True)
    for derivative in (jax.grad(f), jax.grad(jax.grad(f)), jax.jacfwd(f)):
        run = jax.jit(jax.vmap(derivative)) if compile_ else jax.vmap(derivative)
        assert run(jnp.array([2.0])) == 12


def test_bfloat16_is_computed_in_single_precision():
    @rc.primitive(host=True, elementwise=True)
    def sqrt(x):
        assert x.dtype == np.float32
        return np.sqrt(x)

    rc.scalar_rule(sqrt, lambda y, x: (0.5 / y,))
    x = jnp.full(2, 4.0, jnp.bfloat16)
    for run in (sqrt, jax.jit(sqrt), jax.vmap(sqrt), jax.jit(jax.vmap(jax.grad(sqrt)))):
        assert run(x).dtype == jnp.bfloat16
    assert jax.grad(lambda x: sqrt(x).sum())(x).tolist() == [0.25, 0.25]


def test_concrete_results_go_where_their_argument_is(counted, monkeypatch):
    from rules_jax._values import placement

    monkeypatch.setattr(placement, "_default_device", object)  # as if it were elsewhere
    mesh = jax.make_mesh((1,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("d"))
    x = jax.device_put(jnp.ones(4), sharding)
    assert counted.f(x).sharding == sharding
    assert jax.vmap(counted.f)(x).sharding == sharding
