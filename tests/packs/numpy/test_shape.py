"""Reshaping, permuting, joining, splitting, repeating, padding."""

from __future__ import annotations

from operator import itemgetter

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import rules_core as rc

RNG = np.random.default_rng(3)
V = RNG.normal(size=4)
M = RNG.normal(size=(3, 4))
T = RNG.normal(size=(2, 3, 4))
Z = M + 1j * RNG.normal(size=M.shape)

CALLS = [
    (np.reshape, (T, (4, 6))),
    (np.reshape, (T, -1, "F")),
    (np.reshape, (T.T, (6, 4), "A")),
    (np.ravel, (T,)),
    (np.ravel, (M.T, "A")),
    (np.ravel, (T.transpose(1, 0, 2), "K")),
    (np.ravel, (M, "F")),
    (np.transpose, (T,)),
    (np.transpose, (T, (2, 0, 1))),
    (np.swapaxes, (T, 0, -1)),
    (np.moveaxis, (T, 0, -1)),
    (np.moveaxis, (T, (0, 1), (-1, 0))),
    (np.rollaxis, (T, 2, 0)),
    (np.rollaxis, (T, 0, 3)),
    (np.rollaxis, (T, 1)),
    (np.expand_dims, (M, (0, -1))),
    (np.squeeze, (M[None, :, None],)),
    (np.squeeze, (M[None, :, None], 0)),
    (np.broadcast_to, (M[:, :1], (2, 3, 5))),
    (np.copy, (M,)),
    (np.ascontiguousarray, (M.T,)),
    (np.asfortranarray, (M,)),
    (np.flip, (T, (0, 2))),
    (np.flip, (T,)),
    (np.fliplr, (M,)),
    (np.flipud, (M,)),
    (np.rot90, (M,)),
    (np.rot90, (T, 3, (1, 2))),
    (np.roll, (M, 2)),
    (np.roll, (M, (1, -2), (0, 1))),
    (np.fft.fftshift, (M,)),
    (np.fft.ifftshift, (M, 1)),
    (np.tril, (M,)),
    (np.tril, (V, 1)),
    (np.triu, (T, -1)),
    (np.diagonal, (M,)),
    (np.diagonal, (T, 1, 2, 1)),
    (np.diagonal, (T, -1, 1, 2)),
    (np.diag, (V, 1)),
    (np.diag, (M, -1)),
    (np.diagflat, (M,)),
    (np.tile, (M, (2, 1, 2))),
    (np.repeat, (M, 2)),
    (np.repeat, (M, [1, 0, 2], 0)),
    (np.resize, (M, (2, 7))),
    (np.take, (M, [1, 1, 0])),
    (np.take, (M, [[1, 3], [0, 1]], 1)),
    (np.take_along_axis, (M, np.array([[0, 0], [1, 3], [2, 2]]), 1)),
    (np.compress, ([True, False, True], M, 0)),
    (np.extract, (M > 0, M)),
    (np.delete, (M, [0, 2], 1)),
    (np.insert, (M, 1, V, 0)),
    (np.insert, (V, [1, 1, 2], [1.5, 2.5, 3.5])),
    (np.atleast_1d, (1.5,)),
    (np.atleast_2d, (V,)),
    (np.atleast_3d, (M, V)),
    (np.broadcast_arrays, (M, V, 2.0)),
    (np.meshgrid, (V, M[:, 0])),
    (np.split, (M, 2, 1)),
    (np.split, (M, [1, 3], 1)),
    (np.array_split, (V, 3)),
    (np.vsplit, (M, 3)),
    (np.hsplit, (M, [1])),
    (np.hsplit, (V, 2)),
    (np.dsplit, (T, 2)),
    (np.append, (M, V)),
    (np.append, (M, V[None], 0)),
    (np.diff, (M,)),
    (np.diff, (M, 2, 0)),
    (np.diff, (V, 1, -1, 0.5, V)),
    (np.ediff1d, (M,)),
    (np.ediff1d, (V, V[:2], 1.5)),
    (np.cumsum, (M, 0)),
    (np.cumsum, (M,)),
    (np.cumprod, (M, 1)),
    (np.cumprod, (M,)),
    (np.matrix_transpose, (T,)),
    (np.linalg.matrix_transpose, (T,)),
    (np.trim_zeros, (V,)),
    (np.lib.stride_tricks.sliding_window_view, (M, 2, 1)),
]


