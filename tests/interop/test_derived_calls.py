"""How often a host function runs, on whose memory, and in which order of pullbacks."""

from types import FunctionType

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import derive_rrule
from rules_core.testing import isolated_rules
from tests.interop.simulations import CASES, HOSTS, differences, first_of, host_of

X = np.array([0.3, -0.4, 0.9])
WORK = np.zeros(3)


@pytest.fixture(params=HOSTS)
def host(request):
    return host_of(request.param)


def buffered(x):
    """Works in, and returns, an array that belongs to the module."""
    WORK[:] = x
    WORK[1:] *= WORK[:-1]
    x[:] = 7.0
    return WORK


def weighed(y):
    return (y * np.array([1.0, 2.0, 3.0])).sum()


def test_arguments_and_kept_buffers_are_not_shared(host):
    f, x = host.wrap(buffered, out=first_of), host.array(X)
    WORK[:] = 5.0
    first, second = f(x), f(2 * x)
    assert np.asarray(x).tolist() == X.tolist()
    np.testing.assert_allclose(np.asarray(first), buffered(X.copy()))
    np.testing.assert_allclose(np.asarray(second), buffered(2 * X))


def test_a_derivative_leaves_the_state_as_it_was(host):
    f, x = host.wrap(buffered, out=first_of), host.array(X)
    weights = host.array([1.0, 2.0, 3.0])
    slope = host.grad(lambda x: (f(x) * weights).sum())(x)
    kept = f(host.array([1.0, 1.0, 1.0]))
    again = host.grad(lambda x: (f(x) * weights).sum())(x)
    want = differences(lambda x: weighed(buffered(x.copy())), X)[0]
    np.testing.assert_allclose(np.asarray(slope), want, rtol=1e-7)
    np.testing.assert_allclose(np.asarray(again), want, rtol=1e-7)
    assert np.asarray(kept).tolist() == [1.0, 1.0, 1.0]
    assert np.asarray(x).tolist() == X.tolist()


def test_the_same_array_twice_is_two_arguments(host):
    def doubled(a, b):
        a *= 2.0
        return a * b

    f, x = host.wrap(doubled, out=first_of), host.array(X)
    np.testing.assert_allclose(np.asarray(f(x, x)), 2 * X * X)
    slope = host.grad(lambda x: f(x, x).sum())(x)
    np.testing.assert_allclose(np.asarray(slope), 4 * X)


def test_runs_of_the_function(host):
    runs = []

    def tick():  # with a rule of its own, so that the engine does not undo it
        runs.append(1)

    def counted(x, b):
        tick()
        x *= b
        return x * x

    rc.non_differentiable(tick)
    f, x, b = host.wrap(counted, out=first_of), host.array(X), host.array(2.0)
    f(x, b)
    assert len(runs) == 1
    host.grad(lambda x: f(x, b).sum())(x)
    assert len(runs) == 3  # the value, and the recorded run of the pullback
    host.jacrev(lambda x: f(x, b))(x)
    assert len(runs) == 5  # one record serves every row
    host.jacfwd(lambda x: f(x, b))(x)
    # One run carries every column; PyTorch asks the frule for the value once more.
    assert len(runs) == (8 if host.name == "torch" else 7)


def test_only_what_is_needed_is_differentiated(host):
    def picky(x, b):
        if not isinstance(b, np.ndarray):
            raise TypeError
        return x * float(str(b))  # text carries no derivative, and is refused

    f, x, b = host.wrap(picky, out=first_of), host.array(X), host.array(2.0)
    slope = host.grad(lambda x: f(x, b).sum())(x)
    np.testing.assert_allclose(np.asarray(slope), np.full(3, 2.0))


def test_pullbacks_in_any_order_in_jax():
    host = host_of("jax")
    import jax

    case = CASES["rod"]
    f = host.wrap(case.simulate, out=first_of)

    def of(x):
        return jax.vjp(lambda x, b: f(x, b, case.steps), x, host.array(case.b))[1]

    x, dy = host.array(case.x), host.array(np.arange(1.0, 6.0))
    one, two = of(x), of(0.9 * x)
    order = [two(dy), one(dy), one(2 * dy), two(dy), one(dy)]
    for i, j, factor in ((0, 3, 1), (1, 4, 1), (1, 2, 2)):
        for a, b in zip(order[i], order[j], strict=True):
            np.testing.assert_allclose(factor * a, b, rtol=1e-12)
    assert not np.allclose(order[0][0], order[1][0])


