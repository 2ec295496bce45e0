"""Tensors that a function keeps: constants and results of earlier calls."""

import pytest
import torch
from torch.autograd import forward_ad
from torch.func import grad, hessian, jvp, vmap

import rules_core as rc
from rules_core import NoTangent

X = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64)
SLOPE = 2.0


def returning(kept):
    @rc.primitive
    def answer(x):
        return kept["y"]

    @rc.rrule.define(answer)
    def answer_rrule(x):
        return answer(x), lambda dy: (NoTangent(), SLOPE * dy)

    return answer


def returning_by_frule(kept):
    @rc.primitive
    def answer(x):
        return kept["y"]

    @rc.frule.define(answer)
    def answer_frule(tangents, x):
        return answer(x), SLOPE * tangents[1]

    return answer


def capturing(kept):
    @rc.primitive
    def scale(x):
        return x * kept["y"]

    @rc.rrule.define(scale)
    def scale_rrule(x):
        y = kept["y"]
        return scale(x), lambda dy: (NoTangent(), SLOPE * dy * y)

    return scale


def tracked():
    return X.clone().requires_grad_()


def twice(f):
    x = tracked()
    (dx,) = torch.autograd.grad((f(x) * x).sum(), x, create_graph=True)
    torch.autograd.grad(dx.sum(), x)


def by_duals(f):
    with forward_ad.dual_level():
        f(forward_ad.make_dual(tracked(), X))


WAYS = {
    "backward": lambda f: f(tracked()).sum().backward(),
    "twice": twice,
    "duals": by_duals,
    "grad": lambda f: grad(lambda x: f(x).sum())(X),
    "grad of a variable": lambda f: grad(lambda x: f(x).sum())(tracked()),
    "jvp of a variable": lambda f: jvp(f, (tracked(),), (X,)),
    "vmap of a variable": lambda f: vmap(f)(tracked()[None]),
    "hessian": lambda f: hessian(lambda x: (f(x) * x).sum())(X),
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("made", [returning, returning_by_frule, capturing])
def test_what_a_function_keeps_gets_no_history(made, way):
    kept = {"y": torch.ones(3, dtype=torch.float64)}
    f = made(kept)
    for _ in range(3):
        WAYS[way](f)
        assert not kept["y"].requires_grad
        assert kept["y"].grad_fn is None


@pytest.mark.parametrize("made", [returning, returning_by_frule])
def test_one_object_returned_twice_is_two_results(made):
    f = made({"y": torch.ones(3, dtype=torch.float64)})
    for _ in range(4):  # the later calls go a shorter way
        a, b = tracked(), tracked()
        y, z = f(a), f(b)
        da, db = torch.autograd.grad((y + 5 * z).sum(), [a, b])
        assert da.tolist() == [SLOPE] * 3
        assert db.tolist() == [5 * SLOPE] * 3


@pytest.mark.parametrize("made", [returning, returning_by_frule])
def test_a_write_into_a_result_is_still_a_write(made):
    """The result may be written to, and what was saved of it is guarded."""
    f = made({"y": torch.ones(3, dtype=torch.float64)})
    x = tracked()
    y = f(x)
    squared = y**2
    y.mul_(3)
    (dx,) = torch.autograd.grad(y.sum(), x, retain_graph=True)
    assert dx.tolist() == [3 * SLOPE] * 3
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(squared.sum(), x)
