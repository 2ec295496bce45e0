"""Programs as users write them, beside the same program in plain torch.

The rules are three times the derivative. In plain torch `3 f - 2 f.detach()` is a
function with the value of `f` and three times its derivative, in every mode and order.
"""

from __future__ import annotations

import threading
import warnings

import pytest
import torch
from torch.autograd import forward_ad, functional
from torch.func import grad, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap
from torch.nn.utils import parametrize
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    create_selective_checkpoint_contexts,
)

import rules_core as rc
from rules_core import NoTangent

from .formulas import KINDS, define

X = torch.tensor([0.3, -1.2, 2.0], dtype=torch.float64)
Y = torch.tensor([1.5, 0.2, -0.7], dtype=torch.float64)
Z, W = torch.complex(X, Y), torch.complex(Y, -X)


def native(x, y):
    value = torch.sin(x) * y + x * x * x
    return 3 * value - 2 * value.detach()


def make(kind):
    """`sin(x) y + x³`; the pullback captures inputs and intermediates, in a dict."""

    @rc.primitive
    def f(x, y):
        return rc.array_namespace(x, y).sin(x) * y + x * x * x

    def f_rrule(x, y):
        xp = rc.array_namespace(x, y)
        s = xp.sin(x)
        kept = {"s": s, "rest": [xp.cos(x) * y, (x * x,)]}

        def f_pullback(dy):
            c, (x2,) = kept["rest"]
            conj = xp.conj
            return NoTangent(), 3 * dy * conj(c + 3 * x2), 3 * dy * conj(kept["s"])

        return s * y + x * x * x, f_pullback

    def f_frule(tangents, x, y):
        xp = rc.array_namespace(x, y)
        s, (_, dx, dy) = xp.sin(x), tangents
        return s * y + x * x * x, 3 * ((xp.cos(x) * y + 3 * x * x) * dx + s * dy)

    define(f, kind, f_rrule, f_frule)
    return f


def leaf(x):
    return x.clone().requires_grad_()


def twice(out, *xs):
    """First and second derivatives of a sum, by plain autograd."""
    first = torch.autograd.grad(out.abs().sum(), xs, create_graph=True)
    return first, torch.autograd.grad(first[0].abs().sum(), xs)


