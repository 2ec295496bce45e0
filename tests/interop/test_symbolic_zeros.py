"""Rules that take `ZeroTangent` get it in the structure of their value, everywhere."""

import pytest

import rules_core as rc
from rules_autodiff import grad
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
