"""What a pullback reads when its arrays were written to after the value.

`docs/how-to/use-rules-in-jax.md` and `use-rules-in-torch.md` say so.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import rules_core as rc
from rules_core.testing import isolated_rules
from rules_jax import from_jax
from rules_torch import from_torch

X = np.array([1.0, 2.0])
ONES = np.ones(2)
OF_X, OF_Y = 2 * X, np.exp(X)


@pytest.fixture(autouse=True)
def own_rules():
    with isolated_rules():
        yield


def by_argument(host):
    """A primitive whose pullback reads its argument."""

    @rc.primitive(host=host, elementwise=True)
    def square(x):
        return x * x

    rc.scalar_rule(square, lambda y, x: (2 * x,))
    return square


def by_value(host):
    """A primitive whose pullback reads its value."""

    @rc.primitive(host=host, elementwise=True)
    def exponential(x):
        return rc.array_namespace(x).exp(x)

    rc.scalar_rule(exponential, lambda y, x: (y,))
    return exponential


@pytest.mark.parametrize("host", [False, True])
def test_jax_copies_numpy_arrays(host):
    for n in (2, 1 << 14):  # small, and large enough to be shared
        x = np.linspace(1.0, 2.0, n, dtype=np.float32)
        known = 2 * x
        _, pullback = jax.vjp(by_argument(host), x)
        x[:] = 100.0
        np.testing.assert_allclose(
            pullback(jnp.ones(n, np.float32))[0], known, rtol=1e-6
        )


@pytest.mark.parametrize(
    "wrap", [lambda f: f, from_jax, from_torch], ids=["NumPy", "JAX", "PyTorch"]
)
def test_of_numpy_arrays_vjp_reads_arguments_later(wrap):
    x = X.copy()
    y, pullback = rc.vjp(wrap(lambda x: x * x), x)
    y[:] = 100.0  # allowed
    np.testing.assert_allclose(pullback(ONES)[0], OF_X)
    x[:] = 100.0
    np.testing.assert_allclose(pullback(ONES)[0], 200.0)


def test_the_value_may_be_written_to_after_vjp_and_not_after_rrule():
    f = by_value(host=True)
    y, pullback = rc.vjp(f, X)
    y[:] = 100.0
    np.testing.assert_allclose(pullback(ONES)[0], OF_Y)
    y, pullback = rc.rrule(f, X)
    y[:] = 100.0
    np.testing.assert_allclose(pullback(ONES)[1], 100.0)
    for f in (by_value(host=True), torch.exp):
        y, pullback = rc.vjp(f, torch.tensor(X))
        y.fill_(100.0)
        np.testing.assert_allclose(pullback(torch.tensor(ONES))[0], OF_Y)


@pytest.mark.parametrize("host", [False, True])
@pytest.mark.parametrize("written", ["argument", "value"])
def test_backward_raises_an_error(written, host):
    f = by_argument(host) if written == "argument" else by_value(host)
    x = torch.tensor(X, requires_grad=True) * 1.0
    y = f(x)
    with torch.no_grad():
        (x if written == "argument" else y).fill_(100.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_torch_func_raises_none_as_for_functions_of_pytorch():
    ones = torch.tensor(ONES)
    for f in (torch.square, lambda x: x * x, from_jax(lambda x: x * x)):
        x = torch.tensor(X)
        _, pullback = torch.func.vjp(f, x)
        x.fill_(100.0)
        np.testing.assert_allclose(pullback(ones)[0], 200.0)
    for f in (torch.exp, by_value(host=False), by_value(host=True)):
        y, pullback = torch.func.vjp(f, torch.tensor(X))
        y.fill_(100.0)
        np.testing.assert_allclose(pullback(ones)[0], 100.0)
