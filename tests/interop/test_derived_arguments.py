"""What derived rules do with containers, scalars, statics, functions and dtypes."""

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from rules_core import ShapeDtype
from tests.interop.simulations import HOSTS, differences, first_of, host_of

X = np.array([0.3, -0.4, 0.9])
FLOAT = np.dtype(np.float64)

pytestmark = pytest.mark.parametrize("host", HOSTS, indirect=True)


@pytest.fixture
def host(request):
    return host_of(request.param)


def several(params, x, scale=2.0, *, power=2):
    """Containers in and out, a default, a keyword, an integer among the results."""
    x[0] *= params["a"]
    total = 0.0
    for v in x:
        total += v**power * scale
    return {"total": total, "x": x * params["b"][1], "best": np.argmax(x)}


def several_out(params, x, scale, **_):
    whole = ShapeDtype((), np.dtype(np.int64))
    return {"total": ShapeDtype((), FLOAT), "x": x, "best": whole}


def test_containers_keywords_and_an_integer_result(host):
    f = host.wrap(several, out=several_out)

    def loss(a, b, x):
        r = f({"b": [1.0, b], "a": a}, x, power=3)
        return r["total"] + r["best"] * (r["x"] * host.array([1.0, 2.0, 3.0])).sum()

    def plain(a, b, x):
        r = several({"b": [1.0, b], "a": a}, x.copy(), power=3)
        return r["total"] + r["best"] * (r["x"] * [1, 2, 3]).sum()

    point = np.array(1.5), np.array(3.0), X
    found = host.grad(loss, (0, 1, 2))(*map(host.array, point))
    want = differences(plain, *point)
    for a, b in zip(found, want, strict=True):
        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-7)
    primals = tuple(map(host.array, point))
    _, dy = host.jvp(loss, primals, primals)
    np.testing.assert_allclose(
        dy, sum((g * x).sum() for g, x in zip(want, point, strict=True)), rtol=1e-7
    )


def scalars(a, b):
    s = math.exp(a) * b if a > 0 else b
    for _ in range(3):
        s = s + math.sin(s) * a
    return s


def test_scalars_arrive_as_numbers_of_the_host(host):
    f = host.wrap(scalars, out=ShapeDtype((), FLOAT))
    found = host.grad(f, (0, 1))(host.array(0.3), host.array(0.2))
    want = differences(scalars, 0.3, 0.2)
    np.testing.assert_allclose(np.asarray([*map(float, found)]), want, rtol=1e-7)


def cascade(z, w):
    for i in range(1, len(z)):
        z[i] *= z[i - 1] * w
    return z


def test_complex_values(host):
    z, c = np.array([1 + 2j, 0.5 - 1j, 0.3 + 0.1j]), np.array([1 - 1j, 2.0, 3j])
    f, weights = host.wrap(cascade, out=first_of), host.array(c)

    def loss(re, im, w):
        return (weights * f(re + 1j * im, w)).sum().real

    def plain(re, im, w):
        return (c * cascade(re + 1j * im, w)).sum().real

    point = z.real.copy(), z.imag.copy(), np.array(0.7)
    found = host.grad(loss, (0, 1, 2))(*map(host.array, point))
    for a, b in zip(found, differences(plain, *point), strict=True):
        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-7)


def sweep(x, n):
    for _ in range(n):
        x -= np.float32(0.1) * np.sin(x) * 2.0
    return x


def test_single_precision_is_kept(host):
    f = host.wrap(sweep, out=first_of)
    x = host.array(X.astype(np.float32))
    slope = host.grad(lambda x: f(x, 3).sum())(x)
    _, dy = host.jvp(lambda x: f(x, 3), (x,), (x,))
    assert str(f(x, 3).dtype).endswith("float32")
    assert {str(slope.dtype)[-7:], str(dy.dtype)[-7:]} == {"float32"}


def integrate(rhs, x, dt, n):
    for _ in range(n):
        x += dt * rhs(x)
    return x


