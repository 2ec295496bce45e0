"""Calls at the edge of what a host takes: right, or refused in words that fit."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special
import torch

import rules_core as rc
import rules_scipy  # noqa: F401  (it gives logsumexp its rules)
from rules_core import NoTangent
from rules_jax import to_jax
from rules_torch import to_torch


def sine_times_x():
    @rc.primitive
    def f(x):
        return rc.array_namespace(x).sin(x) * x

    @rc.rrule.define(f)
    def f_rrule(x):
        xp = rc.array_namespace(x)
        slope = xp.cos(x) * x + xp.sin(x)
        return f(x), lambda dy: (NoTangent(), rc.thunk(lambda: slope * dy))

    return f


@pytest.mark.parametrize("shape", [(0,), (0, 2), (2, 0)])
def test_second_derivatives_of_empty_tensors(shape):
    f, x = sine_times_x(), torch.ones(shape)
    found = torch.func.jacfwd(torch.func.jacfwd(f))(x)
    assert found.shape == shape * 3


def test_thunks_for_nested_tensors():
    a = torch.tensor([[0.3, 0.4]], requires_grad=True)
    b = torch.tensor([[0.5, 0.6], [0.7, 0.8]], requires_grad=True)
    x = torch.nested.as_nested_tensor([a, b], layout=torch.jagged)
    sine_times_x()(x).values().sum().backward()
    for part in (a, b):
        value = part.detach()
        torch.testing.assert_close(part.grad, value.cos() * value + value.sin())


@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_logsumexp_of_a_batch_of_numbers(axis, keepdims):
    x = np.array([0.3, 1.2])
    f = scipy.special.logsumexp

    def one(x):
        return np.asarray(f(x, axis=axis, keepdims=keepdims)).reshape(())

    expected = [one(v) for v in x]
    options = {"axis": axis, "keepdims": keepdims}
    found = torch.vmap(lambda v: to_torch(f)(v, **options).reshape(()))(torch.tensor(x))
    np.testing.assert_allclose(found, expected)
    found = jax.vmap(lambda v: to_jax(f)(v, **options).reshape(()))(jnp.asarray(x))
    np.testing.assert_allclose(found, expected)


def test_logsumexp_of_a_batch_of_numbers_has_one_axis():
    f = to_torch(scipy.special.logsumexp)
    with pytest.raises(ValueError, match="axis 1 is out of bounds"):
        torch.vmap(lambda v: f(v, axis=1))(torch.ones(3))


def two_results():
    return rc.primitive(lambda x: (np.sin(x), np.cos(x)), host=True, elementwise=True)


@pytest.mark.parametrize(
    "run",
    [
        lambda f: f(jnp.ones(2)),
        lambda f: jax.jit(f)(jnp.ones(2)),
        lambda f: torch.compile(f, backend="aot_eager")(torch.ones(2)),
    ],
    ids=["JAX", "jit", "torch.compile"],
)
def test_an_elementwise_function_of_several_results_is_told_what_to_write(run):
    with pytest.raises(Exception, match=r"elementwise=True, which promises one array"):
        run(two_results())


def test_numbers_without_a_common_dtype_are_named():
    f = rc.primitive(lambda a, b: np.hypot(a, b), host=True, elementwise=True)
    a, b = jnp.ones(2, jnp.float16), jnp.ones(2, jnp.bfloat16)
    for run in (f, jax.jit(f)):
        with pytest.raises(rc.UnsupportedError, match="got float16 and bfloat16"):
            run(a, b)


def test_a_compiled_function_that_captures_a_traced_value_is_told_what_to_do():
    @rc.primitive
    def apply(f, x):
        return f(x)

    @rc.rrule.define(apply, config=rc.RuleConfig[rc.HasReverseMode])
    def apply_rrule(config, f, x):
        y, pullback = rc.rrule_via_ad(config, f, x)
        return y, lambda dy: (NoTangent(), *pullback(dy))

    with pytest.raises(rc.UnsupportedError, match=r"function without jax\.jit"):
        jax.grad(lambda c: apply(jax.jit(lambda x: c * x), 5.0))(3.0)
    assert jax.grad(lambda c: apply(lambda x: c * x, 5.0))(3.0) == 5


@pytest.mark.parametrize(
    "shapes",
    [
        lambda x, n: rc.ShapeDtype((x.shape[0] * n,), x.dtype),
        lambda x, *, n: rc.ShapeDtype((x.shape[0] * n,), x.dtype),
    ],
    ids=["by position", "keyword-only"],
)
def test_a_promise_of_shapes_follows_the_defaults(shapes):
    @rc.primitive(host=True)
    def repeated(x, *, n=2):
        return np.repeat(x, n)

    rc.shape_rule.define(repeated)(shapes)
    x = jnp.ones(2)
    assert repeated(x).shape == jax.jit(lambda x: repeated(x))(x).shape == (4,)
    assert jax.jit(lambda x: repeated(x, n=3))(x).shape == (6,)
    repeated.fun.__kwdefaults__["n"] = 4
    assert repeated(x).shape == jax.jit(lambda x: repeated(x))(x).shape == (8,)


def test_a_rule_of_less_precision_is_told_so():
    @rc.primitive
    def square(x):
        return x * x

    @rc.rrule.define(square)
    def square_rrule(x):
        def square_pullback(dy):
            return NoTangent(), (2 * x.bfloat16() * dy.bfloat16()).float()

        return square(x), square_pullback

    x = torch.tensor([1.1, 2.3])
    with pytest.raises(rc.UnsupportedError, match="computes in less precision"):
        torch.func.jvp(square, (x,), (torch.tensor([0.37, 1.13]),))


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_pullback_with_operations_that_the_older_vmap_lacks(create_graph):
    """`is_grads_batched` and `vectorize=True` batch cotangents by it."""

    @rc.primitive
    def weighed(x):
        xp = rc.array_namespace(x)
        return xp.sum(x * x) * xp.ones((2,), dtype=x.dtype)

    @rc.rrule.define(weighed)
    def weighed_rrule(x):
        xp = rc.array_namespace(x)

        def weighed_pullback(dy):
            return NoTangent(), 2 * x * xp.broadcast_to(xp.sum(dy), x.shape)

        return weighed(x), weighed_pullback

    x = torch.tensor([0.3, -1.2, 2.0], dtype=torch.float64, requires_grad=True)
    options = {"vectorize": True, "create_graph": create_graph}
    found = torch.autograd.functional.jacobian(weighed, x, **options)
    expected = torch.autograd.functional.jacobian(weighed.fun, x, **options)
    torch.testing.assert_close(found, expected)
    if create_graph:
        again = [torch.autograd.grad((y * y).sum(), x)[0] for y in (found, expected)]
        torch.testing.assert_close(*again)
