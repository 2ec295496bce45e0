"""NumPy's functions inside JAX and PyTorch: opaque calls, at first order."""

from __future__ import annotations

import numpy as np
import pytest

A = np.eye(3) * 2.0 + np.arange(9.0).reshape(3, 3) / 9.0
FUNCTIONS = [
    np.linalg.inv, np.cumsum, np.sort, np.linalg.cholesky, np.max, np.std, np.nancumsum,
]  # fmt: skip
POSITIVE = A @ A.T


def expected(f):
    """The gradient of Σ f², by the rule itself."""
    import rules_core as rc

    y, pullback = rc.rrule(f, POSITIVE)
    return pullback(2.0 * y)[1]


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("f", FUNCTIONS)
def test_jax(f):
    jax = pytest.importorskip("jax")
    import rules_jax

    def out(a, *_options):
        shape = np.shape(f(np.eye(3)))
        return jax.ShapeDtypeStruct(shape, a.dtype)

    g = rules_jax.to_jax(f, host=True, out=out)
    gradient = jax.grad(lambda x: (g(x) ** 2).sum())
    x = jax.numpy.asarray(POSITIVE)
    np.testing.assert_allclose(gradient(x), expected(f), rtol=1e-10)
    np.testing.assert_allclose(jax.jit(gradient)(x), expected(f), rtol=1e-10)
    both = jax.vmap(gradient)(jax.numpy.stack([x, x]))
    np.testing.assert_allclose(both[1], expected(f), rtol=1e-10)


@pytest.mark.parametrize("f", FUNCTIONS)
def test_torch(f):
    torch = pytest.importorskip("torch")
    import rules_torch

    g = rules_torch.to_torch(f, host=True)
    x = torch.tensor(POSITIVE, requires_grad=True)
    (g(x) ** 2).sum().backward()
    np.testing.assert_allclose(x.grad, expected(f), rtol=1e-10)


UFUNCS = [
    np.sin, np.exp, np.hypot, np.maximum, np.fmax, np.fmin, np.logaddexp, np.power
]  # fmt: skip


@pytest.mark.parametrize("f", UFUNCS)
def test_ufuncs_in_torch_under_transforms(f):
    torch = pytest.importorskip("torch")
    rules_torch = pytest.importorskip("rules_torch")
    g = rules_torch.to_torch(f, host=True, elementwise=True)
    native = getattr(torch, {"power": "pow"}.get(f.__name__, f.__name__))
    xs = [torch.rand(3, 4, dtype=torch.float64) + 0.5 for _ in range(f.nin)]
    tangents = [torch.rand_like(x) for x in xs]

    def both(h):
        argnums = tuple(range(f.nin))
        gradient = torch.func.grad(lambda *xs: h(*xs).sum(), argnums)
        pushed = torch.func.jvp(h, tuple(xs), tuple(tangents))
        return pushed, gradient(*xs), torch.vmap(gradient)(*xs)

    torch.testing.assert_close(both(g), both(native))


def ufuncs_of_floats():
    """Those with a rule that give floats for floats, entry by entry."""
    from rules_numpy._declare.derivative import DECLARED

    ufuncs = {f for f in DECLARED if isinstance(f, np.ufunc) and f.signature is None}
    alike = {f for f in ufuncs if "d" * f.nin + "->d" in f.types}
    return sorted(alike - {np.nextafter}, key=lambda f: f.__name__)


@pytest.mark.parametrize("f", ufuncs_of_floats(), ids=lambda f: f.__name__)
def test_every_ufunc_in_torch_has_its_first_derivative(f):
    """Whatever rule the tensors' class chooses must fit NumPy's arrays too."""
    torch = pytest.importorskip("torch")
    rules_torch = pytest.importorskip("rules_torch")
    g = rules_torch.to_torch(f, host=True, elementwise=True)
    primals = [np.array([1.3, 2.1]), np.array([1.7, 1.2])][: f.nin]
    if f in (np.arcsin, np.arccos, np.arctanh):
        primals = [x / 4.0 for x in primals]
    xs = [torch.tensor(x, requires_grad=True) for x in primals]
    g(*xs).sum().backward()
    for i, x in enumerate(xs):
        step = 1e-6 * np.eye(f.nin)[i]
        up, down = (
            f(*[p + sign * h for p, h in zip(primals, step, strict=True)])
            for sign in (1, -1)
        )
        np.testing.assert_allclose(x.grad, (up - down) / 2e-6, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", [np.copysign, np.heaviside])
def test_a_second_derivative_of_numpy_only_partials_is_refused(f):
    torch = pytest.importorskip("torch")
    rules_torch = pytest.importorskip("rules_torch")
    g = rules_torch.to_torch(f, host=True, elementwise=True)
    message = f"rrule {f.__name__}_partials .* is declared host=True"
    with pytest.raises(NotImplementedError, match=message):
        torch.func.grad(torch.func.grad(g))(torch.tensor(0.5), torch.tensor(0.3))


def test_a_second_derivative_of_generic_partials_is_known():
    torch = pytest.importorskip("torch")
    rules_torch = pytest.importorskip("rules_torch")
    g = rules_torch.to_torch(np.tanh, host=True, elementwise=True)
    x = torch.tensor(0.5, dtype=torch.float64)
    expected = torch.func.grad(torch.func.grad(torch.tanh))(x)
    torch.testing.assert_close(torch.func.grad(torch.func.grad(g))(x), expected)
