"""Sums, means, variances, products, extremes: every option, every axis."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import rules_core as rc

RNG = np.random.default_rng(1)
A = RNG.uniform(0.5, 1.5, (2, 3, 4))
Z = A + 1j * RNG.uniform(0.5, 1.5, A.shape)
MASK = RNG.uniform(size=A.shape) < 0.6
MASK[:, 0] = True
MASK[:, 1] = True

AXES = [None, 0, (0, 2), (1, -1), ()]
REDUCTIONS = [np.sum, np.mean, np.prod, np.var, np.std, np.max, np.min, np.ptp]
SMOOTH = [np.sum, np.mean, np.prod, np.var, np.std]


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("f", REDUCTIONS)
def test_axes(check, f, axis):
    if axis == () and f in (np.var, np.std, np.ptp):  # the deviations are all zero
        axis = 1
    check(f, A, axis)
    check(f, A, axis, keepdims=True)


@pytest.mark.parametrize("f", SMOOTH)
def test_complex(check, f):
    check(f, Z, 1)
    check(f, Z)


@pytest.mark.parametrize("f", [np.sum, np.mean, np.prod, np.var, np.std])
def test_where(check, f):
    check(f, A, 1, where=MASK)
    check(f, Z, (0, 2), where=MASK)


@pytest.mark.parametrize("f", [np.max, np.min, np.amax, np.amin])
def test_extreme_options(check, f):
    check(f, A, 1, where=MASK, initial=1.0)
    check(f, A, 1, initial=1.01, keepdims=True)
    check(f, A, initial=100.0 if f in (np.max, np.amax) else -100.0)


@pytest.mark.parametrize("f", [np.sum, np.prod])
def test_initial(check, f):
    check(f, A, 0, initial=1.5)
    check(f, A, initial=2.5)
    check(f, Z, (0, 1), initial=1.5 + 0.5j)


@pytest.mark.parametrize("f", [np.var, np.std])
def test_degrees_of_freedom(check, f):
    check(f, A, 1, ddof=1)
    check(f, A, (0, 1), correction=1)
    check(f, A, 2, mean=np.mean(A, axis=2, keepdims=True))


@pytest.mark.parametrize("f", REDUCTIONS)
def test_single_precision_is_kept(check, f):
    check(f, A.astype(np.float32), 1)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("f", REDUCTIONS)
def test_lists_and_numbers(check, f):
    check(f, [1.5, 2.0, 4.0])
    check(f, [[1.5, 2.0], [4.0, 7.0]], 0)
    check(f, A[0].T, 1)


def test_average(check):
    check(np.average, A, 1)
    check(np.average, A, 1, weights=np.array([0.5, 1.0, 2.0]))
    check(np.average, A, weights=A[::-1], returned=True)
    check(np.average, A, (0, 1), weights=A[..., 0], keepdims=True)
    check(np.average, Z, 1, weights=np.array([0.5, 1.0, 2.0]), returned=True)
    check(np.average, A, (2, 0), weights=A[:, 1].T + 0.1)
    check(np.average, A, (-1, 0, 1), weights=np.transpose(A, (2, 0, 1)) ** 2)


@pytest.mark.parametrize(
    ("a", "expected"),
    [([2.0, 0.0, 3.0], [0.0, 6.0, 0.0]), ([0.0, 0.0, 3.0], [0.0, 0.0, 0.0])],
)
def test_product_with_zeros(a, expected):
    _, pullback = rc.rrule(np.prod, np.array(a))
    np.testing.assert_allclose(pullback(1.0)[1], expected)


def test_product_that_underflows():
    a = np.array([1e-5, 1e-10, 1e-15, 1e-20], np.float32)
    _, pullback = rc.rrule(np.prod, a)
    da = pullback(np.float32(1))[1]
    assert da.dtype == np.float32
    np.testing.assert_allclose(da, [1e-45, 1e-40, 1e-35, 1e-30], rtol=1e-6, atol=1e-44)


def test_variance_known():
    a = np.array([1.0, 2.0, 4.0])
    _, pullback = rc.rrule(np.var, a, ddof=1)
    np.testing.assert_allclose(pullback(1.0)[1], [-4 / 3, -1 / 3, 5 / 3])
    _, pullback = rc.rrule(np.std, a, ddof=1)
    known = [-0.43643578, -0.10910895, 0.54554473]
    np.testing.assert_allclose(pullback(1.0)[1], known, atol=5e-9)


def test_deviation_of_equal_entries_is_a_symmetric_kink():
    _, pullback = rc.rrule(np.std, np.full(3, 2.0))
    np.testing.assert_array_equal(pullback(1.0)[1], np.zeros(3))


@pytest.mark.parametrize("f", [np.max, np.min])
def test_ties_share_equally(f):
    _, pullback = rc.rrule(f, np.array([[1.0, 1.0], [1.0, 1.0]]))
    np.testing.assert_array_equal(pullback(1.0)[1], np.full((2, 2), 0.25))
    _, pullback = rc.rrule(f, np.ones(3), initial=1.0)
    np.testing.assert_array_equal(pullback(1.0)[1], np.full(3, 0.25))


def test_output_arguments_are_refused():
    with pytest.raises(rc.UnsupportedError, match="rule sum_derivative for numpy.sum"):
        rc.rrule(np.sum, A, None, None, np.zeros(()))


def test_matrices_and_masked_arrays_are_refused():
    with pytest.raises(rc.UnsupportedError, match="plain arrays"):
        rc.rrule(np.sum, np.ma.masked_array([1.0, 2.0], [True, False]))


@pytest.mark.covering(every=3)
@settings(max_examples=25, deadline=None)
@given(data=st.data(), shape=hnp.array_shapes(max_dims=4, max_side=3))
@pytest.mark.parametrize("f", [np.sum, np.mean, np.prod, np.max])
def test_any_shape_and_axes(f, data, shape):
    """⟨dy, J dx⟩ = ⟨Jᵀ dy, dx⟩ for every shape and every choice of axes."""
    axes = data.draw(st.none() | hnp.valid_tuple_axes(len(shape)))
    keep = data.draw(st.booleans())
    rng = np.random.default_rng(len(shape))
    a, da = rng.normal(size=shape), rng.normal(size=shape)
    y, pullback = rc.rrule(f, a, axis=axes, keepdims=keep)
    tangents = (rc.NoTangent(), da)
    _, dy = rc.frule(tangents, f, a, axis=axes, keepdims=keep)
    seed = rng.normal(size=np.shape(y))
    back = pullback(seed)[1]
    assert back.shape == a.shape
    np.testing.assert_allclose(np.sum(seed * dy), np.sum(back * da), atol=1e-12)
