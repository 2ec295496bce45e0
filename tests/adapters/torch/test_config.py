"""Rules that call back into PyTorch's own AD: `fixed_point` and `map_`."""

from __future__ import annotations

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.func import grad, hessian, jvp, vmap

import rules_core as rc
from rules_core import HasForwardsMode, HasReverseMode, NoTangent, RuleConfig
from rules_torch import TorchConfig


def iterate(step, x, count=60):
    for _ in range(count):
        x = step(x)
    return x


def fixed_point_primitive():
    """`x = f(a, x)`: its adjoint and tangent problems are fixed points again."""

    @rc.primitive
    def fixed_point(f, a, x0):
        return iterate(lambda x: f(a, x), x0)

    class Adjoint:
        """`(a, x, dy), w ↦ dy + (∂f/∂x)* w`, which has no tensors of its own."""

        def __init__(self, f, config):
            self.f, self.config = f, config

        def __call__(self, args, w):
            a, x, dy = args
            _, back = rc.rrule_via_ad(self.config, self.f, a, x)
            return dy + back(w)[2]

    class Pushed:
        """`(a, x, df, da), u ↦ df + (∂f/∂a) da + (∂f/∂x) u`."""

        def __init__(self, f, config):
            self.f, self.config = f, config

        def __call__(self, args, u):
            a, x, df, da = args
            return rc.frule_via_ad(self.config, (df, da, u), self.f, a, x)[1]

    @rc.rrule.define(fixed_point, config=RuleConfig[HasReverseMode])
    def fixed_point_rrule(config, f, a, x0):
        x = fixed_point(f, a, x0)

        def fixed_point_pullback(dy):
            w = fixed_point(Adjoint(f, config), (a, x, dy), dy)
            _, back = rc.rrule_via_ad(config, f, a, x)
            df, da, _ = back(w)
            return NoTangent(), df, da, rc.ZeroTangent()

        return x, fixed_point_pullback

    @rc.frule.define(fixed_point, config=RuleConfig[HasForwardsMode])
    def fixed_point_frule(config, tangents, f, a, x0):
        _, df, da, _ = tangents
        x = fixed_point(f, a, x0)
        u0 = x * 0
        return x, fixed_point(Pushed(f, config), (a, x, df, da), u0)

    return fixed_point


def cosine(a, x):
    return torch.cos(x) * a


def native(a, x0):
    return iterate(lambda x: cosine(a, x), x0)


A = torch.tensor([0.3, 0.5], dtype=torch.float64)
X0 = torch.zeros(2, dtype=torch.float64)


def solved():
    fixed_point = fixed_point_primitive()
    return lambda a: fixed_point(cosine, a, X0)


def test_gradchecks_of_fixed_point():
    a = A.clone().requires_grad_()
    assert gradcheck(solved(), (a,), check_forward_ad=True)
    assert gradgradcheck(solved(), (a,))


def test_fixed_point_under_torch_func():
    f = solved()

    def total(f):
        return lambda a: f(a).sum()

    reference = total(lambda a: native(a, X0))
    torch.testing.assert_close(grad(total(f))(A), grad(reference)(A))
    torch.testing.assert_close(hessian(total(f))(A), hessian(reference)(A))
    torch.testing.assert_close(
        jvp(f, (A,), (A,))[1], jvp(lambda a: native(a, X0), (A,), (A,))[1]
    )
    rows = torch.stack([A, A + 0.1])
    torch.testing.assert_close(vmap(grad(total(f)))(rows), vmap(grad(reference))(rows))


@pytest.mark.filterwarnings("ignore")
def test_fixed_point_compiled():
    f = solved()
    fast = torch.compile(lambda a: f(a).sum(), fullgraph=True, backend="aot_eager")
    a = A.clone().requires_grad_()
    fast(a).backward()
    torch.testing.assert_close(a.grad, grad(lambda a: native(a, X0).sum())(A))


