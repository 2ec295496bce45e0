"""Derivatives at equal values that LAPACK's own basis would hide: right, or refused.

At a diagonal matrix LAPACK chooses the axes. A function with f(λ) = 0 of which only
entries off the diagonal are wanted then has the cotangents of one that does not use
the block at all, and nobody may take one for the other.
"""

from __future__ import annotations

import array_api_compat.numpy as xp
import numpy as np
import pytest

import rules_autodiff as ad
import rules_core as rc
from tests.packs.numpy.test_ties import (
    by_eig,
    by_eigh,
    by_svd,
    hermitian_part,
    right_modes,
)

ENTRY = np.zeros((3, 3))
ENTRY[0, 1] = 1.0
SKEW = ENTRY - ENTRY.T
PLACES = [np.zeros((3, 3)), np.diag([0.0, 0.0, 3.0]), np.diag([0.0, 0.0, -2.0])]
ANY = np.random.default_rng(8).normal(size=(3, 3))
HIDDEN = {
    "entry": lambda by: by(lambda w: w, ENTRY),
    "sine": lambda by: by(np.sin, ENTRY + ENTRY.T),
    "with a projector": lambda by: (
        lambda a: (
            by(lambda w: w, ENTRY)(a) + by(lambda w: (np.abs(w) < 1.0) * 1.0, ANY)(a)
        )
    ),
}


@pytest.mark.parametrize("a", PLACES)
@pytest.mark.parametrize("name", HIDDEN)
@pytest.mark.parametrize("dtype", [float, complex])
def test_eigh(name, a, dtype):
    g = HIDDEN[name](by_eigh)
    assert right_modes(g, a.astype(dtype), hermitian_part(ENTRY), expected=1.0) == []
    with pytest.raises(rc.UnsupportedError, match="that treats them alike"):
        ad.grad(g)(a.astype(dtype))


@pytest.mark.parametrize("a", PLACES)
@pytest.mark.parametrize("weights", [ENTRY, SKEW, ENTRY + ENTRY.T])
@pytest.mark.parametrize("dtype", [float, complex])
def test_eig(weights, a, dtype):
    g = by_eig(lambda w: w, weights)
    assert right_modes(g, a.astype(dtype), ENTRY, expected=1.0) == []


def test_imaginary_entries():
    """A skew imaginary G has a zero diagonal in every real basis."""

    def g(a):
        w, v = np.linalg.eigh((a + np.conjugate(a.T)) / 2)
        return np.imag(((v * w) @ np.conjugate(v.T))[0, 1])

    with pytest.raises(rc.UnsupportedError, match="that treats them alike"):
        ad.grad(g)(np.zeros((2, 2), complex))


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize(
    "a",
    [
        np.zeros((3, 3)),
        np.diag([3.0, 0.0, 0.0]),
        np.diag([3.0, 0.0, 0.0])[:, :2],
        np.diag([3.0, 2.0, 0.0])[:2],
        np.zeros((4, 3)),
        np.zeros((3, 5)),
        np.zeros((3, 3), complex),
        np.diag([3.0, 2.0, 0.0]).astype(complex),
    ],
)
@pytest.mark.parametrize("full", [False, True])
def test_svd_at_zero(a, full):
    """One entry of U s Vᴴ where no singular vector of LAPACK's points to it."""
    k = min(a.shape)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):

            def entry(a, i=i, j=j):
                u, s, vh = np.linalg.svd(a, full_matrices=full)
                return np.real(((u[:, :k] * s) @ vh[:k])[i, j])

            da = np.zeros_like(a)
            da[i, j] = 1.0
            right_modes(entry, a, da, expected=1.0)


def test_one_zero_of_a_complex_square_matrix():
    """Its two vectors have a phase each; only a function of both would see them."""

    def g(a):
        u, s, vh = np.linalg.svd(a)
        return np.imag(((u * s) @ vh)[1, 1])

    with pytest.raises(rc.UnsupportedError, match="a zero one that moves"):
        ad.grad(g)(np.diag([2.0, 0.0]).astype(complex))


def test_equal_singular_values():
    g = by_svd(lambda s: s - 1.0, ENTRY)
    a = np.diag([1.0, 1.0, 2.0])
    assert right_modes(g, a, ENTRY, expected=1.0) in ([], ["reverse"])
    with pytest.raises(rc.UnsupportedError, match="that treats them alike"):
        ad.grad(by_svd(lambda s: s - 1.0, ENTRY + ENTRY.T))(a)


