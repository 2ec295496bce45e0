"""JAX functions in PyTorch and back: whose memory is shared, and when it is not."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import rules_core as rc

jax = pytest.importorskip("jax")
torch = pytest.importorskip("torch")
jnp = jax.numpy
rules_jax = pytest.importorskip("rules_jax")
rules_torch = pytest.importorskip("rules_torch")

# Large enough for sharing to pay, however many arrays other tests keep alive.
LARGE = 1 << 21


def in_torch(f):
    return rules_torch.to_torch(rules_jax.from_jax(f))


def in_jax(f):
    return rules_jax.to_jax(rules_torch.from_torch(f))


def address(x):
    """Where the data of an array of any kind is."""
    if isinstance(x, jax.Array):
        return x.unsafe_buffer_pointer()
    return x.data_ptr() if isinstance(x, torch.Tensor) else x.ctypes.data


class Recorder:
    """A function that notes where its argument and its result are."""

    def __init__(self, f):
        self.f = f

    def __call__(self, x):
        y = self.f(x)
        if "Fake" not in type(x).__name__:  # the shape rule asks without data
            self.given, self.made = address(x), address(y)
        return y


class TestJaxFunctionsInTorch:
    def test_nothing_is_copied_either_way(self):
        f = Recorder(jnp.sin)
        x = torch.rand(LARGE, dtype=torch.float64)
        y = in_torch(f)(x)
        assert (f.given, f.made) == (address(x), address(y))
        torch.testing.assert_close(y, x.sin())

    def test_nor_are_cotangents(self):
        """The pullback runs `f` again, on the memory of the saved tensor."""
        seen = []

        def f(x):
            if not isinstance(x, jax.core.Tracer):
                seen.append(address(x))
            return jnp.sin(x)

        @jax.custom_vjp
        def watched(x):
            return f(x)

        def forward(x):
            seen.append(address(x))
            return jnp.sin(x), x

        def backward(x, dy):
            seen.append(address(dy))
            return (dy * jnp.cos(x),)

        watched.defvjp(forward, backward)
        x = torch.rand(LARGE, dtype=torch.float64, requires_grad=True)
        dy = torch.rand(LARGE, dtype=torch.float64)
        (dx,) = torch.autograd.grad(in_torch(watched)(x), x, dy)
        torch.testing.assert_close(dx, dy * x.detach().cos())
        assert {address(x), address(dy)} <= set(seen)

    def test_what_the_function_keeps_is_copied(self):
        """Its argument, a constant, its result: torch may write to what it gets."""
        kept = []

        def remember(x):
            kept.append(jnp.sin(x))
            return kept[-1]

        constant = jnp.ones(LARGE, "float32")
        x = torch.ones(LARGE)
        cases = {
            "argument": lambda x: x,
            "constant": lambda x: constant,
            "another array on it": lambda x: jax.device_put(constant),
            "result": remember,
            "numpy": lambda x: np.asarray(constant),
        }
        for name, f in cases.items():
            before = in_torch(f)(x).clone()
            in_torch(f)(x).zero_()
            torch.testing.assert_close(in_torch(f)(x), before, msg=name)
        np.testing.assert_array_equal(kept[0], kept[1])
        assert bool((x == 1).all())

    def test_a_donated_argument_stays(self):
        f = jax.jit(lambda x: x + 1, donate_argnums=0)
        x = torch.rand(LARGE)
        before = x.clone()
        torch.testing.assert_close(in_torch(f)(x), before + 1)
        torch.testing.assert_close(x, before)

    @pytest.mark.covering(every=3)
    @pytest.mark.parametrize(
        "x",
        [
            torch.tensor([1 + 2j, 3j]).conj(),
            torch.tensor([1 + 2j, 3j]).conj().imag,
            torch.rand(3, 4).T,
            torch.rand(9)[::2],
            torch.rand(LARGE)[1:],
            torch.ones(1).expand(3),
            torch.tensor(2.0),
            torch.empty(0, 3),
            torch.tensor([True, False]),
            torch.tensor([1, -2], dtype=torch.int8),
            torch.rand(3).half(),
            torch.rand(3).bfloat16(),
            torch.rand(LARGE).bfloat16(),
            torch._efficientzerotensor((2, 3))[1],
        ],
        ids=[
            "conjugate",
            "negative",
            "transposed",
            "strided",
            "unaligned",
            "expanded",
            "0-d",
            "empty",
            "bool",
            "int8",
            "float16",
            "bfloat16",
            "large bfloat16",
            "zeros without memory",
        ],
    )
    def test_every_tensor_arrives_and_comes_back(self, x):
        y = in_torch(lambda x: jnp.stack([x, x]))(x)
        assert y.dtype is x.dtype
        assert torch.equal(y, torch.stack([x, x]))

    def test_bfloat16_is_kept_by_derivatives_and_shapes(self):
        f = in_torch(lambda x: x * x)
        x = torch.tensor([1.0, 3.0], dtype=torch.bfloat16, requires_grad=True)
        f(x).sum().backward()
        assert x.grad.dtype is torch.bfloat16
        assert x.grad.tolist() == [2, 6]
        shape = f.shape_rule(rc.ShapeDtype((2,), np.dtype(jnp.bfloat16)))
        assert shape.dtype == jnp.bfloat16

    def test_double_precision_with_x64_off(self):
        x = torch.tensor([1 / 3], dtype=torch.float64, requires_grad=True)
        with jax.enable_x64(False):
            y = in_torch(lambda x: x * 3)(x)
            y.backward()
            single = in_torch(lambda x: x * 3)(x.detach().float())
        assert (y.dtype, y.item(), x.grad.item()) == (torch.float64, 1.0, 3.0)
        assert single.dtype is torch.float32

    def test_writing_to_a_saved_argument_is_noticed(self):
        x = torch.rand(LARGE, requires_grad=True)
        u = x * 1
        y = in_torch(jnp.sin)(u)
        u.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()

    def test_no_race_with_asynchronous_dispatch(self):
        """JAX computes in threads of its own while torch writes to the input."""
        f = in_torch(jax.jit(lambda x: jnp.sin(x) @ jnp.cos(x)))
        for _ in range(5):
            x = torch.rand(400, 400, dtype=torch.float64)
            expected = x.sin() @ x.cos()
            y = f(x)
            x.zero_()
            torch.testing.assert_close(y, expected)

    def test_eight_threads(self):
        f, wrong = in_torch(jax.jit(lambda x: jnp.sin(x) * x)), []

        def work(seed):
            for _ in range(10):
                x = torch.full((50_000,), 0.1 * seed, requires_grad=True)
                y = f(x)
                (dx,) = torch.autograd.grad(y.sum(), x)
                x = x.detach()
                if not torch.allclose(y.detach().zero_() + dx, x.sin() + x * x.cos()):
                    wrong.append(seed)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong


class TestTorchFunctionsInJax:
    def test_nothing_is_copied_either_way(self):
        f = Recorder(torch.sin)
        x = jnp.linspace(0, 1, LARGE)
        y = in_jax(f)(x)
        assert (f.given, f.made) == (address(x), address(y))
        np.testing.assert_allclose(y, jnp.sin(x), rtol=1e-6)

    def test_what_the_function_keeps_is_copied(self):
        """JAX takes its arrays to be immutable; torch may write to its tensors."""
        constant, kept = torch.ones(LARGE), []
        parameter = torch.nn.Parameter(torch.ones(LARGE))
        numpy = np.ones(LARGE, "float32")

        def remember(x):
            kept.append(x * 1)
            return kept[-1]

        def twice(x):
            y = x * 1
            return y, y[1:]

        x = jnp.ones(LARGE, "float32")
        cases = {
            "argument": lambda x: x,
            "part of the argument": lambda x: x[: LARGE // 2],
            "constant": lambda x: constant,
            "part of a constant": lambda x: constant[1:],
            "parameter": lambda x: parameter,
            "NumPy array": lambda x: torch.from_numpy(numpy),
            "result": remember,
            "twice the same": twice,
        }
        results = {name: in_jax(f)(x) for name, f in cases.items()}
        with torch.no_grad():
            for tensor in (constant, parameter, *kept):
                tensor.zero_()
        numpy[:] = 0
        for name, result in results.items():
            for y in jax.tree.leaves(result):
                assert bool((y == 1).all()), name

    def test_a_function_that_writes_to_its_argument_is_refused(self):
        def double_(x):
            return x.mul_(2)

        with pytest.raises(rc.UnsupportedError) as info:
            in_jax(double_)(jnp.ones(3))
        assert str(info.value) == (
            "double_ must not write into its arguments, but array 0 of the call was "
            "written to. It shares its memory with the caller's array, which is "
            "damaged now; clone it in the function first."
        )
        f = rules_torch.from_torch(double_)
        with pytest.raises(rc.UnsupportedError, match="must not write into its"):
            f(np.ones(3))
        with pytest.raises(rc.UnsupportedError, match="must not write into its"):
            f.batch_rule(2, (True,), np.ones((2, 3)))
        with torch.inference_mode(), pytest.raises(rc.UnsupportedError):
            f(np.ones(3))

    @pytest.mark.covering(strength=1)
    @pytest.mark.parametrize("compiled", [False, True])
    @pytest.mark.parametrize(
        "x",
        [
            np.float32(2),
            np.empty((0, 3), "float32"),
            np.array([True, False]),
            np.array([1, -2], "int8"),
            np.array([1 + 2j], "complex64"),
            np.ones(3, "float16"),
            np.ones(3, jnp.bfloat16),
        ],
        ids=["0-d", "empty", "bool", "int8", "complex", "float16", "bfloat16"],
    )
    def test_every_array_arrives_and_comes_back(self, x, compiled):
        f = in_jax(lambda x: torch.stack([x, x]))
        y = (jax.jit(f) if compiled else f)(jnp.asarray(x))
        assert y.dtype == x.dtype
        np.testing.assert_array_equal(y, np.stack([x, x]))

    @pytest.mark.covering(strength=1)
    @pytest.mark.parametrize(
        "make",
        [
            lambda x: x.T,
            lambda x: x[::2],
            lambda x: x.sum().expand(3),
            lambda x: (x * 1j).conj(),
            lambda x: (x * 1j).conj().imag,
            lambda x: x.sum(),
            lambda x: x[:0],
            lambda x: torch._efficientzerotensor((2, 3), dtype=x.dtype)[1],
        ],
        ids=[
            "transposed",
            "strided",
            "expanded",
            "conjugate",
            "negative",
            "0-d",
            "empty",
            "zeros without memory",
        ],
    )
    @pytest.mark.parametrize("compiled", [False, True])
    def test_results_in_every_layout(self, make, compiled):
        x = jnp.arange(12.0).reshape(4, 3)
        f = in_jax(lambda x: make(x * 2))
        expected = make(torch.from_numpy(np.array(x)) * 2).resolve_conj().resolve_neg()
        y = (jax.jit(f) if compiled else f)(x)
        np.testing.assert_array_equal(y, expected.clone().numpy())

    def test_double_precision_with_x64_off(self):
        """JAX has no float64 then: a double result is cast, as JAX's own are."""
        f = in_jax(lambda x: x.double() * 2)
        with jax.enable_x64(False):
            x = jnp.ones(3)
            for run in (f, jax.jit(f)):
                assert run(x).dtype == jnp.float32
            dx = jax.grad(lambda x: f(x).sum())(x)
        assert (dx.dtype, dx.tolist()) == (jnp.float32, [2, 2, 2])

    def test_bfloat16_is_kept_by_derivatives(self):
        f = in_jax(lambda x: (x * x).sum())
        dx = jax.jit(jax.grad(f))(jnp.array([1.0, 3.0], jnp.bfloat16))
        assert dx.dtype == jnp.bfloat16
        assert dx.tolist() == [2, 6]


