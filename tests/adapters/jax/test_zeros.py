"""Nothing for nothing: needs, symbolic zeros, thunks, absent derivatives."""

import jax
import jax.numpy as jnp
import pytest

import rules_core as rc
from rules_core import DerivativeNotImplemented, NoTangent, ZeroTangent

ONE, TWO = jnp.asarray(1.0), jnp.asarray(2.0)


def product(**flags):
    seen = {"needs": [], "forced": 0, "dy": []}

    @rc.primitive
    def product(x, y):
        return x * y

    @rc.rrule.define(product, **flags)
    def product_rrule(x, y, *, needs):
        seen["needs"].append(needs)

        def costly():
            seen["forced"] += 1
            return x

        def product_pullback(dy):
            seen["dy"].append(dy)
            return NoTangent(), dy * y, rc.thunk(lambda: dy * costly())

        return product(x, y), product_pullback

    @rc.frule.define(product, **flags)
    def product_frule(tangents, x, y, *, needs):
        seen["needs"].append(needs)
        seen["dy"].append(tangents[1:])
        _, dx, dy = tangents
        return product(x, y), dx * y + x * dy

    return product, seen


def test_needs_in_reverse_mode():
    f, seen = product()
    for run in (jax.grad, lambda *a: jax.jit(jax.grad(*a))):
        run(f)(ONE, TWO)
        run(f, 1)(ONE, TWO)
        run(f, (0, 1))(ONE, TWO)
        assert seen["needs"] == [(True, False), (False, True), (True, True)]
        seen["needs"].clear()


def test_needs_in_forward_mode():
    f, seen = product()
    jax.jvp(lambda x: f(x, TWO), (ONE,), (ONE,))
    jax.jvp(lambda y: f(ONE, y), (ONE,), (ONE,))
    assert seen["needs"] == [(True, False), (False, True)]
    assert [float(t[1]) for t in seen["dy"]] == [0, 1]  # zeros are materialised
    seen["needs"].clear()
    jax.jit(jax.jacfwd(f))(ONE, TWO)
    assert set(seen["needs"]) == {(True, False)}


@pytest.mark.parametrize(
    "wrap",
    [jax.jit, jax.checkpoint, lambda f: jax.vmap(f, (0, None))],
    ids=["jit", "checkpoint", "vmap"],
)
def test_needs_through_transformations(wrap):
    f, seen = product()
    wrapped = wrap(f)
    jax.grad(lambda x: wrapped(x, TWO).sum())(jnp.ones(2))
    assert set(seen["needs"]) == {(True, False)}


def test_unneeded_thunks_are_not_forced():
    f, seen = product()
    assert jax.grad(f)(ONE, TWO) == 2
    assert jax.jit(jax.grad(f))(ONE, TWO) == 2
    assert jax.grad(jax.checkpoint(f))(ONE, TWO) == 2
    assert seen["forced"] == 0
    assert jax.grad(f, 1)(ONE, TWO) == 1
    assert seen["forced"] == 1


def test_unneeded_thunks_leave_no_trace():
    @rc.primitive
    def f(x, y):
        return x * y

    @rc.rrule.define(f)
    def f_rrule(x, y):
        xp = rc.array_namespace(x)
        return f(x, y), lambda dy: (
            NoTangent(),
            rc.thunk(lambda: dy * xp.tan(y)),
            rc.thunk(lambda: dy * xp.atan(x)),
        )

    text = str(jax.make_jaxpr(jax.grad(f))(ONE, TWO))
    assert "tan" in text
    assert "atan" not in text


def test_symbolic_zeros_in_forward_mode():
    f, seen = product(symbolic_zeros=True)
    assert jax.jvp(lambda x: f(x, TWO), (ONE,), (ONE,))[1] == 2
    assert jax.jit(jax.jacfwd(f))(ONE, TWO) == 2
    assert all(isinstance(t[1], ZeroTangent) for t in seen["dy"])


def two_results(pull, **flags):
    seen = []

    @rc.primitive
    def both(x):
        return x * x, 3 * x

    @rc.rrule.define(both, **flags)
    def both_rrule(x):
        return both(x), pull(x, seen)

    return both, seen


def closure(x, seen):
    def both_pullback(dy):
        seen.append(tuple(dy))
        return NoTangent(), dy[0] * (2 * x) + dy[1] * 3

    return both_pullback


def explicit(x, seen):
    def fn(x, dy):
        seen.append(tuple(dy))
        return NoTangent(), dy[0] * (2 * x) + dy[1] * 3

    return rc.Pullback(fn, x)


