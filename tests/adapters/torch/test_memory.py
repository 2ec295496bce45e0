"""Whose memory it is: results of host functions, their arguments, and residuals.

A function may keep what it returns, return it twice, and write into its arguments. A
tensor that torch hands out or keeps must not change by that.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

import rules_core as rc
from rules_core import NoTangent
from rules_torch import to_torch

ROWS = torch.tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]).double()


class Keeper:
    """Functions that return twice their argument, in memory that they keep."""

    def __init__(self):
        self.buffer = np.empty((2,))
        self.pair = (self.buffer, np.empty((2,)))
        self.results = {"a": np.empty((2,)), "b": np.empty((2,))}
        self.wide = np.empty((4,))

    def own_buffer(self, x):
        return np.multiply(x, 2, out=self.buffer)

    def view_of_a_buffer(self, x):
        self.wide[::2] = 2 * x
        return self.wide[::2]

    def transposed_view(self, x):
        self.buffer[:] = 2 * x
        return self.buffer.reshape(2, 1).T[0]

    def one_array_twice(self, x):
        y = 2 * x
        return y, y

    def an_array_and_its_view(self, x):
        y = 2 * x
        return y, y[:]

    def list_of_one_array(self, x):
        return [np.multiply(x, 2, out=self.buffer)] * 3

    def kept_tuple(self, x):
        for y in self.pair:
            np.multiply(x, 2, out=y)
        return self.pair

    def kept_dict(self, x):
        for y in self.results.values():
            np.multiply(x, 2, out=y)
        return self.results

    def read_only(self, x):
        y = np.multiply(x, 2, out=self.buffer)[:]
        y.flags.writeable = False
        return y


NAMES = [name for name in vars(Keeper) if not name.startswith("_")]


def leaves(y):
    return list(y.values() if isinstance(y, dict) else y) if is_nested(y) else [y]


def is_nested(y):
    return isinstance(y, (tuple, list, dict))


def handle(name, rules):
    """A function that keeps its results; with rules nothing is copied by precaution."""
    kept = getattr(Keeper(), name)

    def function(x):
        return kept(x)

    f = to_torch(function, host=True)

    def function_rrule(x):
        def function_pullback(dy):
            parts = [rc.unthunk(part) for part in leaves_of_tangent(dy)]
            return NoTangent(), 2 * sum(parts)

        return f(x), function_pullback

    if rules:
        rc.rrule.define(function)(function_rrule)
    return f


def leaves_of_tangent(dy):
    if not isinstance(dy, rc.AbstractTangent):
        return [dy]
    names = ("a", "b") if dy.primal_type is dict else range(3)
    found = []
    for name in names:
        try:
            found.append(dy[name])
        except (IndexError, KeyError):
            break
    return found


@pytest.mark.parametrize("rules", [False, True], ids=["no rules", "rules"])
@pytest.mark.parametrize("name", NAMES)
def test_a_result_changes_neither_by_later_calls_nor_by_writes_to_others(name, rules):
    f = handle(name, rules)
    for _ in range(2):  # the first call may go another way than those after it
        results = [leaves(f(row)) for row in ROWS]
        everything = list(itertools.chain(*results))
        for row, ys in zip(ROWS, results, strict=True):
            for y in ys:
                assert torch.equal(y, 2 * row)
        everything[0].mul_(5)
        assert torch.equal(everything[0], 10 * ROWS[0])
        for y, row in zip(everything[1:], repeated(results), strict=True):
            assert torch.equal(y, 2 * row)


def repeated(results):
    rows = [row for row, ys in zip(ROWS, results, strict=True) for _ in ys]
    return rows[1:]


@pytest.mark.parametrize("rules", [False, True], ids=["no rules", "rules"])
@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_a_batch_have_results_of_their_own(name, rules):
    f = handle(name, rules)
    for y in leaves(torch.func.vmap(f)(ROWS)):
        assert torch.equal(y, 2 * ROWS)


def test_a_residual_outlives_the_next_call():
    buffer = np.empty(2)

    def exponential(x):
        return np.exp(x, out=buffer)

    f = to_torch(exponential, host=True)

    @rc.rrule.define(exponential)
    def exponential_rrule(x):
        y = f(x)
        return y, lambda dy: (NoTangent(), dy * y)

    x = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    y = f(x)
    f(torch.ones(2, dtype=torch.float64))
    y.sum().backward()
    assert x.grad.tolist() == [1, 1]


def numpy_rules(pull, push=lambda _x, dx: 2 * dx):
    def doubled(x, z):
        return 2 * x + z

    f = to_torch(doubled, host=True)
    rc.rrule.define(doubled, host=True)(
        lambda x, z: (2 * x + z, lambda dy: (NoTangent(), *pull(x, dy)))
    )
    rc.frule.define(doubled, host=True)(
        lambda dxs, x, z: (2 * x + z, push(x, dxs[1]) + dxs[2])
    )
    return f


BUFFER = np.empty(2)


@pytest.mark.parametrize(
    "pull",
    [
        lambda _, dy: (2 * dy,) * 2,
        lambda _, dy: (np.multiply(dy, 2, out=BUFFER), BUFFER),
        lambda _, dy: (dy, dy),
        lambda x, _: (x, x),
        lambda x, _: (x[:], x[:]),
    ],
    ids=["one array", "a buffer", "the cotangent", "a residual", "views"],
)
def test_cotangents_of_numpy_rules_share_no_memory(pull):
    f = numpy_rules(pull)
    x, z, seed = ROWS[1].clone(), torch.ones(2).double(), torch.ones(2).double()
    leaf_x, leaf_z = x.requires_grad_(), z.requires_grad_()
    f(leaf_x, leaf_z).backward(seed, retain_graph=True)
    before = leaf_z.grad.clone()
    leaf_x.grad.mul_(7)
    assert torch.equal(leaf_z.grad, before)
    assert seed.tolist() == [1, 1]
    assert leaf_x.tolist() == ROWS[1].tolist()


def writes_in_place(x):
    x *= 2
    return x.sum()


def writes_by_out(x):
    return np.multiply(x, 2, out=x).sum()


def writes_an_item(x):
    x[0] = 2 * x[0]
    x[1] = 2 * x[1]
    return x.sum()


def sorts(x):
    x.sort()
    return 2 * x.sum()


WRITERS = [writes_in_place, writes_by_out, writes_an_item, sorts]


@pytest.mark.parametrize("pure", [True, False], ids=["pure", "impure"])
@pytest.mark.parametrize("rules", [False, True], ids=["no rules", "rules"])
@pytest.mark.parametrize("write", WRITERS)
def test_a_body_that_writes_into_its_argument_leaves_the_tensor_alone(
    write, rules, pure
):
    def body(x):
        return write(x)

    f = to_torch(body, host=True, pure=pure)
    if rules:
        rc.scalar_rule(body, lambda y, x: (2.0,))
    start = torch.tensor([3.0, 1.0]).double()
    for x in (start.clone(), start.clone().requires_grad_(), start.clone()):
        assert f(x).item() == 8
        assert x.tolist() == [3, 1]
    torch.func.vmap(f)(batch := start.expand(2, 2).clone())
    assert batch.tolist() == [[3, 1], [3, 1]]


def doubles_in_place(x):
    x *= 2
    return x


@pytest.mark.parametrize(
    ("pull", "push"),
    [
        (lambda _, dy: (doubles_in_place(dy), 0.5 * dy), lambda _, dx: 2 * dx),
        (lambda x, dy: (2 * dy + 0 * doubles_in_place(x), dy), lambda _, dx: 2 * dx),
        (lambda _, dy: (2 * dy, dy), lambda _, dx: doubles_in_place(dx)),
    ],
    ids=["cotangent", "residual", "tangent"],
)
def test_a_numpy_rule_that_writes_leaves_tensors_alone(pull, push):
    f = numpy_rules(pull, push)
    x, z, seed = ROWS[1].clone(), torch.ones(2).double(), torch.ones(2).double()
    y = f(x.requires_grad_(), z.requires_grad_())
    for _ in range(2):
        found = torch.autograd.grad(y, (x, z), seed, retain_graph=True)
        assert [dx.tolist() for dx in found] == [[2, 2], [1, 1]]
    dx = torch.ones(2).double()
    x, z = x.detach(), z.detach()
    assert torch.func.jvp(f, (x, z), (dx, dx))[1].tolist() == [3, 3]
    assert (dx.tolist(), seed.tolist()) == ([1, 1], [1, 1])
    assert x.tolist() == ROWS[1].tolist()


def test_an_error_of_the_body_is_not_taken_for_a_refused_write():
    calls = []

    def body(x):
        calls.append(x)
        raise ValueError("no")

    f = to_torch(body, host=True)
    rc.scalar_rule(body, lambda y, x: (1.0,))
    for x in (ROWS[0], ROWS[0].clone().requires_grad_()):
        with pytest.raises(ValueError, match="no"):
            f(x)
    assert len(calls) == 2


def test_a_fresh_result_is_not_copied():
    kept = []

    def body(x):
        y = 2 * x
        kept.append(y.ctypes.data)
        return y

    f = to_torch(body, host=True)
    rc.scalar_rule(body, lambda y, x: (2.0,))
    for x in (ROWS, ROWS, ROWS.clone().requires_grad_()):
        assert f(x).data_ptr() == kept[-1]


@pytest.mark.parametrize(
    "view",
    [lambda x: x, lambda x: x[1:3], lambda x: x.view(2, 2).T, lambda x: x.split(2)[1]],
    ids=["itself", "slice", "transposed", "split"],
)
def test_the_memory_of_a_parameter_can_still_be_resized(view):
    f = to_torch(lambda x: 2 * x, host=True)
    x = torch.nn.Parameter(torch.ones(4))
    f(view(x))
    f(view(x)).sum().backward()
    assert (x.grad >= 0).all()
    assert x.untyped_storage().resizable()


def test_the_memory_of_a_parameter_without_gradients_can_still_be_resized():
    f = to_torch(lambda x: 2 * x, host=True)
    x = torch.nn.Parameter(torch.ones(4))
    with torch.no_grad():
        f(x)
    assert x.untyped_storage().resizable()
