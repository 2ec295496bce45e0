"""Functions without derivative: positions, counts, and answers of yes or no."""

from __future__ import annotations

import scipy.signal as _sp
import scipy.signal.windows as _windows

from ._declare import constant

__all__: list[str] = []

constant(
    _sp.argrelextrema, _sp.argrelmax, _sp.argrelmin, _sp.besselap, _sp.buttap,
    _sp.check_COLA, _sp.check_NOLA, _sp.choose_conv_method, _sp.correlation_lags,
    _sp.find_peaks_cwt, _sp.max_len_seq, _sp.unit_impulse,
    _windows.barthann, _windows.bartlett, _windows.blackman, _windows.blackmanharris,
    _windows.bohman, _windows.boxcar, _windows.cosine, _windows.flattop,
    _windows.hamming, _windows.hann, _windows.lanczos, _windows.nuttall,
    _windows.parzen, _windows.triang,
)  # fmt: skip
