"""Equal values in JAX where nothing uses the vectors: right, whatever these are."""

from __future__ import annotations

import numpy as np
import pytest

import rules_core as rc
from tests.packs.numpy.test_ties_hosts import entry, inner, leading

jax = pytest.importorskip("jax")
rules_jax = pytest.importorskip("rules_jax")
jnp = jax.numpy

Q, P = np.linalg.qr(np.random.default_rng(1).normal(size=(2, 4, 4)))[0]
W = np.random.default_rng(0).normal(size=(4, 4))
APART = W @ W.T
EQUAL = Q @ np.diag([1.0, 1.0, 3.0, 3.0]) @ Q.T
EQUAL = (EQUAL + EQUAL.T) / 2
# Not symmetric, and yet with independent vectors.
SLANTED = np.diag([1.0, 1.0, 3.0, 4.0])
SLANTED[:2, 2:] = [[1.0, -0.5], [2.0, 0.3]]
STRETCHED = Q @ np.diag([2.0, 2.0, 0.5, 0.3]) @ P.T
FLAT = Q[:, :2] @ P[:, :2].T


def like(*shapes):
    """The promise of a function whose results have the shapes of these axes."""

    def out(a, *_options):
        sizes = [tuple(a.shape[i] for i in axes) for axes in shapes]
        return tuple(jax.ShapeDtypeStruct(size, a.dtype) for size in sizes)

    return out


def in_jax(f):
    sides = [[-1], [-2, -1]] if f is not np.linalg.svd else [[-2, -2], [-1], [-1, -1]]
    return rules_jax.to_jax(f, host=True, out=like(*sides))


EIGH, EIG, SVD = map(in_jax, (np.linalg.eigh, np.linalg.eig, np.linalg.svd))


def eigh(a):
    return EIGH((a + a.T) / 2)


def product(parts):
    u, s, vh = parts
    return (u * s) @ vh


def weighted(parts, at):
    """The sum of one part; the others are used, with weight zero."""
    return sum(x.sum() * float(i == at) for i, x in enumerate(parts))


def cubes(values):
    return (values**3).sum()


# The function, the matrix, and the gradient of a polynomial of the values.
RIGHT = {
    "eigh": (lambda a: cubes(eigh(a)[0]), EQUAL, 3 * EQUAL @ EQUAL),
    "eigh-one": (lambda a: cubes(eigh(a)[0]), np.eye(4), 3 * np.eye(4)),
    "eigh-zero": (lambda a: eigh(a)[0].sum(), np.zeros((4, 4)), np.eye(4)),
    "eig": (lambda a: cubes(EIG(a)[0]), SLANTED, 3 * (SLANTED @ SLANTED).T),
    "svd": (lambda a: (SVD(a)[1] ** 2).sum(), STRETCHED, 2 * STRETCHED),
    "svd-fourth": (
        lambda a: (SVD(a)[1] ** 4).sum(),
        STRETCHED,
        4 * STRETCHED @ STRETCHED.T @ STRETCHED,
    ),
    "svd-flat": (lambda a: (SVD(a)[1] ** 2).sum(), FLAT, 2 * FLAT),
}
CONTEXTS = {
    "grad": jax.grad,
    "jit(grad)": lambda g: jax.jit(jax.grad(g)),
    "grad(jit)": lambda g: jax.grad(jax.jit(g)),
    "grad(checkpoint)": lambda g: jax.grad(jax.checkpoint(g)),
    "vmap(grad)": lambda g: lambda a: jax.vmap(jax.grad(g))(jnp.stack([APART, a]))[1],
    "grad(vmap)": lambda g: jax.grad(lambda a: jax.vmap(g)(jnp.stack([APART, a]))[1]),
}


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("context", CONTEXTS.values(), ids=CONTEXTS)
@pytest.mark.parametrize("case", RIGHT)
def test_right_of_values_alone(case, context):
    g, a, expected = RIGHT[case]
    found = context(g)(jnp.asarray(a))
    np.testing.assert_allclose(found, expected, atol=1e-10)


# Vectors that are used though their cotangent is zero, or what has no derivative.
WRONG = {
    "leading": (lambda a: leading(eigh, W)(a), EQUAL, "function's own"),
    "inner": (lambda a: inner(eigh, W)(a), EQUAL, "function's own"),
    "entry": (lambda a: entry(eigh, W)(a), np.zeros((4, 4)), "function's own"),
    "eigh": (lambda a: weighted(eigh(a), 0), EQUAL, "function's own"),
    "eig": (lambda a: weighted(EIG(a), 0), SLANTED, "function's own"),
    "svd": (lambda a: weighted(SVD(a), 1), STRETCHED, "function's own"),
    "product": (lambda a: product(SVD(a))[0, 1], FLAT, "function's own"),
    "least": (lambda a: eigh(a)[0][0], EQUAL, "treats them alike"),
    "first of eig": (lambda a: EIG(a)[0][0], SLANTED, "treats them alike"),
    "norm": (lambda a: SVD(a)[1][0], STRETCHED, "treats them alike"),
    "nuclear": (lambda a: SVD(a)[1].sum(), FLAT, "treats them alike"),
}


@pytest.mark.covering(every=6)
@pytest.mark.parametrize(
    "name", ["grad", "jit(grad)", "grad(checkpoint)", "vmap(grad)"]
)
@pytest.mark.parametrize("case", WRONG)
def test_refused(case, name):
    (g, a, match), context = WRONG[case], CONTEXTS[name]
    with pytest.raises(Exception, match=match) as error:
        jax.block_until_ready(context(g)(jnp.asarray(a)))
    assert "UnsupportedError" in f"{error.type} {error.value}"


def test_zeros_that_are_given_count_as_used():
    """`jax.vjp` takes arrays: nobody can know where these zeros come from."""
    (w, v), pull = jax.vjp(EIGH, jnp.asarray(EQUAL))
    with pytest.raises(rc.UnsupportedError, match="function's own"):
        pull((jnp.ones_like(w), jnp.zeros_like(v)))


@pytest.mark.parametrize("a", [APART, STRETCHED, FLAT])
def test_svd_without_vectors(a):
    """It has one right value, which the rule does not choose."""

    def out(a, *_options):
        return jax.ShapeDtypeStruct(a.shape[-1:], a.dtype)

    svd = rules_jax.to_jax(np.linalg.svd, host=True, out=out)
    found = jax.grad(lambda a: (svd(a, True, False) ** 2).sum())(jnp.asarray(a))
    np.testing.assert_allclose(found, 2 * a, atol=1e-10)
