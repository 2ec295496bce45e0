"""The tests of `test_cuda` on a pretended device, in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).with_name("test_cuda.py")
DEVICE = {"RULES_CORE_TEST_DEVICE": "pretended", "OMP_NUM_THREADS": "1"}


def report_of(*options):
    """What pytest tells of the tests, all of which must pass."""
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:randomly", *options]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(TESTS)],
        capture_output=True,
        text=True,
        env={**os.environ, **DEVICE},
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


@pytest.mark.full
def test_what_needs_no_hardware():
    told = report_of()
    assert "79 passed, 5 skipped" in told, told[-500:]


def test_what_needs_neither_hardware_nor_jax():
    told = report_of("-k", "not compiled and not jax and not call_back")
    assert "77 passed, 3 skipped, 4 deselected" in told, told[-500:]


WITHOUT_DATA = """
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.func import grad, jvp, vmap
from tests.adapters.torch import accelerator
from tests.adapters.torch.formulas import KINDS, host_sine, sinmul

accelerator.switch_on()
for make in (sinmul, host_sine):
    for kind in KINDS:
        f = make(kind).f
        with FakeTensorMode():
            for device in ("cuda", accelerator.NAME):
                x = torch.empty(3, device=device, dtype=torch.float64)
                assert f(x).device == x.device, f(x).device
                assert vmap(f)(x).device == x.device
            leaf = x.clone().requires_grad_()
            (dx,) = torch.autograd.grad(f(leaf).sum(), leaf, create_graph=True)
            (ddx,) = torch.autograd.grad(dx.sum(), leaf)
            found = (
                dx, ddx, grad(lambda x: f(x).sum())(x), vmap(grad(f))(x),
                jvp(f, (x,), (x,))[1],
            )
            for y in found:
                assert (y.device, y.shape) == (x.device, x.shape), (make, kind, y)
"""


@pytest.mark.full
def test_a_compiler_is_told_the_device():
    """Tensors without data, as compilers and exporters trace with them."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WITHOUT_DATA],
        capture_output=True,
        text=True,
        env={**os.environ, **DEVICE},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
