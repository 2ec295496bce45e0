"""What nobody wants is not asked for, and does not raise."""

from __future__ import annotations

import pytest
import torch
from torch import func

import rules_core as rc
from rules_core import NoTangent
from rules_torch import KeywordDerivativeError

X, Y = torch.tensor([2.0, 3.0]).double(), torch.tensor([5.0, 7.0]).double()


def product(kind, seen):
    """`x y`, whose derivative for `y` is not implemented."""

    @rc.primitive
    def product(x, y):
        return x * y

    unknown = rc.not_implemented("nobody knows")

    if kind == "rrule":

        @rc.rrule.define(product)
        def product_rrule(x, y, *, needs):
            seen.append(needs)
            return product(x, y), lambda dy: (NoTangent(), dy * y, unknown)

    else:

        @rc.frule.define(product)
        def product_frule(tangents, x, y, *, needs):
            seen.append(needs)
            dx = tangents[1]
            return product(x, y), unknown if needs[1] else dx * y

    return product


def leaf(x):
    return x.clone().requires_grad_()


def one_of_two(f):
    x, y = leaf(X), leaf(Y)
    return torch.autograd.grad(f(x, y).sum(), x)[0]


def one_of_two_large(f):
    x, y = leaf(X.repeat(4000)), leaf(Y.repeat(4000))
    return torch.autograd.grad(f(x, y).sum(), x)[0][:2]


def backward_into_one(f):
    x, y = leaf(X), leaf(Y)
    f(x, y).sum().backward(inputs=[x])
    return x.grad


def beside_a_graph(f):
    y = leaf(Y)
    return func.grad(lambda x: f(x, y).sum())(X).detach()


# Where only the first derivative is asked for, and whether a rule can know at once.
WANTED = {
    "autograd.grad": (one_of_two, False),
    "large": (one_of_two_large, False),
    "backward(inputs=)": (backward_into_one, False),
    "func.grad": (lambda f: func.grad(lambda x, y: f(x, y).sum())(X, Y), True),
    "func.grad, captured": (beside_a_graph, False),
    "func.vjp": (
        lambda f: func.vjp(lambda x: f(x, Y), X)[1](torch.ones(2).double())[0],
        True,
    ),
    "jacrev": (lambda f: func.jacrev(f)(X, Y).sum(0), True),
    "vmap(grad)": (lambda f: func.vmap(func.grad(f))(X, Y), True),
    "grad(vmap)": (
        lambda f: func.grad(lambda x, y: func.vmap(f)(x, y).sum())(X, Y),
        True,
    ),
}


@pytest.mark.parametrize("kind", ["rrule", "frule"])
@pytest.mark.parametrize("case", WANTED)
def test_an_argument_that_nobody_wants_is_not_asked_for(case, kind):
    run, known = WANTED[case]
    seen = []
    assert run(product(kind, seen)).tolist() == Y.tolist()
    if known:
        assert set(seen) == {(True, False)}


@pytest.mark.parametrize("kind", ["rrule", "frule"])
def test_one_that_is_wanted_raises(kind):
    f = product(kind, [])
    for run in (
        lambda: torch.autograd.grad(f(leaf(X), y := leaf(Y)).sum(), y),
        lambda: f(leaf(X), leaf(Y)).sum().backward(),
        lambda: func.grad(lambda x, y: f(x, y).sum(), 1)(X, Y),
    ):
        with pytest.raises(rc.DerivativeNotImplemented):
            run()


@pytest.mark.parametrize("kind", ["rrule", "frule", "both"])
def test_a_keyword_that_nobody_wants_does_not_raise(kind):
    @rc.primitive
    def scaled(x, *, by):
        return x * by

    if kind != "frule":
        rc.rrule.define(scaled)(
            lambda x, *, by: (
                x * by.detach(),
                lambda dy: (NoTangent(), dy * by.detach()),
            )
        )
    if kind != "rrule":
        rc.frule.define(scaled)(lambda dxs, x, *, by: (x * by, dxs[1] * by))

    assert one_of_two(lambda x, y: scaled(x, by=y)).tolist() == Y.tolist()
    assert backward_into_one(lambda x, y: scaled(x, by=y)).tolist() == Y.tolist()
    with pytest.raises(KeywordDerivativeError):
        scaled(leaf(X), by=leaf(Y)).sum().backward()
