"""ShortTimeFFT: SciPy's values over its options, and derivatives in every framework."""

from itertools import product

import jax
import numpy as np
import pytest
import scipy.signal as sp
import torch

from rules_autodiff import grad, jvp
from rules_core import UnsupportedError
from rules_scipy.signal import ShortTimeFFT

from .frameworks import HOSTS, differences, directions

RNG = np.random.default_rng(5)
WINDOWS = {
    "real": RNG.normal(size=7),
    "hann": sp.get_window("hann", 8),  # begins with zero, so that it has other slices
    "complex": RNG.normal(size=5) + 1j * RNG.normal(size=5),
}
REAL = ("onesided", "onesided2X", "twosided", "centered")
OPTIONS = [
    (w, mode, hop, mfft, scale, shift)
    for w, mode, hop, mfft, scale, shift in product(
        WINDOWS, REAL, (2, 3, 5), (None, 11), (None, "psd", "magnitude"), (0, None, 2)
    )
    if not (w == "complex" and mode in REAL[:2])
    and not (mode == "onesided2X" and scale is None)
]


@pytest.mark.covering(strength=2)
@pytest.mark.parametrize(("win", "mode", "hop", "mfft", "scale", "shift"), OPTIONS)
def test_values_are_scipys(win, mode, hop, mfft, scale, shift):
    options = {"fft_mode": mode, "mfft": mfft, "scale_to": scale, "phase_shift": shift}
    ours, theirs = [
        cls(WINDOWS[win].copy(), hop, 2.0, **options)
        for cls in (ShortTimeFFT, sp.ShortTimeFFT)
    ]
    x, signals = RNG.normal(size=23), RNG.normal(size=(2, 23, 3))

    def same(call):
        np.testing.assert_allclose(call(ours), call(theirs), rtol=1e-9, atol=1e-11)

    for padding in ("zeros", "edge", "even", "odd"):
        same(lambda f, p=padding: f.stft(x, padding=p, k_offset=1))
    same(lambda f: f.stft_detrend(x, "linear"))
    same(lambda f: f.stft_detrend(x, lambda u: 2 * u))
    same(lambda f: f.spectrogram(x, x[::-1]))
    same(lambda f: f.t(23))
    if mfft is None:  # else SciPy cannot pad several signals
        same(lambda f: f.stft(signals, axis=1))
    if theirs.invertible:
        spectra = theirs.stft(x)
        same(lambda f: f.istft(spectra, k1=23))
        same(lambda f: f.istft(spectra, 3, 17))
        same(lambda f: f.istft(spectra.T, k1=20, f_axis=1, t_axis=0))


@pytest.mark.parametrize("maker", ["from_dual", "from_win_equals_dual"])
def test_windows_and_their_duals(maker):
    if not hasattr(sp.ShortTimeFFT, maker):
        pytest.skip("SciPy 1.16 has it")
    for scale in (None, "psd", *(["unitary"] if "equals" in maker else [])):
        ours, theirs = [
            getattr(cls, maker)(WINDOWS["real"].copy(), 3, 2.0, scale_to=scale)
            for cls in (ShortTimeFFT, sp.ShortTimeFFT)
        ]
        np.testing.assert_allclose(ours.win, theirs.win)
        np.testing.assert_allclose(ours.dual_win, theirs.dual_win)
        np.testing.assert_allclose(ours.fac_psd, theirs.fac_psd)


def loss(cls, win, x):
    """Of a transform, and of a signal that is made of a changed one."""
    f = cls(win, 3, 2.0, scale_to="psd")
    z = f.stft(x)
    y = f.istft(z * (0.5 + 1j * (abs(z) ** 2)), k1=20)
    return (f.spectrogram(x) ** 2).sum() + (y**3).sum()


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("modes", ["f", "r", "rr", "fr", "rf"])
@pytest.mark.parametrize("host", HOSTS)
def test_derivatives_in_window_and_signal(host, modes):
    cls = sp.ShortTimeFFT if host == "engine" else ShortTimeFFT
    arrays, own = [WINDOWS["real"], RNG.normal(size=20)], HOSTS[host]()
    moves = directions(arrays)
    plain = lambda *xs: loss(sp.ShortTimeFFT, xs[0].copy(), xs[1])
    known = differences(plain, arrays, moves)[len(modes) - 1]

    def along(win, x):
        return loss(cls, win, x)

    for mode in modes:
        along = (own.forward if mode == "f" else own.reverse)(along, moves)
    assert np.isclose(own.run(along, arrays), known, rtol=2e-4)


def test_scipys_own_object_in_a_program():
    """Made outside, with a constant window, and by a name with a parameter."""
    made = sp.ShortTimeFFT.from_window("hann", 2.0, 8, 5)
    x, move = RNG.normal(size=20), RNG.normal(size=20)

    def power(x):
        again = sp.ShortTimeFFT.from_window(("kaiser", x[0] ** 2), 2.0, 8, 5)
        return np.sum(made.spectrogram(x) ** 2) + np.sum(np.abs(again.stft(x)) ** 3)

    known = (power(x + 1e-6 * move) - power(x - 1e-6 * move)) / 2e-6
    assert np.isclose(grad(power)(x) @ move, known, rtol=1e-6)


def test_attributes_may_be_set():
    f = ShortTimeFFT(torch.ones(6, dtype=torch.float64), 2, 1.0)
    f.fft_mode, f.mfft = "centered", 9
    assert f.stft(torch.ones(12, dtype=torch.float64)).shape[0] == f.f_pts == 9
    with pytest.raises(AttributeError, match="hop"):
        f.hop = 3


def test_an_object_is_a_container_of_its_windows():
    """The derivative in an object is one in its window."""
    x = RNG.normal(size=20)
    f = ShortTimeFFT(WINDOWS["real"], 3, 2.0)
    slope = grad(lambda f: np.sum(f.spectrogram(x)))(f)
    known = grad(lambda win: np.sum(ShortTimeFFT(win, 3, 2.0).spectrogram(x)))(f.win)
    np.testing.assert_allclose(slope.win, known, rtol=1e-12)
    traced = jax.jit(jax.grad(lambda w: ShortTimeFFT(w, 3, 2.0).spectrogram(x).sum()))
    np.testing.assert_allclose(traced(f.win), known, rtol=1e-9)


def test_the_rate_is_a_constant():
    x = RNG.normal(size=20)

    def power(fs):
        return np.sum(
            sp.ShortTimeFFT(WINDOWS["real"], 3, fs, scale_to="psd").stft(x).real
        )

    for derivative in (grad(power), lambda fs: jvp(power, (fs,), (1.0,))):
        with pytest.raises(UnsupportedError, match="fs must be a constant"):
            derivative(2.0)
