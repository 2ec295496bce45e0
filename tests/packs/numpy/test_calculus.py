"""Interpolation, integrals, differences, signals, polynomials, statistics, ranges."""

from __future__ import annotations

from operator import itemgetter

import numpy as np
import pytest

import rules_core as rc

RNG = np.random.default_rng(9)
V = RNG.normal(size=5)
M = RNG.normal(size=(3, 5))
Z = M + 1j * RNG.normal(size=M.shape)
NODES = np.array([0.0, 0.7, 1.1, 2.0, 3.1])
STEPS = np.array([-3, -1, 0, 1, 4])
AT = np.array([[-0.5, 0.3, 1.0], [1.7, 2.9, 3.6]])

CALLS = [
    (np.interp, (AT, NODES, V)),
    (np.interp, (AT, NODES, V, 0.5, -0.5)),
    (np.interp, (0.9, NODES, V)),
    (np.interp, (AT, NODES, Z[0])),
    (np.interp, (AT, NODES[::-1] + 0.95, V, None, None, 3.9)),
    (np.trapezoid, (M,)),
    (np.trapezoid, (M, NODES)),
    (np.trapezoid, (Z, M, 1.0, 0)),
    (np.trapezoid, (M, None, 0.3, 0)),
    (np.trapezoid, (M, None, NODES[1:])),
    (np.trapezoid, (Z, None, M[1:] ** 2, 0)),
    (np.unwrap, (np.array([0.1, 3.0, 6.5, 9.0, -1.0]),)),
    (np.gradient, (M,)),
    (np.gradient, (V, 2)),
    (np.convolve, (V, M[0, :3])),
    (np.convolve, (M[0, :2], V, "same")),
    (np.convolve, (V, Z[0, :3], "valid")),
    (np.convolve, (Z[0, :2], Z[1], "valid")),
    (np.correlate, (V, M[0, :3], "full")),
    (np.correlate, (Z[0, :2], Z[1], "same")),
    (np.correlate, (Z[0], Z[1, :2])),
    (np.correlate, (Z[0, :3], Z[1], "full")),
    (np.polyval, (V, M)),
    (np.polyval, (Z[0], Z[1])),
    (np.polyval, (V, 0.5)),
    (np.polyval, (M, 0.5)),
    (np.polyval, (M[:, :2], V[:2])),
    (np.polyval, (M[:, :1], V)),
    (np.polyval, (M[:1, :2], M[:, :1])),
    (np.polyadd, (V, M[0, :3])),
    (np.polysub, (M[0, :3], V)),
    (np.polymul, (V, M[0, :3])),
    (np.polyder, (V, 2)),
    (np.polyint, (V,)),
    (np.polyint, (V, 2, np.array([0.5, 1.5]))),
    (np.polyfit, (NODES, V, 2)),
    (np.polyfit, (NODES, M.T, 1)),
    (np.poly, (V,)),
    (np.roots, (np.array([1.0, -6.0, 10.5, -5.0]),)),
    (np.polydiv, (V, M[0, :3])),
    (np.polydiv, (Z[0], Z[1, :2])),
    (np.polydiv, (V, M[0, :1])),
    (np.polydiv, (M[0, :3], V)),
    (np.polydiv, (1.3, 2.0)),
    (np.polydiv, (V, 2.0)),
    (np.polymul, (1.3, V)),
    (np.polymul, (V[:0], M[0, :3])),
    (np.ediff1d, (V[:0],)),
    (np.ediff1d, (V[:0], 1.0, 2.0)),
    (np.ediff1d, (V[:1],)),
    (np.linalg.multi_dot, ([1.3, 2.0],)),
    (np.linalg.multi_dot, ([V, 2.0],)),
    (np.repeat, (1.3, 3)),
    (np.tile, (1.3, 3)),
    (np.resize, (1.3, 3)),
    (np.diagflat, (1.3,)),
    (np.median, (1.3,)),
    (np.percentile, (1.3, 30.0)),
    (np.histogram, (V, 3)),
    (np.histogram, (M, 4, None, True, np.abs(M))),
    (np.histogram, (M, NODES - 1.3, None, True, np.abs(M))),
    (np.histogram, (M, NODES - 1.3)),
    (np.histogram, (M, 3, (-0.8, 1.2), None, Z.real)),
    (np.histogram_bin_edges, (M, 3)),
    (np.histogram2d, (M[0], M[1], 3, None, True, np.abs(V))),
    (np.histogram2d, (M[0], M[1], [2, STEPS], None, None, V)),
    (np.histogram2d, (M[0], M[1], 4, [[-1, 1], [-2, 2]], True)),
    (np.histogramdd, (M.T, 2, None, True, np.abs(V))),
    (np.histogramdd, (M.T, [2, STEPS, 3], None, None, V)),
    (np.histogramdd, ([V, M[0]], 3)),
    (np.histogramdd, (V, 3, None, True)),
    (np.vander, (V,)),
    (np.vander, (Z[0], 3, True)),
    (np.cov, (M,)),
    (np.cov, (Z,)),
    (np.cov, (M, M[:1] ** 2, True, True)),
    (np.cov, (V,)),
    (np.cov, (M, None, False)),
    (np.corrcoef, (M,)),
    (np.corrcoef, (Z, M)),
    (np.corrcoef, (V, M[0])),
    (np.bincount, (np.array([0, 2, 2, 1, 5]), V)),
    (np.round, (M,)),
    (np.linspace, (0.5, 2.0, 7)),
    (np.linspace, (V, 1.5, 4, False)),
    (np.linspace, (0.5, V, 4, True, True, None, -1)),
    (np.logspace, (0.5, 1.2, 4)),
    (np.logspace, (V, 0.5, 3, True, 2.5)),
    (np.geomspace, (0.5, 8.0, 4)),
    (np.geomspace, (np.abs(V), 2.0, 4, False)),
    (np.full, ((2, 3), 1.5)),
    (np.full, ((3, 5), V)),
    (np.full_like, (M, 1.5)),
    (np.zeros_like, (M,)),
    (np.array, ([1.5, [2.0][0], 3.0],)),
    (np.array, ([V, [1.0, 2.0, 3.0, 4.0, 5.0]],)),
    (np.asarray, (M,)),
    (np.asarray, (1.5,)),
    (np.array, ([[1.0, 2], [3.0, 4]],)),
    (np.astype, (M, np.dtype("complex128"))),
    (np.float32, (1.5,)),
    (np.complex128, (1.5,)),
    (np.real_if_close, (M + 0j,)),
    (np.unique, (M,)),
    (np.unique, (M[:, 0], True, True, True)),
    (np.union1d, (V, M[0])),
    (np.intersect1d, (V, V[:3])),
    (np.setdiff1d, (V, V[:3])),
    (np.unique_values, (M,)),
    (np.unique_counts, (V,)),
    (np.unique_all, (V,)),
    (np.unique_inverse, (M,)),
    (np.setxor1d, (V, M[0])),
    (np.kaiser, (5, 2.5)),
    (np.around, (np.array([0.3, 1.6, -0.4]),)),
    (np.fix, (M,)),
    (np.ones_like, (M,)),
    (np.asanyarray, (M,)),
    (np.asarray_chkfinite, ([1.5, 2.0],)),
    (np.require, (M, None, "F")),
    (np.float64, (1.5,)),
    (np.complex64, (1.5,)),
    (np.gradient, (Z, 0.5 + 0.25j, 2.0)),
    (np.histogram, (M, NODES - 1.3, None, True, Z)),
    (np.longdouble, (1.5,)),
    (np.fft.rfftfreq, (6, 0.3)),
    (np.fft.fftfreq, (6, 0.3)),
]