class TestRight:
    """What must not be refused for the sake of the others."""

    def test_projection_on_the_positive_cone(self):
        """V max(w, 0) Vᴴ where equal values are negative."""
        g = by_eigh(lambda w: np.maximum(w, 0.0), ANY)
        for a in (np.diag([-1.0, -1.0, 2.0]), np.diag([-1.0, -1.0, -1.0])):
            assert "reverse" in right_modes(g, a, hermitian_part(ANY))

    def test_a_trace_where_f_is_zero(self):
        g = by_eigh(lambda w: w, np.eye(3))
        assert "reverse" in right_modes(g, np.zeros((3, 3)), np.diag([1.0, 2.0, 3.0]))

    def test_several_traces_and_projectors_at_once(self):
        def g(a):
            w, v = np.linalg.eigh((a + a.T) / 2)
            inner = v[:, :2] @ v[:, :2].T
            return np.sum(inner * ANY) + np.sum(np.exp(w)) + np.trace((v * w) @ v.T)

        a = np.diag([0.0, 0.0, 3.0])
        assert right_modes(g, a, hermitian_part(ANY)) == ["reverse"]

    @pytest.mark.parametrize("dtype", [float, complex])
    def test_leading_singular_vectors(self, dtype):
        """The rank-1 approximation, whatever the zeros do, of any shape."""
        for shape in ((3, 3), (4, 3), (3, 5)):
            a = np.zeros(shape, dtype)
            a[0, 0] = 3.0
            weights = np.random.default_rng(9).normal(size=shape)

            def g(a, weights=weights):
                u, s, vh = np.linalg.svd(a, full_matrices=False)
                return np.sum(np.real(np.outer(u[:, 0] * s[0], vh[0])) * weights)

            assert right_modes(g, a, weights.astype(dtype)) == ["reverse"]


def test_the_reverse_pass_decomposes_the_same_matrix():
    """Its vectors are others than LAPACK's, and as good."""
    a = np.diag([1.0, 1.0, 2.0])
    (w, v), _ = rc.rrule(np.linalg.eigh, a)
    np.testing.assert_allclose((v * w) @ v.T, a, atol=1e-15)
    np.testing.assert_allclose(v.T @ v, np.eye(3), atol=1e-15)
    assert abs(v[0, 0]) < 0.99
    (w, v), _ = rc.rrule(np.linalg.eig, a)
    np.testing.assert_allclose((v * w) @ np.linalg.inv(v), a, atol=1e-15)
    b = np.zeros((4, 3))
    b[0, 0] = 2.0
    for full in (True, False):
        (u, s, vh), _ = rc.rrule(np.linalg.svd, b, full)
        np.testing.assert_allclose((u[:, :3] * s) @ vh, b, atol=1e-15)
        np.testing.assert_allclose(u.T @ u, np.eye(u.shape[1]), atol=1e-15)


def test_other_vectors_stay_as_lapack_gives_them():
    a = np.diag([1.0, 1.0, 2.0])
    (_, v), _ = rc.rrule(np.linalg.eigh, a)
    np.testing.assert_array_equal(v[:, 2], np.linalg.eigh(a)[1][:, 2])
    b = ANY @ ANY.T
    (_, v), _ = rc.rrule(np.linalg.eigh, b)
    np.testing.assert_array_equal(v, np.linalg.eigh(b)[1])


def test_stacks_turn_only_where_values_are_equal():
    a = np.stack([np.diag([1.0, 2.0, 3.0]), np.eye(3)])
    (_, v), _ = rc.rrule(np.linalg.eigh, a)
    np.testing.assert_array_equal(v[0], np.linalg.eigh(a[0])[1])
    assert np.abs(v[1]).max() < 1.0


def by_wrapper_of_eigh(a):
    w, v = xp.linalg.eigh(a)
    return ((v * w) @ v.T)[0, 1]


def by_wrapper_of_svd(a):
    u, s, vh = xp.linalg.svd(a)
    return ((u * s) @ vh)[0, 1]


def by_wrapper_of_eig(a):
    w, v = xp.linalg.eig(a)
    return np.real((v * w) @ np.linalg.inv(v))[0, 1]


@pytest.mark.parametrize(
    "g", [by_wrapper_of_eigh, by_wrapper_of_svd, by_wrapper_of_eig]
)
def test_wrappers_of_array_api_compat(g):
    """They are lent the rules, with all that these need."""
    with pytest.raises(rc.UnsupportedError, match="at equal values must be wanted"):
        ad.grad(g)(np.diag([0.0, 0.0, 3.0]))


def test_wrappers_keep_their_results():
    a = np.eye(3)
    for f in (xp.linalg.eigh, xp.linalg.svd, xp.linalg.eig):
        assert type(rc.rrule(f, a)[0]) is type(f(a))
