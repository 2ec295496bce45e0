"""First derivatives in single precision, and of arrays in two precisions at once."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from rules_scipy import linalg, optimize, spatial

from . import spatial_cases
from .frameworks import opened
from .linalg_cases import cases

# Eigenvectors and the like of single precision are compared where they are determined.
TOLERANCE = 3e-2


def of_linalg(name):
    f, args, options = cases()[name]
    arrays, form = opened(args)
    return lambda *xs: f(*form(xs), **options), arrays


def of_spatial(name):
    f, args = spatial_cases.CASES[name]
    return lambda *xs: f(spatial, *xs), args


RNG = np.random.default_rng(4)
TALL, SIDE = RNG.uniform(0.1, 1.1, size=(4, 2)), np.ones(4)
SMALL, COSTS = np.array([1.1, 0.4]), np.array([-1.0, -2.0])


def quadratic(x, a):
    return ((x - a) ** 2).sum() + 0.1 * x[0] * x[1]


def scaled(x, a):
    return a[0] * x**3 + x - 2.0 * a[1]


def curve(x, a, b):
    return a * x + b * x**2


OPTIMA = {
    "nnls": (lambda a, b: optimize.nnls(a, b), (TALL, SIDE)),
    "lsq_linear": (lambda a, b: optimize.lsq_linear(a, b, (0, 0.6)).x, (TALL, SIDE)),
    "linprog": (
        lambda c, b: optimize.linprog(c, [[1.0, 1.0]], b, bounds=(0, 3)).x,
        (COSTS, np.array([4.0])),
    ),
    "linprog value": (
        lambda c, b: optimize.linprog(c, [[1.0, 1.0]], b, bounds=(0, 3)).fun,
        (COSTS, np.array([4.0])),
    ),
    "milp": (lambda c: optimize.milp(c, bounds=((0, 0), (2, 3))).fun, (COSTS,)),
    "minimize": (
        lambda a: optimize.minimize(quadratic, a * 0.0, args=(a,)).x, (SMALL,)
    ),
    "minimize value": (
        lambda a: optimize.minimize(quadratic, a * 0.0, args=(a,)).fun, (SMALL,)
    ),
    "minimize in bounds": (
        lambda a: optimize.minimize(
            quadratic, a * 0.0, args=(a,), bounds=[(0, 0.5), (0, 2)]
        ).x,
        (SMALL,),
    ),
    "root": (
        lambda a: optimize.root(lambda x, a: a * x - 1.0, a * 0.0, args=(a,)).x,
        (SMALL,),
    ),
    "brentq": (lambda a: optimize.brentq(scaled, 0.0, 3.0, args=(a,)), (SMALL,)),
    "root_scalar": (
        lambda a: optimize.root_scalar(scaled, args=(a,), bracket=(0.0, 3.0)).root,
        (SMALL,),
    ),
    "minimize_scalar": (
        lambda a: optimize.minimize_scalar(
            lambda x, a: (x - a[0]) ** 2 + a[1] * x, args=(a,)
        ).x,
        (SMALL,),
    ),
    "least_squares": (
        lambda a: optimize.least_squares(lambda x, a: a * x - 1.0, a * 0.0 + 0.5,
                                         args=(a,)).x,
        (SMALL,),
    ),
    "curve_fit": (
        lambda y: optimize.curve_fit(curve, np.arange(1.0, 5.0), y)[0], (TALL[:, 0],)
    ),
    "isotonic_regression": (lambda y: optimize.isotonic_regression(y).x, (SIDE,)),
    "linear_sum_assignment": (
        lambda c: c[optimize.linear_sum_assignment(c)], (TALL,)
    ),
}  # fmt: skip

CALLS = {
    **{f"linalg {name}": (of_linalg, name) for name in cases()},
    **{f"spatial {name}": (of_spatial, name) for name in spatial_cases.CASES
       if name not in spatial_cases.NUMPY_ONLY},
    **{f"optimize {name}": (OPTIMA.get, name) for name in OPTIMA},
}  # fmt: skip


def loss_of(f, weighted):
    def loss(*xs):
        y, total = f(*xs), 0.0
        for i, part in enumerate(y if isinstance(y, tuple | list) else (y,)):
            kind = str(getattr(part, "dtype", "int"))
            if "float" not in kind and "complex" not in kind:
                continue
            rng = np.random.default_rng(i)
            halves = [part.real, part.imag] if "complex" in kind else [part]
            for half in halves:
                total = total + weighted(half, rng.normal(size=tuple(half.shape)))
        return total

    return loss


class Jax:
    def derivatives(self, f, xs):
        """Those of all arguments, along these, and the value."""
        xs = tuple(map(jnp.asarray, xs))
        loss = loss_of(f, lambda x, w: (x * jnp.asarray(w, x.dtype)).sum())
        g = jax.jit(jax.grad(loss, tuple(range(len(xs)))))(*xs)
        assert [z.dtype for z in g] == [x.dtype for x in xs]
        return [*map(np.asarray, (*g, *reversed(jax.jvp(loss, xs, xs))))]


class Torch:
    def derivatives(self, f, xs):
        xs = tuple(torch.tensor(np.array(x)) for x in xs)
        loss = loss_of(f, lambda x, w: (x * torch.tensor(w, dtype=x.dtype)).sum())
        g = torch.func.grad(loss, tuple(range(len(xs))))(*xs)
        assert [z.dtype for z in g] == [x.dtype for x in xs]
        both = reversed(torch.func.jvp(loss, xs, xs))
        return [z.resolve_conj().numpy() for z in (*g, *both)]


HOSTS = {"jax": Jax, "torch": Torch}
# JAX mixes precisions itself, and takes long to compile.
IN_TURN = [pytest.param("jax", marks=pytest.mark.full), "torch"]


def single(x):
    return np.asarray(x, np.complex64 if np.iscomplexobj(x) else np.float32)


def assert_near(found, expected):
    for x, y in zip(found, expected, strict=True):
        size = max(1.0, float(np.max(np.abs(y), initial=0.0)))
        np.testing.assert_allclose(x, y, rtol=0, atol=TOLERANCE * size)


@pytest.mark.covering(every=41)
@pytest.mark.filterwarnings("ignore:scipy.linalg.ldl", "ignore:logm result may")
@pytest.mark.parametrize("host", IN_TURN)
@pytest.mark.parametrize("name", CALLS)
def test_single_precision_is_like_double(name, host):
    make, own = CALLS[name]
    f, xs = make(own)
    check(host, f, xs, [single(x) for x in xs])


def check(host, f, doubles, others):
    """Those of `others` are near those of `doubles`, if the values are."""
    *expected, value = HOSTS[host]().derivatives(f, doubles)
    *found, own = HOSTS[host]().derivatives(f, others)
    if abs(own - value) > 1e-3 * max(1.0, abs(value)):
        pytest.skip("SciPy chooses other vectors, or another order")
    assert_near(found, expected)


def pairs():
    """Functions of linalg of two arrays, in which SciPy takes two precisions."""
    rng = np.random.default_rng(6)
    a, b = rng.normal(size=(3, 3)) + 4.0 * np.eye(3), rng.normal(size=3)
    even = a + a.T + 4.0 * np.eye(3)
    column, tall = np.array([4.0, 1.0, 0.5]), rng.normal(size=(4, 2))
    stack, several = np.stack([a, even]), rng.normal(size=(2, 3, 2))
    return {
        "solve": (linalg.solve, a, b),
        "solve sym": (lambda a, b: linalg.solve(a, b, assume_a="sym"), even, b),
        "solve pos": (lambda a, b: linalg.solve(a, b, assume_a="pos"), even, b),
        "solve stacks": (linalg.solve, stack, several),
        "solve_triangular": (linalg.solve_triangular, a, b),
        "solve_banded": (lambda a, b: linalg.solve_banded((1, 1), a, b), a, b),
        "cho_solve": (lambda a, b: linalg.cho_solve((a, True), b), a, b),
        "lstsq": (lambda a, b: linalg.lstsq(a, b)[0], tall, rng.normal(size=4)),
        "toeplitz product": (linalg.matmul_toeplitz, column, b),
        "solve_toeplitz": (linalg.solve_toeplitz, column, b),
        "solve_circulant": (linalg.solve_circulant, column, b),
        "lyapunov": (linalg.solve_continuous_lyapunov, a, even),
        "discrete lyapunov": (linalg.solve_discrete_lyapunov, a / 20.0, even),
        "sylvester": (lambda a, q: linalg.solve_sylvester(a, a, q), a, even),
        "procrustes": (linalg.orthogonal_procrustes, a, even),
        "subspace_angles": (linalg.subspace_angles, tall, rng.normal(size=(4, 2))),
        "eigh": (lambda a, b: linalg.eigvalsh(a, b), even, a @ a.T),
        "riccati": (
            lambda a, q: linalg.solve_continuous_are(a, np.eye(3), q, np.eye(3)),
            a, even,
        ),
    }  # fmt: skip


PAIRS = pairs()


@pytest.mark.covering(every=5)
@pytest.mark.parametrize("narrow", [0, 1])
@pytest.mark.parametrize("host", IN_TURN)
@pytest.mark.parametrize("name", PAIRS)
def test_arrays_in_two_precisions(name, host, narrow):
    f, *xs = PAIRS[name]
    others = [single(x) if i == narrow else x for i, x in enumerate(xs)]
    check(host, f, xs, others)


def test_half_precision():
    def loss(x):
        return linalg.expm(x).sum()

    x = torch.tensor([[0.5, 0.25], [0.0, 0.5]])
    half = torch.func.grad(loss)(x.half())
    assert half.dtype == torch.float16
    torch.testing.assert_close(
        half.float(), torch.func.grad(loss)(x), rtol=1e-2, atol=0
    )
    _, moved = torch.func.jvp(loss, (x.half(),), (x.half(),))
    _, known = torch.func.jvp(loss, (x,), (x,))
    torch.testing.assert_close(moved.float(), known, rtol=1e-2, atol=0)