def _label(value):
    return value.__name__ if callable(value) else None


@pytest.mark.parametrize(("f", "args"), CALLS, ids=_label)
@pytest.mark.covering(each=itemgetter("f"))
def test_call(check, f, args):
    if f in (np.intersect1d, np.setdiff1d):  # equal entries must stay equal
        y, pullback = rc.rrule(f, *args)
        np.testing.assert_allclose(
            np.sum(pullback(y)[1] * V), np.sum(y * y) * factor(f)
        )
        return
    check(f, *args)


def factor(f):
    """An entry that both arguments hold is shared between them."""
    return 0.5 if f is np.intersect1d else 1.0


def test_keywords(check):
    check(np.gradient, M, 0.5, edge_order=2)
    check(np.gradient, M, 0.5, 2.0)
    check(np.gradient, M, 0.5, axis=1)
    check(np.gradient, Z, [0, 1, 3, 4, 6], axis=1)
    check(np.gradient, M, 2, np.array([0, 1, 3, 4, 6]))
    check(np.arange, 0.5, 2.95, 0.7)
    check(np.block, [[M, M[:, :1]], [M[:1], np.array([[2.0]])]])
    check(np.block, [V, 1.5])
    check(np.unique, M[:, :2], axis=0)


@pytest.mark.parametrize("order", [1, 2])
def test_coordinates_that_move(check, order):
    check(np.gradient, V, NODES, edge_order=order)
    check(np.gradient, Z, NODES, axis=1, edge_order=order)
    check(np.gradient, M, 0.5, NODES, edge_order=order)
    check(np.gradient, M, np.array([0.0, 0.5, 1.1]), 2.0, edge_order=order)
    check(np.gradient, M, np.array([0.0, 0.5, 1.0]), NODES, edge_order=order)


