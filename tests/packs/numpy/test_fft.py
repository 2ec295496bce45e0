"""Every transform: lengths, axes, norms."""

from __future__ import annotations

import numpy as np
import pytest

NIGHTLY = pytest.mark.nightly
RNG = np.random.default_rng(7)
R = RNG.normal(size=(3, 4))
Z = R + 1j * RNG.normal(size=R.shape)
NORMS = [None, "ortho", "forward", pytest.param("backward", marks=NIGHTLY)]
LENGTHS = [1, 4, 7, *(pytest.param(n, marks=NIGHTLY) for n in (3, 6))]
COMPLEX = [np.fft.fft, np.fft.ifft, np.fft.irfft, np.fft.hfft]
REAL = [np.fft.rfft, np.fft.ihfft]


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("f", [*COMPLEX, *REAL])
@pytest.mark.covering(strength=1)
def test_norms(check, f, norm):
    check(f, R if f in REAL else Z, None, -1, norm)


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("f", [*COMPLEX, *REAL])
@pytest.mark.covering(strength=1)
def test_lengths(check, f, n):
    check(f, R if f in REAL else Z, n, 0)


@pytest.mark.parametrize("f", COMPLEX)
def test_real_arguments(check, f):
    check(f, R, 5)


MANY = [np.fft.fftn, np.fft.ifftn, np.fft.fft2, np.fft.ifft2, np.fft.irfftn,
        np.fft.irfft2]  # fmt: skip


@pytest.mark.parametrize("f", [*MANY, np.fft.rfftn, np.fft.rfft2])
def test_several_axes(check, f):
    x = R if f in (np.fft.rfftn, np.fft.rfft2) else Z
    check(f, x)
    check(f, x, (5, 3), (1, 0), "ortho")
    check(f, x[None], (4, 2), (0, 2), "forward")


def test_single_precision_is_kept(check):
    check(np.fft.rfft, R.astype(np.float32))
    check(np.fft.fft, Z.astype(np.complex64))
