"""Systems and determinants in rule bodies have every order in every mixture of modes.

PyTorch's own derivatives of `linalg.solve`, `det` and `slogdet` are wrong where its
forward mode is differentiated.
"""

import re
from pathlib import Path

import jax
import numpy as np
import pytest
import torch
from torch.func import hessian, jacfwd, jacrev

import rules_core as rc
from rules_core.testing import check_rule
from rules_scipy import interpolate, spatial, stats
from rules_scipy.linalg._matrices import solved
from rules_scipy.linalg._systems import cofactors, det, solution

RNG = np.random.default_rng(3)
MATRIX = RNG.normal(size=(3, 3))
SINGULAR = np.outer([1.0, 2.0, 0.0], [3.0, 1.0, 1.0])
POINTS = RNG.normal(size=(7, 2))
CLOUD = RNG.normal(size=(9, 3))
VALUES = np.sin(POINTS).sum(axis=1)
INSIDE = POINTS[:4].mean(axis=0)[None]
SQUARE = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])


def positive(a):
    xp = rc.array_namespace(a)
    return a @ xp.matrix_transpose(a) + xp.eye(a.shape[-1], dtype=a.dtype)


def like(x, a):
    return rc.array_namespace(a).asarray(x)


FUNCTIONS = {
    "solution": (lambda a: solution(a, a[:, :2] ** 2).sum(), MATRIX),
    "solution of a vector": (lambda a: solution(a, a[0]).sum(), MATRIX),
    "solution, broadcast": (
        lambda a: solution(a, like(np.ones((2, 3, 1)), a) * a[:, :1] ** 2).sum(),
        MATRIX,
    ),
    "det": (det, MATRIX),
    "det of one number": (lambda a: (det(a) ** 2).sum(), MATRIX[:1, :1]),
    "det of multiples of one": (lambda s: det(s * like(np.eye(3), s)), np.array(2.0)),
    "det without inverse": (lambda a: det(a) ** 2 + det(a), SINGULAR),
    "ConvexHull.volume": (lambda p: spatial.ConvexHull(p).volume, POINTS),
    "ConvexHull.volume of a square": (lambda p: spatial.ConvexHull(p).volume, SQUARE),
    "ConvexHull.volume, scaled": (
        lambda s: spatial.ConvexHull(s * like(SQUARE, s)).volume,
        np.array(3.0),
    ),
    "ConvexHull.volume in space": (lambda p: spatial.ConvexHull(p).volume, CLOUD),
    "RBFInterpolator": (
        lambda p: interpolate.RBFInterpolator(p, like(VALUES, p))(
            like(INSIDE, p)
        ).sum(),
        POINTS,
    ),
    "RBFInterpolator, smoothing": (
        lambda s: interpolate.RBFInterpolator(
            like(POINTS, s), like(VALUES, s), smoothing=s
        )(like(INSIDE, s)).sum(),
        np.array(0.3),
    ),
    "LinearNDInterpolator": (
        lambda p: interpolate.LinearNDInterpolator(p, like(VALUES, p))(
            like(INSIDE, p)
        ).sum(),
        POINTS,
    ),
    "griddata": (
        lambda p: interpolate.griddata(p, like(VALUES, p), like(INSIDE, p)).sum(),
        POINTS,
    ),
    "multivariate_normal": (
        lambda a: stats.multivariate_normal.logpdf(a[0], a[1], positive(a)),
        MATRIX,
    ),
    "multivariate_t": (
        lambda a: stats.multivariate_t.logpdf(a[0], a[1], positive(a), 4.0),
        MATRIX,
    ),
    "wishart": (
        lambda a: stats.wishart.logpdf(positive(a), 5.0, positive(0.5 * a)),
        MATRIX,
    ),
    "gaussian_kde": (
        lambda p: stats.gaussian_kde(p.T).logpdf(p[:2].T).sum(),
        POINTS,
    ),
}  # fmt: skip
QUICK = {"solution", "det of multiples of one", "ConvexHull.volume of a square"}
MIXTURES = {
    "hessian": hessian,
    "forward, forward": lambda f: jacfwd(jacfwd(f)),
    "reverse, forward": lambda f: jacrev(jacfwd(f)),
    "reverse, reverse": lambda f: jacrev(jacrev(f)),
}


def differences(f, x):
    """Of the first derivatives of JAX, by central steps of two sizes."""
    gradient = jax.grad(lambda flat: f(flat.reshape(x.shape)))

    def slope(step):
        units = np.eye(x.size) * step
        flat = x.reshape(-1)
        pairs = [(gradient(flat + u), gradient(flat - u)) for u in units]
        return np.stack([np.asarray(a - b) / (2 * step) for a, b in pairs], axis=-1)

    h = 2e-4
    return ((4 * slope(h / 2) - slope(h)) / 3).reshape(x.shape * 2)


@pytest.mark.parametrize("mixture", MIXTURES)
@pytest.mark.parametrize(
    "name",
    [x if x in QUICK else pytest.param(x, marks=pytest.mark.full) for x in FUNCTIONS],
)
def test_second_derivatives_in_pytorch(name, mixture):
    f, x = FUNCTIONS[name]
    found = MIXTURES[mixture](f)(torch.tensor(x)).numpy()
    want = differences(f, x)
    np.testing.assert_allclose(found, want, rtol=2e-6, atol=2e-6 * np.abs(want).max())


@pytest.mark.parametrize(
    "name",
    [
        "det of multiples of one",
        *(pytest.param(x, marks=pytest.mark.full) for x in ("solution", "det")),
    ],
)
def test_third_derivatives_in_pytorch(name):
    f, x = FUNCTIONS[name]
    want = np.asarray(jax.jacfwd(jax.hessian(f))(x))
    for third in (
        lambda f: jacfwd(jacfwd(jacfwd(f))),
        lambda f: jacfwd(jacfwd(jacrev(f))),
        lambda f: jacrev(jacfwd(jacrev(f))),
        lambda f: jacrev(jacrev(jacrev(f))),
    ):
        found = third(f)(torch.tensor(x)).numpy()
        np.testing.assert_allclose(found, want, rtol=1e-9, atol=1e-9)


def test_rules():
    stack = RNG.normal(size=(2, 3, 3))
    check_rule(solved, stack, RNG.normal(size=(2, 3, 2)))
    check_rule(det, stack)
    check_rule(det, stack + 1j * stack[::-1])
    found = cofactors(stack) / np.linalg.det(stack)[:, None, None]
    np.testing.assert_allclose(found, np.linalg.inv(stack).transpose(0, 2, 1))


def test_no_rule_uses_those_of_the_framework():
    pack = Path(interpolate.__file__).parents[1]
    assert pack.name == "rules_scipy"
    those = re.compile(
        r"\b(xp|array_namespace\([^)]*\))\.linalg\.(solve|det|slogdet)\b"
    )
    found = {
        str(path.relative_to(pack)): those.findall(path.read_text())
        for path in pack.rglob("*.py")
        if those.search(path.read_text())
    }
    own = {"linalg/_matrices.py", "linalg/_systems.py"}
    of_constants = {"linalg/_special_matrices.py", "spatial/transform/_quaternions.py"}
    assert {*found} == own | of_constants
