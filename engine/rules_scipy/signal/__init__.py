"""`scipy.signal` for every framework: primitives with the names of its functions.

Values are SciPy's. Convolutions are linear in each factor, a filter is linear in its
signal and state, and both are differentiated in their coefficients too; other functions
are compositions of these. `windows` has those of `scipy.signal.windows`.

>>> import numpy as np
>>> import rules_core as rc
>>> from rules_scipy import signal
>>> y, pullback = rc.rrule(
...     signal.lfilter, np.ones(1), np.asarray([1.0, -0.5]), np.asarray([1.0, 0.0, 0.0])
... )
>>> y, pullback(np.asarray([0.0, 0.0, 1.0]))[3]
(array([1.  , 0.5 , 0.25]), array([0.25, 0.5 , 1.  ]))
"""

from . import _constants as _constants, windows as windows
from ._chirp_z import (
    czt as czt,
    czt_points as czt_points,
    zoom_fft as zoom_fft,
)
from ._convolution import (
    convolve as convolve,
    convolve2d as convolve2d,
    correlate as correlate,
    correlate2d as correlate2d,
    fftconvolve as fftconvolve,
    oaconvolve as oaconvolve,
)
from ._designs import (
    firwin as firwin,
    gammatone as gammatone,
    iircomb as iircomb,
    iirnotch as iirnotch,
    iirpeak as iirpeak,
    kaiser_atten as kaiser_atten,
    kaiser_beta as kaiser_beta,
)
from ._filters import (
    deconvolve as deconvolve,
    filtfilt as filtfilt,
    lfilter as lfilter,
    lfilter_zi as lfilter_zi,
    lfiltic as lfiltic,
    sosfilt as sosfilt,
    sosfilt_zi as sosfilt_zi,
    sosfiltfilt as sosfiltfilt,
)
from ._fractions import (
    invres as invres,
    invresz as invresz,
    residue as residue,
    residuez as residuez,
)
from ._iir import (
    bessel as bessel,
    butter as butter,
    cheb1ap as cheb1ap,
    cheb2ap as cheb2ap,
    cheby1 as cheby1,
    cheby2 as cheby2,
    ellip as ellip,
    iirfilter as iirfilter,
)
from ._linear_phase import (
    firls as firls,
    firwin2 as firwin2,
    minimum_phase as minimum_phase,
)
from ._lti import (
    bode as bode,
    dbode as dbode,
    dfreqresp as dfreqresp,
    dimpulse as dimpulse,
    dstep as dstep,
    freqresp as freqresp,
    impulse as impulse,
    step as step,
)
from ._objects import (
    StateSpace as StateSpace,
    TransferFunction as TransferFunction,
    ZerosPolesGain as ZerosPolesGain,
    dlti as dlti,
    lti as lti,
)
from ._peaks import (
    find_peaks as find_peaks,
    peak_prominences as peak_prominences,
    peak_widths as peak_widths,
)
from ._resampling import (
    decimate as decimate,
    resample as resample,
    resample_poly as resample_poly,
    upfirdn as upfirdn,
)
from ._responses import (
    freqs as freqs,
    freqs_zpk as freqs_zpk,
    freqz as freqz,
    freqz_sos as freqz_sos,
    freqz_zpk as freqz_zpk,
    group_delay as group_delay,
    sosfreqz as sosfreqz,
)
from ._roots import (
    bilinear_zpk as bilinear_zpk,
    lp2bp_zpk as lp2bp_zpk,
    lp2bs_zpk as lp2bs_zpk,
    lp2hp_zpk as lp2hp_zpk,
    lp2lp_zpk as lp2lp_zpk,
    sos2zpk as sos2zpk,
    tf2sos as tf2sos,
    tf2zpk as tf2zpk,
    zpk2sos as zpk2sos,
    zpk2tf as zpk2tf,
)
from ._short_time import ShortTimeFFT as ShortTimeFFT
from ._smoothing import (
    detrend as detrend,
    envelope as envelope,
    hilbert as hilbert,
    hilbert2 as hilbert2,
    medfilt as medfilt,
    medfilt2d as medfilt2d,
    order_filter as order_filter,
    savgol_coeffs as savgol_coeffs,
    savgol_filter as savgol_filter,
    wiener as wiener,
)
from ._spectra import (
    coherence as coherence,
    csd as csd,
    istft as istft,
    periodogram as periodogram,
    spectrogram as spectrogram,
    stft as stft,
    vectorstrength as vectorstrength,
    welch as welch,
)
from ._splines import (
    cspline1d as cspline1d,
    cspline1d_eval as cspline1d_eval,
    cspline2d as cspline2d,
    gauss_spline as gauss_spline,
    qspline1d as qspline1d,
    qspline1d_eval as qspline1d_eval,
    qspline2d as qspline2d,
    sepfir2d as sepfir2d,
    spline_filter as spline_filter,
    symiirorder1 as symiirorder1,
    symiirorder2 as symiirorder2,
)
from ._systems import (
    bilinear as bilinear,
    cont2discrete as cont2discrete,
    dlsim as dlsim,
    lp2bp as lp2bp,
    lp2bs as lp2bs,
    lp2hp as lp2hp,
    lp2lp as lp2lp,
    lsim as lsim,
    normalize as normalize,
    sos2tf as sos2tf,
    ss2tf as ss2tf,
    tf2ss as tf2ss,
    zpk2ss as zpk2ss,
)
from ._uneven import (
    lombscargle as lombscargle,
)
from ._waveforms import (
    chirp as chirp,
    gausspulse as gausspulse,
    sawtooth as sawtooth,
    square as square,
    sweep_poly as sweep_poly,
)
from ._windows import (
    get_window as get_window,
)
