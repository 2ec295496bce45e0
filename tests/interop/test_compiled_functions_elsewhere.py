"""`from_jax` of functions made by `jax.jit`: their derivatives are compiled too."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import rules_core as rc
from rules_jax import from_jax


def wave(x):
    return jnp.sin(x) * x


X = torch.linspace(0.1, 1.0, 4, dtype=torch.float64)


def test_they_are_traced_once():
    traced = []

    @jax.jit
    def f(x):
        traced.append(1)
        return wave(x)

    made = from_jax(f)
    counts = []
    for i in range(4):
        x = (X + i).requires_grad_()
        made(x).sum().backward()
        torch.testing.assert_close(x.grad, x.detach().cos() * x.detach() + x.sin())
        counts.append(len(traced))
    assert counts[1:] == counts[:1] * 3
    plain = from_jax(lambda x: traced.append(1) or wave(x))
    plain(X)
    plain(X)
    assert len(traced) == counts[0] + 2


def test_every_order_and_mode_is_torchs():
    made = from_jax(jax.jit(wave))

    def native(x):
        return torch.sin(x) * x

    for order in (
        lambda f: torch.func.grad(lambda x: f(x).sum()),
        lambda f: torch.func.hessian(lambda x: f(x).sum()),
        lambda f: torch.vmap(torch.func.grad(f)),
        lambda f: torch.func.jacfwd(torch.func.jacfwd(lambda x: f(x).sum())),
    ):
        torch.testing.assert_close(order(made)(X), order(native)(X))
    assert torch.autograd.gradgradcheck(made, (X.clone().requires_grad_(),))


@pytest.mark.parametrize("count", [3, 1 << 15], ids=["small", "large"])
def test_a_result_that_is_an_argument_shares_no_memory(count):
    made = from_jax(jax.jit(lambda x: (x, x + 1)))
    x = torch.zeros(count, dtype=torch.float64)
    same, more = made(x)
    same += 1
    assert (x == 0).all()
    assert (same == 1).all()
    assert (more == 1).all()
    array = np.zeros(count)
    assert not np.shares_memory(array, made(array)[0])


def test_what_is_no_array_decides_as_before():
    @partial(jax.jit, static_argnums=(1, 2))
    def power(x, n, name="plain"):
        return x**n if name == "plain" else -(x**n)

    made = from_jax(power)
    x = X.clone().requires_grad_()
    (dx,) = torch.autograd.grad(made(x, 3).sum(), x)
    torch.testing.assert_close(dx, 3 * X**2)
    torch.testing.assert_close(made(X, 2, name="minus"), -(X**2))


def test_functions_that_are_not_compiled_may_look_at_values():
    made = from_jax(lambda x: x * 2 if x.sum() > 0 else x * 3)
    for x, slope in ((X, 2.0), (-X, 3.0)):
        _, pullback = rc.rrule(made, x.numpy())
        np.testing.assert_array_equal(pullback(np.ones(4))[1], [slope] * 4)
    with pytest.raises(jax.errors.TracerBoolConversionError):
        from_jax(jax.jit(made.fun.foreign.f))(X)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex128])
def test_the_precision_is_that_of_the_arguments(dtype):
    made = from_jax(jax.jit(wave))
    x = X.to(dtype).requires_grad_()
    y = made(x)
    (dx,) = torch.autograd.grad(y, x, torch.ones_like(y))
    assert (y.dtype, dx.dtype) == (dtype, dtype)
    native = torch.sin(x) * x
    (expected,) = torch.autograd.grad(native, x, torch.ones_like(y))
    torch.testing.assert_close(y, native)
    torch.testing.assert_close(dx, expected)
