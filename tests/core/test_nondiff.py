"""`non_differentiable`, single and bulk."""

import zlib

import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, frule, non_differentiable, rrule


def count(x, k=1, *, scale=1):
    return int(x) * k * scale


class Box:
    def __init__(self, n):
        self.n = n

    def size(self, unit):
        return self.n


def test_any_arguments():
    non_differentiable(count)
    y, pullback = rrule(count, 2.5, scale=3)
    assert (y, pullback(1.0)) == (6, (NoTangent(),) * 3)
    assert frule((NoTangent(), 1.0), count, 2.5) == (2, NoTangent())


def test_types_restrict():
    non_differentiable(count, float | np.ndarray, int)
    assert rrule(count, 2.5) is not None
    assert rrule(count, "3") is None


def test_bulk():
    parity = np.frompyfunc(lambda x: x % 2, 1, 1)  # a ufunc that no pack serves
    non_differentiable([zlib.crc32, parity])
    assert rrule(zlib.crc32, b"")[0] == 0
    assert rrule(parity, np.ones(2))[1](1.0) == (NoTangent(), NoTangent())


def test_methods():
    non_differentiable(Box.size)
    assert rrule(Box(3).size, "m")[1](1.0) == (NoTangent(), NoTangent())
    assert rrule(Box.size, Box(3), "m")[1](1.0) == (NoTangent(),) * 3


def test_the_location_is_the_declaration():
    non_differentiable(count)
    rule = rrule.resolve(count, (1.0,)).rule
    assert rule.name == "non_differentiable"
    assert rule.file == __file__


def test_misuse():
    with pytest.raises(rc.RuleDefinitionError, match="a list of functions takes no ty"):
        non_differentiable([count], float)
    with pytest.raises(rc.RuleDefinitionError, match="a rule key must be callable"):
        non_differentiable([3])
    non_differentiable(count)

    with pytest.raises(rc.RuleClashError, match="defined twice: non_differentiable at"):

        @rrule.define(count)
        def count_rrule(*args, scale=1):
            return 0, None


@pytest.fixture
def stepped():
    """`x ⌊x⌋`, its step by NumPy alone: `d = ⌊x⌋ dx`."""

    @rc.primitive(host=True, elementwise=True)
    def steps(x):
        assert isinstance(x, np.ndarray)
        return np.floor(x)

    non_differentiable(steps)
    return lambda x: (x * steps(x)).sum()


def test_a_host_primitive_in_jax(stepped):
    jax = pytest.importorskip("jax")
    x = jax.numpy.asarray([1.5, 2.5])
    assert jax.grad(stepped)(x).tolist() == [1.0, 2.0]
    assert float(jax.jvp(stepped, (x,), (x,))[1]) == 6.5


def test_a_host_primitive_in_torch(stepped):
    torch = pytest.importorskip("torch")
    x = torch.tensor([1.5, 2.5])
    assert torch.func.grad(stepped)(x).tolist() == [1.0, 2.0]
    assert float(torch.func.jvp(stepped, (x,), (x,))[1]) == 6.5
