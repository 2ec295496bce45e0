"""Host primals: NumPy functions on tensors, with their rules and without."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
import torch
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vmap

import rules_core as rc
from rules_core import NoTangent
from rules_torch import (
    HostRuleError,
    SecondDerivativeError,
    UntraceableError,
    to_torch,
)
from tests.adapters.torch.formulas import host_sine

X = torch.tensor([0.3, 0.7], dtype=torch.float64)


def test_no_copy_either_way():
    seen = []
    f = rc.primitive(lambda x: (seen.append(x), np.full(3, 2.0))[1], host=True)
    rc.non_differentiable(f)  # a function with rules leaves its arguments alone
    x = torch.ones(3)
    y = f(x)
    assert seen[0].__array_interface__["data"][0] == x.data_ptr()
    assert y.numpy().base is not None


def doubled_in_place(x):
    x *= 2.0
    return x


def doubled_by_copying(x):
    np.copyto(x, 2.0 * x)
    return x


def doubled_as_c_does(x):
    """A stand-in for Cython's `double[:]`, which takes writable memory only."""
    (ctypes.c_double * x.size).from_buffer(np.atleast_1d(x))
    return 2.0 * x


def doubled_in_a_view(x):
    memoryview(np.atleast_1d(x)).cast("B")[0:1] = b"\0"
    return np.array([2.0, 4.0, 6.0][: x.size]).reshape(x.shape)


@pytest.mark.parametrize("rules", [False, True])
@pytest.mark.parametrize(
    "body", [doubled_in_place, doubled_by_copying, doubled_as_c_does, doubled_in_a_view]
)
def test_functions_that_ask_for_writable_memory_get_copies(body, rules):
    f = rc.primitive(lambda x: body(x), host=True)
    rc.shape_rule.define(f)(lambda x: x)
    if rules:

        @rc.rrule.define(f, host=True)
        def f_rrule(x):
            return body(x), lambda dy: (rc.NoTangent(), body(dy))

    x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    doubled = torch.tensor([2.0, 4.0, 6.0], dtype=torch.float64)
    for run in (f, f, vmap(lambda t: f(t)[None])):
        torch.testing.assert_close(run(x).reshape(3)[:1], doubled[:1])
        assert x.tolist() == [1, 2, 3]
    torch.testing.assert_close(f(x), doubled)
    if rules and body is not doubled_in_a_view:  # which is no linear map of dy
        for _ in range(2):
            slope = grad(lambda t: f(t).sum())(x)
            assert slope.tolist() == [2, 2, 2]


def buffers_of_other_libraries():
    memory = bytearray(np.array([2.0, 3.0]).tobytes())
    return {
        "memoryview": np.asarray(memoryview(memory).cast("d")),
        "view of one": np.asarray(memoryview(memory).cast("d"))[:1],
        "bytearray": np.frombuffer(memory),
        "ctypes": np.ctypeslib.as_array((ctypes.c_double * 2)(2.0, 3.0)),
        "interface": np.asarray(WithInterface()),
    }


class WithInterface:
    def __init__(self):
        self.kept = np.array([2.0, 3.0])
        self.__array_interface__ = self.kept.__array_interface__


@pytest.mark.parametrize("name", buffers_of_other_libraries())
def test_a_result_in_another_library_s_memory_is_copied(name):
    kept = buffers_of_other_libraries()[name]
    f = rc.primitive(lambda x: kept[:], host=True)
    rc.non_differentiable(f)
    f(torch.ones(2, dtype=torch.float64)).add_(1)
    assert kept[0] == 2


def test_a_result_that_shares_memory_with_an_argument_is_copied():
    f = rc.primitive(lambda x: x[::1], host=True)
    x = torch.ones(3)
    f(x).add_(1)
    assert x.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x[::-1],
        lambda x: np.broadcast_to(x.sum(), (3,)),
        lambda x: x.astype(">f8"),
        lambda x: x.astype(np.longdouble),
        lambda x: float(x.sum()),
        lambda x: x.sum(),
    ],
    ids=[
        "negative strides",
        "read-only",
        "byte order",
        "long double",
        "float",
        "scalar",
    ],
)
def test_results_that_torch_cannot_hold_as_they_are(make):
    f = rc.primitive(make, host=True)
    x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    y = f(x)
    torch.testing.assert_close(
        y, torch.as_tensor(np.array(make(x.numpy()), dtype=float))
    )


