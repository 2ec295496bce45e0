"""Batches of host functions: each example has what is its own, or there is an error."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import func

import rules_core as rc
from rules_core import NoTangent
from rules_torch import to_torch

POINTS = torch.tensor([[1.0, 2.0], [4.0, 8.0], [0.5, 3.0]]).double()
RIGHT = torch.tensor([1.0, -2.0]).double()


def opaque(d):
    factors = {"handle": d.tobytes(), "dtype": d.dtype.str}
    return lambda b: b / np.frombuffer(factors["handle"], factors["dtype"])


def by_text(d):
    text = ",".join(map(repr, d.tolist()))
    return lambda b: b / np.array([float(word) for word in text.split(",")])


def by_branch(d):
    if d[0] > 1:
        return lambda b: b / d
    inverse = 1 / d
    return lambda b: b * inverse


def plain(d):
    return lambda b: b / d


def solver(factorise):
    def solve(d, b):
        return b / d

    f = to_torch(solve, host=True)

    @rc.rrule.define(solve, host=True)
    def solve_rrule(d, b):
        backwards = factorise(d)
        x = b / d

        def solve_pullback(dy):
            w = backwards(dy)
            return NoTangent(), -w * x, w

        return x, solve_pullback

    return f


def reference(d, b):
    return b / d


SOLVERS = [opaque, by_text, by_branch, plain]


def nested(f):
    """`f` of one example as a function that a batch of batches is mapped by."""
    return func.vmap(func.vmap(f))


TRANSFORMS = {
    "vmap(grad)": lambda f: func.vmap(func.grad(lambda d: f(d, RIGHT).sum()))(POINTS),
    "grad(vmap)": lambda f: func.grad(
        lambda d: func.vmap(lambda row: f(row, RIGHT))(d).sum()
    )(POINTS),
    "vmap(vmap(grad))": lambda f: nested(func.grad(lambda d: f(d, RIGHT).sum()))(
        torch.stack([POINTS, 2 * POINTS])
    ),
    "vmap(grad) of the other": lambda f: func.vmap(
        func.grad(lambda b: f(POINTS[1], b).sum())
    )(POINTS),
    "vmap(jacrev)": lambda f: func.vmap(func.jacrev(lambda d: f(d, RIGHT)))(POINTS),
    "jacrev(vmap)": lambda f: func.jacrev(func.vmap(lambda d: f(d, RIGHT)))(POINTS),
    "batch in the last axis": lambda f: func.vmap(
        func.grad(lambda d: f(d, RIGHT).sum()), in_dims=1, out_dims=1
    )(POINTS.T),
    "many cotangents": lambda f: torch.autograd.functional.jacobian(
        lambda d: f(d, RIGHT), POINTS[0], vectorize=True
    ),
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("factorise", SOLVERS)
def test_each_example_uses_what_its_own_rule_kept(factorise, transform):
    run = TRANSFORMS[transform]
    torch.testing.assert_close(run(solver(factorise)), run(reference))


def test_examples_whose_rules_keep_unlike_arrays_are_an_error():
    def by_case(d):
        scale = np.ones(len(d))
        return plain(d) if d[0] > 1 else lambda b: b * scale / d

    f = solver(by_case)
    with pytest.raises(rc.UnsupportedError, match="what a rule keeps"):
        func.vmap(func.grad(lambda d: f(d, RIGHT).sum()))(POINTS)


def number_of_roots(x):
    return x * 2, int((x > 2).sum())


def named(x):
    return {"y": x * 2, "sign": "+" if x[0] > 1 else "-"}


def of_own_length(x):
    return x[x > 2]


def of_own_dtype(x):
    return x if x[0] > 1 else x.astype("f4")


@pytest.mark.parametrize(
    "body",
    [number_of_roots, named, of_own_length, of_own_dtype],
    ids=lambda f: f.__name__,
)
def test_examples_that_return_unlike_results_are_an_error(body):
    f = to_torch(lambda x: body(x), host=True)
    with pytest.raises(rc.UnsupportedError, match="examples of a batch must return"):
        func.vmap(f)(POINTS)


def test_examples_that_return_the_same_number_are_batched():
    f = to_torch(lambda x: (x * 2, len(x), "name"), host=True)
    y, length, name = func.vmap(lambda x: f(x)[0])(POINTS), *f(POINTS[0])[1:]
    assert torch.equal(y, 2 * POINTS)
    assert (length, name) == (2, "name")