def test_tensors_captured_by_a_callable_argument_get_their_gradients():
    fixed_point = fixed_point_primitive()
    scale = A.clone().requires_grad_()

    def step(_a, x):
        return torch.cos(x) * scale

    (mine,) = torch.autograd.grad(fixed_point(step, A, X0).sum(), scale)
    torch.testing.assert_close(mine, grad(lambda a: native(a, X0).sum())(A))

    def loss(scale):
        return fixed_point(lambda _a, x: torch.cos(x) * scale, A, X0).sum()

    torch.testing.assert_close(grad(loss)(A), mine)
    torch.testing.assert_close(
        hessian(loss)(A), hessian(lambda a: native(a, X0).sum())(A)
    )


def test_a_module_as_callable_argument():
    @rc.primitive
    def apply_twice(f, x):
        return f(f(x))

    @rc.rrule.define(apply_twice, config=RuleConfig[HasReverseMode])
    def apply_twice_rrule(config, f, x):
        y, back = rc.rrule_via_ad(config, lambda g, u: g(g(u)), f, x)

        def apply_twice_pullback(dy):
            _, df, dx = back(dy)
            return NoTangent(), df, dx

        return y, apply_twice_pullback

    module = torch.nn.Linear(2, 2, dtype=torch.float64)
    apply_twice(module, A).sum().backward()
    mine = [p.grad.clone() for p in module.parameters()]
    module.zero_grad()
    module(module(A)).sum().backward()
    for got, parameter in zip(mine, module.parameters(), strict=True):
        torch.testing.assert_close(got, parameter.grad)


def map_primitive():
    """`map_(f, xs)` over a list, with the same text for every host."""

    @rc.primitive
    def map_(f, xs):
        return [f(x) for x in xs]

    @rc.rrule.define(map_, config=RuleConfig[HasReverseMode])
    def map_rrule(config, f, xs):
        pairs = [rc.rrule_via_ad(config, f, x) for x in xs]
        backs = [back for _, back in pairs]

        def map_pullback(dys):
            found = [back(dy) for back, dy in zip(backs, dys, strict=True)]
            df = NoTangent()
            for own, _ in found:
                df = rc.accumulate(df, own)
            return NoTangent(), df, [dx for _, dx in found]

        return [y for y, _ in pairs], map_pullback

    return map_


def test_map_and_what_its_function_captures():
    map_ = map_primitive()
    w = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    xs = [A.clone().requires_grad_(), (A + 1).requires_grad_()]

    def loss(w, *xs):
        return sum(y.sum() for y in map_(lambda x: torch.sin(w * x), list(xs)))

    def reference(w, *xs):
        return sum(torch.sin(w * x).sum() for x in xs)

    mine = torch.autograd.grad(loss(w, *xs), (w, *xs))
    torch.testing.assert_close(mine, torch.autograd.grad(reference(w, *xs), (w, *xs)))
    assert gradgradcheck(loss, (w, *xs))
    plain = [t.detach() for t in (w, *xs)]
    torch.testing.assert_close(hessian(loss)(*plain), hessian(reference)(*plain))


def test_via_ad_of_several_outputs_and_integers():
    config = TorchConfig()

    def f(x, n):
        return {"y": x * n, "n": n, "i": torch.tensor(3)}

    y, back = rc.rrule_via_ad(config, f, A, 2)
    assert y["n"] == 2
    _, dx, dn = back(rc.Tangent(dict, {"y": torch.ones(2), "n": NoTangent()}))
    assert dx.tolist() == [2, 2]
    assert isinstance(dn, NoTangent)
    _, dy = rc.frule_via_ad(config, (NoTangent(), A, NoTangent()), f, A, 2)
    assert torch.equal(dy["y"], 2 * A)
    y, _ = rc.frule_via_ad(config, (NoTangent(), A, NoTangent()), f, A, 2)
    assert torch.equal(y["y"], 2 * A)
    assert (y["n"], y["i"].item()) == (2, 3)
    assert not torch._C._functorch.is_functorch_wrapped_tensor(y["y"])


def test_via_ad_without_tensors():
    y, back = rc.rrule_via_ad(TorchConfig(), lambda n: n + 1, 2)
    assert (y, back(NoTangent())) == (3, (NoTangent(), NoTangent()))