def _label(value):
    return value.__name__ if callable(value) else None


@pytest.mark.covering(each=itemgetter("f"))
@pytest.mark.parametrize(("f", "args"), CALLS, ids=_label)
def test_real(check, f, args):
    check(f, *args)


COMPLEX = [call for call in CALLS if call[1][0] is M]


@pytest.mark.nightly
@pytest.mark.parametrize(("f", "args"), COMPLEX, ids=_label)
def test_complex(check, f, args):
    check(f, Z, *args[1:])


@pytest.mark.nightly
@pytest.mark.parametrize(("f", "args"), COMPLEX, ids=_label)
def test_single_precision(check, f, args):
    check(f, M.astype(np.float32), *args[1:])


def test_keywords(check):
    check(np.cumulative_sum, M, axis=1, include_initial=True)
    check(np.cumulative_sum, V)
    check(np.cumulative_prod, M, axis=0, include_initial=True)
    check(np.cumulative_prod, V)
    check(np.meshgrid, V, M[:, 0], T[:, 0, 0], indexing="ij", sparse=True)
    check(np.meshgrid, V, M[:, 0], T[:, 0, 0])
    check(np.unstack, T, axis=1)


JOINS = [
    (np.concatenate, ([M, Z, M[:1]],)),
    (np.concatenate, ((M, V[:3, None]), 1)),
    (np.concatenate, ([M, V], None)),
    (np.stack, ([M, Z, M], 1)),
    (np.stack, ([1.0, V[0], 2],)),
    (np.vstack, ([V, M],)),
    (np.hstack, ([V, V[:1], 2.0],)),
    (np.hstack, ([M, M[:, :1]],)),
    (np.dstack, ([V, V],)),
    (np.column_stack, ([V, M.T],)),
    (np.concatenate, (T,)),
]


@pytest.mark.parametrize(("f", "args"), JOINS, ids=_label)
def test_joining(check, f, args):
    check(f, *args)


def test_whole_numbers_beside_floats_have_no_tangent():
    _, pullback = rc.rrule(np.concatenate, [np.array([1, 2]), V])
    dtup = pullback(np.arange(6.0))[1]
    assert isinstance(dtup[0], rc.NoTangent)
    np.testing.assert_array_equal(dtup[1], [2.0, 3.0, 4.0, 5.0])


@pytest.mark.parametrize("trim", ["fb", "f", "b"])
def test_trim_zeros(trim):
    x = np.array([0.0, 0.0, 1.5, 0.0, 2.5, 0.0])
    y, pullback = rc.rrule(np.trim_zeros, x, trim)
    np.testing.assert_array_equal(pullback(y)[1], x)
    tangents = (rc.NoTangent(), x + 1.0, rc.NoTangent())
    _, dy = rc.frule(tangents, np.trim_zeros, x, trim)
    np.testing.assert_array_equal(dy, y + 1.0)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize(
    "mode", ["constant", "edge", "linear_ramp", "mean", "reflect", "symmetric", "wrap"]
)
def test_padding(check, mode):
    check(np.pad, M, ((1, 2), (2, 0)), mode)
    check(np.pad, Z, 1, mode)
    check(np.pad, V, (0, 9), mode)


