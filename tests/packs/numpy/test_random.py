"""Random numbers carry no derivative; what is drawn from an array moves with it."""

from __future__ import annotations

import random

import numpy as np
import pytest

import rules_autodiff as ad
import rules_core as rc
from rules_numpy._declare.derivative import DECLARED, constant

RNG = np.random.default_rng(9)
V = RNG.normal(size=5)
M = RNG.normal(size=(3, 5))


@pytest.mark.parametrize("name", ["permutation", "choice"])
def test_random_choices_move_with_their_array(name):
    def draw(a, **kw):
        return getattr(np.random.default_rng(3), name)(a, **kw)

    y, pullback = rc.rrule(getattr(np.random.default_rng(3), name), M)
    np.testing.assert_array_equal(y, draw(M))
    dy = RNG.normal(size=y.shape)
    np.testing.assert_allclose(np.sum(pullback(dy)[1] * M), np.sum(dy * y))


def test_random_choice_with_a_size():
    generator = np.random.default_rng(4)
    y, pullback = rc.rrule(generator.choice, V, (2, 3))
    np.testing.assert_array_equal(y, np.random.default_rng(4).choice(V, (2, 3)))
    np.testing.assert_allclose(np.sum(pullback(y)[1] * V), np.sum(y * y))


def test_random_numbers_carry_no_derivative():
    generator = np.random.default_rng(5)
    y, pullback = rc.rrule(generator.normal, 0.5, 2.0)
    assert y == np.random.default_rng(5).normal(0.5, 2.0)
    assert all(isinstance(d, rc.NoTangent) for d in pullback(1.0))


@pytest.mark.parametrize(
    "f", [np.random.normal, random.gauss, random.Random(1).uniform]
)
def test_module_level_generators_carry_no_derivative(f):
    _, pullback = rc.rrule(f, 0.5, 2.0)
    assert all(isinstance(d, rc.NoTangent) for d in pullback(1.0))


# They hand back, or write to, the entries of their argument.
MOVING = {"permutation", "choice", "permuted", "shuffle"}
# They make generators, or tell of one.
ADMINISTRATION = {"bit_generator", "spawn"}


@pytest.mark.parametrize("cls", [np.random.Generator, np.random.RandomState])
def test_every_other_method_carries_no_derivative(cls):
    open_ = {
        name
        for name in vars(cls)
        if not name.startswith("_")
        and callable(getattr(cls, name))
        and DECLARED.get(getattr(cls, name), (None,))[0] is not constant
    }
    assert open_ <= MOVING | ADMINISTRATION


def jittered(x, generator):
    noise = generator.normal(size=x.shape)
    return np.sum(x * noise + x**2 * generator.uniform())


@pytest.mark.parametrize("mode", ["forward", "reverse", "twice"])
def test_generators_are_never_rewound(mode):
    """After a derivative a generator stands where the function leaves it."""
    own, plain = np.random.default_rng(7), np.random.default_rng(7)
    jittered(V, plain)
    if mode == "forward":
        ad.jvp(lambda x: jittered(x, own), (V,), (V,))
    elif mode == "reverse":
        ad.grad(lambda x: jittered(x, own))(V)
    else:
        _, pullback = ad.vjp(lambda x: jittered(x, own), V)
        first, second = pullback(1.0), pullback(1.0)
        np.testing.assert_array_equal(first, second)
    assert own.normal() == plain.normal()


def test_the_gradient_is_that_of_the_numbers_drawn():
    gradient = ad.grad(lambda x: jittered(x, np.random.default_rng(7)))(V)
    again = np.random.default_rng(7)
    noise = again.normal(size=V.shape)
    np.testing.assert_allclose(gradient, noise + 2 * V * again.uniform())


def shuffled(x):
    y = x * 1.0
    np.random.default_rng(1).shuffle(y)
    return np.sum(y * np.arange(5.0))


def test_shuffling_moves_the_entries():
    weights = np.array([shuffled(unit) for unit in np.eye(5)])
    np.testing.assert_array_equal(ad.grad(shuffled)(V), weights)


def test_what_has_no_rule_is_refused():
    """No silent zero for what moves entries about."""
    with pytest.raises(rc.RulesCoreError, match="permuted"):
        ad.grad(lambda x: np.sum(np.random.default_rng(1).permuted(x)))(V)
