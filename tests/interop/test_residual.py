"""`Residual`: opaque objects between the passes, in each AD system."""

import copy
import pickle
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
import torch

import rules_core as rc
from rules_autodiff import EngineError, grad, hessian
from rules_core import rrule
from rules_core.testing import check_rule, isolated_rules

MADE: list[Any] = []
A = np.random.default_rng(6).normal(size=(3, 3)) + 2 * np.eye(3)
B = np.array([1.0, -2.0, 0.5])


@pytest.fixture(autouse=True)
def _isolated():
    with isolated_rules():
        MADE.clear()
        yield


def factor(A):
    MADE.append(A.copy())
    return scipy.linalg.lu_factor(A)


def lu_solve(lu, b, trans=0):
    return scipy.linalg.lu_solve(lu.value, b, trans)


def outer(x, y):
    return x[:, None] * y[None, :]


def declared():
    """`A⁻¹ b`, with one factorisation for the value and its derivatives."""
    by_lu = rc.primitive(lu_solve, host=True, out="b")

    @rrule.define(by_lu)
    def lu_solve_rrule(lu, b, trans):
        x = by_lu(lu, b, trans)

        def lu_solve_pullback(dy):
            db = by_lu(lu, dy, 1 - trans)
            dA = -(outer(x, db) if trans else outer(db, x))
            return {"lu": {"arrays": (dA,)}, "b": db}

        return x, lu_solve_pullback

    return by_lu


def declared_solve():
    by_lu = declared()

    def solve(A, b):
        return by_lu(rc.Residual(factor, A), b)

    return solve


def fresh(scale):
    """A matrix that no other test has factorised."""
    return scale * A


ARRAYS = {"numpy": np.asarray, "jax": jnp.asarray, "torch": torch.as_tensor}
GRADS = {
    "engine": (grad, np.asarray),
    "jax": (jax.grad, jnp.asarray),
    "jit": (lambda f: jax.jit(jax.grad(f)), jnp.asarray),
    "torch": (torch.func.grad, torch.as_tensor),
}


@pytest.mark.parametrize("name", GRADS)
def test_one_object_for_both_passes(name):
    grad_of, array = GRADS[name]
    solve, M = declared_solve(), fresh(1.5 + list(GRADS).index(name))
    found = grad_of(lambda A: solve(A, array(B)).sum())(array(M))
    x, db = np.linalg.solve(M, B), np.linalg.solve(M.T, np.ones(3))
    np.testing.assert_allclose(found, -np.outer(db, x))
    assert len(MADE) == 1


def test_backward_and_compile():
    solve, M = declared_solve(), fresh(0.5)
    b = torch.tensor(B)
    run = torch.compile(
        lambda A: solve(A, b).sum(), backend="aot_eager", fullgraph=True
    )
    want = -np.outer(np.linalg.solve(M.T, np.ones(3)), np.linalg.solve(M, B))
    for f in (lambda A: solve(A, b).sum(), run):
        leaf = torch.tensor(M, requires_grad=True)
        (found,) = torch.autograd.grad(f(leaf), leaf)
        np.testing.assert_allclose(found, want)
    assert len(MADE) == 1


@pytest.mark.parametrize("name", ["jax", "torch"])
def test_one_for_each_example(name):
    solve, batch = declared_solve(), np.stack([fresh(3.0), fresh(4.0)])
    if name == "jax":
        found = jax.jit(jax.vmap(lambda A: solve(A, jnp.asarray(B))))(batch)
    else:
        f = torch.vmap(lambda A: solve(A, torch.as_tensor(B)))
        found = f(torch.as_tensor(batch))
    np.testing.assert_allclose(found, np.linalg.solve(batch, B[None, :, None])[..., 0])
    assert len(MADE) in (0, 2)  # 0 where the other framework was here before


def second():
    """The second derivative of the sum of `A⁻¹ b`, by hand."""
    inverse = np.linalg.inv(A)
    u, x = inverse.T @ np.ones(3), inverse @ B
    one = np.einsum("i,jk,l->ijkl", u, inverse, x)
    return one + np.einsum("ijkl->klij", one)


def test_second_order():
    solve = declared_solve()
    np.testing.assert_allclose(hessian(lambda A: solve(A, B).sum())(A), second())


@pytest.mark.full
def test_second_order_in_jax():
    solve = declared_solve()
    found = jax.jit(jax.hessian(lambda A: solve(A, B).sum()))(A)
    np.testing.assert_allclose(found, second())


def test_rule():
    check_rule(declared(), rc.Residual(factor, A), B, level="quick", hosts=())


@pytest.mark.full
def test_everywhere():
    check_rule(declared(), rc.Residual(factor, A), B)


@pytest.mark.parametrize("name", ["jax", "torch"])
def test_read_outside_of_a_host_function(name):
    with pytest.raises(rc.UnsupportedError, match=r"factor\) must be read in the body"):
        _ = rc.Residual(factor, ARRAYS[name](A)).value


def test_read_where_a_derivative_would_be_lost():
    _ = rc.Residual(factor, A).value  # which is kept, and found again as a constant
    with pytest.raises((EngineError, rc.RulesCoreError)):
        grad(lambda A: rc.Residual(factor, A).value[0].sum())(A)
    with pytest.raises(rc.UnsupportedError):
        jax.grad(lambda A: rc.Residual(factor, A).value[0].sum())(A)


def test_few_are_kept():
    first = rc.Residual(np.negative, np.asarray(-1.0))
    value = first.value
    assert rc.Residual(np.negative, np.asarray(-1.0)).value is value
    for i in range(70):
        _ = rc.Residual(np.negative, np.asarray(float(i))).value
    assert first.value is not value
    assert first.value == value


def test_contents_decide():
    x = np.ones(2)
    residual = rc.Residual(np.negative, x)
    assert residual.value.tolist() == [-1.0, -1.0]
    x[0] = 5.0
    assert residual.value.tolist() == [-5.0, -1.0]
    assert rc.Residual(np.abs, x).value.tolist() == [5.0, 1.0]


def test_the_object_itself():
    with pytest.raises(rc.UnsupportedError, match="pass the function that makes it"):
        rc.Residual(A)
    residual = rc.Residual(np.negative, A)
    for again in (copy.copy(residual), pickle.loads(pickle.dumps(residual))):
        np.testing.assert_array_equal(again.value, -A)
    assert repr(residual) == "Residual(negative, 1 arrays)"
