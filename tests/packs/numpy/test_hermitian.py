"""`hermitian=True`, which reads the lower triangle: `pinv`, `svd`."""

from __future__ import annotations

import numpy as np
import pytest

import rules_autodiff as ad
import rules_core as rc

RNG = np.random.default_rng(17)
REAL = RNG.normal(size=(3, 3))
COMPLEX = REAL + 1j * RNG.normal(size=(3, 3))
LOW = np.outer([1.0, 2.0, -1.0], [1.0, 2.0, -1.0]) + np.diag([0.0, 0.0, 3.0])
W = RNG.normal(size=(3, 3))


@pytest.mark.parametrize("a", [REAL, COMPLEX, np.stack([REAL, REAL.T])])
def test_pinv(check, a):
    """Of any matrix: what stands above the diagonal is not read."""
    check(np.linalg.pinv, a, hermitian=True)


@pytest.mark.parametrize("a", [REAL, COMPLEX])
def test_singular_values(check, a):
    check(np.linalg.svd, a, compute_uv=False, hermitian=True)


def by_svd(a, hermitian):
    u, s, vh = np.linalg.svd(a, hermitian=hermitian)
    leading = np.real(np.outer(u[:, 0], np.conjugate(u[:, 0])))
    return np.sum(W * np.real((u * np.exp(s)) @ vh)) + np.sum(W * leading) + s[1]


def lower(a):
    below = np.tril(a, -1)
    return below + np.conjugate(below.T) + np.diag(np.real(np.diag(a)))


@pytest.mark.parametrize("a", [REAL, COMPLEX])
def test_svd(a):
    """Against that of the whole matrix by the usual way; both modes."""
    found = ad.grad(lambda a: by_svd(a, hermitian=True))(a)
    expected = ad.grad(lambda a: by_svd(lower(a), hermitian=False))(a)
    np.testing.assert_allclose(found, expected, atol=1e-11)
    h, da = 1e-6, W + (1j * W.T if np.iscomplexobj(a) else 0.0)
    ends = [by_svd(a + t * da, hermitian=True) for t in (h, -h)]
    _, slope = ad.jvp(lambda a: by_svd(a, hermitian=True), (a,), (da,))
    assert slope == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-6)
    assert np.sum(np.real(np.conjugate(found) * da)) == pytest.approx(slope, rel=1e-9)


def test_opposite_eigenvalues_are_equal_singular_values():
    a = np.diag([2.0, -2.0, 1.0])
    g = ad.grad(lambda a: np.sum(np.linalg.svd(a, hermitian=True)[1] ** 2))
    np.testing.assert_allclose(g(a), 2 * a, atol=1e-14)
    with pytest.raises(rc.UnsupportedError, match="at equal values must be wanted"):
        ad.jvp(lambda a: by_svd(a, hermitian=True), (a,), (W,))


def test_a_zero_is_refused():
    """Its right vector is zero: NumPy has no sign for it."""
    a = np.diag([2.0, 1.0, 0.0])
    with pytest.raises(rc.UnsupportedError, match="where no singular value is zero"):
        rc.rrule(np.linalg.svd, a, hermitian=True)
    values = ad.grad(lambda a: np.sum(np.linalg.svd(a, True, False, True)))(a)
    np.testing.assert_allclose(values, np.diag([1.0, 1.0, 0.0]), atol=1e-15)


def test_pinv_without_full_rank():
    """Along tangents that keep the rank, as the general one."""
    one = ad.grad(lambda a: np.sum(W * np.linalg.pinv(a, 1e-9, True)))(LOW)
    two = ad.grad(lambda a: np.sum(W * np.linalg.pinv(lower(a), 1e-9)))(LOW)
    np.testing.assert_allclose(one, two, atol=1e-11)
