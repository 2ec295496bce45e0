"""Rules that call back into JAX's AD, with functions that close over tracers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rules_core as rc
from rules_core import HasForwardsMode, HasReverseMode, NoTangent, RuleConfig
from rules_jax import JaxConfig


def fixed_point_primitive():
    """x = f(theta, x), differentiated by the implicit function theorem."""

    @rc.primitive
    def fixed_point(f, theta, x0):
        step = lambda x: f(theta, x)  # noqa: E731
        return jax.lax.while_loop(
            lambda c: jnp.max(jnp.abs(c[0] - c[1])) > 1e-13,
            lambda c: (c[1], step(c[1])),
            (x0, step(x0)),
        )[1]

    @rc.rrule.define(fixed_point, config=RuleConfig[HasReverseMode])
    def fixed_point_rrule(config, f, theta, x0):
        x = fixed_point(f, theta, x0)
        _, pull = rc.rrule_via_ad(config, f, theta, x)

        def fixed_point_pullback(dy):
            def adjoint(dy, w):
                return dy + pull(w)[2]

            w = fixed_point(adjoint, dy, rc.array_namespace(dy).zeros_like(dy))
            df, dtheta, _ = pull(w)
            return NoTangent(), df, dtheta, NoTangent()

        return x, fixed_point_pullback

    return fixed_point


def step(theta, x):
    return jnp.tanh(theta["a"] * x + theta["b"]) / 2


def solved(theta, x0=None):
    """The same by many plain iterations."""
    x = jnp.zeros_like(theta["b"]) if x0 is None else x0
    return jax.lax.scan(lambda x, _: (step(theta, x), None), x, None, length=60)[0]


THETA = {"a": jnp.asarray(0.6), "b": jnp.array([0.3, -0.2])}


@pytest.fixture
def fixed():
    fixed_point = fixed_point_primitive()
    return lambda theta: fixed_point(step, theta, jnp.zeros(2))


def close(found, want, tol=1e-9):
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=tol, atol=tol), found, want
    )


@pytest.mark.parametrize(
    "wrap", [lambda f: f, jax.jit, jax.checkpoint], ids=["", "jit", "remat"]
)
def test_fixed_point_first_order(fixed, wrap):
    f, g = wrap(fixed), solved
    close(f(THETA), g(THETA))
    close(jax.grad(lambda t: f(t).sum())(THETA), jax.grad(lambda t: g(t).sum())(THETA))
    close(jax.jacfwd(f)(THETA), jax.jacfwd(g)(THETA))
    close(jax.jacrev(f)(THETA), jax.jacrev(g)(THETA))


def test_fixed_point_batched(fixed):
    batch = jax.tree.map(lambda x: jnp.stack([x, 0.5 * x]), THETA)
    close(jax.vmap(fixed)(batch), jax.vmap(solved)(batch))
    total = lambda f: lambda t: (f(t) ** 2).sum()  # noqa: E731
    close(
        jax.vmap(jax.grad(total(fixed)))(batch),
        jax.vmap(jax.grad(total(solved)))(batch),
    )
    outer = lambda f: jax.grad(lambda t: jax.vmap(f)(t).sum())  # noqa: E731
    close(outer(fixed)(batch), outer(solved)(batch))


def test_fixed_point_second_order(fixed):
    total = lambda f: lambda a: (f({**THETA, "a": a}) ** 2).sum()  # noqa: E731
    a = THETA["a"]
    for second in (
        jax.hessian,
        lambda f: jax.jacrev(jax.jacrev(f)),
        lambda f: jax.jacrev(jax.jacfwd(f)),
    ):
        close(second(total(fixed))(a), second(total(solved))(a), 1e-8)
    third = jax.grad(jax.grad(jax.grad(total(fixed))))(a)
    close(third, jax.grad(jax.grad(jax.grad(total(solved))))(a), 1e-7)


def test_function_that_closes_over_a_tracer():
    fixed_point = fixed_point_primitive()

    def solve(c, scale):
        return fixed_point(
            lambda theta, x: scale * step(theta, x) + c, THETA, jnp.zeros(2)
        ).sum()

    def plain(c, scale):
        move = lambda x, _: (scale * step(THETA, x) + c, None)  # noqa: E731
        return jax.lax.scan(move, jnp.zeros(2), None, length=80)[0].sum()

    c, scale = jnp.asarray(0.1), jnp.asarray(0.8)
    for derivative in (
        jax.grad,
        lambda f, n: jax.jit(jax.grad(f, n)),
        jax.jacfwd,
        jax.hessian,
    ):
        close(
            derivative(solve, (0, 1))(c, scale),
            derivative(plain, (0, 1))(c, scale),
            1e-8,
        )


def map_primitive():
    @rc.primitive
    def map_(f, xs):
        return jnp.stack([f(x) for x in xs])

    @rc.rrule.define(map_, config=RuleConfig[HasReverseMode])
    def map_rrule(config, f, xs):
        pairs = [rc.rrule_via_ad(config, f, x) for x in xs]

        def map_pullback(dy):
            parts = [pull(dy[i]) for i, (_, pull) in enumerate(pairs)]
            df = rc.ZeroTangent()
            for own, _ in parts:
                df = rc.accumulate(df, own)
            return NoTangent(), df, [dx for _, dx in parts]

        return map_(f, xs), map_pullback

    @rc.frule.define(map_, config=RuleConfig[HasForwardsMode])
    def map_frule(config, tangents, f, xs):
        _, df, dxs = tangents
        moved = [
            rc.frule_via_ad(config, (df, dxs[i]), f, x)[1] for i, x in enumerate(xs)
        ]
        return map_(f, xs), jnp.stack(moved)

    return map_


XS = [jnp.asarray(0.2), jnp.asarray(0.5), jnp.asarray(-1.0)]


def test_map():
    map_ = map_primitive()
    plain = lambda f, xs: jnp.stack([f(x) for x in xs])  # noqa: E731

    def total(m, c, xs):
        return (m(lambda x: jnp.sin(c * x) * c, xs) ** 2).sum()

    c = jnp.asarray(1.3)
    for derivative in (
        jax.grad,
        jax.jacfwd,
        jax.hessian,
        lambda f, n: jax.jit(jax.grad(f, n)),
        lambda f, n: jax.grad(jax.checkpoint(f), n),
        lambda f, n: jax.jacrev(jax.jacfwd(f, n), n),
    ):
        found = derivative(lambda c, xs: total(map_, c, xs), (0, 1))(c, XS)
        want = derivative(lambda c, xs: total(plain, c, xs), (0, 1))(c, XS)
        close(found, want)
    batch = jax.vmap(jax.grad(lambda c: total(map_, c, XS)))(jnp.array([1.0, 2.0]))
    close(batch[1], jax.grad(lambda c: total(plain, c, XS))(jnp.asarray(2.0)))


def test_pytree_callable():
    """An instance of a registered class is a function with parameters."""

    @jax.tree_util.register_pytree_node_class
    class Scale:
        def __init__(self, s):
            self.s = s

        def __call__(self, x):
            return self.s * x

        def tree_flatten(self):
            return (self.s,), None

        @classmethod
        def tree_unflatten(cls, _, children):
            return cls(*children)

    map_ = map_primitive()
    found = jax.grad(lambda m: map_(m, XS).sum())(Scale(jnp.asarray(2.0)))
    close(found.s, sum(XS))


def test_config_on_its_own():
    config = JaxConfig()
    y, dy = rc.frule_via_ad(
        config, (NoTangent(), jnp.asarray(2.0)), jnp.sin, jnp.asarray(0.0)
    )
    assert (float(y), float(dy)) == (0, 2)
    y, pull = rc.rrule_via_ad(config, lambda x, n: x**n, jnp.asarray(3.0), 2)
    assert float(y) == 9
    df, dx, dn = pull(jnp.asarray(1.0))
    assert float(dx) == 6
    assert isinstance(df, NoTangent)
    assert isinstance(dn, NoTangent)


def test_config_and_complex_numbers():
    z = jnp.asarray(1 + 2j)
    _, pull = rc.rrule_via_ad(JaxConfig(), lambda z: z**2, z)
    found = pull(jnp.asarray(1 + 0j))[1]
    assert complex(found) == np.conj(2 * (1 + 2j))


def test_config_and_several_results():
    y, pull = rc.rrule_via_ad(
        JaxConfig(),
        lambda d: {"s": d["a"] * 2, "n": jnp.asarray(3)},
        {"a": jnp.asarray(1.0)},
    )
    assert int(y["n"]) == 3
    found = pull(rc.Tangent(dict, {"s": jnp.asarray(5.0)}))
    assert float(found[1]["a"]) == 10


def test_captured_values_have_a_tangent():
    c = jnp.asarray(3.0)
    seen = []

    def outer(c):
        y, pull = rc.rrule_via_ad(JaxConfig(), lambda x: c * x, jnp.asarray(2.0))
        seen.append(pull(jnp.ones_like(y)))
        return y

    jax.make_jaxpr(outer)(c)
    df = seen[0][0]
    assert isinstance(df, rc.Tangent)
