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
| `filtfilt` with `method="gust"` | is that of the least squares for its states |
| `upfirdn`, `resample_poly` | is an error in the modes `smooth`, `line`, `antisymmetric` and `antireflect` |
| spectra | are in the signals and in the window: an array, or a tuple such as `("kaiser", beta)` with its parameters. A function for `detrend` is an error |
| `medfilt`, `order_filter` | is that of the entry which is selected |
| frequency responses | is taken at fixed frequencies, also where `freqs` chooses them |
| `czt`, `zoom_fft` | is in the spiral or the band too |
| `lombscargle` | is in times, values and frequencies |
| `firls`, `firwin2` | is in the edges of bands, but at frequencies that the grid meets. `firls` computes in double precision; in JAX without it, an ill-conditioned design has the derivative NaN |
| `find_peaks`, `peak_prominences`, `peak_widths` | is taken at fixed positions. In traced code `find_peaks` is an error: find peaks outside, and call the others |
| `residue`, `residuez`, `invres`, `invresz` | is NaN at a multiple pole |
| `step`, `impulse`, `bode`, `freqresp` and those in discrete time | is in a tuple of arrays; times and frequencies are constants |
| `cspline1d`, `cspline2d`, `symiirorder1` and others | is that of whole sums at the ends, which SciPy cuts where they are small. The smoothing parameter is a constant: the poles of `symiirorder2` are not |
| `tf2zpk`, `sos2zpk` | is NaN at a multiple root, and in a section that begins with zero. In traced code roots, and polynomials of complex roots, are complex |
| `zpk2tf`, `zpk2ss` of complex roots in pairs | is real, as the result. Along a direction in which pairs part that of `zpk2tf` is NaN in forward mode; in reverse mode it is that of the real part |
| `zpk2sos`, `tf2sos`, `butter` and other designs with `output="sos"` | is taken at a fixed order and pairing of the roots |
| `ellip` | is in the frequencies; the ripples are constants |
| `lsim`, `dlsim`, `cont2discrete` | is in tuples of arrays, or in inputs and states of a constant object; times are constants |
| `cspline1d_eval`, `qspline1d_eval` | at a knot is that of the piece after it; at both ends, where SciPy mirrors the spline, it is zero |
| `sawtooth`, `square` | is that between the jumps |
| `wiener` | is taken where the variance stays above, or below, the noise |

`ShortTimeFFT` has derivatives in the window and in the signal, by its own name in programs
for NumPy and by `rules_scipy.signal.ShortTimeFFT` in every framework. So have the responses of
`lti`, `dlti`, `TransferFunction`, `ZerosPolesGain` and `StateSpace` (`step`, `impulse`, `output`,
`freqresp`, `bode`) in the arrays of the system. The classes `CZT` and `ZoomFFT` have no rules: use
`czt` and `zoom_fft`.

## Functions with rules
"""

_ORDER = "chooses a whole number, and frequencies that suit it"
_SEARCH = "is found by a search: its derivative is not that of the steps"

MISSING = {
    **dict.fromkeys(
        "buttord cheb1ord cheb2ord ellipord kaiserord iirdesign findfreqs".split(),
        _ORDER,
    ),
    "abcd_normalize": "fills in matrices that are not given: give all four",
    "band_stop_obj": "estimates an order, in a search of buttord and others",
    "closest_STFT_dual_window": "has no rule yet: ShortTimeFFT has the canonical one",
    "dpss": "are eigenvectors of a matrix: compute them once, as a constant",
    "ellipap": "is made of elliptic functions of the ripples, without a rule yet",
    "firwin_2d": "has no rule yet: use the outer product of two calls of firwin",
    "place_poles": f"{_SEARCH}; the gain of several inputs is not unique",
    "remez": f"{_SEARCH}: use firls",
    "ss2zpk": "has as many zeros as its matrices allow: use ss2tf and tf2zpk",
    "unique_roots": "groups roots, which is not continuous",
    "whittaker_henderson": "has no rule yet: solve its banded equations by solveh_banded",
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
