"""Rules that take `ZeroTangent` get it in the structure of their value, everywhere."""

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import grad, jacfwd, jvp
from rules_core import AbstractZero, NoTangent, Tangent, rrule
from rules_core.testing import isolated_rules

jax = pytest.importorskip("jax")
torch = pytest.importorskip("torch")


def in_torch(f):
    def slope(x):
        x = torch.tensor(x, requires_grad=True)
        f(x).backward()
        return x.grad

    return slope


HOSTS = {"numpy": grad, "jax": jax.grad, "torch": in_torch}


@pytest.fixture
def seen():
    """What the pullback of `multiples` was given, zeros as such."""
    with isolated_rules():
        yield []


def multiples_noting(seen):
    @rc.primitive
    def multiples(x):
        return 2 * x, 3 * x

    @rrule.define(multiples, symbolic_zeros=True)
    def multiples_rrule(x):
        def multiples_pullback(dy):
            first, second = dy
            seen.append((type(dy), *(isinstance(d, AbstractZero) for d in dy)))
            return NoTangent(), 2 * first + 3 * second

        return multiples(x), multiples_pullback

    return multiples


@pytest.mark.parametrize("host", HOSTS)
def test_of_one_output(host, seen):
    multiples = multiples_noting(seen)
    assert HOSTS[host](lambda x: multiples(x)[1] * x)(2.0) == 12.0
    assert set(seen) == {(Tangent, True, False)}


@pytest.mark.parametrize("host", HOSTS)
def test_of_all_outputs(host, seen):
    """Where the pullback is called at all, it can take the tuple apart."""
    multiples = multiples_noting(seen)

    def unused(x):
        multiples(x)
        return 5 * x

    assert HOSTS[host](unused)(2.0) == 5.0
    assert set(seen) <= {(Tangent, True, True)}


# What has no tangent has no zero either


FORWARD = {
    "numpy": lambda f: jvp(f, (2.0,), (1.0,))[1],
    "numpy, two tangents": lambda f: jacfwd(lambda x: f(x[0]))(np.array([2.0, 1.0]))[0],
    "jax": lambda f: jax.jvp(f, (2.0,), (1.0,))[1],
    "torch": lambda f: torch.func.jvp(f, (torch.tensor(2.0),), (torch.tensor(1.0),))[1],
}
WITHOUT = {"int": 3, "text": "s", "None": None, "function": abs, "bools": (True, 2)}


@pytest.mark.parametrize("kind", WITHOUT)
@pytest.mark.parametrize("host", FORWARD)
def test_tangents_of_what_has_none(host, kind):
    seen = []

    @rc.primitive
    def double(x, _other, _number):
        return 2 * x

    with isolated_rules():

        @rc.frule.define(double, symbolic_zeros=True)
        def double_frule(tangents, x, _other, _number):
            seen.append([type(t) for t in (tangents[0], *tangents[2:])])
            return 2 * x, 2 * tangents[1]

        assert FORWARD[host](lambda x: double(x, WITHOUT[kind], 4)) == 2.0
    assert seen
    assert all(types == [NoTangent] * 3 for types in seen)


@pytest.mark.parametrize("kind", WITHOUT)
@pytest.mark.parametrize("used", [True, False])
def test_cotangents_of_what_has_none(kind, used):
    seen = []

    @rc.primitive
    def pair(x):
        return x * 1.0, WITHOUT[kind], x * 2.0

    with isolated_rules():

        @rrule.define(pair, symbolic_zeros=True)
        def pair_rrule(x):
            def pair_pullback(dy):
                seen.append(dy)
                return NoTangent(), dy[0] * 1.0

            return pair(x), pair_pullback

        program = (lambda x: pair(x)[0] * 1.0) if used else (lambda x: pair(x) and x)
        assert grad(program)(2.0) == 1.0
    for dy in seen:
        assert isinstance(dy[1], NoTangent)
        assert isinstance(dy[2], rc.ZeroTangent)
