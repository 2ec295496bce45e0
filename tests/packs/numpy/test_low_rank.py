"""`pinv` and `lstsq` of matrices without full rank: the derivative at constant rank.

Both jump where the rank changes; along tangents that keep it they are smooth.
"""

from __future__ import annotations

import numpy as np
import pytest

import rules_autodiff as ad

B = np.array([0.7, -1.2, 0.4, 1.9])


def pseudo_inverse(a):
    return np.linalg.pinv(a, rcond=1e-9)


def solution(a):
    return np.linalg.lstsq(a, B[: a.shape[0]], rcond=1e-9)[0]


def path(shape, rank, dtype):
    """A(t) of constant rank."""
    (m, n), rng = shape, np.random.default_rng(31)
    parts = [rng.normal(size=s) for s in 2 * [(m, rank), (rank, n)]]
    if dtype is complex:
        parts = [p + 1j * rng.normal(size=p.shape) for p in parts]
    left, right, dleft, dright = parts
    return lambda t: (left + t * dleft) @ (right + t * dright)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 4)])
@pytest.mark.parametrize("f", [pseudo_inverse, solution])
def test_along_tangents_that_keep_the_rank(f, shape, dtype):
    for rank in (1, 2):
        along = path(shape, rank, dtype)
        h = 1e-6
        da = (along(h) - along(-h)) / (2 * h)
        expected = (f(along(h)) - f(along(-h))) / (2 * h)
        y, dy = ad.jvp(f, (along(0.0),), (da,))
        np.testing.assert_allclose(dy, expected, rtol=1e-5, atol=1e-6)
        _, pullback = ad.vjp(f, along(0.0))
        weights = np.cos(np.arange(y.size)).reshape(y.shape).astype(y.dtype)
        (back,) = pullback(weights)
        np.testing.assert_allclose(
            np.real(np.vdot(back, da)), np.real(np.vdot(weights, expected)), rtol=1e-5
        )