class Layer(torch.nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f, self.weight = f, torch.nn.Parameter(X.clone())

    def forward(self, x):
        return self.f(self.weight * x, x)


class Through(torch.Tensor):
    """A subclass whose functions are torch's own."""


class Wrapped(torch.Tensor):
    """A subclass that holds another tensor, below autograd."""

    @staticmethod
    def __new__(cls, inner, requires_grad=False):
        return torch.Tensor._make_wrapper_subclass(
            cls, inner.shape, dtype=inner.dtype, requires_grad=requires_grad
        )

    def __init__(self, inner, requires_grad=False):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        def open_(x):
            return x.inner if isinstance(x, Wrapped) else x

        args, kwargs = _pytree.tree_map(open_, (args, kwargs or {}))
        out = func(*args, **kwargs)
        return _pytree.tree_map_only(torch.Tensor, Wrapped, out)


class Functions(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class Operators(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def offloaded(f):
    x, y = leaf(X), leaf(Y)
    with torch.autograd.graph.save_on_cpu():
        out = f(f(x, y), y)
    return twice(out, x, y)


def under_anomaly_detection(f):
    x, y = leaf(X), leaf(Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is slow
        with torch.autograd.detect_anomaly():
            return twice(f(f(x, y), y), x, y)


def backward_thrice(f):
    x, y = leaf(X), leaf(Y)
    out = f(x, y).sum()
    for retain in (True, True, False):
        out.backward(retain_graph=retain)
    return x.grad, y.grad


def with_hooks(f):
    x, y = leaf(X), leaf(Y)
    x.register_hook(lambda dx: 2 * dx)
    out = f(x, y)
    out.register_hook(lambda dx: 3 * dx)
    out.retain_grad()
    out.grad_fn.register_hook(lambda dxs, dys: None)
    out.grad_fn.register_prehook(lambda dys: (5 * dys[0],))
    f(out, y).sum().backward()
    return x.grad, y.grad, out.grad


def written_to_afterwards(f):
    x, y = leaf(X), leaf(Y)
    out = f(x, y)
    out[0] = 5
    out[1:].mul_(y[1:])
    return torch.autograd.grad(out.sum(), (x, y))


def selective_checkpoint(f):
    def contexts():
        return create_selective_checkpoint_contexts(
            lambda *_args, **_kw: CheckpointPolicy.PREFER_RECOMPUTE
        )

    x, y = leaf(X), leaf(Y)
    out = checkpoint(
        lambda x, y: f(f(x, y), y), x, y, use_reentrant=False, context_fn=contexts
    )
    return torch.autograd.grad(out.sum(), (x, y))


def parametrized(f):
    class Bent(torch.nn.Module):
        def forward(self, w):
            return f(w, 2 * w)

    torch.manual_seed(0)
    linear = torch.nn.Linear(3, 2, dtype=torch.float64)
    parametrize.register_parametrization(linear, "weight", Bent())
    with parametrize.cached():
        (linear(X) + linear(Y)).sum().backward()
    return [p.grad for p in linear.parameters()]


def lbfgs(f):
    model = Layer(f)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=4)

    def closure():
        optimizer.zero_grad()
        loss = model(X).pow(2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    return model.weight.detach()


def ensemble(f):
    models = [Layer(f), Layer(f)]
    parameters, buffers = torch.func.stack_module_state(models)

    def total(parameters, buffers):
        return torch.func.functional_call(models[0], (parameters, buffers), (X,)).sum()

    return vmap(grad(total))(parameters, buffers)["weight"]


def wrapped_subclass(f):
    x = Wrapped(X.clone(), True)
    out = f(x, Y)
    (first,) = torch.autograd.grad(out.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    _, pushed = jvp(f, (x, Y), (Wrapped(Y.clone()), X))
    return [t.inner.detach() for t in (out, first, second, pushed)]


def torch_function_subclass(f):
    x = X.clone().as_subclass(Through).requires_grad_()
    out = f(x, Y)
    assert type(out) is Through
    first, second = twice(out, x)
    return [t.as_subclass(torch.Tensor) for t in (*first, *second)]


def under_modes(f):
    x = leaf(X)
    with Operators(), Functions():
        return twice(f(x, Y), x), jvp(f, (X, Y), (X, Y))


def jagged(f):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that they are a prototype
        x = torch.nested.nested_tensor(
            [X, Y[:2]], layout=torch.jagged, requires_grad=True
        )
    f(x, 2 * x).values().sum().backward()
    return x.grad.values()


def threads(f):
    found = [None] * 6

    def work(i):
        x = leaf(X * (i + 1))
        found[i] = twice(f(x, Y), x)

    running = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return found


def duals_of_leaves(f):
    x, y = leaf(X), leaf(Y)
    with forward_ad.dual_level():
        out = f(forward_ad.make_dual(x, Y), forward_ad.make_dual(y, X))
        tangent = forward_ad.unpack_dual(out).tangent
        return tangent, torch.autograd.grad(tangent.sum(), (x, y))


def batch_of_cotangents(f):
    x, y = leaf(X), leaf(Y)
    (dx,) = torch.autograd.grad(f(x, y).sum(), x, create_graph=True)
    eye = torch.eye(3, dtype=torch.float64)
    return torch.autograd.grad(dx, (x, y), eye, is_grads_batched=True)


def total(f):
    return lambda x, y: f(x, y).sum()


def several(run):
    """What a function of new leaves gives, to second order."""

    def program(f):
        x, y = leaf(Z), leaf(W)
        return twice(run(f, x, y), x, y)

    return program


PROGRAMS = {
    "offloaded": offloaded,
    "anomaly detection": under_anomaly_detection,
    "backward thrice": backward_thrice,
    "hooks": with_hooks,
    "written to afterwards": written_to_afterwards,
    "selective checkpoint": selective_checkpoint,
    "parametrized": parametrized,
    "LBFGS": lbfgs,
    "ensemble": ensemble,
    "wrapped subclass": wrapped_subclass,
    "torch_function subclass": torch_function_subclass,
    "modes": under_modes,
    "jagged": jagged,
    "threads": threads,
    "duals of leaves": duals_of_leaves,
    "batch of cotangents": batch_of_cotangents,
    "functional.hessian": lambda f: functional.hessian(total(f), (X, Y)),
    "functional.jacobian": lambda f: functional.jacobian(
        f, (X, Y), vectorize=True, strategy="forward-mode"
    ),
    "functional.hvp": lambda f: functional.hvp(total(f), (X, Y), (Y, X)),
    "functional.vhp": lambda f: functional.vhp(total(f), (X, Y), (Y, X)),
    "vmap of a pullback": lambda f: vmap(vjp(f, X, Y)[1])(torch.stack([X, Y])),
    "linearized gradient": lambda f: linearize(grad(total(f)), X, Y)[1](Y, X),
    "expanded": lambda f: hessian(lambda x: f(x.expand(2, 3), Y[:1]).sum())(X),
    "nothing": lambda f: (jacrev(f)(X[:0], Y[:0]), jacfwd(f)(X[:0], Y[:0])),
    "tied": lambda f: hessian(lambda x: f(x, x).pow(2).sum())(X),
    "0-d and 1-d": lambda f: jvp(f, (X[0], Y), (Y[0], X)),
    "conjugate views": several(lambda f, x, y: f(x.conj(), y)),
    "negative views": several(lambda f, x, y: f(x.conj().imag, y.real)),
    "one of two": several(lambda f, x, y: f(x.real, x.imag) + y),
}


@pytest.mark.covering(strength=1)
@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr")  # of linearize
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_as_in_plain_torch(name, kind):
    program = PROGRAMS[name]
    torch.testing.assert_close(program(make(kind)), program(native))


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_tensors_keep_their_pattern(kind):
    @rc.primitive
    def double(x):
        return 2 * x

    define(
        double,
        kind,
        lambda x: (2 * x, lambda dy: (NoTangent(), 6 * dy)),
        lambda tangents, x: (2 * x, 6 * tangents[1]),
    )
    with torch.sparse.check_sparse_tensor_invariants():
        x = torch.eye(2).to_sparse().requires_grad_()
        if kind == "frule":  # ones like a sparse tensor, torch does not have
            with pytest.raises(RuntimeError):
                torch.autograd.grad(torch.sparse.sum(double(x)), x)
            return
        (dx,) = torch.autograd.grad(torch.sparse.sum(double(x)), x)
    assert dx.layout is torch.sparse_coo
    assert torch.equal(dx.to_dense(), 6 * torch.eye(2))


def test_host_functions_refuse_what_numpy_cannot_hold():
    double = rc.primitive(lambda x: 2 * x, host=True, elementwise=True)
    with (
        torch.sparse.check_sparse_tensor_invariants(),
        pytest.raises(TypeError, match=r"Use Tensor\.to_dense\(\) first"),
    ):
        double(torch.eye(2).to_sparse())
