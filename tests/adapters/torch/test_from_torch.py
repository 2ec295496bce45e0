"""`from_torch`: PyTorch functions with their derivatives, in NumPy, torch and JAX."""

from __future__ import annotations

import itertools
import threading

import numpy as np
import pytest
import torch

import rules_core as rc
from rules_core import NoTangent
from rules_core.testing import check_rule
from rules_torch import from_torch, to_torch

X = np.array([0.3, 0.7])
WORDS = [
    *("GJG", "JGJ"),
    *(
        pytest.param("".join(word), marks=pytest.mark.nightly)
        for word in itertools.product("GJ", repeat=3)
        if "".join(word) not in ("GJG", "JGJ")
    ),
]


def wavy(x, scale=2.0):
    return torch.sin(x * scale) * x


def reference(x):
    return np.sin(2 * x) * x


def slope(x):
    return np.sin(2 * x) + 2 * x * np.cos(2 * x)


def test_in_numpy_with_both_rules():
    f = from_torch(wavy)
    np.testing.assert_allclose(f(X), reference(X))
    _, pullback = rc.rrule(f, X)
    np.testing.assert_allclose(pullback(np.ones(2))[1], slope(X))
    _, dy = rc.frule((NoTangent(), X, NoTangent()), f, X, 2.0)
    np.testing.assert_allclose(dy, slope(X) * X)


def test_the_tester_agrees():
    check_rule(from_torch(lambda x: torch.sin(2 * x) * x), X, hosts=["torch"])


def test_on_tensors_the_function_is_simply_called():
    f = to_torch(from_torch(wavy))
    x = torch.tensor(X, requires_grad=True)
    assert "MulBackward" in type(f(x).grad_fn).__name__
    assert torch.autograd.gradgradcheck(f, (x,))


def test_containers_several_outputs_and_integers():
    f = from_torch(lambda p: {"y": p["w"] * p["x"], "n": torch.argmax(p["x"])})
    p = {"w": np.array([1.0, 2.0]), "x": X}
    y, pullback = rc.rrule(f, p)
    assert y["n"] == 1
    dp = pullback(rc.Tangent(dict, {"y": np.ones(2), "n": NoTangent()}))[1]
    np.testing.assert_allclose(dp["w"], X)
    np.testing.assert_allclose(dp["x"], [1.0, 2.0])


def test_complex_cotangents_need_no_conjugation():
    f = from_torch(torch.square)
    z = np.array(1 + 2j)
    _, pullback = rc.rrule(f, z)
    np.testing.assert_allclose(pullback(np.array(0.5 + 1j))[1], 5.0)


def test_a_module_with_parameters():
    module = torch.nn.Linear(2, 3, dtype=torch.float64)
    f = from_torch(module)
    _, pullback = rc.rrule(f, X)
    weight = module.weight.detach().numpy()
    np.testing.assert_allclose(pullback(np.ones(3))[1], weight.sum(0))


def test_shape_and_batch_rules():
    f = from_torch(wavy)
    shape = f.shape_rule(rc.ShapeDtype((5,), np.dtype("float32")), 2.0)
    assert (shape.shape, shape.dtype) == ((5,), np.dtype("float32"))
    rows = np.stack([X, X + 1])
    out, _ = f.batch_rule(2, (True, False), rows, 2.0)
    np.testing.assert_allclose(out, reference(rows))


class TestInJax:
    """Reverse mode to third order, forward mode, jit, vmap and scan."""

    @pytest.fixture(autouse=True)
    def jax(self):
        return pytest.importorskip("jax")

    @pytest.fixture
    def f(self):
        from rules_jax import to_jax

        return to_jax(from_torch(lambda x: torch.sin(2 * x) * x))

    def native(self, jax):
        return lambda x: jax.numpy.sin(2 * x) * x

    @pytest.mark.covering(every=3)
    @pytest.mark.parametrize("order", [0, 1, 2, 3])
    def test_grad_under_jit(self, jax, f, order):
        mine, theirs = f, self.native(jax)
        for _ in range(order):
            mine, theirs = jax.grad(mine), jax.grad(theirs)
        np.testing.assert_allclose(jax.jit(mine)(0.3), theirs(0.3), rtol=1e-12)

    def test_forward_mode_and_hessians(self, jax, f):
        native = self.native(jax)
        np.testing.assert_allclose(jax.jacfwd(f)(X), jax.jacfwd(native)(X))

        def total(f):
            return lambda x: f(x).sum()

        np.testing.assert_allclose(
            jax.hessian(total(f))(X), jax.hessian(total(native))(X)
        )

    def test_vmap_and_scan(self, jax, f):
        native = self.native(jax)
        np.testing.assert_allclose(
            jax.vmap(jax.grad(f))(X), jax.vmap(jax.grad(native))(X)
        )

        def looped(f):
            def run(x):
                return jax.lax.scan(lambda c, _: (f(c), None), x, None, length=3)[0]

            return jax.jit(jax.grad(run))

        np.testing.assert_allclose(looped(f)(0.3), looped(native)(0.3))

    def test_threads(self, jax, f):
        fast, wrong = jax.jit(jax.grad(f)), []

        def work(x):
            wrong.extend(x for _ in range(5) if not np.allclose(fast(x), slope(x)))

        threads = [threading.Thread(target=work, args=(0.1 * i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong


class TestJaxInTorch:
    """A JAX function inside PyTorch: any order, forward mode, vmap, compile."""

    @pytest.fixture
    def f(self):
        jax = pytest.importorskip("jax")
        from rules_jax import from_jax

        return to_torch(from_jax(lambda x: jax.numpy.sin(2 * x) * x))

    def native(self, x):
        return torch.sin(2 * x) * x

    def test_gradchecks(self, f):
        x = torch.tensor(X, requires_grad=True)
        assert torch.autograd.gradcheck(f, (x,), check_forward_ad=True)
        assert torch.autograd.gradgradcheck(f, (x,))

    def test_transforms(self, f):
        x = torch.tensor(X)

        def total(f):
            return lambda x: f(x).sum()

        for transform in (torch.func.grad, torch.func.hessian, torch.func.jacrev):
            mine, theirs = transform(total(f))(x), transform(total(self.native))(x)
            torch.testing.assert_close(mine, theirs)
        ours = torch.vmap(torch.func.grad(f))(x)
        torch.testing.assert_close(ours, torch.vmap(torch.func.grad(self.native))(x))

    @pytest.mark.parametrize("word", WORDS)
    def test_every_third_derivative(self, f, word):
        def forward(f):
            return lambda x: torch.func.jvp(f, (x,), (torch.ones_like(x),))[1]

        mine, theirs = f, self.native
        for letter in word:
            step = {"G": torch.func.grad, "J": forward}[letter]
            mine, theirs = step(mine), step(theirs)
        x = torch.tensor(0.3, dtype=torch.float64)
        torch.testing.assert_close(mine(x), theirs(x))

    @pytest.mark.filterwarnings("ignore")  # torch's own compiler stack warns
    def test_compiled(self, f):
        torch.compiler.reset()
        x = torch.tensor(X, requires_grad=True)
        fast = torch.compile(lambda x: f(x).sum(), fullgraph=True, backend="aot_eager")
        fast(x).backward()
        np.testing.assert_allclose(x.grad.numpy(), slope(X))

    def test_the_result_does_not_change_when_the_input_is_written_to(self, f):
        """JAX computes asynchronously on memory that torch may write to."""
        for _ in range(5):
            x = torch.rand(100_000, dtype=torch.float64)
            expected = self.native(x)
            y = f(x)
            x.zero_()
            torch.testing.assert_close(y, expected)
