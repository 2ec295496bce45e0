"""Memory, threads, and what an import costs."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading

import pytest
import torch

import rules_core as rc
from tests.adapters.torch.formulas import host_sine, sinmul
from tests.growth import growth

X = torch.tensor([0.3, 0.7], dtype=torch.float64)


def step(f):
    x = X.clone().requires_grad_()
    f(x).sum().backward()


@pytest.mark.covering(every=2)
@pytest.mark.parametrize("make", [sinmul, host_sine])
def test_calls_leave_nothing_behind(make):
    f = make().f
    assert growth(lambda: step(f), 400) < 10_000


class HandWritten(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x.sin()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, dy):
        return dy * ctx.saved_tensors[0].cos()


@pytest.mark.full
def test_transforms_leave_no_more_behind_than_torch_itself():
    """torch makes a class at every call of a Function under a transform."""
    f = sinmul("rrule").f
    mine = growth(lambda: torch.func.grad(lambda x: f(x).sum())(X), 100)
    theirs = growth(
        lambda: torch.func.grad(lambda x: HandWritten.apply(x).sum())(X), 100
    )
    assert mine < 1.5 * theirs + 20_000


@pytest.mark.nightly
def test_a_hundred_thousand_calls():
    f = sinmul().f
    assert growth(lambda: step(f), 20_000) < 20_000


@pytest.mark.parametrize("count", [50, pytest.param(1000, marks=pytest.mark.nightly)])
def test_fresh_primitives_are_collected(count):
    def work():
        step(sinmul().f)

    for _ in range(5):
        work()
    gc.collect()
    before = sum(type(o) is rc.Primitive for o in gc.get_objects())
    for _ in range(count):
        work()
    gc.collect()
    after = sum(type(o) is rc.Primitive for o in gc.get_objects())
    assert after <= before + 1


def test_eight_threads():
    made, wrong = sinmul(), []

    def work(seed: int) -> None:
        x = torch.full((3,), 0.1 * seed, dtype=torch.float64)
        for _ in range(20):
            leaf = x.clone().requires_grad_()
            (first,) = torch.autograd.grad(made.f(leaf).sum(), leaf, create_graph=True)
            (second,) = torch.autograd.grad(first.sum(), leaf)
            if not torch.allclose(second, 2 * x.cos() - x * x.sin()):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_pullback_may_run_in_another_thread():
    x = X.clone().requires_grad_()
    y = sinmul().f(x).sum()
    thread = threading.Thread(target=y.backward)
    thread.start()
    thread.join()
    torch.testing.assert_close(x.grad, X.sin() + X * X.cos())


def test_importing_the_adapter_does_not_import_the_compiler():
    code = (
        "import sys, torch, rules_core as rc\n"
        "before = set(sys.modules)\n"
        "f = rc.primitive(lambda x: x * x)\n"
        "f(torch.ones(2))\n"
        "assert 'rules_torch' in sys.modules\n"
        "new = set(sys.modules) - before\n"
        "assert not [m for m in new if m.startswith(('torch._dynamo', 'jax'))], new\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", code],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


STRICT = """
import torch, numpy as np, rules_core as rc
from tests.adapters.torch.formulas import host_sine, sinmul
from tests.growth import growth
from torch.func import grad, hessian, jvp, vmap
x = torch.tensor([0.3, 0.7], dtype=torch.float64)
for make in (sinmul, host_sine):
    f = make().f
    leaf = x.clone().requires_grad_()
    (first,) = torch.autograd.grad(f(leaf).sum(), leaf, create_graph=True)
    first.sum().backward()
    grad(lambda x: f(x).sum())(x), vmap(grad(f))(x), grad(grad(f))(x[0])
"""
FORWARD = """
    jvp(f, (x,), (x,)), hessian(lambda x: f(x).sum())(x)
"""
TORCHS_OWN = "ignore:`torch.jit.script` is deprecated:DeprecationWarning"


@pytest.mark.full
@pytest.mark.parametrize(
    ("code", "options"),
    [
        (STRICT, []),
        pytest.param(STRICT + FORWARD, ["-W", TORCHS_OWN], marks=pytest.mark.nightly),
    ],
    ids=["reverse", "forward"],
)
def test_no_warning_is_ours(code, options):
    """Python's own switch, without what pytest is told to ignore.

    torch 2.13 warns once about itself at the first use of forward mode.
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", *options, "-c", code],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
