"""The short way of host functions: what it must not do."""

from __future__ import annotations

from types import FunctionType

import numpy as np
import pytest
import torch
from torch.autograd import forward_ad

import rules_core as rc
from rules_core.testing import isolated_rules

KEPT = np.arange(3.0)
KEPT.flags.writeable = False


def host(f, **flags):
    """A handle of `f` whose calls try the short way: it has a rule and was called."""
    handle = rc.primitive(f, host=True, **flags)
    rc.rrule.define(handle)(lambda x: (handle(x), lambda dy: (rc.NoTangent(), dy)))
    handle(torch.ones(3, dtype=torch.float64))
    return handle


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x,
        lambda x: x[::-1],
        lambda x: x.reshape(1, 3),
        lambda x: KEPT,
        lambda x: np.broadcast_to(x, (2, 3)),
    ],
    ids=["itself", "reversed", "view", "read-only", "repeated"],
)
def test_a_result_that_is_not_new_is_copied(f):
    x = torch.arange(3.0, dtype=torch.float64)
    y = host(f)(x)
    expected = torch.from_numpy(np.array(f(x.numpy())))
    torch.testing.assert_close(y, expected)
    y += 1
    torch.testing.assert_close(x, torch.arange(3.0, dtype=torch.float64))
    np.testing.assert_array_equal(KEPT, np.arange(3.0))


def test_a_function_without_rules_gets_copies_and_keeps_what_it_returned():
    kept = []

    @rc.primitive(host=True)
    def careless(x):
        x += 1
        kept.append(x)
        return x

    for _ in range(3):
        x = torch.zeros(2)
        y = careless(x)
        kept[-1][:] = 7
        assert x.tolist() == [0, 0]
        assert y.tolist() == [1, 1]


def careless(x):
    x += 1
    return x


def writes(handle):
    """Whether a call writes into the tensor that it is given, and keeps its result."""
    x = torch.zeros(2)
    y = handle(x)
    assert y.tolist() == [1, 1]
    return x.tolist() != [0, 0]


def rule(x):
    return x, lambda dy: (rc.NoTangent(), dy)


def push(tangents, x):
    return x, tangents[1]


def test_a_function_that_writes_is_given_copies_whatever_its_rules_promise():
    """Rules vouch that a function writes into nothing; this one breaks its word."""
    function = FunctionType(careless.__code__, globals())
    first, second = (rc.Primitive(function, host=True) for _ in range(2))

    def nobody_writes():
        found = [writes(handle) for handle in (first, second) * 2]
        return True not in found

    assert nobody_writes()
    with isolated_rules():
        rc.rrule.define(function)(rule)
        assert nobody_writes()
    with isolated_rules():
        rc.frule.define(function)(push)
        assert nobody_writes()
    rc.opt_out(rc.rrule, function, torch.Tensor)
    assert nobody_writes()
    assert first.shortcut is not None


@pytest.mark.parametrize(
    ("x", "dtype"),
    [
        (torch.ones(2, dtype=torch.float32), torch.float32),
        (torch.ones((), dtype=torch.float32), torch.float32),
        (torch.ones(2, dtype=torch.int64), torch.float64),
        (torch.ones(2, dtype=torch.bfloat16), torch.bfloat16),
        (torch.ones(2, dtype=torch.complex64).conj(), torch.complex64),
    ],
)
def test_the_dtype_is_that_of_an_elementwise_function(x, dtype):
    y = host(lambda x: x * np.int8(2), elementwise=True)(x)
    assert (y.dtype, y.shape) == (dtype, x.shape)
    assert (y == 2).all()


def test_tangents_and_graphs_are_not_lost():
    double = host(lambda x: 2 * x)
    x = torch.ones(3, dtype=torch.float64)
    with forward_ad.dual_level():
        y = double(forward_ad.make_dual(x, x))
        assert forward_ad.unpack_dual(y).tangent is not None
    assert double(x.clone().requires_grad_()).requires_grad
    with torch.no_grad():
        assert not double(x.clone().requires_grad_()).requires_grad
    assert torch.func.jvp(double, (x,), (x,))[1].tolist() == [1, 1, 1]


def test_numbers_among_the_arguments_stay_numbers():
    seen = []

    @rc.primitive(host=True)
    def scaled(factor, x, name, rest=None):
        seen.append((type(factor), type(name), rest))
        return factor * x

    rc.scalar_rule(scaled, lambda y, factor, x, name, rest: (0.0, factor, 0.0, 0.0))
    for _ in range(2):
        y = scaled(2, torch.ones(2), "name")
        assert y.tolist() == [2, 2]
    assert seen == [(int, str, None)] * 2


def test_an_error_of_the_function_is_its_own():
    @rc.primitive(host=True)
    def broken(x):
        raise RuntimeError("broken")

    rc.rrule.define(broken)(lambda x: None)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="^broken$"):
            broken(torch.ones(2))


def test_a_result_that_is_an_argument_of_a_ufunc_is_copied():
    add = rc.Primitive(np.add, host=True, elementwise=True)
    x, y, out = torch.ones(2), torch.ones(2), torch.zeros(2)
    for _ in range(2):
        z = add(x, y, out)
        z += 1
    assert (z.tolist(), out.tolist()) == ([3, 3], [2, 2])


@pytest.mark.parametrize("f", [lambda x: 2 * x, np.exp], ids=["function", "ufunc"])
def test_no_shortcut_is_taken_in_a_graph(f):
    made = rc.Primitive(f, host=True, elementwise=True)
    x = torch.ones(3, dtype=torch.float64)
    made(x)
    assert made.shortcut is not None
    fast = torch.compile(made, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(fast(x), torch.from_numpy(f(x.numpy())))


def test_no_shortcut_serves_a_function_of_another_host():
    from rules_torch import from_torch

    made = from_torch(torch.sin)
    for _ in range(2):
        assert made(torch.ones(2)).tolist() == torch.ones(2).sin().tolist()
    assert made.shortcut is None


def test_after_a_shortcut_other_arguments_go_the_general_way():
    double = host(lambda x: 2 * x)
    assert double(np.ones(2)).__class__ is np.ndarray
    assert double(1.5) == 3.0
    assert double(x=torch.ones(2)).tolist() == [2, 2]
    with pytest.raises(TypeError, match="missing"):
        double()