def result_of_integrate(_, x, *__, **___):
    return x


def test_what_a_function_argument_captures_has_its_gradient(host):
    f = host.wrap(integrate, out=result_of_integrate)

    def loss(k, x):
        return f(lambda y: -k * y * y, x, 0.1, 3).sum()

    def native(k, x):
        for _ in range(3):
            x = x + 0.1 * (-k * x * x)
        return x.sum()

    point = host.array(np.array([2.0, 1.0, 0.5])), host.array(X)
    found, want = (host.grad(g, (0, 1))(*point) for g in (loss, native))
    for a, b in zip(found, want, strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b))
    moved, plain = (host.jvp(g, point, point)[1] for g in (loss, native))
    np.testing.assert_allclose(np.asarray(moved), np.asarray(plain))


def test_static_arguments_may_hold_anything(host):
    def scaled(x, table):
        for i, (a, b) in enumerate(table):
            x[i] = x[i] * a + b
        return x

    table = [(1.5, np.array(2.0)), (3.0, 1.0), (2.0, 0.0)]
    f = host.wrap(scaled, static_argnames="table", out=first_of)
    slope = host.grad(lambda x: (f(x, table) ** 2).sum())(host.array(X))
    gains, shifts = np.array([1.5, 3.0, 2.0]), np.array([2.0, 1.0, 0.0])
    np.testing.assert_allclose(np.asarray(slope), 2 * (X * gains + shifts) * gains)


@dataclass
class State:
    u: Any
    k: Any
    n: int = 2


def advance(s):
    for _ in range(s.n):
        s.u = s.u * s.k
        s.u[0] += s.k
    return {"u": 2 * s.u, "k": s.k}


def test_instances_that_change(host):
    if host.name == "jax":
        import jax

        jax.tree_util.register_dataclass(State, ["u", "k"], ["n"])
    f = host.wrap(advance, out=lambda s: {"u": s.u, "k": s.k})

    def loss(u, k):
        found = f(State(u, k))
        return found["u"].sum() + found["k"]

    def plain(u, k):
        found = advance(State(u, k))
        return found["u"].sum() + found["k"]

    found = host.grad(loss, (0, 1))(host.array(X), host.array(1.5))
    for a, b in zip(found, differences(plain, X, 1.5), strict=True):
        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-7)


class Model:
    def __init__(self):
        self.gain = np.array([1.0, 2.0, 3.0])

    def __call__(self, x):
        x *= self.gain
        return x

    def run(self, x):
        return self(x)


def test_callables_of_other_kinds(host):
    model = Model()
    relaxed = functools.partial(integrate, lambda y: -y, dt=0.1, n=2)
    for f, want in ((model, model.gain), (model.run, model.gain), (relaxed, 0.81)):
        wrapped = host.wrap(f, out=lambda x, *_, **__: x)
        slope = host.grad(lambda x, f=wrapped: f(x).sum())(host.array(X))
        np.testing.assert_allclose(np.asarray(slope), np.full(3, want))


def test_keyword_only_arrays_are_constants(host):
    def scaled(x, *, w):
        x *= w
        return x

    f = host.wrap(scaled, out=first_of)
    x = host.array(X)
    slope = host.grad(lambda x, w: f(x, w=w).sum())(x, x)
    np.testing.assert_allclose(np.asarray(slope), X)
    with pytest.raises(NotImplementedError, match="keyword"):
        host.grad(lambda x, w: f(x, w=w).sum(), 1)(x, x)


def test_any_number_of_arguments(host):
    def weighted(*xs):
        total = 0.0
        for i, x in enumerate(xs):
            x[:] *= i + 1
            total = total + x
        return total

    f, x = host.wrap(weighted, out=first_of), host.array(X)
    found = host.grad(lambda x, y: f(x, y).sum(), (0, 1))(x, x)
    assert [np.asarray(g).tolist() for g in found] == [[1.0] * 3, [2.0] * 3]
