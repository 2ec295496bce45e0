"""Vectors that the matrix does not determine: both modes raise, or both are right.

Vectors of equal values, of the null space, and phases of complex vectors: what depends
on their choice has no derivative.
"""

from __future__ import annotations

import numpy as np
import pytest

import rules_autodiff as ad
import rules_core as rc

RNG = np.random.default_rng(79)
P, Q, V, W = RNG.normal(size=(4, 3))
TALL, TALLER, WEIGHTS = RNG.normal(size=(3, 5, 3))
TWICE = np.diag([1.0, 1.0, 2.0])
KEEPS = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 2.0], [1.0, 2.0, 0.0]])
SKEW = WEIGHTS[:3] - WEIGHTS[:3].T


def left(a):
    return np.linalg.svd(a)[0]


def right(a):
    return np.linalg.svd(a)[2].T


def eigh(a):
    return np.linalg.eigh(a)[1]


def eig(a):
    return np.linalg.eig(a)[1]


def complex_eigh(a):
    return np.linalg.eigh(a + 1j * SKEW)[1]


def complex_left(a):
    return np.linalg.svd(a + 1j * SKEW)[0]


def outer(decompose):
    return lambda p: decompose(np.outer(p, Q))


# Vectors of a program, its argument and tangent, and a block that is free to turn.
FREE = {
    "left of zeros": (outer(left), P, V, slice(1, 3)),
    "right of zeros": (outer(right), P, V, slice(1, 3)),
    "left of several": (lambda a: left(np.kron(a, np.eye(2))), TALL, TALLER, slice(2)),
    "left null space": (left, TALL, TALLER, slice(3, 5)),
    "right null space": (right, TALL.T, TALLER.T, slice(3, 5)),
    "eigh": (eigh, TWICE, KEEPS, slice(2)),
    "eig": (eig, TWICE, KEEPS, slice(2)),
}
PHASES = {
    "eigh": (complex_eigh, TWICE + KEEPS, KEEPS, slice(1, 2)),
    "svd": (complex_left, TWICE + KEEPS, KEEPS, slice(1, 2)),
    "svd of zeros": (
        lambda p: left(np.outer(p, Q).astype(complex)), P, V, slice(1, 3)
    ),
}  # fmt: skip
ALL = {**FREE, **{f"complex {name}": case for name, case in PHASES.items()}}


def entry(vectors, block):
    def g(x):
        column = vectors(x)[:, block][:, 0]
        return np.sum(np.real(column) * np.arange(1.0, 1.0 + len(column)))

    return g


def projector(vectors, block):
    def g(x):
        v = vectors(x)[:, block]
        weights = np.cos(np.arange(len(v) ** 2.0)).reshape(len(v), -1)
        gram = np.conjugate(v.T) @ v  # of eig the vectors are not orthogonal
        spans = v @ np.linalg.inv(gram) @ np.conjugate(v.T)
        return np.sum(np.real(spans) * (weights + weights.T))

    return g


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("tier", ["auto", "tape"])
def test_what_depends_on_the_choice_raises_in_forward_mode(name, tier):
    vectors, x, dx, block = ALL[name]
    with pytest.raises(ad.UnsupportedProgram, match="does not determine"):
        ad.jvp(entry(vectors, block), (x,), (dx,), tier=tier)


@pytest.mark.parametrize("name", ALL)
def test_what_depends_on_the_choice_raises_in_reverse_mode(name):
    vectors, x, _, block = ALL[name]
    with pytest.raises(rc.UnsupportedError, match="choice|phase"):
        ad.grad(entry(vectors, block))(x)


@pytest.mark.parametrize("name", ALL)
def test_projectors_are_right_in_forward_mode(name):
    vectors, x, dx, block = ALL[name]
    g, h = projector(vectors, block), 1e-6
    exact = (g(x + h * dx) - g(x - h * dx)) / (2 * h)
    if name in ("eigh", "eig"):  # the difference parts the values: by reverse mode
        exact = np.sum(ad.grad(g)(x) * dx)
    assert ad.jvp(g, (x,), (dx,))[1] == pytest.approx(exact, rel=1e-6, abs=1e-8)


def test_the_program_writes_to_its_arguments_once():
    """The pass is repeated, and taken back before."""

    def g(p, total):
        u = left(np.outer(p, Q))[:, 1:]
        total += np.sum(u @ u.T)
        return total.sum()

    total, expected = np.zeros(1), np.zeros(1)
    g(P, expected)
    ad.jvp(g, (P, total), (V, np.zeros(1)))
    np.testing.assert_allclose(total, expected)


def test_a_rule_called_alone_gives_nan():
    """There the program is out of sight: NaN of the free vectors, and no others."""
    tangents = (rc.NoTangent(), np.outer(V, Q))
    _, (du, ds, dvh) = rc.frule(tangents, np.linalg.svd, np.outer(P, Q))
    assert np.isnan(du[:, 1:]).all()
    assert np.isnan(dvh[1:]).all()
    assert np.isfinite([*ds, *du[:, 0], *dvh[0]]).all()
    _, (dw, dv) = rc.frule((rc.NoTangent(), KEEPS), np.linalg.eigh, TWICE)
    assert np.isnan(dv[:, :2]).all()
    assert np.isfinite([*dw, *dv[:, 2]]).all()


def test_jax_and_torch_give_nan_in_forward_mode():
    jax = pytest.importorskip("jax")
    torch = pytest.importorskip("torch")
    rules_jax = pytest.importorskip("rules_jax")
    rules_torch = pytest.importorskip("rules_torch")
    named = type(np.linalg.eigh(np.eye(1)))
    kinds = named(*[jax.ShapeDtypeStruct(s, float) for s in ((3,), (3, 3))])
    f = rules_jax.to_jax(np.linalg.eigh, host=True, out=lambda a, uplo: kinds)
    for wrapped in (f, jax.jit(lambda a: f(a))):
        _, (dw, dv) = jax.jvp(wrapped, (TWICE,), (KEEPS,))
        assert np.isnan(dv[:, :2]).all()
        assert np.isfinite([*dw, *dv[:, 2]]).all()
    g = rules_torch.to_torch(np.linalg.eigh, host=True)
    _, (dw, dv) = torch.func.jvp(g, (torch.tensor(TWICE),), (torch.tensor(KEEPS),))
    assert np.isnan(dv[:, :2].numpy()).all()
    assert np.isfinite([*dw, *dv[:, 2]]).all()