@pytest.mark.parametrize(
    "x",
    [
        torch.tensor([1 + 2j]).conj(),
        torch.tensor([1 + 2j]).conj().imag,
        torch.ones(2, 3).T,
        torch.ones(1).expand(3),
        torch.ones(2, dtype=torch.bfloat16),
        torch.tensor(2.0),
        torch._efficientzerotensor((2, 3)),
        torch._efficientzerotensor((2, 3))[1],  # NumPy would read outside of memory
    ],
    ids=[
        *("conjugate", "negative", "transposed", "expanded", "bfloat16", "0-d"),
        *("zeros", "part of zeros"),
    ],
)
def test_tensors_that_numpy_cannot_hold_as_they_are(x):
    f = rc.primitive(np.negative, host=True, elementwise=True)
    torch.testing.assert_close(f(x), -x.resolve_conj().resolve_neg())


def test_the_widest_floating_argument_decides_the_dtype():
    f = rc.primitive(np.hypot, host=True, elementwise=True)
    single, double = torch.ones(2), torch.ones(2, dtype=torch.float64)
    assert f(single, torch.tensor([1, 2])).dtype is torch.float32
    assert f(single, double).dtype is torch.float64
    assert f(torch.tensor([1, 2]), 2).dtype is torch.float64
    assert f(single, 1.0).dtype is torch.float32


BATCHES = {
    "vmap": (vmap, (5,)),
    "vmap(vmap)": (lambda f: vmap(vmap(f, 1)), (4, 3, 2)),
    "vmap(grad)": (lambda f: vmap(grad(f)), (5,)),
    "grad(vmap)": (lambda f: grad(lambda x: vmap(f)(x).sum()), (5,)),
    "vmap(jvp)": (lambda f: vmap(lambda x: jvp(f, (x,), (x,))[1]), (5,)),
    "vmap(vmap(grad))": (lambda f: vmap(vmap(grad(f))), (5, 2)),
}


@pytest.mark.parametrize("name", BATCHES)
def test_a_batch_of_an_elementwise_function_is_one_call(name):
    transform, shape = BATCHES[name]
    made, x = host_sine(), torch.rand(shape, dtype=torch.float64)
    torch.testing.assert_close(transform(made.f)(x), transform(torch.sin)(x))
    # An frule computes the primal once more, after torch has asked for it.
    assert made.calls["sin"] == 1 + ("jvp" in name)
    assert made.calls["cos"] <= 1


def test_batches_of_different_ranks_line_up():
    f = rc.primitive(np.hypot, host=True, elementwise=True)
    a, b = torch.rand(4, 3), torch.rand(4)
    torch.testing.assert_close(vmap(f)(a, b), torch.hypot(a, b[:, None]))
    torch.testing.assert_close(
        vmap(f, (None, 0))(a, b), torch.hypot(a[None], b[:, None, None])
    )
    torch.testing.assert_close(vmap(f, (1, None), 1)(a, b), torch.hypot(a, b[:, None]))


def test_an_empty_batch_without_a_batch_rule_is_refused():
    @rc.primitive(host=True)
    def norm2(x):
        return x @ x

    @rc.rrule.define(norm2, host=True)
    def norm2_rrule(x):
        return x @ x, lambda dy: (rc.NoTangent(), 2 * dy * x)

    text = "norm2: a batch of no examples, which is called one example at a time"
    for f in (norm2, torch.func.grad(norm2)):
        with pytest.raises(rc.UnsupportedError, match=text):
            torch.func.vmap(f)(torch.zeros(0, 3))


def test_a_batch_rule_is_used_and_else_one_call_per_example():
    calls = []

    @rc.primitive(host=True)
    def ordered(x, reverse=False):
        calls.append(x.shape)
        return np.sort(x)[::-1] if reverse else np.sort(x)

    x = torch.rand(4, 3)
    torch.testing.assert_close(vmap(ordered)(x), x.sort().values)
    assert calls == [(3,)] * 4

    @rc.batch_rule.define(ordered)
    def ordered_batch(size, batched, x, reverse):
        assert (size, batched) == (4, (True, False))
        calls.append(x.shape)
        return np.sort(x, axis=-1), True

    calls.clear()
    torch.testing.assert_close(vmap(ordered)(x), x.sort().values)
    assert calls == [(4, 3)]
    stacked = torch.rand(2, 4, 3)
    torch.testing.assert_close(vmap(vmap(ordered))(stacked), stacked.sort().values)


def test_several_outputs_in_containers():
    f = rc.primitive(lambda x: {"s": np.sin(x), "rest": (np.argmax(x), "t")}, host=True)
    out = f(X)
    assert (out["rest"][0].item(), out["rest"][1]) == (1, "t")
    batched = vmap(lambda x: f(x)["s"])(torch.rand(3, 2))
    assert batched.shape == (3, 2)


