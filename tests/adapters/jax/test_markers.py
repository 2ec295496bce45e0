"""Which rule ran, and how often: the rules are 2 and 3 times too large on purpose."""

import jax
import jax.numpy as jnp
import pytest

X = jnp.asarray(0.7)
COS = float(jnp.cos(X))


def test_eager_counts(marked):
    made = marked()
    made.f(X)
    assert made.count() == {"primal": 1, "frule": 0, "rrule": 0, "pullback": 0}
    jax.grad(made.f)(X)
    found = made.count()
    assert (found["frule"], found["rrule"], found["pullback"]) == (0, 1, 1)
    jax.jvp(made.f, (X,), (X,))
    found = made.count()
    assert (found["frule"], found["rrule"], found["pullback"]) == (1, 0, 0)


def test_second_calls_trace_nothing(marked):
    made = marked()
    grad, moved = jax.jit(jax.grad(made.f)), jax.jit(jax.jacfwd(made.f))
    grad(X), moved(X)
    made.count()
    for _ in range(3):
        assert float(grad(X)) == pytest.approx(3 * COS)
        assert float(moved(X)) == pytest.approx(2 * COS)
    assert set(made.count().values()) == {0}
    assert grad._cache_size() == moved._cache_size() == 1


def test_linearize_calls_the_frule_once(marked):
    made = marked()
    _, linear = jax.linearize(made.f, X)
    made.count()
    for _ in range(3):
        linear(X)
    assert set(made.count().values()) == {0}


def test_a_pullback_may_be_used_many_times(marked):
    made = marked()
    _, first = jax.vjp(made.f, X)
    _, second = jax.vjp(made.f, 2 * X)
    assert made.count()["rrule"] == 2
    for scale in (1.0, 2.0):
        assert float(first(scale)[0]) == pytest.approx(3 * COS * scale)
        assert float(second(scale)[0]) == pytest.approx(3 * jnp.cos(1.4) * scale)
    assert made.count()["rrule"] == 0


def test_scan_keeps_residuals(marked):
    """One trace of the rrule in the forward pass, and none in the backward pass."""
    made = marked()

    def loop(x):
        return jax.lax.scan(lambda c, _: (made.f(c), None), x, None, length=10)[0]

    jax.jit(jax.grad(loop))(X).block_until_ready()
    found = made.count()
    assert (found["rrule"], found["frule"]) == (1, 0)


@pytest.mark.parametrize("host", [False, True])
def test_orders_and_modes(marked, host):
    made = marked(host=host)
    f, sin = made.f, -float(jnp.sin(X))
    assert float(jax.grad(f)(X)) == pytest.approx(3 * COS)
    assert float(jax.jacfwd(f)(X)) == pytest.approx(2 * COS)
    assert float(jax.grad(jax.grad(f))(X)) == pytest.approx(3 * sin)
    assert float(jax.jacfwd(jax.grad(f))(X)) == pytest.approx(3 * sin)
    assert float(jax.grad(jax.jacfwd(f))(X)) == pytest.approx(2 * sin)
    assert float(jax.jacfwd(jax.jacfwd(f))(X)) == pytest.approx(2 * sin)


def test_value_and_derivatives_of_a_value_use_the_rule_again(marked):
    """y comes from the handle in the rule's body, so its derivative is the rule's."""
    made = marked()
    square = lambda x: made.f(x) ** 2
    inner = lambda x: jax.value_and_grad(square)(x)[0]
    assert float(jax.grad(inner)(X)) == pytest.approx(6 * float(jnp.sin(X)) * COS)


def test_tracing_the_value_alone_keeps_the_rule_for_later(marked):
    made = marked()
    jaxpr = jax.make_jaxpr(made.f)(X)
    again = jax.core.jaxpr_as_fun(jaxpr) if hasattr(jax.core, "jaxpr_as_fun") else None
    run = again or (lambda x: jax.core.eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, x))
    assert float(jax.grad(lambda x: run(x)[0])(X)) == pytest.approx(3 * COS)


def test_inside_custom_rules_of_jax(marked):
    made = marked()

    @jax.custom_jvp
    def outer(x):
        return made.f(x)

    @outer.defjvp
    def outer_jvp(primals, tangents):
        return jax.jvp(made.f, primals, tangents)

    assert float(jax.jacfwd(outer)(X)) == pytest.approx(2 * COS)
    assert float(jax.grad(outer)(X)) == pytest.approx(3 * COS)

    @jax.custom_vjp
    def wrapped(x):
        return made.f(x)

    def fwd(x):
        return jax.vjp(made.f, x)

    wrapped.defvjp(fwd, lambda pullback, ct: pullback(ct))
    assert float(jax.grad(wrapped)(X)) == pytest.approx(3 * COS)
    assert float(jax.jit(jax.grad(wrapped))(X)) == pytest.approx(3 * COS)


def test_around_custom_rules_of_jax():
    import rules_core as rc
    from rules_core import NoTangent

    @jax.custom_jvp
    def inner(x):
        return jnp.sin(x)

    inner.defjvps(lambda dx, y, x: 5 * dx * jnp.cos(x))

    @rc.primitive
    def f(x):
        return inner(x)

    @rc.rrule.define(f)
    def f_rrule(x):
        y, pullback = jax.vjp(inner, x)
        return y, lambda dy: (NoTangent(), *pullback(dy))

    for run in (jax.grad(f), jax.jacfwd(f), jax.grad(jax.checkpoint(f))):
        assert float(run(X)) == pytest.approx(5 * COS)


def test_while_loop_in_forward_mode(marked):
    made = marked()

    def loop(x):
        return jax.lax.while_loop(
            lambda c: c[0] < 1, lambda c: (c[0] + 1, made.f(c[1])), (0, x)
        )[1]

    assert float(jax.jacfwd(loop)(X)) == pytest.approx(2 * COS)
    assert float(jax.jit(loop)(X)) == pytest.approx(float(jnp.sin(X)))


def test_inspection_and_compilation_ahead_of_time(marked):
    made = marked()
    assert jax.eval_shape(made.f, X).dtype == jnp.float64
    compiled = jax.jit(jax.value_and_grad(made.f)).lower(X).compile()
    assert float(compiled(X)[1]) == pytest.approx(3 * COS)


def test_export_of_a_generic_primal(marked):
    made = marked()
    for f, scale in ((jax.grad(made.f), 3), (jax.jacfwd(made.f), 2)):
        exported = jax.export.export(jax.jit(f))(X)
        assert float(exported.call(X)) == pytest.approx(scale * COS)
    exported = jax.export.export(jax.jit(made.f))(X)
    assert float(jax.grad(exported.call)(X)) == pytest.approx(3 * COS)


def test_symbolic_shapes(marked):
    made = marked()
    (n,) = jax.export.symbolic_shape("n")
    exported = jax.export.export(jax.jit(jax.grad(lambda x: made.f(x).sum())))(
        jax.ShapeDtypeStruct((n,), jnp.float64)
    )
    assert exported.call(jnp.zeros(5)).tolist() == [3.0] * 5


def test_disabled_jit(marked):
    made = marked()
    with jax.disable_jit():
        assert float(jax.jit(jax.grad(made.f))(X)) == pytest.approx(3 * COS)


def test_a_compiled_function_inside_is_linearised_once(marked):
    made = marked()
    inner = jax.jit(made.f)
    for derivative in (jax.grad, jax.jacfwd, lambda f: jax.vmap(jax.grad(f))):
        at = X[None] if derivative not in (jax.grad, jax.jacfwd) else X
        derivative(inner)(at)
        made.count()
        derivative(inner)(at)
        assert set(made.count().values()) == {0}
