"""Programs that torch writes down: `make_fx`, `torch.jit.trace`, `torch.fx`.

Rules that are wrong on purpose say whether they are still there when such a program is
differentiated; a host function must be called again, and not be a constant in it.
"""

from __future__ import annotations

import io

import pytest
import torch
from torch.func import grad, hessian, jvp, vmap
from torch.fx.experimental.proxy_tensor import make_fx

import rules_core as rc
from rules_core import NoTangent, rrule
from tests.adapters.torch.formulas import KINDS, host_sine, marker

X = torch.tensor([0.3, -1.2, 2.0], dtype=torch.float64)
Y = torch.tensor([1.5, 0.2], dtype=torch.float64)
PROXIES = ("real", "fake", "symbolic")

deprecated = pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")


@rc.primitive
def tripled(x):
    return x * x


@rrule.define(tripled)
def tripled_rrule(x):
    def tripled_pullback(dy):
        return NoTangent(), 3 * 2 * x * dy

    return x * x, tripled_pullback


def leaf(x):
    return x.clone().requires_grad_()


def first_and_second(f, x):
    """Both derivatives of a sum, by plain autograd."""
    x = leaf(x)
    (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    return first.detach(), second


@pytest.mark.parametrize("mode", PROXIES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("host", [False, True])
def test_make_fx_keeps_rules(host, kind, mode):
    case = marker(kind, host=host)
    program = make_fx(case.f, tracing_mode=mode)(X)
    x = 2 * X
    assert torch.equal(program(x), x)
    pulled = 2 if kind == "frule" else 3
    pushed = 3 if kind == "rrule" else 2
    assert torch.equal(grad(lambda x: program(x).sum())(x), pulled * torch.ones(3))
    assert torch.equal(jvp(program, (x,), (X,))[1], pushed * X)
    assert torch.equal(vmap(program)(X), X)


@pytest.mark.parametrize("mode", PROXIES)
def test_make_fx_of_derivatives(mode):
    """Those go through the rules while the program is written down."""
    own = torch.ones(3, dtype=torch.float64)
    by_transform = make_fx(grad(lambda x: tripled(x).sum()), tracing_mode=mode)(X)
    assert torch.allclose(by_transform(Y.repeat(2)[:3]), 6 * Y.repeat(2)[:3])

    def by_hand(x):
        return torch.autograd.grad(tripled(x).sum(), x)[0]

    program = make_fx(by_hand, tracing_mode=mode)(leaf(X))
    assert torch.allclose(program(own), 6 * own)
    hessians = make_fx(hessian(lambda x: tripled(x).sum()), tracing_mode=mode)(X)
    assert torch.allclose(hessians(own), 6 * torch.eye(3, dtype=torch.float64))


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", PROXIES)
def test_a_host_function_is_no_constant(mode, kind):
    case = host_sine(kind)
    x = 2 * X
    assert torch.allclose(make_fx(case.f, tracing_mode=mode)(X)(x), x.sin())
    slope = make_fx(grad(lambda x: case.f(x).sum()), tracing_mode=mode)(X)
    assert torch.allclose(slope(x), x.cos())
    assert torch.allclose(jvp(slope, (x,), (X,))[1], -x.sin() * X)
    assert torch.allclose(grad(lambda x: slope(x).sum())(x), -x.sin())


def test_a_program_is_written_down_again():
    program = make_fx(make_fx(tripled)(X))(X)
    assert torch.equal(grad(lambda x: program(x).sum())(X), 6 * X)


@deprecated
@pytest.mark.parametrize("wanted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("host", [False, True])
def test_jit_trace_keeps_rules(host, kind, wanted):
    case = marker(kind, host=host)
    program = torch.jit.trace(case.f, (leaf(X) if wanted else X,))
    y, x = program(Y), leaf(Y)
    assert torch.equal(y, Y)
    pulled = 2 if kind == "frule" else 3
    pushed = 3 if kind == "rrule" else 2
    (dx,) = torch.autograd.grad(program(x).sum(), x)
    assert torch.equal(dx, pulled * torch.ones(2))
    assert torch.equal(jvp(program, (Y,), (Y,))[1], pushed * Y)
    assert torch.equal(vmap(program)(Y), Y)


@deprecated
def test_jit_trace_of_a_module_to_second_order_saved_and_loaded():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(X.clone())

        def forward(self, x):
            return tripled(self.weight * x)

    model = Model()
    file = io.BytesIO()
    torch.jit.save(torch.jit.trace(model, (X,)), file)
    file.seek(0)
    loaded = torch.jit.load(file)
    first, second = first_and_second(loaded, 2 * X)
    assert torch.allclose(first, 6 * X * X * 2 * X)
    assert torch.allclose(second, 6 * X * X)
    loaded(X).sum().backward()
    assert torch.allclose(loaded.weight.grad, 6 * X**3)


@deprecated
def test_jit_trace_of_a_host_function():
    case = host_sine("rrule")
    program = torch.jit.trace(case.f, (X,))
    assert torch.allclose(program(Y), Y.sin())
    first, second = first_and_second(program, Y)
    assert torch.allclose(first, Y.cos())
    assert torch.allclose(second, -Y.sin())


@deprecated
def test_scripted_code_calls_the_primitive():
    def twice(x: torch.Tensor):
        return tripled(tripled(x))

    first, second = first_and_second(torch.jit.script(twice), Y)
    assert torch.allclose(first, 9 * 4 * Y**3)
    assert torch.allclose(second, 252 * Y**2)


def test_symbolic_tracing_leaves_the_call_in_the_program():
    case = host_sine()
    program = torch.fx.symbolic_trace(lambda x, y: tripled(x=x) + case.f(y))
    assert [n.target for n in program.graph.nodes if n.op == "call_function"][:2] == [
        tripled,
        case.f,
    ]
    assert torch.allclose(program(X, X), X * X + X.sin())
    dx, dy = grad(lambda x, y: program(x, y).sum(), (0, 1))(X, X)
    assert torch.allclose(dx, 6 * X)
    assert torch.allclose(dy, X.cos())


def test_symbols_in_containers():
    @rc.primitive
    def total(xs, scale=1.0):
        return scale * (xs[0] + xs[1])

    program = torch.fx.symbolic_trace(lambda x, y: total([x, y], scale=2.0))
    assert torch.equal(program(X, X), 4 * X)


def test_a_function_with_effects_is_refused():
    @rc.primitive(host=True, pure=False)
    def noisy(x):
        return x + 1.0

    with pytest.raises(rc.UnsupportedError, match=r"noisy.* pure=False"):
        make_fx(noisy)(X)