def test_pullbacks_in_any_order_in_torch():
    host = host_of("torch")
    import torch

    case = CASES["rod"]
    f = host.wrap(case.simulate)
    leaves = [torch.tensor(k * case.x, requires_grad=True) for k in (1.0, 0.9)]
    ys = [f(x, host.array(case.b), case.steps) for x in leaves]
    dy = torch.arange(1.0, 6.0, dtype=torch.float64)

    def pull(i, seed):
        return torch.autograd.grad(ys[i], leaves[i], seed, retain_graph=True)[0]

    order = [pull(1, dy), pull(0, dy), pull(0, 2 * dy), pull(1, dy), pull(0, dy)]
    torch.testing.assert_close(order[0], order[3])
    torch.testing.assert_close(order[1], order[4])
    torch.testing.assert_close(2 * order[1], order[2])
    assert not torch.allclose(order[0], order[1])
    leaves[0].grad = None
    (ys[0] * dy).sum().backward()
    torch.testing.assert_close(leaves[0].grad, order[1])


def test_gradient_penalty_in_torch():
    host = host_of("torch")
    import torch

    case = CASES["rod"]
    loss, (x, b) = host.loss(case), host.point(case)
    x.requires_grad_()
    (slope,) = torch.autograd.grad(loss(x, b), x, create_graph=True)
    slope.square().sum().backward()

    def penalty(x):
        slope = differences(case.loss, x, case.b, step=1e-4)[0]
        return np.sum(slope**2)

    want = differences(penalty, case.x, step=1e-4)[0]
    np.testing.assert_allclose(x.grad, want, rtol=1e-4)


def test_batched_points_and_cotangents_together(host):
    case = CASES["march"]
    f, b = host.wrap(case.simulate, out=first_of), host.array(case.b)

    def jacobian(x):
        return host.jacrev(lambda x: f(x, b, case.steps))(x)

    xs = np.stack([case.x, 0.8 * case.x])
    found = np.asarray(host.vmap(jacobian)(host.array(xs)))
    for x, block in zip(xs, found, strict=True):
        want = differences(lambda x: np.asarray(case.simulate(x, case.b, 3))[1], x)[0]
        np.testing.assert_allclose(block[1], want, rtol=1e-7, atol=1e-9)


def test_a_function_with_rules_is_not_copied():
    handle = rc.Primitive(lambda x: x, host=True)
    assert handle.needs_copies
    rc.non_differentiable(handle)
    assert not handle.needs_copies


def rule_of(f, factor=1.0):
    """A rule that keeps a pullback of the engine in its own."""
    unruled = FunctionType(f.__code__, f.__globals__)

    def keeping(x, b, steps):
        y, pullback = derive_rrule(unruled)(x.copy(), b, steps)

        def pull_back(dy):
            dself, dx, *others = pullback(dy)
            return dself, dx * factor, *others

        return y, pull_back

    return keeping


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("factor", [1.0, 0.5], ids=["right", "wrong"])
def test_rules_that_keep_a_pullback_of_the_engine(host, factor):
    case = CASES["march"]
    simulate = FunctionType(case.simulate.__code__, case.simulate.__globals__)
    xs = np.stack([case.x, 0.8 * case.x])
    weights = np.array([1.0, 2.0, 3.0])

    def loss(x):
        return (np.asarray(case.simulate(x.copy(), case.b, 3)) ** 2 * weights).sum()

    with isolated_rules():
        rc.rrule.define(simulate, host=True)(rule_of(simulate, factor))
        f = host.wrap(simulate, out=first_of)
        w, b = host.array(weights), host.array(case.b)

        def of_host(x):
            return (f(x, b, 3) ** 2 * w).sum()

        alone = [np.asarray(host.grad(of_host)(host.array(x))) for x in xs]
        batch = np.asarray(host.vmap(host.grad(of_host))(host.array(xs)))
    want = np.stack([differences(loss, x)[0] for x in xs])
    np.testing.assert_allclose(alone, factor * want, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(batch, factor * want, rtol=1e-7, atol=1e-9)