def test_a_missing_rule_is_an_error_where_a_derivative_is_wanted():
    @rc.primitive(host=True)
    def bare(x):
        return np.sin(x)

    rc.opt_out(rc.rrule, bare, object)
    assert bare(X).shape == (2,)
    y = bare(X.clone().requires_grad_())
    with pytest.raises(rc.RuleNotFound, match="no rrule applies to .*bare"):
        y.sum().backward()
    with pytest.raises(rc.RuleNotFound, match="no rrule applies to .*bare"):
        grad(lambda x: bare(x).sum())(X)
    with pytest.raises(rc.RuleNotFound, match="no frule .*bare(?s:.)*opted out at"):
        jvp(bare, (X,), (X,))


def first_order_only():
    """`x³` with a rule whose second derivative no rule covers."""

    @rc.primitive(host=True, elementwise=True)
    def slope(x):
        return 3 * x * x

    rc.opt_out(rc.rrule, slope, object)

    @rc.primitive(host=True, elementwise=True)
    def power(x):
        return x * x * x

    @rc.rrule.define(power)
    def power_rrule(x):
        return power(x), lambda dy: (NoTangent(), dy * slope(x))

    return power


def numpy_rules(kind="both"):
    """`x³` with rules that run in NumPy."""

    @rc.primitive(host=True, elementwise=True)
    def power(x):
        return x * x * x

    if kind in ("both", "rrule"):

        @rc.rrule.define(power, host=True)
        def power_rrule(x):
            assert isinstance(x, np.ndarray)
            slope = 3 * x * x

            def power_pullback(dy):
                assert isinstance(dy, np.ndarray)
                return NoTangent(), dy * slope

            return x * x * x, power_pullback

    if kind in ("both", "frule"):

        @rc.frule.define(power, host=True)
        def power_frule(tangents, x):
            assert isinstance(x, np.ndarray)
            return x * x * x, 3 * x * x * tangents[1]

    return power


SECOND = {
    "penalty": lambda f: penalty(f),
    "grad(grad)": lambda f: grad(lambda x: grad(lambda u: f(u).sum())(x).sum())(X),
    "jacrev(jacrev)": lambda f: jacrev(jacrev(f))(X),
    "hessian": lambda f: hessian(lambda x: f(x).sum())(X),
    "times": lambda f: times(f),
    "vmap": lambda f: vmap(grad(grad(f)))(X),
}


def penalty(f):
    x = X.clone().requires_grad_()
    y = f(x).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    return torch.autograd.grad(y + (g * g).sum(), x)


def times(f):
    x = X.clone().requires_grad_()
    (g,) = torch.autograd.grad((f(x) * x).sum(), x, create_graph=True)
    return torch.autograd.grad(g.sum(), x)


@pytest.mark.parametrize("second", SECOND)
def test_a_second_derivative_that_no_rule_covers_is_an_error(second):
    with pytest.raises(rc.RuleNotFound, match="applies to .*slope"):
        SECOND[second](first_order_only())


@pytest.mark.parametrize("second", SECOND)
def test_numpy_rules_refuse_a_second_derivative(second):
    with pytest.raises(SecondDerivativeError, match="declared host=True"):
        SECOND[second](numpy_rules())


def test_numpy_rules_at_first_order():
    power = numpy_rules()
    expected = 3 * X * X
    x = X.clone().requires_grad_()
    power(x).sum().backward()
    torch.testing.assert_close(x.grad, expected)
    torch.testing.assert_close(grad(lambda x: power(x).sum())(X), expected)
    torch.testing.assert_close(vmap(grad(power))(X), expected)
    torch.testing.assert_close(jvp(power, (X,), (X,))[1], expected * X)
    torch.testing.assert_close(jacfwd(power)(X), torch.diag(expected))
    torch.testing.assert_close(jacrev(power)(X), torch.diag(expected))
    assert torch.autograd.gradcheck(power, (x,), check_forward_ad=True)


def test_numpy_rules_may_capture_numbers_and_branch_on_them():
    @rc.primitive(host=True, elementwise=True)
    def bent(x):
        return np.where(x > 0.5, 2 * x, 3 * x)

    @rc.rrule.define(bent, host=True)
    def bent_rrule(x):
        large, slope, name = bool(x > 0.5), 2 + int(x <= 0.5), "s"

        def bent_pullback(dy):
            assert (type(large), type(slope), name) == (bool, int, "s")
            return NoTangent(), (2.0 if large else float(slope)) * dy

        return bent(x), bent_pullback

    assert vmap(grad(bent))(X).tolist() == [3, 2]


