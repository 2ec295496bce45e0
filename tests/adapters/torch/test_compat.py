"""What each private name of torch is relied on for."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import make_fx

import rules_core as rc
from rules_torch import _compat
from rules_torch._host.kernels import Kernels, define_looking, define_opaque

X = torch.tensor([1.0, 2.0])


def test_a_missing_name_is_an_error_that_names_torch_and_the_cure():
    with pytest.raises(rc.UnsupportedError) as info:
        _compat._find("_C._no_such_name")
    assert str(info.value) == (
        f"rules_torch needs torch._C._no_such_name, which torch {torch.__version__} "
        "does not have. Install a version that rules-core is tested with (torch 2.13)."
    )


def test_functorch_active_and_levels():
    seen = []

    def look(x):
        levels = _compat.Levels()
        seen.append(
            (len(levels.reverse), len(levels.forward), _compat.functorch_active())
        )
        return x.sum()

    look(X)
    torch.func.grad(look)(X)
    torch.func.jvp(torch.func.grad(look), (X,), (X,))
    torch.vmap(look)(X)
    assert seen == [(0, 0, False), (1, 0, True), (1, 1, True), (0, 0, True)]


def test_tracking_tells_who_takes_part():
    seen = []
    constant, variable = torch.ones(2), torch.ones(2, requires_grad=True)

    def look(x):
        levels = _compat.Levels()
        seen.append([levels.tracking(t) for t in (x, constant, variable, x * variable)])
        return x.sum()

    torch.func.grad(look)(X)
    assert seen[0] == [(True, False), (False, False), (True, False), (True, False)]
    torch.func.jvp(look, (X,), (X,))
    assert [forward for _, forward in seen[1]] == [True, False, False, True]
    torch.vmap(look)(torch.ones(3, 2))
    assert [reverse for reverse, _ in seen[2]] == [False, False, True, True]


def test_forward_mode_and_tangents():
    assert not _compat.forward_mode_active()
    with forward_ad.dual_level():
        assert _compat.forward_mode_active()
        dual = forward_ad.make_dual(X, X)
        assert _compat.has_tangent(dual)
        assert not _compat.has_tangent(X)
        assert not _compat.has_tangent(_compat.strip_tangent(dual))
        with _compat.set_forward_enabled(False):
            assert not _compat.forward_mode_active()


def test_the_level_of_dual_numbers():
    assert _compat.forward_ad._current_level == -1
    with forward_ad.dual_level():
        assert _compat.forward_ad._current_level == 0
    seen = []
    torch.func.jvp(
        lambda x: seen.append(_compat.forward_ad._current_level) or x * 1, (X,), (X,)
    )
    assert seen == [0]  # which is why a compiled jvp must not ask


def test_strip_tangent_of_a_batched_tensor():
    def look(x):
        assert torch.equal(_compat.strip_tangent(x).sum(), x.sum())
        return x * 1

    with forward_ad.dual_level():
        stripped = []
        torch.vmap(lambda x: stripped.append(_compat.strip_tangent(x)) or x)(
            forward_ad.make_dual(X, X)
        )
        assert len(stripped) == 1
    torch.vmap(lambda x: _compat.strip_tangent(x) * 2)(X)


def test_wrappers_and_dead_wrappers():
    kept = []
    torch.func.grad(lambda x: kept.append(x) or x.sum())(X)
    assert _compat.is_wrapped(kept[0])
    assert _compat.is_dead(kept[0])
    assert torch.equal(_compat.unwrap_dead(kept[0]), X)
    assert not _compat.is_dead(X)
    torch.vmap(lambda x: kept.append(_compat.is_batched(x)) or x)(X)
    assert kept[1] is True


def test_will_execute_asks_the_running_backward_pass():
    seen = []

    class Ask(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a * b

        @staticmethod
        def backward(ctx, dy):
            seen.append([_compat.will_execute(n) for n, _ in ctx.next_functions])
            return dy, dy

    a, b = (torch.ones(2, requires_grad=True) * 1 for _ in range(2))
    torch.autograd.grad(Ask.apply(a, b).sum(), a)
    leaf = torch.ones(2, requires_grad=True)
    torch.autograd.grad(Ask.apply(leaf, b).sum(), leaf)
    Ask.apply(leaf, torch.ones(2)).sum().backward()
    assert seen == [[True, False], [True, False], [True, False]]
    assert _compat.will_execute(None) is False


def test_apply_function_is_apply_without_its_python_layer():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, dy):
            return 2 * dy

    x = torch.ones(2, requires_grad=True)
    _compat.apply_function(Double)(x).sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_lacks_data():
    seen = []

    def look(x):
        seen.append(_compat.lacks_data(x))
        return x.sum()

    torch.vmap(torch.func.grad(look))(torch.ones(2, 3))
    torch.vmap(torch.func.grad(look))(torch.ones(2, 3, device="meta"))
    assert seen == [False, True]


def test_is_fake():
    from torch._subclasses.fake_tensor import FakeTensorMode

    assert not _compat.is_fake(X)
    assert _compat.is_fake(X.to("meta"))
    with FakeTensorMode() as mode:
        assert _compat.is_fake(mode.from_tensor(X))


def test_nested_forward_mode_is_refused_by_torch_in_these_words():
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(X, X)
        with pytest.raises(RuntimeError, match=_compat.NESTED_FORWARD):
            torch.func.jvp(torch.sin, (dual,), (X,))


def test_batch_levels_and_a_tensor_batched_at_all_of_them():
    seen = []

    def look(a, b, c):
        sizes = _compat.batch_levels((a, b))
        full = _compat.batched_at(c, sizes)
        seen.append((sorted(sizes.values()), full.shape))
        seen.append(_compat.batch_levels((full,)) == sizes)
        seen.append(_compat.batched_at(full, sizes) is full)
        return full * 1

    inner = torch.vmap(look, (0, None, None))
    out = torch.vmap(inner, (None, 0, None))(torch.ones(3), torch.ones(4), X)
    assert seen == [([3, 4], (2,)), True, True]
    assert torch.equal(out, X.expand(4, 3, 2))
    half = torch.vmap(torch.vmap(look, (0, None, 0)), (None, 0, None))
    assert half(torch.ones(3), torch.ones(4), torch.rand(3, 2)).shape == (4, 3, 2)
    assert _compat.batched_at(X, {}) is X


def test_owns_its_memory():
    x = torch.ones(3)
    assert _compat.owns_its_memory(x)
    alias = x.detach()
    assert not _compat.owns_its_memory(x)
    del x
    assert _compat.owns_its_memory(alias)
    assert not _compat.owns_its_memory(alias[1:])
    assert not _compat.owns_its_memory(torch.from_numpy(alias.numpy()))
    assert not _compat.owns_its_memory(torch.nn.Parameter(torch.ones(2)).detach())


def test_with_memory():
    zeros = torch._efficientzerotensor((2, 3))[1]
    found = _compat.with_memory(zeros)
    assert torch.equal(found, torch.zeros(3))
    assert found.numpy().tolist() == [0.0, 0.0, 0.0]
    assert _compat.with_memory(X) is X


def test_was_written_to():
    x = torch.ones(3)
    view = x.view(torch.int32)
    assert not _compat.was_written_to(view)
    torch.vmap(lambda u: u.mul_(2))(x)
    assert _compat.was_written_to(view)


def test_with_tangent_of():
    x = torch.ones(2)
    assert _compat.with_tangent_of(x, X) is x
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(X, 3 * X)
        made = _compat.with_tangent_of(x, dual)
        assert torch.equal(forward_ad.unpack_dual(made).tangent, 3 * X)
        assert _compat.with_tangent_of(dual, made) is dual
        assert _compat.with_tangent_of(x, X) is x


def test_root():
    x = torch.ones(3, requires_grad=True) * 1
    assert _compat.root(x) is x
    assert _compat.root(x[1:].view(-1)) is x


@pytest.mark.parametrize("define", [define_looking, define_opaque])
def test_operators_that_transforms_look_into(define):
    """Below autograd, in no transform, they run; otherwise `with_rules` is asked."""
    name = f"double_{define.__name__}"
    seen = []

    def double(x):
        return getattr(torch.ops.rules_torch, name)(x)

    def with_rules(x):
        seen.append("rules")
        if define is define_opaque or x.ndim == 0:
            return 2 * x
        with _compat.below_autograd():
            return double(x)

    def run(x):
        seen.append("run")
        return 2 * x

    kernels = Kernels(run=run, fake=torch.empty_like, with_rules=with_rules)
    define(name, "(Tensor x) -> Tensor", kernels)
    x = torch.tensor(3.0)
    assert torch.func.grad(double)(x) == 2
    assert torch.func.jvp(double, (x,), (x,))[1] == 6
    assert torch.vmap(torch.func.grad(double))(X).tolist() == [2, 2]
    with forward_ad.dual_level():
        y = double(forward_ad.make_dual(x, x))
        assert forward_ad.unpack_dual(y).tangent == 6
    assert set(seen) == {"rules"}
    assert double(X).tolist() == [2, 4]
    assert seen[-1] == "run"
    assert double(X.to("meta")).is_meta


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
def test_what_writes_programs_down():
    seen = []

    def look(x):
        seen.append(
            (
                _compat.scripting(),
                _compat.noting_down(),
                _compat.noting_down_programs(),
                _compat.tracing_or_transforming(),
            )
        )
        return x * 1

    look(X)
    make_fx(look)(X)
    torch.jit.trace(look, (X,), check_trace=False)
    allowed = torch.compiler.allow_in_graph(look)
    torch.compile(lambda x: allowed(x) + 1, backend="aot_eager")(X)
    assert seen[:3] == [
        (False, False, False, False),
        (False, True, True, True),
        (True, True, True, True),
    ]
    assert (False, True, False, True) in seen[3:]  # a compiler's graph


def test_symbols_of_fx():
    seen = []
    torch.fx.symbolic_trace(lambda x: seen.append(_compat.is_symbol(type(x))) or x)
    assert seen == [True]
    assert not _compat.is_symbol(torch.Tensor)


def test_tangents_are_found_below_transforms():
    """A transform answers for its own level only."""
    seen = []

    def look(x):
        seen.append((_compat.has_tangent(_compat.unwrapped(x)), x.requires_grad))
        return x.sum()

    with forward_ad.dual_level():
        torch.func.grad(look)(forward_ad.make_dual(X, X))
    torch.func.grad(look)(X)
    assert seen == [(True, True), (False, True)]


def test_views_are_told_apart():
    assert _compat.is_view(X[:1])
    assert not _compat.is_view(X * 1)


def test_the_error_at_which_dynamo_leaves_its_graph():
    @torch.compiler.allow_in_graph
    def closed(x):
        if _compat.is_fake(x):
            raise _compat.leaving_the_graph("here")
        return x + 1

    torch.compiler.reset()
    assert torch.compile(lambda x: closed(x) * 2, backend="eager")(X).tolist() == [4, 6]
    torch.compiler.reset()
    with pytest.raises(torch._dynamo.exc.Unsupported, match="^here"):
        torch.compile(lambda x: closed(x), backend="eager", fullgraph=True)(X)


def test_torch_compiles_no_transform_that_meets_a_captured_numpy_array():
    """A bug of torch's own, for which `_cells` makes tensors of such arrays first."""
    array, tensor = np.ones(2, np.float32), torch.ones(2)

    def compiled(captured):
        torch.compiler.reset()
        grad = torch.func.grad(lambda x: (torch.as_tensor(captured) * x).sum())
        return torch.compile(grad, backend="eager", fullgraph=True)

    assert compiled(tensor)(X).tolist() == [1, 1]
    with pytest.raises(AssertionError, match=r"Guard failed.*dispatch key set"):
        compiled(array)(X)
