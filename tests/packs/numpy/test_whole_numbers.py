"""Arguments of every class of whole numbers: formulas must not wrap."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special
import torch

import rules_core as rc
from rules_autodiff import grad, jvp

CLASSES = ["?", "u1", "u2", "u4", "u8", "i1", "i2"]
X = np.array([1.3, 2.2, 0.7])
WHOLE = [3, 1, 2]
FUNCTIONS = {
    "arctan2": np.arctan2,
    "atan2 of a list": lambda k, x: np.arctan2([*k], x),
    "copysign": np.copysign,
    "divide": np.divide,
    "float_power": lambda k, x: np.float_power(x, np.bitwise_xor(k, k)),
    "hypot": np.hypot,
    "interp": lambda k, x: np.interp(x, [0, 1, 3], (7 * k % 5).astype(k.dtype)),
    "ldexp": lambda k, x: np.ldexp(x, (k + 0 * k).astype("i4")),
    "logaddexp": np.logaddexp,
    "polyval": np.polyval,
    "power": lambda k, x: np.power(x, np.bitwise_xor(k, k)),
    "powers": lambda k, x: x**k,
    "subtract": np.subtract,
    "vander": lambda k, x: np.vander(x, k[0] + 1) @ np.ones(int(k[0]) + 1),
    "solve": lambda k, x: np.linalg.solve(np.diag(k), x),
    "lstsq": lambda k, x: np.append(np.linalg.lstsq(np.vander(k, 2), x)[0], 0.0),
    "matmul": lambda k, x: np.vander(k, 3) @ x,
    "einsum": lambda k, x: np.einsum("ij,j", np.vander(k, 3), x),
    "convolve": lambda k, x: np.convolve(k, x, "same"),
    "trapezoid": lambda k, x: x * np.trapezoid(k, x),
    "average": lambda k, x: x * np.average(k, weights=x),
    "jv": scipy.special.jv,
    "ive": scipy.special.ive,
    "kv": scipy.special.kv,
    "zeta": lambda k, x: scipy.special.zeta(k + k // k, x),
    "beta": lambda k, x: scipy.special.beta(k, x),
    "gammainc": lambda k, x: scipy.special.gammainc(k, x),
}


def summed(f, k):
    def program(x):
        return np.sum(f(k, x) * np.array([1.0, -2.0, 0.5]))

    return program


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("code", CLASSES)
def test_derivatives_beside_whole_numbers(name, code):
    """Equal to those beside the same numbers as floats, by differences."""
    k = np.array(WHOLE).astype(code)
    program = summed(FUNCTIONS[name], k)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        slope = [(program(X + h) - program(X - h)) / 2e-6 for h in np.eye(3) * 1e-6]
        assert grad(program)(X) == pytest.approx(slope, rel=1e-5, abs=1e-7)
        dx = np.array([0.3, -0.2, 0.9])
        pushed = jvp(program, (X,), (dx,))[1]
        assert pushed == pytest.approx(np.dot(slope, dx), rel=1e-5, abs=1e-7)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("code", CLASSES)
def test_partials_of_an_author_are_given_room(code):
    """In each framework; `n` appears negated, as a difference and as a product."""
    k = np.array(WHOLE).astype(code)

    @rc.primitive
    def damped(x, n):
        return x ** (-1.0 * n)

    rc.scalar_rule(damped, lambda y, x, n: (-n * y / x, rc.NoTangent()))
    expected = -k.astype(float) * X ** (-1.0 - k)
    assert grad(lambda x: np.sum(damped(x, k)))(X) == pytest.approx(expected)
    slope = jax.grad(lambda x: damped(x, jnp.asarray(k)).sum())(jnp.asarray(X))
    assert np.asarray(slope) == pytest.approx(expected, rel=1e-5)
    if code not in ("u2", "u4", "u8"):  # PyTorch has no arithmetic for them
        x = torch.tensor(X, requires_grad=True)
        damped(x, torch.tensor(k)).sum().backward()
        assert x.grad.numpy() == pytest.approx(expected)
