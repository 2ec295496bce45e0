"""Tensors on another device: generic rules stay there, host functions come back.

The device is CUDA where there is one; `test_accelerator` runs the same tests in a
process of their own on a pretended device, which needs no hardware.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
import torch
from torch.autograd import forward_ad
from torch.func import grad, hessian, jacfwd, jvp, vmap
from torch.utils.checkpoint import checkpoint

import rules_core as rc
from rules_core import NoTangent
from rules_torch import to_torch
from tests.adapters.torch.formulas import KINDS, host_sine, marker, sinmul, weighted

DEVICE = os.environ.get("RULES_CORE_TEST_DEVICE", "cuda")
PRETENDED = DEVICE != "cuda"
if PRETENDED:
    from tests.adapters.torch import accelerator

    accelerator.switch_on()
elif not torch.cuda.is_available():
    pytest.skip("this machine has no CUDA device", allow_module_level=True)

needs_cuda = pytest.mark.skipif(
    PRETENDED, reason="a tensor subclass without hardware cannot show this"
)


def points(*values: float) -> torch.Tensor:
    return torch.tensor(values or (0.3, 0.7), dtype=torch.float64).to(DEVICE)


def there(x: torch.Tensor) -> bool:
    return bool(x.device.type == DEVICE)


def total(f):
    return lambda x: f(x).sum()


def dual(f):
    def run(x):
        with forward_ad.dual_level():
            made = forward_ad.make_dual(x, torch.ones_like(x))
            return forward_ad.unpack_dual(f(made)).tangent

    return run


def twice(f):
    def run(x):
        leaf = x.clone().requires_grad_()
        (first,) = torch.autograd.grad(f(leaf).sum(), leaf, create_graph=True)
        return torch.autograd.grad((first**2).sum(), leaf)[0]

    return run


MODES = {
    "primal": lambda f: f,
    "twice": twice,
    "grad": lambda f: grad(total(f)),
    "hessian": lambda f: hessian(total(f)),
    "vmap": vmap,
    "vmap(grad)": lambda f: vmap(grad(f)),
    "vmap(hessian)": lambda f: vmap(hessian(f)),
    "jvp": lambda f: lambda x: jvp(f, (x,), (torch.ones_like(x),))[1],
    "jacfwd": jacfwd,
    "forward_ad": dual,
    "checkpoint": lambda f: twice(lambda x: checkpoint(f, x, use_reentrant=False)),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", [sinmul, host_sine])
def test_every_mode_stays_on_the_device(make, kind, mode):
    made, x, transform = make(kind), points(), MODES[mode]
    ours = transform(made.f)(x)
    assert there(ours)
    torch.testing.assert_close(ours.cpu(), transform(made.native)(x).cpu())


@pytest.mark.parametrize("host", [False, True])
def test_a_large_backward_pass_in_the_thread_of_the_device(host):
    f = marker("both", host=host).f
    x = torch.rand(10_000).to(DEVICE).requires_grad_()
    f(x).sum().backward()
    assert there(x.grad)
    assert bool((x.grad == 3).all())


def test_a_host_function_sees_memory_of_the_cpu():
    seen = []

    @rc.primitive(host=True, elementwise=True)
    def half(x):
        seen.append(x)
        return x / 2

    for _ in range(2):  # the second call tries the short way
        y = half(points())
        assert isinstance(seen[-1], np.ndarray)
        assert y.device == points().device
        assert y.cpu().tolist() == [0.15, 0.35]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex64])
def test_dtypes_go_there_and_back(dtype):
    x = torch.ones(2, dtype=dtype).to(DEVICE)
    y = rc.primitive(np.negative, host=True, elementwise=True)(x)
    assert (there(y), y.dtype, y.cpu().tolist()) == (True, dtype, [-1, -1])


def test_containers_of_a_host_function_and_batches_by_a_rule():
    @rc.primitive(host=True)
    def split(x):
        return {"sum": np.sum(x), "rest": (np.sort(x), 3)}

    out = split(points(0.7, 0.3))
    assert there(out["sum"])
    assert there(out["rest"][0])
    assert out["rest"][1] == 3

    @rc.primitive(host=True)
    def ordered(x):
        return np.sort(x)

    @rc.batch_rule.define(ordered)
    def ordered_batch(size, batched, x):
        return np.sort(x, axis=-1), True

    y = vmap(ordered)(points(0.7, 0.3, 0.1, 0.9).reshape(2, 2))
    assert there(y)
    assert y.cpu().tolist() == [[0.3, 0.7], [0.1, 0.9]]


def test_rules_in_numpy():
    @rc.primitive(host=True, elementwise=True)
    def power(x):
        return x * x * x

    @rc.rrule.define(power, host=True)
    def power_rrule(x):
        slope = 3 * x * x
        return x * x * x, lambda dy: (NoTangent(), dy * slope)

    @rc.frule.define(power, host=True)
    def power_frule(tangents, x):
        return x * x * x, 3 * x * x * tangents[1]

    x = points()
    for mode in ("grad", "vmap(grad)", "jvp", "forward_ad"):
        found = MODES[mode](power)(x)
        assert there(found)
        torch.testing.assert_close(found.cpu(), (3 * x * x).cpu())


def test_tensors_of_two_devices():
    """A generic body does what torch does; a host function says what to do."""
    x, elsewhere = points(), torch.ones(2, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="same device"):
        weighted().f(x, elsewhere)
    f = rc.primitive(np.hypot, host=True, elementwise=True)
    for args in ((x, elsewhere), (elsewhere, x)):
        with pytest.raises(rc.UnsupportedError) as info:
            f(*args)
        places = " and ".join(str(t.device) for t in args)
        assert str(info.value) == (
            f"hypot: its tensors must be on one device, but got some on {places}. Move "
            "them by x.to(device)."
        )


def test_a_number_of_the_cpu_goes_anywhere():
    x, number = points(), torch.tensor(0.0, dtype=torch.float64)
    f = rc.primitive(np.hypot, host=True, elementwise=True)
    for y in (f(x, number), f(number, x), f(x, 0.0)):
        assert there(y)
        torch.testing.assert_close(y.cpu(), x.cpu())


def test_a_generic_call_moves_no_data(monkeypatch):
    def refuse(*_args, **_options):
        raise AssertionError

    x = points()
    for name in ("cpu", "numpy", "item", "tolist"):
        monkeypatch.setattr(torch.Tensor, name, refuse)
    for mode in ("twice", "grad", "hessian", "vmap(grad)", "jvp", "forward_ad"):
        assert there(MODES[mode](sinmul().f)(x))


@needs_cuda
@pytest.mark.filterwarnings("ignore")  # torch's own compiler stack warns about itself
@pytest.mark.parametrize("make", [sinmul, host_sine])
def test_compiled(make):
    torch.compiler.reset()
    made, x = make(), points().requires_grad_()
    torch.compile(lambda x: made.f(x).sum(), fullgraph=True, backend="aot_eager")(
        x
    ).backward()
    torch.testing.assert_close(x.grad, grad(total(made.native))(points()))


@needs_cuda
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
    assert there(y)
    torch.testing.assert_close(y.cpu(), (points().sin() * points()).cpu())
    for mode in ("grad", "hessian", "vmap(grad)", "jvp"):
        assert there(MODES[mode](f)(points()))


def test_rules_that_call_back():
    from tests.interop.callbacks import fixed_point, map_

    a = points()
    for f in (
        lambda a: fixed_point(lambda a, x: torch.cos(x) * a, a, torch.zeros_like(a)),
        lambda a: map_(torch.sin, [a, a]),
    ):
        for mode in ("twice", "grad", "hessian", "jvp"):
            assert there(MODES[mode](f)(a))
