"""Sorting, quantiles, and reductions that leave NaN out."""

from __future__ import annotations

import numpy as np
import pytest

import rules_core as rc

RNG = np.random.default_rng(8)
M = RNG.permutation(np.arange(12.0)).reshape(3, 4) / 3 + RNG.uniform(0, 0.1, (3, 4))
Z = M + 1j * RNG.normal(size=M.shape)
HOLES = M.copy()
HOLES[[0, 1, 1], [1, 0, 3]] = np.nan


@pytest.mark.parametrize("axis", [-1, 0, None])
def test_sort(check, axis):
    check(np.sort, M, axis)
    check(np.sort, Z, axis)
    check(np.partition, M, 1, axis)


def test_sort_complex(check):
    check(np.sort_complex, M)
    check(np.sort_complex, Z)


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.covering(strength=1)
def test_median(check, axis, keepdims):
    check(np.median, M, axis, keepdims=keepdims)
    check(np.median, M[:, :3], axis, keepdims=keepdims)


METHODS = ["linear", "weibull", "lower", "midpoint"]
MORE_METHODS = [
    "hazen", "median_unbiased", "normal_unbiased", "interpolated_inverted_cdf",
    "higher", "nearest",
]  # fmt: skip


@pytest.mark.nightly
@pytest.mark.parametrize("method", MORE_METHODS)
def test_more_quantiles(check, method):
    test_quantile(check, method)


@pytest.mark.parametrize("method", METHODS)
def test_quantile(check, method):
    check(np.quantile, M, 0.37, method=method)
    check(np.quantile, M, np.array([[0.1, 0.45], [0.78, 0.7]]), 1, method=method)
    check(np.percentile, M, [13.0, 77.0], 0, keepdims=True, method=method)


@pytest.mark.parametrize(
    "method", ["inverted_cdf", "averaged_inverted_cdf", "closest_observation"]
)
def test_quantiles_that_are_entries(check, method):
    check(np.quantile, M, 0.37, 1, method=method)
    check(np.quantile, M, np.array([0.1, 0.45]), method=method, keepdims=True)


STEPS = [
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "lower", "higher",
    "nearest", "midpoint",
]  # fmt: skip


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("f", [np.quantile, np.nanpercentile])
@pytest.mark.parametrize("method", STEPS)
def test_steps_at_whole_positions(method, f):
    """At q (n - 1) or q n whole, where rounding decides which entry is meant."""
    for n in (4, 5, 6, 7, 11):
        a = np.random.default_rng(n).normal(size=(n, 2))
        levels = np.arange(n + 1) / n, np.arange(n) / (n - 1), np.arange(11) / 10
        for q in levels:
            scale = 100.0 if f is np.nanpercentile else 1.0
            move_numbers(f, a, q * scale, 0, method=method)


def test_midway_between_equal_neighbours():
    """Both are the mean; equal entries share."""
    a = np.array([1.0, 2.0, 2.0, 5.0])
    _, pullback = rc.rrule(np.quantile, a, 0.5, method="averaged_inverted_cdf")
    np.testing.assert_allclose(pullback(1.0)[1], [0.0, 0.5, 0.5, 0.0])
    _, pullback = rc.rrule(np.quantile, a, 0.25, method="averaged_inverted_cdf")
    np.testing.assert_allclose(pullback(1.0)[1], [0.5, 0.25, 0.25, 0.0])


def test_weighted_quantiles(check):
    weights = np.arange(1, M.size + 1).reshape(M.shape)
    check(np.quantile, M, 0.4, method="inverted_cdf", weights=weights)


def test_unknown_methods_are_refused_by_numpy():
    with pytest.raises(ValueError, match="'none' is not a valid method"):
        rc.rrule(np.quantile, M, 0.3, method="none")


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value")
@pytest.mark.parametrize("f", [np.median, np.nanmedian])
def test_medians_of_nothing(f):
    _, pullback = rc.rrule(f, np.zeros(0))
    assert isinstance(pullback(1.0)[1], rc.AbstractZero)


def test_equal_entries_share_the_median():
    _, pullback = rc.rrule(np.median, np.array([1.0, 2.0, 2.0]))
    np.testing.assert_allclose(pullback(1.0)[1], [0.0, 0.5, 0.5])


def move_numbers(f, a, *args, **kw):
    """⟨dy, J da⟩ = ⟨Jᵀ dy, da⟩ and central differences, moving the numbers only."""
    rng = np.random.default_rng(1)
    da = np.where(np.isnan(a), 0.0, rng.normal(size=a.shape))
    y, pullback = rc.rrule(f, a, *args, **kw)
    tangents = (rc.NoTangent(), da, *(rc.NoTangent() for _ in args))
    _, ahead = rc.frule(tangents, f, a, *args, **kw)
    h = 1e-6
    by_differences = (f(a + h * da, *args, **kw) - f(a - h * da, *args, **kw)) / (2 * h)
    np.testing.assert_allclose(ahead, by_differences, rtol=1e-7, atol=1e-8)
    dy = rng.normal(size=np.shape(y))
    back = pullback(dy)[1]
    assert not np.any(back[np.isnan(a)])
    np.testing.assert_allclose(np.sum(dy * ahead), np.nansum(back * da))


NAN_FUNCTIONS = [
    np.nansum, np.nanprod, np.nanmax, np.nanmin, np.nanmean, np.nanvar, np.nanstd,
    np.nanmedian,
]  # fmt: skip


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("f", NAN_FUNCTIONS)
def test_nan_is_left_out(f, axis):
    move_numbers(f, HOLES, axis)
    move_numbers(f, HOLES, axis, keepdims=True)


@pytest.mark.parametrize("f", [np.nancumsum, np.nancumprod])
def test_cumulative_without_nan(f):
    move_numbers(f, HOLES)
    move_numbers(f, HOLES, 1)


@pytest.mark.parametrize("f", [*NAN_FUNCTIONS, np.nancumsum, np.nancumprod])
def test_without_any_nan(check, f):
    check(f, M, 1)


def test_nan_quantiles():
    move_numbers(np.nanquantile, HOLES, 0.3, 1)
    move_numbers(np.nanpercentile, HOLES, np.array([20.0, 70.0]), 0)


def test_quantiles_of_arrays_without_nan(check):
    check(np.nanquantile, M, 0.3, 1)
    check(np.nanpercentile, M, np.array([20.0, 70.0]), 0, keepdims=True)
