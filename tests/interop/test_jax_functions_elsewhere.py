"""A JAX function, with JAX's derivatives, in PyTorch and under the tester."""

import numpy as np
import pytest

import rules_core as rc
from rules_core.testing import check_rule, isolated_rules

jax = pytest.importorskip("jax")
jnp = jax.numpy
rules_jax = pytest.importorskip("rules_jax")


@pytest.fixture(autouse=True)
def own_rules():
    with isolated_rules():
        yield


def test_under_the_tester():
    f = rules_jax.from_jax(lambda x, p: jnp.sin(x) * p["w"])
    check_rule(f, np.array([0.5, 1.2]), {"w": np.array(2.0)}, hosts=("jax",))


def test_in_pytorch():
    torch = pytest.importorskip("torch")
    rules_torch = pytest.importorskip("rules_torch")
    f = rules_torch.to_torch(rules_jax.from_jax(lambda x: jnp.sin(x) * x))
    x = torch.tensor([0.3, 0.4], dtype=torch.float64, requires_grad=True)
    f(x).sum().backward()
    np.testing.assert_allclose(
        x.grad, np.cos([0.3, 0.4]) * [0.3, 0.4] + np.sin([0.3, 0.4])
    )
    found = torch.func.hessian(lambda x: f(x).sum())(x.detach())
    want = jax.hessian(lambda x: (jnp.sin(x) * x).sum())(jnp.array([0.3, 0.4]))
    np.testing.assert_allclose(found, want)


def test_by_hand():
    f = rules_jax.from_jax(jnp.exp)
    y, dy = rc.frule((rc.NoTangent(), np.ones(2)), f, np.zeros(2))
    assert y.tolist() == dy.tolist() == [1, 1]