def test_coordinates_of_two_points(check):
    check(np.gradient, V[:2], NODES[:2])


@pytest.mark.parametrize("f", [np.histogram, np.histogram_bin_edges])
def test_histograms_with_bins_of_their_own_are_refused(f):
    with pytest.raises(rc.UnsupportedError, match="a number of bins, or with edges"):
        rc.rrule(f, V, "auto")
    with pytest.raises(rc.UnsupportedError, match="given entries that differ"):
        rc.rrule(f, np.ones(3), 4)


def test_edges_that_move_in_a_joint_histogram_are_refused():
    _, pullback = rc.rrule(np.histogram2d, V, V, [2, NODES - 1.3])
    dy = rc.Tangent(tuple, np.ones((2, 4)), np.ones(3), np.ones(5))
    assert isinstance(pullback(dy)[3], rc.NotImplementedTangent)


def test_weighted_covariance(check):
    often, importance = np.array([1, 2, 0, 3, 1]), np.array([0.5, 1.0, 2.0, 0.3, 1.1])
    check(np.cov, M, fweights=often)
    check(np.cov, M, aweights=importance)
    check(np.cov, Z, V, True, False, None, often, importance)
    check(np.cov, M, M[:1] ** 2, bias=True, aweights=importance)
    check(np.cov, M.T, rowvar=False, ddof=2, fweights=often, aweights=importance)
    check(np.cov, V, aweights=importance)


def test_how_often_observations_count_is_a_whole_number():
    _, pullback = rc.rrule(np.cov, M, fweights=np.ones(5))
    assert isinstance(pullback(np.ones((3, 3)))[6], rc.NotImplementedTangent)


def test_a_list_gets_the_cotangent_of_a_list():
    _, pullback = rc.rrule(np.array, [1.5, 2, [3.0][0]])
    da = pullback(np.array([1.0, 2.0, 3.0]))[1]
    assert da == rc.Tangent(list, 1.0, rc.NoTangent(), 3.0)


@pytest.mark.parametrize("cls", [np.float16, np.longdouble, np.clongdouble])
def test_other_precisions(cls):
    """Too coarse for finite differences, or of a signature that is not true."""
    y, pullback = rc.rrule(cls, 1.5)
    assert y == cls(1.5)
    (_, dx, *rest) = pullback(cls(2.0))
    assert isinstance(dx, float)
    assert dx == 2.0
    assert all(isinstance(d, rc.NoTangent) for d in rest)
    _, dy = rc.frule((rc.NoTangent(), 2.0, *rest), cls, 1.5)
    assert type(dy) is cls
    assert dy == 2.0


def test_a_complex_number_of_a_complex_number():
    y, pullback = rc.rrule(np.complex64, 1.5 + 0.5j)
    assert y == np.complex64(1.5 + 0.5j)
    assert pullback(np.complex64(2j))[1] == 2j


def test_row_stack_is_vstack():
    with pytest.warns(DeprecationWarning, match="row_stack"):
        y, pullback = rc.rrule(np.row_stack, [V, M])  # noqa: NPY201  as old programs
    np.testing.assert_array_equal(pullback(y)[1][1], M)


@pytest.mark.parametrize("lead", [1, 2])
def test_zeros_that_lead_are_no_part_of_a_product(lead):
    a, b = np.concatenate([np.zeros(lead), V]), M[0, :3]
    y, pullback = rc.rrule(np.polymul, a, b)
    short, short_pullback = rc.rrule(np.polymul, V, b)
    np.testing.assert_array_equal(y, short)
    dy = np.cos(np.arange(y.size))
    _, da, db = pullback(dy)
    _, dv, dw = short_pullback(dy)
    np.testing.assert_array_equal(da, np.concatenate([np.zeros(lead), dv]))
    np.testing.assert_array_equal(db, dw)


@pytest.mark.parametrize(
    ("f", "args", "text"),
    [
        (np.polydiv, (V, np.array([0.0, 1.0])), "leading coefficient"),
        (np.polydiv, (M[:2], V), "rows of coefficients"),
        (np.linalg.norm, (V, [1.0] * V.size), "a number as ord"),
    ],
)
def test_what_has_no_derivative_is_refused(f, args, text):
    with np.errstate(all="ignore"), pytest.raises(rc.UnsupportedError, match=text):
        rc.rrule(f, *args)
