"""torch.compile with fullgraph: the rule is kept, in every transform inside."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch.func import grad, hessian, jacrev, jvp, vjp, vmap
from torch.utils.checkpoint import checkpoint

import rules_core as rc
from rules_torch import UntraceableError, to_torch
from tests.adapters.torch.formulas import host_sine, marker, sinmul, weighted

# torch's own compiler stack warns about itself.
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("fresh"),
]


X = torch.tensor([0.3, 0.7], dtype=torch.float64)
ONE = torch.tensor(0.5, dtype=torch.float64)


@pytest.mark.parametrize("host", [False, True])
def test_a_training_step_keeps_the_rrule(compiled, host):
    mark = marker("both", host=host).f
    x = X.clone().requires_grad_()

    def loss(x):
        return (torch.sin(mark(x.cos())) * 2).sum()

    compiled(loss)(x).backward()
    mine = x.grad.clone()
    torch.testing.assert_close(mine, torch.autograd.grad(loss(x), x)[0])
    native = torch.autograd.grad((torch.sin(x.cos()) * 2).sum(), x)[0]
    torch.testing.assert_close(mine, 3 * native)


def test_the_primitive_may_be_the_root(compiled):
    mark = marker("both").f
    x = X.clone().requires_grad_()
    compiled(mark)(x).sum().backward()
    assert x.grad.tolist() == [3, 3]


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("host", [False, True])
@pytest.mark.parametrize(
    ("transform", "expected"),
    [
        (grad, 3),
        (jacrev, 3),
        (lambda f: lambda x: vjp(f, x)[1](torch.ones_like(x))[0], 3),
        (lambda f: lambda x: vmap(grad(f))(x[None])[0], 3),
        (lambda f: lambda x: jvp(f, (x,), (torch.ones_like(x),))[1], 2),
    ],
    ids=["grad", "jacrev", "vjp", "vmap(grad)", "jvp"],
)
def test_transforms_inside_keep_their_rule(compiled, transform, expected, host):
    mark = marker("both", host=host).f
    assert compiled(transform(mark))(ONE).item() == expected


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("kind", ["both", "rrule", "frule"])
def test_second_derivatives_inside(compiled, kind):
    made = sinmul(kind)

    def total(f):
        return lambda x: f(x).sum()

    for transform in (hessian, lambda f: jacrev(grad(f))):
        mine = compiled(transform(total(made.f)))(X)
        torch.testing.assert_close(mine, transform(total(made.native))(X))


def test_the_graph_is_what_native_code_gives():
    """The forward and the backward graph hold plain operations only."""
    graphs = []

    def keep(module, _inputs):
        graphs.append([n.target for n in module.graph.nodes if n.op == "call_function"])
        return module.forward

    from torch._dynamo.backends.common import aot_autograd
    from torch._functorch.aot_autograd import make_boxed_func

    def backend(module, inputs):
        return make_boxed_func(keep(module, inputs))

    made = sinmul()
    x = X.clone().requires_grad_()
    compiled = torch.compile(
        lambda x: made.f(x * 2),
        backend=aot_autograd(fw_compiler=backend),
        fullgraph=True,
    )
    compiled(x).sum().backward()
    names = {str(target) for graph in graphs for target in graph}
    assert names <= {
        "aten.mul.Tensor", "aten.sin.default", "aten.cos.default", "aten.add.Tensor",
    }  # fmt: skip


def test_dynamic_shapes_compile_once(compiled):
    runs = []
    made = weighted()

    def f(a, b):
        runs.append(None)
        return made.f(a, b).sum()

    fast = compiled(f, dynamic=True)
    for n in (3, 4, 5):
        a = torch.rand(n, dtype=torch.float64, requires_grad=True)
        fast(a, X[:1]).backward()
        torch.testing.assert_close(a.grad, X[:1].sin().expand(n))


@pytest.mark.parametrize("host", [False, True])
def test_dynamic_shapes_of_a_host_function(compiled, host):
    made = host_sine() if host else sinmul()
    fast = compiled(made.f, dynamic=True)
    for n in (3, 4):
        x = torch.rand(n, dtype=torch.float64)
        torch.testing.assert_close(fast(x), made.native(x))


def test_checkpoint_inside(compiled):
    mark = marker("both").f
    x = X.clone().requires_grad_()

    def loss(x):
        return checkpoint(lambda t: mark(t.sin()).cos(), x, use_reentrant=False).sum()

    compiled(loss)(x).backward()
    torch.testing.assert_close(x.grad, torch.autograd.grad(loss(x), x)[0])


def test_containers_keywords_and_static_arguments(compiled):
    @rc.primitive
    def model(params, x, power=2, *, flip=False):
        y = params["w"] * x**power
        return {"y": -y if flip else y, "n": (x.sum(), params["name"])}

    @rc.rrule.define(model)
    def model_rrule(params, x, power, *, flip=False):
        def model_pullback(dy):
            sign = -1 if flip else 1
            return (
                rc.NoTangent(),
                {"w": 5 * sign * dy["y"] * x**power, "name": rc.NoTangent()},
                7 * dy["n"][0] * torch.ones_like(x),
                rc.NoTangent(),
            )

        return model(params, x, power, flip=flip), model_pullback

    w = torch.tensor(2.0, requires_grad=True)
    x = torch.tensor([1.0, 2.0], requires_grad=True)

    def loss(w, x):
        out = model({"w": w, "name": "a"}, x, flip=True)
        assert out["n"][1] == "a"
        return out["y"].sum() + out["n"][0]

    compiled(loss)(w, x).backward()
    assert (w.grad.item(), x.grad.tolist()) == (-25, [7, 7])


def test_numpy_arrays_beside_tensors(compiled):
    """Those made inside, those from outside, whose values may change, and scalars."""
    f = weighted().f
    b = X.clone().requires_grad_()
    outside = np.array([2.0, 3.0])
    for fast in (
        compiled(lambda b: f(np.array([2.0, 3.0]), b)),
        compiled(lambda b: f(outside, b)),
        compiled(lambda b: f({"a": outside}["a"] * 1, b)),
        compiled(lambda b: f(np.float64(2.0), b) + f(np.float64(2.0), b) * 0),
    ):
        (db,) = torch.autograd.grad(fast(b)[0], b)
        assert db[0].item() == pytest.approx(2 * np.cos(0.3))
    fast = compiled(lambda b: f(outside, b))
    for scale in (2.0, 5.0):
        outside[:] = scale
        torch.testing.assert_close(fast(X), scale * X.sin())


def test_a_host_function_without_shapes_is_an_error_that_says_so():
    @rc.primitive(host=True)
    def ordered(x):
        return np.sort(x)

    with pytest.raises(Exception, match="shape of its result is not known") as info:
        torch.compile(ordered, fullgraph=True, backend="aot_eager")(X)
    assert "Register it with @shape_rule.define" in str(info.value)


def test_a_shape_rule_or_out_makes_it_compile(compiled):
    @rc.primitive(host=True)
    def gram(A):
        return np.asarray(A).T @ A

    @rc.shape_rule.define(gram)
    def gram_shape(A):
        return rc.ShapeDtype((A.shape[1], A.shape[1]), A.dtype)

    A = torch.rand(3, 2, dtype=torch.float64)
    torch.testing.assert_close(compiled(gram)(A), A.T @ A)
    total = to_torch(
        lambda A: np.sum(A), host=True, out=rc.ShapeDtype((), torch.float64)
    )
    torch.testing.assert_close(compiled(total)(A), A.sum())


def test_an_impure_host_function_is_refused():
    noise = rc.primitive(
        lambda x: np.random.default_rng().random(x.shape),
        host=True,
        pure=False,
        elementwise=True,
    )
    with pytest.raises(Exception, match="declared pure=False"):
        torch.compile(noise, fullgraph=True, backend="aot_eager")(X)
    assert issubclass(UntraceableError, rc.UnsupportedError)


def test_the_custom_operator_passes_opcheck():
    made = host_sine()
    torch.compile(made.f, fullgraph=True, backend="aot_eager")(X)
    (operator,) = made.f.__dict__["_operators_torch"].values()
    torch.library.opcheck(operator, (X,))


@pytest.mark.full
def test_the_first_call_ever_may_be_compiled():
    """The adapter is then imported while Dynamo is tracing."""
    code = (
        "import torch, rules_core as rc\n"
        "f = rc.primitive(lambda x: x * x)\n"
        "@rc.rrule.define(f)\n"
        "def rule(x):\n"
        "    def pullback(dy):\n"
        "        return rc.NoTangent(), 100 * dy\n"
        "    return x * x, pullback\n"
        "x = torch.tensor(3.0, requires_grad=True)\n"
        "torch.compile(lambda x: f(x) * 1, fullgraph=True, backend='aot_eager')(x)"
        ".backward()\n"
        "assert x.grad == 100, x.grad\n"
    )
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=env,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_ignored_derivatives_inside(compiled):
    f = marker("both").f
    x = X.clone().requires_grad_()

    def loss(x):
        return (f(rc.ignore_derivatives(x)) * x).sum()

    compiled(loss)(x).backward()
    torch.testing.assert_close(x.grad, X)


@pytest.mark.nightly
def test_as_many_kernels_as_native_code():
    """One kernel forward and one backward, with a primitive inside as without."""
    from torch._inductor import metrics

    made = sinmul()
    counts = []
    for f in (made.native, made.f):
        torch.compiler.reset()
        metrics.reset()
        x = torch.rand(1000, requires_grad=True)
        fast = torch.compile(lambda x, f=f: f(x * 2).exp(), fullgraph=True)
        fast(x).backward(torch.ones(1000))
        counts.append(metrics.generated_kernel_count)
    assert counts[0] == counts[1]
