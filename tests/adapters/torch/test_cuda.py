"""Tensors on a CUDA device: generic rules stay there, host functions come back."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.func import grad, hessian, jvp, vmap

import rules_core as rc
from rules_torch import to_torch
from tests.adapters.torch.formulas import KINDS, host_sine, marker, sinmul

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="this machine has no CUDA device"
)


def points() -> torch.Tensor:
    return torch.tensor([0.3, 0.7], dtype=torch.float64, device="cuda")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", [sinmul, host_sine])
def test_every_mode_stays_on_the_device(make, kind):
    made, x = make(kind), points()

    def total(f):
        return lambda x: f(x).sum()

    for transform in (
        lambda f: f,
        lambda f: grad(total(f)),
        lambda f: hessian(total(f)),
        lambda f: vmap(grad(f)),
        lambda f: lambda x: jvp(f, (x,), (torch.ones_like(x),))[1],
    ):
        ours = transform(made.f)(x)
        assert ours.is_cuda
        torch.testing.assert_close(ours, transform(made.native)(x))


@pytest.mark.parametrize("host", [False, True])
def test_a_large_backward_pass_in_the_thread_of_the_device(host):
    f = marker("both", host=host).f
    x = torch.rand(10_000, device="cuda", requires_grad=True)
    f(x).sum().backward()
    assert x.grad.is_cuda
    assert bool((x.grad == 3).all())


def test_a_host_function_sees_memory_of_the_cpu():
    seen = []

    @rc.primitive(host=True, elementwise=True)
    def half(x):
        seen.append(x)
        return x / 2

    y = half(points())
    assert isinstance(seen[0], np.ndarray)
    assert y.device == points().device
    assert y.tolist() == [0.15, 0.35]


@pytest.mark.filterwarnings("ignore")  # torch's own compiler stack warns about itself
@pytest.mark.parametrize("make", [sinmul, host_sine])
def test_compiled(make):
    torch.compiler.reset()
    made, x = make(), points().requires_grad_()
    torch.compile(lambda x: made.f(x).sum(), fullgraph=True, backend="aot_eager")(
        x
    ).backward()
    torch.testing.assert_close(x.grad, grad(lambda x: made.native(x).sum())(points()))


@pytest.mark.parametrize("policy", ["keep", "promote", "cast"])
def test_autocast_of_the_device(policy):
    f = to_torch(sinmul().f, autocast=policy)
    x = points().float().requires_grad_()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        y = f(x)
    y.float().sum().backward()
    assert x.grad.dtype is torch.float32


def test_functions_of_jax_go_by_the_cpu():
    jax = pytest.importorskip("jax")
    from rules_jax import from_jax

    f = to_torch(from_jax(lambda x: jax.numpy.sin(x) * x))
    y = f(points())
    assert y.is_cuda
    torch.testing.assert_close(y, points().sin() * points())
    assert grad(lambda x: f(x).sum())(points()).is_cuda
