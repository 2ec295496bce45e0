"""Meets the adapter for the first time in each context, in a process of its own.

It imports nothing of other tests, which import the adapter.

Run as a script with names of contexts: each is entered in a fork that has imported
torch and the core alone. It prints a line for each that fails.
"""

import os
import sys
import traceback
import warnings
from contextlib import contextmanager

import torch
from torch.autograd import forward_ad
from torch.func import functionalize, grad, jacfwd, jacrev, vmap
from torch.fx.experimental.proxy_tensor import make_fx
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

import rules_core as rc

X = torch.tensor([1.0, 2.0], dtype=torch.float64)
CUBES, SLOPES = [1.0, 8.0], [3.0, 12.0]


@rc.primitive
def cube(x):
    return x**3


@rc.rrule.define(cube)
def cube_rrule(x):
    return cube(x), lambda dy: (rc.NoTangent(), 3 * x**2 * dy)


class Module(torch.nn.Module):
    def forward(self, x):
        return cube(x)


class Own(torch.Tensor):
    """A class of a user."""


class Functions(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


class Dispatched(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


def slopes(f):
    x = X.clone().requires_grad_()
    f(x).sum().backward()
    return x.grad.tolist()


def is_right(f=cube):
    assert f(X).tolist() == CUBES
    assert slopes(f) == SLOPES


@contextmanager
def default_dtype():
    torch.set_default_dtype(torch.float64)
    yield


def within(context):
    def meet():
        with context():
            assert cube(X).tolist() == CUBES
        is_right()
        assert vmap(grad(cube))(X).tolist() == SLOPES
        assert torch.export.export(Module(), (X,)).module()(X).tolist() == CUBES

    return meet


def on_meta():
    with torch.device("meta"):
        assert cube(torch.ones(2)).device.type == "meta"
    is_right()


def fake():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        assert cube(torch.ones(2)).shape == (2,)
    is_right()


def dual():
    with forward_ad.dual_level():
        y = cube(forward_ad.make_dual(X, torch.ones_like(X)))
        assert forward_ad.unpack_dual(y).tangent.tolist() == SLOPES


def functionalized():
    assert functionalize(cube)(X).tolist() == CUBES


def hook():
    x = X.clone().requires_grad_()
    x.register_hook(cube)
    (2 * x).sum().backward()
    assert x.grad.tolist() == [8.0, 8.0]


def traced(mode):
    def meet():
        f = make_fx(lambda x: grad(lambda x: cube(x).sum())(x), tracing_mode=mode)(X)
        assert f(2 * X).tolist() == [12.0, 48.0]

    return meet


def compiled(backend):
    return lambda: is_right(torch.compile(cube, backend=backend, fullgraph=True))


def exported(strict):
    return lambda: is_right(torch.export.export(Module(), (X,), strict=strict).module())


def slopes_by(transform):
    def meet():
        assert transform(X).tolist() == SLOPES

    return meet


CONTEXTS = {
    "fake": fake,
    "exported": exported(strict=False),
    "no_grad": within(torch.no_grad),
    "dual": dual,
    "exported, strict": exported(strict=True),
    "compiled": compiled("eager"),
    "compiled, aot": compiled("aot_eager"),
    "made by fx": traced("real"),
    "made by fx, fake": traced("fake"),
    "made by fx, symbolic": traced("symbolic"),
    "traced by jit": lambda: is_right(torch.jit.trace(cube, X)),
    "functionalized": functionalized,
    "checkpoint": lambda: is_right(lambda x: checkpoint(cube, x, use_reentrant=False)),
    "subclass": lambda: is_right(lambda x: cube(x.as_subclass(Own))),
    "hook": hook,
    "meta": on_meta,
    "inference": within(torch.inference_mode),
    "autocast": within(lambda: torch.autocast("cpu")),
    "default dtype": within(default_dtype),
    "functions": within(Functions),
    "dispatched": within(Dispatched),
    "grad": slopes_by(grad(lambda x: cube(x).sum())),
    "vmap": slopes_by(vmap(grad(cube))),
    "jacrev": slopes_by(lambda x: jacrev(cube)(x).diagonal()),
    "jacfwd": slopes_by(lambda x: jacfwd(cube)(x).diagonal()),
}


def meet(name):
    """The exit status of a fork that meets the adapter in one context."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        assert "rules_torch" not in sys.modules
        CONTEXTS[name]()
        assert "rules_torch" in sys.modules
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    failed = [name for name in sys.argv[1:] if meet(name)]
    print("\n".join(failed))
    sys.exit(bool(failed))
