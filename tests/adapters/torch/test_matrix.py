"""Every arrangement of jvp, grad and vmap against torch's own derivatives.

A word such as `JGV` is applied from the left: forward mode of the primitive, then
reverse mode of that, then a batch of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from types import SimpleNamespace

import pytest
import torch
from torch.func import grad, hessian, jacfwd, jacrev, jvp, linearize, vmap

import rules_core as rc
from tests.adapters.torch.formulas import (
    KINDS,
    define,
    expo,
    host_sine,
    sinmul,
    weighted,
)

Fun = Callable[[torch.Tensor], torch.Tensor]
X = torch.tensor([[0.3, 0.7], [1.1, -0.4]], dtype=torch.float64)
MAKERS = {"generic": sinmul, "host": host_sine}


def forward(f: Fun) -> Fun:
    return lambda x: jvp(f, (x,), (torch.cos(x),))[1]


def reverse(f: Fun) -> Fun:
    return lambda x: grad(lambda u: f(u).sum())(x)


STEPS = {"J": forward, "G": reverse, "V": vmap}


def words(order: int, batches: int = 2) -> Iterable[str]:
    for letters in itertools.product("JGV", repeat=order):
        if letters.count("V") <= batches:
            yield "".join(letters)


def check(made, chosen: Iterable[str]) -> None:
    wrong = []
    for word in chosen:
        ours, theirs = made.f, made.native
        for letter in word:
            ours, theirs = STEPS[letter](ours), STEPS[letter](theirs)
        found = ours(X)
        same = torch.allclose(found, theirs(X), rtol=1e-9, atol=1e-9)
        if not same or found.requires_grad:  # every transform has ended
            wrong.append(word)
    assert not wrong


@pytest.mark.covering(every=2)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("primal", MAKERS)
def test_every_arrangement_up_to_order_three(primal, kind):
    check(MAKERS[primal](kind), itertools.chain.from_iterable(map(words, range(4))))


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("primal", MAKERS)
def test_order_four_without_batches(primal, kind):
    check(MAKERS[primal](kind), ["JJJJ", "GGGG", "JGJG", "GJGJ", "JJGG", "GGJJ"])


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("primal", MAKERS)
def test_batches_at_every_place_of_a_third_derivative(primal, kind):
    check(MAKERS[primal](kind), ["VGJG", "GVGJ", "JGVG", "GJGV", "VJJG"])


@pytest.mark.nightly
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("primal", MAKERS)
def test_every_arrangement_of_order_four(primal, kind):
    check(MAKERS[primal](kind), words(4))


def double(f: Fun, argnum: int) -> list[Fun]:
    """Second derivatives in all four mixtures."""
    ways = itertools.product((jacfwd, jacrev), repeat=2)
    return [outer(inner(f, argnum), argnum) for outer, inner in ways]


@pytest.mark.parametrize("kind", KINDS)
def test_hessians_in_all_mixtures_with_two_arguments(kind):
    made = weighted(kind)
    a = torch.tensor([1.5, -0.5], dtype=torch.float64)
    b = torch.tensor(0.7, dtype=torch.float64)
    for argnum in (0, 1):
        pairs = zip(double(made.f, argnum), double(made.native, argnum), strict=True)
        for ours, theirs in pairs:
            torch.testing.assert_close(ours(a, b), theirs(a, b))


@pytest.mark.parametrize("kind", KINDS)
def test_hessian_and_vmap_of_it(kind):
    made = expo(kind)

    def total(f: Fun) -> Fun:
        return lambda x: f(x).sum()

    ours = vmap(hessian(total(made.f)))(X)
    torch.testing.assert_close(ours, vmap(hessian(total(torch.exp)))(X))


@pytest.mark.parametrize("in_dims", [(0, None), (None, 0), (1, 0), (-1, 1)])
@pytest.mark.parametrize("kind", KINDS)
def test_vmap_with_in_dims(kind, in_dims):
    made = weighted(kind)
    a, b = X, X + 1

    def both(f):
        return lambda a, b: (f(a, b), *grad(lambda *u: f(*u).sum(), (0, 1))(a, b))

    ours = vmap(both(made.f), in_dims)(a, b)
    torch.testing.assert_close(ours, vmap(both(made.native), in_dims)(a, b))


@pytest.mark.filterwarnings("ignore")  # torch.func.linearize warns about itself
@pytest.mark.parametrize("kind", KINDS)
def test_linearize(kind):
    made = sinmul(kind)
    y, push = linearize(made.f, X)
    torch.testing.assert_close(y, made.native(X))
    torch.testing.assert_close(push(X), jvp(made.native, (X,), (X,))[1])


@pytest.mark.parametrize("randomness", ["different", "same"])
def test_vmap_randomness_reaches_the_rule(randomness):
    def noisy(x):
        return sinmul().f(x) * torch.rand(())

    out = vmap(noisy, randomness=randomness)(torch.ones(3))
    assert (out.unique().numel() == 1) == (randomness == "same")


def mixed(kind: str) -> SimpleNamespace:
    """`(a sin(w), cos(w))`: where only `a` is batched, so is only the first result.

    The pullback captures intermediates that depend on `w` alone.
    """

    @rc.primitive
    def mixed(a, w):
        xp = rc.array_namespace(w)
        return a * xp.sin(w), xp.cos(w)

    def mixed_rrule(a, w):
        xp = rc.array_namespace(w)
        s, c, view = xp.sin(w), xp.cos(w), xp.reshape(w, w.shape)

        def mixed_pullback(dy):
            da = dy[0] * s
            dw = dy[0] * a * c - dy[1] * xp.sin(view)
            return rc.NoTangent(), da, dw

        return (a * s, xp.cos(w)), mixed_pullback

    def mixed_frule(tangents, a, w):
        _, da, dw = tangents
        xp = rc.array_namespace(w)
        s, c = xp.sin(w), xp.cos(w)
        return (a * s, c), (da * s + a * c * dw, -s * dw)

    define(mixed, kind, mixed_rrule, mixed_frule)
    return SimpleNamespace(
        f=mixed, native=lambda a, w: (a * torch.sin(w), torch.cos(w))
    )


A3 = torch.tensor([[0.3, 0.7], [1.1, -0.4], [0.2, 0.9]], dtype=torch.float64)
W2 = torch.tensor([0.5, 1.5], dtype=torch.float64)
SHARED = {
    "vmap": lambda f: vmap(f, (0, None)),
    "vmap(vmap)": lambda f: lambda a, w: vmap(vmap(f, (0, 0)), (0, None))(a, w),
    "vmap in the other order": lambda f: (
        lambda a, w: vmap(lambda w: vmap(lambda a: f(a, w))(a))(torch.stack([w, w + 1]))
    ),
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_shared_by_a_batch_is_differentiated_once(kind, name):
    """torch's generated vmap rule would count it once per example."""
    made = mixed(kind)

    def loss(f):
        batched = SHARED[name](f)

        def run(a, w):
            y, z = batched(a, w)
            return (y * y).sum() + (z * z * z).sum()

        return run

    for argnum in (0, 1):
        ours, theirs = grad(loss(made.f), argnum), grad(loss(made.native), argnum)
        torch.testing.assert_close(ours(A3, W2), theirs(A3, W2))
        for inner, outer in itertools.product((jacrev, jacfwd), repeat=2):
            ours = outer(inner(loss(made.f), argnum), 1)(A3, W2)
            theirs = outer(inner(loss(made.native), argnum), 1)(A3, W2)
            torch.testing.assert_close(ours, theirs)
    a, w = A3.clone().requires_grad_(), W2.clone().requires_grad_()

    def second(f):
        first = torch.autograd.grad(loss(f)(a, w), (a, w), create_graph=True)
        return torch.autograd.grad(sum((g * g).sum() for g in first), (a, w))

    torch.testing.assert_close(second(made.f), second(made.native))


def test_a_batch_of_cotangents_with_create_graph():
    made = sinmul("rrule")
    x = X[0].clone().requires_grad_()

    def rows(f):
        y = f(x)

        def back(v):
            return torch.autograd.grad(y, x, v, create_graph=True)[0]

        jacobian = vmap(back)(torch.eye(2, dtype=torch.float64))
        return torch.autograd.grad((jacobian**2).sum(), x)[0]

    torch.testing.assert_close(rows(made.f), rows(made.native))