class TestOnNumPy:
    @pytest.mark.parametrize(
        "make",
        [
            lambda x: x[::-1],
            lambda x: x[:, ::-2],
            lambda x: x.T,
            lambda x: np.broadcast_to(x[0], (2, 4)),
            lambda x: x.sum(),
            lambda x: x[:0],
            lambda x: x.setflags(write=False) or x,
        ],
        ids=["reversed", "steps", "transposed", "repeated", "0-d", "empty", "frozen"],
    )
    def test_arrays_in_every_layout(self, make):
        x = make(np.arange(12.0).reshape(3, 4))
        for f in (
            rules_torch.from_torch(lambda x: x * 2),
            rules_jax.from_jax(lambda x: x * 2),
        ):
            np.testing.assert_array_equal(f(x), 2 * x)

    def test_byte_orders_and_widths_that_torch_does_not_have(self):
        f = rules_torch.from_torch(lambda x: x * 2)
        for dtype in (">f8", np.longdouble):
            y = f(np.array([1, 2], dtype))
            assert (y.dtype, y.tolist()) == (np.float64, [2, 4])

    def test_a_result_is_nobody_elses(self):
        x = np.ones(LARGE)
        for f in (
            rules_torch.from_torch(lambda x: x),
            rules_jax.from_jax(lambda x: x),
        ):
            y = f(x)
            x[:] = 2
            assert bool((y == 1).all())
            x[:] = 1
