"""Coverage of `scipy.signal`; `python -m rules_scipy.signal.coverage` prints it."""

from __future__ import annotations

import sys
from types import ModuleType

import scipy.signal
import scipy.signal.windows

from rules_scipy._module_coverage import ModuleCoverage

from ._declare import DECLARED

__all__ = ["COVERAGE"]

# ruff: noqa: E501  rows of a table

_HEAD = """# The SciPy pack: signals

<!-- Made by `python -m rules_scipy.signal.coverage`; do not edit. -->

Of the {total} public functions of `scipy.signal` and `scipy.signal.windows`, {covered}
have rules, {constant} have no derivative, and {missing} have no rule, for the reason
below. `rules_scipy.signal` contains them as primitives for NumPy, JAX and PyTorch:

```python
>>> import jax, numpy as np
>>> from rules_scipy import signal
>>> x = np.asarray([1.0, 2.0, 4.0, 3.0], np.float32)
>>> rest = lambda a: (signal.lfilter(np.ones(1, np.float32), a, x)[1:] ** 2).sum()
>>> jax.jit(jax.grad(rest))(np.asarray([1.0, -0.5], np.float32)).shape
(2,)

```

Values are SciPy's. Options, such as axes, modes and sampling rates, are constants: the
derivative in one is an error.

| functions | the derivative |
|---|---|
| `lfilter`, `filtfilt` | is in `b`, `a`, the signal and `zi`, of the final state too |
| `sosfilt`, `sosfiltfilt` | is zero in the column that SciPy requires to be one. The default `padlen` of `sosfiltfilt` counts coefficients that are zero: it is kept |
| `filtfilt` with `method="gust"` | is an error |
| `upfirdn`, `resample_poly` | is an error in the modes `smooth`, `line`, `antisymmetric` and `antireflect` |
| spectra | are in the signals and in the window: an array, or a tuple such as `("kaiser", beta)` with its parameters. A function for `detrend` is an error |
| `medfilt`, `order_filter` | is that of the entry which is selected |
| frequency responses | is taken at fixed frequencies, also where `freqs` chooses them |
| `tf2zpk` | is NaN at a multiple root. In traced code roots, and polynomials of complex roots, are complex |
| `zpk2sos`, `butter` and other designs with `output="sos"` | is taken at a fixed order and pairing of the roots |
| `ellip` | is in the frequencies; the ripples are constants |
| `lsim`, `dlsim`, `cont2discrete` | is in tuples of arrays, not in objects; times are constants |
| `sawtooth`, `square` | is that between the jumps |
| `wiener` | is taken where the variance stays above, or below, the noise |

The classes `ShortTimeFFT`, `CZT`, `ZoomFFT`, `lti`, `dlti`, `StateSpace`,
`TransferFunction` and `ZerosPolesGain` have no rules: use the functions.

## Functions with rules
"""

_ROOTS = "orders and pairs roots, which is not continuous"
_ORDER = "chooses a whole number, and frequencies that suit it"
_OPTIMUM = "is found by a search: its derivative is not that of the steps"
_YET = "has no rule yet"
_FREQUENCIES = "takes systems as objects: use freqs, freqs_zpk, freqz or freqz_zpk"
_TIMES = "chooses times, or takes systems as objects: use lsim or dlsim"


def _reasons(**groups: str) -> dict[str, str]:
    texts = {
        "roots": _ROOTS, "order": _ORDER, "optimum": _OPTIMUM, "yet": _YET,
        "frequencies": _FREQUENCIES, "times": _TIMES,
    }  # fmt: skip
    return {n: texts[key] for key, names in groups.items() for n in names.split()}


_LATER = (
    "cspline1d cspline1d_eval cspline2d czt czt_points firwin2 firwin_2d gammatone "
    "gauss_spline iircomb lombscargle minimum_phase peak_prominences peak_widths "
    "qspline1d qspline1d_eval qspline2d savgol_coeffs sepfir2d spline_filter "
    "symiirorder1 symiirorder2 zoom_fft"
)

MISSING = _reasons(
    yet=_LATER,
    roots="unique_roots residue residuez invres invresz",
    order="buttord cheb1ord cheb2ord ellipord kaiserord iirdesign findfreqs",
    optimum="remez place_poles firls band_stop_obj closest_STFT_dual_window",
    frequencies="freqresp bode dfreqresp dbode",
    times="impulse step dimpulse dstep",
) | {
    "abcd_normalize": "fills in matrices that are not given: give all four",
    "dpss": "are eigenvectors of a matrix: compute them once, as a constant",
    "ellipap": "is made of elliptic functions of the ripples, without a rule yet",
    "find_peaks": "finds positions: take the signal there for the heights",
    "sosfreqz": "is another name of freqz_sos: call that",
    "sos2zpk": "has as many roots as its coefficients allow: use tf2zpk of each section",
    "ss2zpk": "has as many zeros as its matrices allow: use ss2tf and tf2zpk",
    "tf2sos": "orders roots of its own: use tf2zpk and zpk2sos",
}


def _module() -> ModuleType:
    """Both modules in one."""
    both = ModuleType("scipy.signal")
    for module in (scipy.signal.windows, scipy.signal):
        public = [n for n in dir(module) if not n.startswith("_")]
        vars(both).update({n: getattr(module, n) for n in public})
    return both


COVERAGE = ModuleCoverage(
    _module(),
    DECLARED,
    MISSING,
    _HEAD,
    "Positions, counts, answers of yes or no, and windows without a parameter.",
)

if __name__ == "__main__":
    sys.stdout.write(COVERAGE.page())
