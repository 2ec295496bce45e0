"""The functions of `array_api_compat` find the rules of what they wrap."""

from __future__ import annotations

from typing import Any

import array_api_compat.numpy
import numpy as np
import pytest

import rules_core as rc

xp: Any = array_api_compat.numpy
RNG = np.random.default_rng(10)
M = RNG.uniform(0.5, 1.5, size=(3, 4))
T = RNG.uniform(0.5, 1.5, size=(2, 3, 4))
Z = M + 1j * RNG.normal(size=M.shape)
SQUARE = M[:, :3] @ M[:, :3].T + np.eye(3)
STEPS = np.array([0.3, 1.6, -0.4])
WRAPPERS = [
    (xp.std, (M,), {"axis": 1, "correction": 1}),
    (xp.var, (M,), {"keepdims": True}),
    (xp.sort, (M,), {"axis": 0, "descending": True}),
    (xp.sort, (M,), {}),
    (xp.matmul, (M, M.T), {}),
    (xp.tensordot, (M, M.T), {"axes": 1}),
    (xp.permute_dims, (T, (2, 0, 1)), {}),
    (xp.matrix_transpose, (T,), {}),
    (xp.clip, (M, 0.7, 1.2), {}),
    (xp.sign, (Z,), {}),
    (xp.floor, (STEPS,), {}),
    (xp.astype, (M, np.dtype("complex128")), {}),
    (xp.cumulative_sum, (M,), {"axis": 1, "include_initial": True}),
    (xp.take_along_axis, (M, np.array([[0], [1], [2]])), {"axis": 1}),
    (xp.zeros_like, (M,), {}),
    (xp.full, ((2, 2), 1.5), {}),
    (xp.asarray, (M,), {}),
    (xp.linspace, (0.5, 1.5, 4), {}),
    (xp.fft.rfft, (M,), {"n": 5, "axis": 0}),
    (xp.fft.fftshift, (M,), {}),
    (xp.linalg.cholesky, (SQUARE,), {}),
    (xp.linalg.eigh, (SQUARE,), {}),
    (xp.linalg.svd, (M,), {"full_matrices": False}),
    (xp.linalg.qr, (SQUARE,), {}),
    (xp.linalg.slogdet, (SQUARE,), {}),
    (xp.linalg.pinv, (M,), {}),
    (xp.linalg.matrix_norm, (M,), {"ord": "nuc"}),
    (xp.linalg.solve, (SQUARE, M), {}),
    (xp.linalg.vecdot, (M, M), {}),
    (xp.linalg.outer, (M[0], M[1]), {}),
    (xp.linalg.trace, (T,), {"offset": 1}),
    (xp.linalg.cross, (M[:, :3], M[:, 1:]), {}),
    (xp.linalg.diagonal, (T,), {"offset": 1}),
    (xp.linalg.svdvals, (M,), {}),
    (xp.linalg.eig, (SQUARE + np.diag([0.0, 1.0, 3.0]),), {}),
    (xp.linalg.eigvals, (SQUARE + np.diag([0.0, 1.0, 3.0]),), {}),
    (xp.arange, (0.5, 2.95, 0.7), {}),
    (xp.cumulative_prod, (M,), {"axis": 1, "include_initial": True}),
    (xp.ones_like, (M,), {}),
    (xp.full_like, (M, 1.5), {}),
    (xp.ceil, (STEPS,), {}),
    (xp.trunc, (STEPS,), {}),
    (xp.fft.fft, (Z,), {"norm": "ortho"}),
    (xp.fft.ifft, (Z,), {"axis": 0}),
    (xp.fft.fftn, (Z,), {}),
    (xp.fft.ifftn, (Z,), {"axes": (1,)}),
    (xp.fft.irfft, (Z,), {"n": 5}),
    (xp.fft.rfftn, (M,), {}),
    (xp.fft.irfftn, (Z,), {}),
    (xp.fft.hfft, (Z,), {}),
    (xp.fft.ihfft, (M,), {}),
    (xp.fft.ifftshift, (M,), {}),
    (xp.unique_all, (M[:, 0],), {}),
    (xp.unique_counts, (M[:, 0],), {}),
    (xp.unique_inverse, (M[:, 0],), {}),
    (xp.unique_values, (M[:, 0],), {}),
]  # fmt: skip


@pytest.mark.parametrize(("f", "args", "kw"), WRAPPERS)
def test_array_api_compat(check, f, args, kw):
    check(f, *args, **kw)


@pytest.mark.parametrize("f", [xp.fft.fftfreq, xp.fft.rfftfreq])
def test_a_step_by_keyword_has_no_tangent(f):
    """Keyword-only arguments have no cotangent; the length is a whole number."""
    y, pullback = rc.rrule(f, 6, d=0.3)
    np.testing.assert_array_equal(y, f(6, d=0.3))
    assert pullback(y) == (rc.NoTangent(), rc.NoTangent())


def test_entries_of_a_model_do_not_matter():
    """What `empty_like` gives is of no value, so only the cotangent is looked at."""
    for f in (xp.empty_like, np.empty_like):
        _, pullback = rc.rrule(f, M)
        assert isinstance(pullback(M)[1], rc.ZeroTangent)
