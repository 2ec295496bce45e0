"""Logarithms of sums whose value is so large that it is rounded to an argument."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special
import torch

from rules_autodiff import grad, hessian, jvp
from rules_jax import to_jax
from rules_torch import to_torch

FUNCTIONS = {"e": (np.logaddexp, math.e), "2": (np.logaddexp2, 2.0)}
GAPS = [0.0, 1.0, -1.0, 30.0]
LEVELS = [0.0, 1e4, 1e10, -1e15, 2.0**60, -(2.0**70)]


def programs(f):
    return {
        "number": lambda a, b: f(a, b),
        "array": lambda a, b: np.sum(f(np.array([a, a]), b)) * 0.5,
        "reduce": lambda a, b: f.reduce(np.array([a, b])),
        "initial": lambda a, b: f.reduce(np.array([a]), initial=b),
        "accumulate": lambda a, b: f.accumulate(np.array([a, b]))[1],
    }


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("base", FUNCTIONS)
def test_shares_depend_on_the_difference_alone(base, level):
    f, b = FUNCTIONS[base]
    for gap in GAPS:
        x, y = level, level + gap
        share = 1.0 / (1.0 + b ** (y - x))
        for name, program in programs(f).items():
            for tier in ("tape", "auto"):
                found = grad(program, (0, 1), tier=tier)(x, y)
                assert found == pytest.approx((share, 1.0 - share)), name
            pushed = jvp(program, (x, y), (1.0, -2.0))[1]
            assert pushed == pytest.approx(share - 2.0 * (1.0 - share)), name


@pytest.mark.parametrize("level", LEVELS)
def test_shares_of_logsumexp(level):
    a, b = np.array([level, level, level + 1.0]), np.array([2.0, 0.0, 0.5])
    terms = np.exp(a - a.max())
    for weights in (None, b):
        share = terms if weights is None else weights * terms
        share = share / share.sum()
        by_a = grad(lambda a, w: scipy.special.logsumexp(a, b=w))(a, weights)
        np.testing.assert_allclose(by_a, share)
    by_b = grad(lambda b: scipy.special.logsumexp(a, b=b))(b)
    np.testing.assert_allclose(by_b, terms / (b @ terms))


def test_a_weight_of_zero_leaves_out_an_endless_share():
    a, b = np.array([1000.0, 1.0, 2.0]), np.array([0.0, 1.0, 0.5])
    share = np.array([0.0, math.e, 0.5 * math.e**2])
    with np.errstate(all="ignore"):
        found = grad(lambda a: scipy.special.logsumexp(a, b=b))(a)
    np.testing.assert_allclose(found, share / share.sum())


def test_written_code():
    program = lambda a, b: np.sum(np.logaddexp(a, b))
    found = grad(program, (0, 1), tier="straight")(np.full(2, 1e17), np.full(2, 1e17))
    np.testing.assert_allclose(found, np.full((2, 2), 0.5))


@pytest.mark.parametrize("base", FUNCTIONS)
def test_second_derivatives(base):
    f, b = FUNCTIONS[base]
    bend = 0.25 * math.log(b) * np.array([[1.0, -1.0], [-1.0, 1.0]])
    for level in (0.0, 2.0**60):
        found = hessian(lambda x: f(x[0], x[1]))(np.full(2, level))
        np.testing.assert_allclose(found, bend)


@pytest.mark.parametrize("base", FUNCTIONS)
def test_in_single_precision_of_frameworks(base):
    f, b = FUNCTIONS[base]
    settings = {"host": True, "out": lambda x, y: x}
    by_jax, by_torch = to_jax(f, **settings), to_torch(f, **settings)
    slope = jax.grad(by_jax, (0, 1))(jnp.float32(3e7), jnp.float32(3e7))
    assert tuple(map(float, slope)) == (0.5, 0.5)
    x = torch.tensor(3e7, requires_grad=True)
    y = torch.tensor(3e7, requires_grad=True)
    assert [float(g) for g in torch.autograd.grad(by_torch(x, y), (x, y))] == [0.5, 0.5]
    bend = torch.func.hessian(by_torch)(torch.tensor(1.0), torch.tensor(1.0))
    assert float(bend) == pytest.approx(0.25 * math.log(b))
    assert float(jax.hessian(by_jax)(1.0, 1.0)) == pytest.approx(0.25 * math.log(b))