@pytest.mark.parametrize("pull", [closure, explicit])
def test_symbolic_zeros_in_reverse_mode(pull):
    f, seen = two_results(pull, symbolic_zeros=True)
    assert jax.grad(lambda x: f(x)[1])(TWO) == 3
    assert isinstance(seen[-1][0], ZeroTangent)
    if pull is explicit:  # a closure is traced before its cotangents are known
        assert jax.jit(jax.grad(lambda x: f(x)[1]))(TWO) == 3
        assert isinstance(seen[-1][0], ZeroTangent)


@pytest.mark.parametrize("pull", [closure, explicit])
def test_zeros_are_materialised(pull):
    f, seen = two_results(pull)
    assert jax.grad(lambda x: f(x)[1])(TWO) == 3
    assert isinstance(seen[-1][0], jax.Array)


def test_a_result_that_is_not_used_calls_no_pullback():
    f, seen = two_results(closure)
    assert jax.grad(lambda x: f(x)[1] * 0 + x)(TWO) == 1
    seen.clear()
    found = jax.grad(lambda x: jax.lax.stop_gradient(f(x)[0]) + x)(TWO)
    assert found == 1
    assert seen == []


@pytest.mark.parametrize("zero", [ZeroTangent(), None, rc.thunk(ZeroTangent)])
def test_zeros_of_any_kind(zero):
    @rc.primitive
    def f(x, y):
        return x * y

    @rc.rrule.define(f)
    def f_rrule(x, y):
        return f(x, y), lambda dy: (NoTangent(), zero, dy * x)

    found = jax.grad(f, (0, 1))(ONE, TWO)
    assert found == (0, 1)
    assert jax.jit(jax.jacfwd(f))(ONE, TWO) == 0
    assert jax.vmap(jax.grad(f))(jnp.ones(2), jnp.ones(2)).tolist() == [0, 0]


def order(kind):
    """x ** n whose derivative in n nobody wrote."""

    @rc.primitive
    def power(x, n):
        return x**n

    if kind == "rrule":

        @rc.rrule.define(power)
        def power_rrule(x, n):
            def power_pullback(dy):
                why = rc.not_implemented("needs a logarithm", issue="#7")
                return NoTangent(), dy * n * x ** (n - 1), why

            return power(x, n), power_pullback
    else:

        @rc.frule.define(power)
        def power_frule(tangents, x, n, *, needs):
            if needs[1]:
                return power(x, n), rc.not_implemented("needs a logarithm", issue="#7")
            return power(x, n), n * x ** (n - 1) * tangents[1]

    return power


@pytest.mark.parametrize("kind", ["rrule", "frule"])
def test_not_implemented_is_an_error_where_it_is_wanted(kind):
    f = order(kind)
    x, n = jnp.asarray(3.0), jnp.asarray(2.0)
    for run in (jax.grad(f), jax.jacfwd(f), jax.jit(jax.hessian(f))):
        run(x, n)
    wrapped = jax.jit(jax.grad(f, 1))
    for run in (jax.grad(f, 1), jax.jacfwd(f, 1), wrapped, jax.grad(f, (0, 1))):
        with pytest.raises(DerivativeNotImplemented) as error:
            run(x, n)
        text = str(error.value)
        assert "needs a logarithm" in text
        assert "#7" in text
        assert f"power_{kind}" in text
        if kind == "rrule":
            assert "argument 1" in text


def test_ignore_derivatives():
    f = lambda x: rc.ignore_derivatives(x) * x
    g = lambda x: rc.ignore_derivatives(lambda: jnp.sin(x)) * x
    x = jnp.asarray(2.0)
    for derivative in (jax.grad, jax.jacfwd, lambda f: jax.jit(jax.grad(f))):
        assert derivative(f)(x) == 2
        assert derivative(g)(x) == pytest.approx(jnp.sin(2.0))
    assert jax.grad(jax.grad(f))(x) == 0


def test_opt_out():
    f, _ = product()
    rc.opt_out(rc.rrule, f, rc.Array, rc.Array)
    rc.opt_out(rc.frule, f, rc.Array, rc.Array)
    assert jax.grad(f)(ONE, TWO) == 2
    assert "rule_call" not in str(jax.make_jaxpr(f)(ONE, TWO))


def test_non_differentiable():
    @rc.primitive
    def rounded(x):
        return rc.array_namespace(x).floor(x) * x

    rc.non_differentiable(rounded)
    assert jax.grad(rounded)(jnp.asarray(2.5)) == 0
    assert jax.jit(jax.jacfwd(rounded))(jnp.asarray(2.5)) == 0
    assert jax.vmap(jax.grad(rounded))(jnp.ones(2)).tolist() == [0, 0]
