"""One array as an argument at several levels of JAX's transforms."""

from types import SimpleNamespace

import jax
import numpy as np
import pytest

from tests.adapters.levels import PROGRAMS, STYLES, made, plain

JAX = SimpleNamespace(
    grad=jax.grad,
    vjp=jax.vjp,
    jvp=jax.jvp,
    jacrev=jax.jacrev,
    vmap=jax.vmap,
    ones=jax.numpy.ones,
)


@pytest.mark.covering(every=9)
@pytest.mark.parametrize("host", [False, True])
@pytest.mark.parametrize("style", STYLES)
def test_each_level_has_its_own_derivative(style, host):
    f, x = made(style, host=host), jax.numpy.asarray([1.5, -2.0])
    for name, program in PROGRAMS.items():
        found, expected = program(JAX, f, x, x), program(JAX, plain, x, x)
        np.testing.assert_allclose(found, expected, rtol=1e-5, err_msg=name)