def test_numpy_rules_cannot_be_transposed():
    with pytest.raises(HostRuleError) as info:
        jvp(numpy_rules("rrule"), (X,), (X,))
    assert "cannot be transposed, but forward mode is wanted. Add an frule" in str(
        info.value
    )
    with pytest.raises(HostRuleError, match="but reverse mode is wanted. Add an rrule"):
        grad(lambda x: numpy_rules("frule")(x).sum())(X)


def test_the_text_of_the_second_derivative_error():
    with pytest.raises(SecondDerivativeError) as info:
        SECOND["penalty"](numpy_rules())
    head, _, tail = str(info.value).partition(" for ")
    assert head == "rrule numpy_rules.<locals>.power_rrule"
    assert tail.endswith(
        " is declared host=True: it runs in NumPy, at first order only, but a "
        "derivative of its result is wanted. Write the rule with primitives and "
        "array-API functions instead."
    )


def test_tensors_without_data_have_shapes_only():
    """As on the device `meta`, where models are built before they are loaded."""
    x = torch.empty(3, dtype=torch.float64, device="meta", requires_grad=True)
    y = host_sine().f(x)
    assert (y.device.type, y.shape, y.dtype) == ("meta", (3,), torch.float64)
    y.sum().backward()
    assert x.grad.is_meta
    unknown = rc.primitive(lambda x: np.sort(x), host=True)
    with pytest.raises(UntraceableError, match="shape of its result is not known"):
        unknown(x.detach())


@pytest.mark.parametrize("other", [torch.float32, torch.float64, torch.complex128])
@pytest.mark.parametrize("own", [torch.float32, torch.float64])
def test_a_0d_tensor_widens_an_elementwise_result_as_in_torch(own, other):
    add = to_torch(lambda x, y: np.add(x, y), host=True, elementwise=True)
    x, y = torch.ones(3, 2, dtype=own), torch.tensor(2.0, dtype=other)
    ys = torch.ones(3, dtype=other)
    for first, second in ((x, y), (y, x), (y, y), (x[0], ys[:2])):
        assert add(first, second).dtype is (first + second).dtype
    for dims, args in ((0, (x, ys)), ((0, None), (x, y)), ((None, 0), (y, x))):
        expected = torch.vmap(torch.add, dims)(*args).dtype
        assert torch.vmap(add, dims)(*args).dtype is expected


def outer_product():
    @rc.primitive(host=True)
    def outer(x, w):
        return {"product": np.outer(x, w), "places": np.argsort(w)}

    @rc.shape_rule.define(outer)
    def outer_shape(x, w):
        product = rc.ShapeDtype((x.shape[0], w.shape[0]), x.dtype)
        return {"product": product, "places": rc.ShapeDtype(w.shape, np.dtype(int))}

    @rc.rrule.define(outer)
    def outer_rrule(x, w):
        def outer_pullback(dy):
            dy = dy["product"]
            return rc.NoTangent(), dy @ w, dy.T @ x

        return outer(x, w), outer_pullback

    return outer


HALVES = {
    "called": lambda f: f,
    "compiled": lambda f: torch.compile(f, backend="aot_eager"),
    "in a batch": lambda f: (
        lambda x, w: torch.vmap(f)(x[None], w[None])[0].reshape(2, 3)
    ),
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("run", HALVES)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_results_and_gradients_have_the_precision_of_the_arguments(dtype, run):
    """NumPy has no bfloat16, and sees float32 in its place."""
    f = outer_product()
    x = torch.tensor([1.0, 2.0], dtype=dtype, requires_grad=True)
    w = torch.tensor([1.0, 3.0, 2.0], dtype=dtype, requires_grad=True)
    y = HALVES[run](lambda x, w: f(x, w)["product"])(x, w)
    torch.testing.assert_close(y, torch.outer(x, w).detach(), check_dtype=True)
    y.sum().backward()
    assert (x.grad.dtype, w.grad.dtype) == (dtype, dtype)
    assert f(x, w)["places"].dtype is torch.int64


def test_what_a_function_says_of_its_precision_is_kept():
    """Beside float32, or where `out` says so, float32 is meant."""
    x = torch.ones(2, dtype=torch.bfloat16)
    f = outer_product()
    assert f(x, torch.ones(2))["product"].dtype is torch.float32
    out = rc.ShapeDtype((2,), torch.float32)
    said = to_torch(lambda x: np.cumsum(x), host=True, out=out)
    assert said(x).dtype is torch.float32
    assert torch.compile(said, backend="aot_eager")(x).dtype is torch.float32