def test_padding_options(check):
    check(np.pad, M, 1, constant_values=3.0)
    check(np.pad, M, 1, "linear_ramp", end_values=((1.0, 2.0), (3.0, 4.0)))
    check(np.pad, M, 2, "reflect", reflect_type="odd")
    check(np.pad, M, 2, "mean", stat_length=2)
    check(np.pad, M, 2, "mean", stat_length=((1, 2), (3, 1)))


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("mode", ["maximum", "minimum", "median"])
def test_padding_by_statistics(check, mode):
    check(np.pad, M, ((1, 2), (2, 0)), mode)
    check(np.pad, V, (0, 9), mode)
    check(np.pad, M, 2, mode, stat_length=2)
    check(
        np.pad, T, ((1, 0), (0, 2), (1, 1)), mode, stat_length=((1, 2), (3, 1), (2, 9))
    )


@pytest.mark.parametrize("mode", ["maximum", "median"])
def test_equal_entries_share_the_border(mode):
    _, pullback = rc.rrule(np.pad, np.array([2.0, 1.0, 2.0, 2.0]), (3, 0), mode)
    da = pullback(np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]))[1]
    np.testing.assert_allclose(da, [1.0, 0.0, 1.0, 1.0])


def test_an_empty_border_is_a_constant():
    """Its value is whatever memory held."""
    _, pullback = rc.rrule(np.pad, V, (1, 2), "empty")
    np.testing.assert_array_equal(pullback(np.arange(7.0))[1], np.arange(1.0, 5.0))
    _, dy = rc.frule((rc.NoTangent(), V, 0, 0), np.pad, V, (1, 2), "empty")
    np.testing.assert_array_equal(dy, [0.0, *V, 0.0, 0.0])


def test_padding_by_a_function_is_refused():
    with pytest.raises(rc.UnsupportedError, match="must have a mode that NumPy names"):
        rc.rrule(np.pad, M, 1, lambda *_args: None)


def test_repeat_and_tile_known():
    x, dy = np.array([1.0, 2.0, 3.0]), np.arange(12.0)
    _, pullback = rc.rrule(np.repeat, x, 4)
    np.testing.assert_array_equal(pullback(dy)[1], [6.0, 22.0, 38.0])
    _, pullback = rc.rrule(np.tile, x, 4)
    np.testing.assert_array_equal(pullback(dy)[1], [18.0, 22.0, 26.0])


def test_cumprod_known():
    _, pullback = rc.rrule(np.cumprod, np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(pullback(np.full(3, 0.5))[1], [4.5, 2.0, 1.0])
    _, pullback = rc.rrule(np.cumprod, np.array([2.0, 0.0, 3.0, 0.0, 5.0]))
    np.testing.assert_allclose(pullback(np.ones(5))[1], [1.0, 8.0, 0.0, 0.0, 0.0])


@pytest.mark.covering(every=3)
@settings(max_examples=25, deadline=None)
@given(data=st.data(), shape=hnp.array_shapes(max_dims=4, max_side=3))
@pytest.mark.parametrize("f", [np.transpose, np.moveaxis, np.roll, np.flip, np.rot90])
def test_any_shape(f, data, shape):
    """⟨dy, J dx⟩ = ⟨Jᵀ dy, dx⟩ for every shape."""
    n = len(shape)
    options = {
        np.transpose: st.permutations(range(n)).map(lambda p: (tuple(p),)),
        np.moveaxis: st.tuples(st.integers(-n, n - 1), st.integers(-n, n - 1)),
        np.roll: st.tuples(st.integers(-4, 4), st.none() | st.integers(-n, n - 1)),
        np.flip: st.tuples(st.none() | hnp.valid_tuple_axes(n)),
        np.rot90: st.tuples(st.integers(-5, 5)),
    }
    if f is np.rot90:
        shape = (2, *shape) if n < 2 else shape
    args = data.draw(options[f])
    a = np.random.default_rng(n).normal(size=shape)
    y, pullback = rc.rrule(f, a, *args)
    back = pullback(y)[1]
    assert back.shape == a.shape
    np.testing.assert_allclose(np.sum(back * a), np.sum(y * y))
