"""Finite derivatives whose squares or sums are not finite: each tier gives them."""

import warnings

import numpy as np
import pytest

import rules_autodiff as ad

PAIR = np.array([1.0, 2.0])


def scaled(x):
    return 1e200 * x


def curved(x):
    return 1e200 * np.sum(x * x)


def cubes(x):
    return np.sum(x**3)


def numbers(x, y):
    return 1.5e308 * x + 1.5e308 * y


def inside(d):
    return 1e200 * np.sum(d["a"]) + 1.6e308 * d["b"] + 1.6e308 * d["c"]


CALLS = {
    "grad": lambda t: ad.grad(cubes, tier=t)(1e81 * PAIR),
    "value_and_grad": lambda t: ad.value_and_grad(curved, tier=t)(PAIR)[1],
    "numbers": lambda t: ad.grad(numbers, argnums=(0, 1), tier=t)(0.5, 0.5),
    "inside": lambda t: ad.grad(inside, tier=t)({"a": PAIR, "b": 0.1, "c": 0.2})["a"],
    "vjp": lambda t: ad.vjp(scaled, PAIR, tier=t)[1](1e100 * PAIR)[0],
    "jvp": lambda t: ad.jvp(scaled, (PAIR,), (1e100 * PAIR,), tier=t)[1],
    "jacfwd": lambda t: ad.jacfwd(scaled, tier=t)(PAIR),
    "jacrev": lambda t: ad.jacrev(scaled, tier=t)(PAIR),
    "hessian": lambda t: ad.hessian(curved, tier=t)(PAIR),
}
KNOWN = {
    "grad": 3e162 * PAIR**2,
    "value_and_grad": 2e200 * PAIR,
    "numbers": (1.5e308, 1.5e308),
    "inside": [1e200, 1e200],
    "vjp": 1e300 * PAIR,
    "jvp": 1e300 * PAIR,
    "jacfwd": 1e200 * np.eye(2),
    "jacrev": 1e200 * np.eye(2),
    "hessian": 2e200 * np.eye(2),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("tier", ["tape", "straight"])
def test_finite(name, tier):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = CALLS[name](tier)
    np.testing.assert_allclose(found, KNOWN[name], rtol=1e-14)


def test_what_is_not_finite_goes_to_the_tape():
    with pytest.raises(ad.UnsupportedProgram, match="a derivative is not finite"):
        ad.grad(lambda x: np.sum(np.sqrt(x)), tier="straight")(0.0 * PAIR)


def test_an_overflow_of_the_program_is_told_as_one():
    with pytest.raises(ad.UnsupportedProgram, match="would warn of an overflow"):
        ad.grad(overflowing, tier="straight")(PAIR)


def overflowing(x):
    return 1e200 * np.sum(x) if np.sum(np.exp(1e3 * x)) > 1.0 else np.sum(x)
