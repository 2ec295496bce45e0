"""The short way of host functions of two tensors: what it must not do."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.autograd import forward_ad

import rules_core as rc


def host(f, **flags):
    """A handle of `f` whose calls try the short way: it has a rule and was called."""
    handle = rc.primitive(f, host=True, **flags)
    rc.rrule.define(handle)(
        lambda x, y: (handle(x, y), lambda dz: (rc.NoTangent(), dz, 2 * dz))
    )
    handle(torch.ones(3), torch.ones(3))
    assert handle.shortcut is not None
    return handle


@pytest.mark.parametrize(
    "f",
    [lambda x, y: x, lambda x, y: y[::-1], lambda x, y: np.broadcast_to(y, (2, 3))],
    ids=["first", "second reversed", "repeated"],
)
def test_a_result_that_is_not_new_is_copied(f):
    x, y = torch.arange(3.0), torch.arange(3.0) + 5
    z = host(f)(x, y)
    np.testing.assert_array_equal(z, f(x.numpy(), y.numpy()))
    z += 1
    assert (x.tolist(), y.tolist()) == ([0, 1, 2], [5, 6, 7])


def test_a_function_without_rules_gets_copies():
    kept = []

    @rc.primitive(host=True)
    def careless(x, y):
        x += y
        kept.append(x)
        return x

    for _ in range(3):
        x, y = torch.zeros(2), torch.ones(2)
        z = careless(x, y)
        kept[-1][:] = 7
        assert (x.tolist(), z.tolist()) == ([0, 0], [1, 1])


DTYPES = (torch.float32, torch.float64, torch.int64, torch.bfloat16, torch.complex64)


@pytest.mark.parametrize("second", DTYPES)
@pytest.mark.parametrize("first", DTYPES)
def test_dtypes_are_those_of_the_general_way(first, second):
    def product(x, y):
        return x * y

    short = host(product, elementwise=True)
    for shape in ((2,), ()):
        x, y = (
            torch.ones(shape, dtype=first).conj(),
            2 * torch.ones(shape, dtype=second),
        )
        z = short(x, y)
        expected = rc.Primitive(product, host=True, elementwise=True)(x, y)
        assert (z.dtype, z.shape) == (expected.dtype, expected.shape)
        assert (z == 2).all()


def test_tangents_and_graphs_are_not_lost_in_either_place():
    f, x, y = host(lambda x, y: x + 2 * y), torch.ones(3), torch.ones(3)
    leaf = torch.ones(3, requires_grad=True)
    assert torch.autograd.grad(f(leaf, y).sum(), leaf)[0].tolist() == [1, 1, 1]
    assert torch.autograd.grad(f(x, leaf).sum(), leaf)[0].tolist() == [2, 2, 2]
    with torch.no_grad():
        assert not f(leaf, leaf).requires_grad
    with forward_ad.dual_level():
        z = f(x, forward_ad.make_dual(y, y))
        assert forward_ad.unpack_dual(z).tangent.tolist() == [2, 2, 2]
    assert torch.vmap(f)(x, y).tolist() == [3, 3, 3]


def test_defaults_numbers_and_other_counts():
    f = rc.primitive(lambda x, y=2.0: x * y, host=True)
    x = torch.full((2,), 3.0)
    for _ in range(2):
        assert f(x).tolist() == [6, 6]
        assert f(x, 4.0).tolist() == [12, 12]
        assert f(x, x).tolist() == [9, 9]
    with pytest.raises(TypeError):
        f(x, x, x)
