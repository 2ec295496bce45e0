"""Calls of `scipy.signal` with options: functions, arguments that vary, options."""

from inspect import signature

import numpy as np
import scipy.signal as sp

RNG = np.random.default_rng(11)


def real(*shape):
    return RNG.normal(size=shape)


def cplx(*shape):
    return real(*shape) + 1j * real(*shape)


B, A = np.array([0.5, 0.2, 0.1]), np.array([1.5, -0.4, 0.2, 0.05])
X, H, XS = real(12), real(4), real(3, 9, 2)
SOS = sp.butter(3, 0.3, output="sos")
LONG = real(40)


def positional(f, args, options):
    """Arrays among the options as arguments, so that they vary."""
    if not any(isinstance(x, tuple | np.ndarray) for x in options.values()):
        return args, options
    known = signature(f).parameters
    moved = [n for n, p in known.items() if p.kind is not p.KEYWORD_ONLY]
    given = dict(zip(known, args, strict=False)) | options
    last = max(moved.index(n) for n in given if n in moved)
    first = [given.pop(n, known[n].default) for n in moved[: last + 1]]
    return tuple(first), given


def calls(group):
    return [(f, *positional(f, args, kw)) for f, args, kw in group()]


def convolution():
    for mode in ("full", "same", "valid"):
        for x, h in [
            (X, H),
            (H, X),
            (cplx(7), cplx(3)),
            (X, cplx(3)),
            (real(6), real(6)),
            (real(4, 5), real(2, 3)),
            (real(2, 3), cplx(4, 5)),
        ]:
            for method in ("auto", "direct", "fft"):
                yield sp.convolve, (x, h), {"mode": mode, "method": method}
                yield sp.correlate, (x, h), {"mode": mode, "method": method}
            for f in (sp.fftconvolve, sp.oaconvolve):
                yield f, (x, h), {"mode": mode}
            if x.ndim == 2:
                for boundary in ("fill", "wrap", "symm"):
                    for fill in (0, 1.5) if boundary == "fill" else (0,):
                        kw = {"mode": mode, "boundary": boundary, "fillvalue": fill}
                        yield sp.convolve2d, (x, h), kw
                        yield sp.correlate2d, (x, h), kw
        for f in (sp.fftconvolve, sp.oaconvolve):
            yield f, (real(3, 6), cplx(1, 4)), {"mode": mode, "axes": 1}
            yield f, (real(3, 1, 6), real(2, 5, 4)), {"mode": mode, "axes": (0, 2)}
    yield sp.convolve, (np.array(2.0), np.array(3.0)), {}
    yield sp.deconvolve, (X, H), {}
    yield sp.deconvolve, (cplx(6), cplx(3)), {}
    yield sp.deconvolve, (H, X), {}


def filters():
    for b, a in [
        (B, A),
        (A, B),
        (B, np.array([2.0])),
        (B + 1j, A),
        (B[:1], A),
        (np.asarray(2.0), A),
    ]:
        order = max(np.size(b), np.size(a)) - 1
        for x, axis in [(X, -1), (XS, 1), (cplx(8), 0), (real(2), -1)]:
            yield sp.lfilter, (b, a, x), {"axis": axis}
            shape = list(x.shape)
            shape[axis] = order
            yield sp.lfilter, (b, a, x), {"axis": axis, "zi": real(*shape)}
        yield sp.lfilter_zi, (b, a), {}
        yield sp.lfiltic, (b, a, real(4)), {}
        yield sp.lfiltic, (b, a, real(4), real(1)), {}
    zi = real(1, 3, 1)
    yield sp.lfilter, (B, A, XS), {"axis": 1, "zi": zi}
    for padtype, padlen in [
        ("odd", None),
        ("even", 3),
        ("constant", 4),
        (None, None),
        ("odd", 0),
    ]:
        kw = {"padtype": padtype, "padlen": padlen}
        for b, a in [(B, A), (A, B), (B, np.array([2.0])), (np.asarray(2.0), A)]:
            yield sp.filtfilt, (b, a, real(16)), kw
            yield sp.filtfilt, (b, a, real(2, 17, 2)), kw | {"axis": 1}


def sections():
    for sos in (
        SOS,
        sp.butter(2, 0.3, output="sos"),
        sp.butter(3, 0.2, "high", output="sos"),
    ):
        n = len(sos)
        for x, axis in [(X, -1), (XS, 1), (cplx(8), 0)]:
            yield sp.sosfilt, (sos, x), {"axis": axis}
            shape = list(x.shape)
            shape[axis] = 2
            yield sp.sosfilt, (sos, x), {"axis": axis, "zi": real(n, *shape)}
        yield sp.sosfilt_zi, (sos,), {}
        for padtype, padlen in [
            ("odd", None),
            ("even", 3),
            ("constant", 4),
            (None, None),
        ]:
            kw = {"padtype": padtype, "padlen": padlen}
            yield sp.sosfiltfilt, (sos, real(16)), kw
            yield sp.sosfiltfilt, (sos, real(2, 17)), kw


def smoothing():
    for x, axis in [(X, -1), (XS, 1), (XS, 0)]:
        for kind in ("linear", "constant"):
            yield sp.detrend, (x,), {"axis": axis, "type": kind}
        for n in (None, 5, 8, 15):
            yield sp.hilbert, (x,), {"axis": axis, "N": n}
    yield sp.detrend, (X,), {"bp": [4, 7]}
    yield sp.detrend, (cplx(9),), {"bp": 3}
    for n in (None, 5, (4, 7)):
        yield sp.hilbert2, (real(5, 6),), {"N": n}
    yield sp.hilbert2, (real(4, 2, 3),), {"axes": (0, 2)}
    for mode in ("mirror", "constant", "nearest", "wrap", "interp"):
        for deriv in (0, 1, 2):
            for size, order in [(5, 2), (6, 3), (3, 1)]:
                kw = {"mode": mode, "deriv": deriv, "delta": 0.5}
                yield sp.savgol_filter, (X, size, order), kw
        yield sp.savgol_filter, (XS, 5, 3), {"mode": mode, "axis": 1}
    for x, n in [(X, 3), (X, 5), (real(5, 6), 3), (real(5, 6), [3, 1])]:
        yield sp.medfilt, (x, n), {}
        yield sp.wiener, (x, None if np.ndim(n) == 0 else n), {}
        yield sp.wiener, (x, None, np.asarray(0.45)), {}
    yield sp.medfilt2d, (real(5, 6), 3), {}
    yield (
        sp.order_filter,
        (real(5, 6), np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]]), 1),
        {},
    )
    for z in (X, real(13), cplx(12), cplx(13), real(2, 12)):
        for bp in [(1, None), (None, None), (0, 4), (2, 5)]:
            for n_out in (None, 7, 20):
                for residual in ("lowpass", "all", None):
                    yield (
                        sp.envelope,
                        (z, bp),
                        {"n_out": n_out, "residual": residual, "squared": True},
                    )
    yield sp.envelope, (X,), {}


def resampling():
    t = np.linspace(1.0, 2.0, 12)
    for x, axis in [(X, 0), (XS, 1), (cplx(12), 0), (cplx(9), 0)]:
        for num in (6, 7, 12, 15, 20, 5):
            for window in (None, "hamming", ("kaiser", np.asarray(4.0))):
                yield sp.resample, (x, num), {"axis": axis, "window": window}
    for num in (6, 7, 20):
        yield sp.resample, (X, num), {"t": t}
        yield sp.resample, (cplx(9), num), {"domain": "freq"}
        yield sp.resample, (X, num), {"window": real(12)}
    for h, x in [(H, X), (real(9), XS), (cplx(4), X), (H, cplx(5)), (real(2), real(3))]:
        for up, down in [(1, 1), (2, 1), (1, 3), (3, 2), (2, 5)]:
            for mode in ("constant", "symmetric", "reflect", "wrap", "edge"):
                kw = {"up": up, "down": down, "mode": mode}
                yield sp.upfirdn, (h, x), kw | ({"axis": 1} if x.ndim > 1 else {})
            yield sp.upfirdn, (h, x, up, down), {"cval": 0.7}
    for x, axis in [(X, 0), (XS, 1), (cplx(10), 0)]:
        for up, down in [(2, 1), (1, 3), (3, 2), (4, 6), (2, 2)]:
            yield sp.resample_poly, (x, up, down), {"axis": axis}
            yield sp.resample_poly, (x, up, down), {"axis": axis, "window": real(5)}
    for padtype in (
        "mean",
        "median",
        "minimum",
        "maximum",
        "symmetric",
        "wrap",
        "edge",
    ):
        yield sp.resample_poly, (X, 3, 2), {"padtype": padtype}
    yield sp.resample_poly, (X, 3, 2), {"cval": 0.5}
    for zero_phase in (True, False):
        for ftype, n in [("iir", 2), ("fir", None), ("fir", 7)]:
            yield (
                sp.decimate,
                (LONG, 2),
                {"ftype": ftype, "n": n, "zero_phase": zero_phase},
            )
            yield (
                sp.decimate,
                (real(2, 41, 2), 3),
                {"ftype": ftype, "n": n, "axis": 1, "zero_phase": zero_phase},
            )


def windows():
    w = sp.windows
    for f, parameters in [
        (w.kaiser, (np.asarray(2.5),)),
        (w.gaussian, (np.asarray(1.7),)),
        (w.tukey, (np.asarray(0.6),)),
        (w.tukey, (np.asarray(0.3),)),
        (w.general_gaussian, (np.asarray(1.4), np.asarray(2.0))),
        (w.chebwin, (np.asarray(50.0),)),
        (w.general_hamming, (np.asarray(0.6),)),
        (w.exponential, (None, np.asarray(2.0))),
        (w.general_cosine, (np.array([0.5, 0.3, 0.2]),)),
    ]:
        for n in (1, 7, 8):
            for sym in (True, False):
                yield f, (n, *parameters), {"sym": sym}
        yield sp.get_window, ((f.__name__, *parameters), 9), {}
    yield w.exponential, (8, np.asarray(2.2), np.asarray(1.5)), {"sym": False}
    yield w.kaiser_bessel_derived, (8, np.asarray(3.0)), {}
    for norm in (True, False):
        yield w.taylor, (9, 4, np.asarray(30.0), norm), {}
        yield w.taylor, (8, 3, np.asarray(35.0), norm), {"sym": False}
    yield sp.get_window, (np.asarray(4.0), 9), {}


def designs():
    for cutoff, zero in [
        (np.asarray(0.3), True),
        (np.asarray(0.3), "highpass"),
        (np.array([0.2, 0.6]), False),
        (np.array([0.2, 0.6]), "bandstop"),
    ]:
        for kw in (
            {},
            {"scale": False},
            {"window": ("kaiser", 3.0)},
            {"fs": 3.0},
            {"width": 0.1},
        ):
            yield sp.firwin, (7, cutoff), {"pass_zero": zero} | kw
    yield sp.firwin, (8, np.asarray(0.3)), {}
    for a in (10.0, 30.0, 60.0):
        yield sp.kaiser_beta, (np.asarray(a),), {}
    yield sp.kaiser_atten, (9, np.asarray(0.2)), {}
    yield sp.iirnotch, (np.asarray(0.3), np.asarray(2.0)), {}
    yield sp.iirpeak, (np.asarray(0.3), np.asarray(2.0)), {"fs": 3.0}


def spectra():
    z = cplx(40)
    for detrend in ("constant", "linear", False):
        for scaling in ("density", "spectrum"):
            kw = {"detrend": detrend, "scaling": scaling}
            for x in (LONG, z, real(2, 40)):
                yield sp.periodogram, (x,), kw
                yield sp.welch, (x,), kw | {"nperseg": 12}
                yield sp.spectrogram, (x,), kw | {"nperseg": 12}
                yield sp.csd, (x, real(40)), kw | {"nperseg": 9, "fs": 2.0, "nfft": 11}
    for nfft in (50, 20):
        yield sp.periodogram, (LONG, 1.5, "hann", nfft), {}
    yield sp.periodogram, (LONG,), {"window": real(40), "return_onesided": False}
    yield (
        sp.welch,
        (LONG,),
        {"window": ("kaiser", np.asarray(2.0)), "nperseg": 10, "average": "median"},
    )
    yield sp.csd, (LONG, real(30)), {"window": real(10), "average": "median"}
    yield sp.csd, (z, cplx(40)), {"nperseg": 12, "axis": 0}
    yield sp.welch, (real(2, 30, 2),), {"nperseg": 8, "axis": 1, "noverlap": 3}
    yield sp.coherence, (LONG, real(40)), {"nperseg": 10}
    for mode in ("psd", "complex", "magnitude", "angle", "phase"):
        yield (
            sp.spectrogram,
            (LONG,),
            {"nperseg": 9, "mode": mode, "window": ("tukey", np.asarray(0.3))},
        )
        if mode != "phase":  # it jumps
            yield (
                sp.spectrogram,
                (real(2, 30, 2),),
                {"nperseg": 9, "mode": mode, "axis": 1},
            )
    for boundary in ("zeros", "even", "odd", "constant", None):
        for padded in (True, False):
            for scaling in ("spectrum", "psd"):
                kw = {
                    "boundary": boundary,
                    "padded": padded,
                    "scaling": scaling,
                    "nperseg": 9,
                }
                yield sp.stft, (LONG,), kw
                yield (
                    sp.stft,
                    (real(2, 30, 2),),
                    kw | {"axis": 1, "noverlap": 5, "nfft": 12},
                )
    yield sp.stft, (z,), {"nperseg": 8, "return_onesided": False}
    yield sp.stft, (LONG,), {"nperseg": 8, "window": ("gaussian", np.asarray(2.0))}
    for scaling in ("spectrum", "psd"):
        for boundary in (True, False):
            kw = {"scaling": scaling, "boundary": boundary, "window": "hamming"}
            yield sp.istft, (cplx(6, 7),), kw
            yield sp.istft, (cplx(6, 7),), kw | {"noverlap": 7}
            yield sp.istft, (cplx(7, 6, 2),), kw | {"time_axis": 0, "freq_axis": 1}
            yield sp.istft, (cplx(8, 7),), kw | {"input_onesided": False}
            yield (
                sp.istft,
                (cplx(6, 7),),
                kw | {"nperseg": 11, "window": ("kaiser", np.asarray(2.0))},
            )
    yield sp.vectorstrength, (real(6), np.asarray(2.2)), {}
    yield sp.vectorstrength, (real(6), np.array([2.2, 1.1])), {}


Z, P, K = (
    np.array([0.5, -0.3]),
    np.array([0.2 + 0.4j, 0.2 - 0.4j, 0.7]),
    np.asarray(1.3),
)
PAIR = np.array([0.1 + 0.9j, 0.1 - 0.9j])


def at(x):
    return np.asarray(x)


def responses():
    for n in (8, 7, [0.3, 1.1, 2.0]):
        for b, a in [(B, A), (B, at(2.0)), (cplx(3), A), (A, B)]:
            for whole in (True, False):
                yield sp.freqz, (b, a), {"worN": n, "whole": whole}
        yield sp.freqz_sos, (SOS,), {"worN": n}
        for z in (Z, PAIR):
            yield sp.freqz_zpk, (z, P, K), {"worN": n, "fs": 7.0}
        yield sp.group_delay, ((B, A),), {"w": n}
    w = [0.3, 1.1, 2.0]
    yield sp.freqz, (real(3, 4, 1), real(2, 4, 1)), {"worN": w}
    yield sp.freqs, (B, A), {"worN": w}
    yield sp.freqs_zpk, (Z, P, K), {"worN": w}


def conversions():
    for z in (Z, PAIR, Z[:1]):
        yield sp.zpk2tf, (z, P, K), {}
        yield sp.bilinear_zpk, (z, P, K, 1.5), {}
        yield sp.lp2lp_zpk, (z, P, K, at(1.5)), {}
        yield sp.lp2hp_zpk, (z, P, K, at(1.5)), {}
        yield sp.lp2bp_zpk, (z, P[:2], K, at(1.5), at(0.7)), {}
        yield sp.lp2bs_zpk, (z, P[:2], K, at(1.5), at(0.7)), {}
    for b, a in [(B, A), (A, B), (B, B + 1), (A, cplx(3))]:
        if b is B:
            yield sp.tf2zpk, (b, a), {}
        yield sp.normalize, (b, a), {}
    for b, a in [(B, A), (A, B), (B, B + 1), (B[:1], A)]:
        yield sp.bilinear, (b, a, 1.5), {}
        yield sp.lp2lp, (b, a, at(1.5)), {}
        yield sp.lp2hp, (b, a, at(1.5)), {}
        yield sp.lp2bp, (b, a, at(1.5), at(0.7)), {}
        yield sp.lp2bs, (b, a, at(1.5), at(0.7)), {}
        if len(b) <= len(a):
            yield sp.tf2ss, (b, a), {}
    yield sp.tf2ss, (real(2, 3), A), {}
    yield sp.zpk2sos, (PAIR, P[:2], K), {}
    yield sp.zpk2ss, (Z, P[2:].real.repeat(3) * [1, 2, 3], K), {}
    yield sp.sos2tf, (SOS,), {}
    yield sp.ss2tf, (real(3, 3), real(3, 2), real(2, 3), real(2, 2)), {"input": 1}
    for method in (
        "zoh",
        "foh",
        "impulse",
        "bilinear",
        "euler",
        "backward_diff",
        "gbt",
    ):
        kw = {"method": method, "alpha": 0.3}
        d = np.zeros((2, 2)) if method == "impulse" else real(2, 2)
        if method != "impulse":
            yield (
                sp.cont2discrete,
                ((real(3, 3), real(3, 2), real(2, 3), d), at(0.3)),
                kw,
            )
            yield sp.cont2discrete, ((B, A), at(0.3)), kw


def systems():
    t, t1 = np.linspace(0, 2, 6).tolist(), np.linspace(1, 2, 6).tolist()
    space = (real(3, 3), real(3, 2), real(2, 3), real(2, 2))
    for interp in (True, False):
        for times in (t, t1):
            yield sp.lsim, (space, real(6, 2), times), {"X0": real(3), "interp": interp}
            yield sp.lsim, ((B, A), real(6), times), {"interp": interp}
        yield (
            sp.lsim,
            ((Z, np.array([-1.0, -2.0, -0.5]), K), real(6), t),
            {"interp": interp},
        )
    yield sp.lsim, (space, None, t), {"X0": real(3)}
    yield sp.dlsim, ((*space, 0.1), real(6, 2)), {}
    yield sp.dlsim, ((*space, 0.1), real(6, 2), None, real(3)), {}
    yield sp.dlsim, ((B, A, 0.1), real(6)), {}


def recursive_designs():
    band = np.array([0.2, 0.5])
    for output in ("ba", "zpk", "sos"):
        for n in (3, 4):
            for btype in ("low", "high", "band", "bandstop"):
                w = at(0.3) if btype in ("low", "high") else band
                kw = {"btype": btype, "output": output}
                yield sp.butter, (n, w), kw
                yield sp.cheby1, (n, at(1.5), w), kw
                yield sp.cheby2, (n, at(30.0), w), kw
                yield sp.ellip, (n, 1.0, 40.0, w), kw
                yield sp.bessel, (n, w), kw | {"norm": "mag"}
                yield sp.iirfilter, (n, w), kw | {"fs": 3.0}
        if output != "sos":
            yield sp.butter, (3, at(0.3)), {"output": output, "analog": True}
    for n in (3, 4):
        yield sp.cheb1ap, (n, at(1.5)), {}
        yield sp.cheb2ap, (n, at(30.0)), {}


def waveforms():
    t = np.array([0.1, 0.35, 0.9, 1.7])
    for method in ("linear", "quadratic", "logarithmic", "hyperbolic"):
        for f1 in (2.5, 1.0):
            for kw in ({}, {"vertex_zero": False}, {"complex": True}):
                yield sp.chirp, (t, at(1.0), at(2.0), at(f1), method, at(30.0)), kw
    for retquad in (True, False):
        for retenv in (True, False):
            kw = {"retquad": retquad, "retenv": retenv}
            yield sp.gausspulse, (t, at(2.0), at(0.5), at(-6.0), at(-60.0)), kw
    yield sp.gausspulse, ("cutoff", at(2.0), at(0.5), at(-6.0), at(-60.0)), {}
    yield sp.sawtooth, (7 * t, at(0.6)), {}
    yield sp.square, (7 * t, at(0.6)), {}
    yield sp.sweep_poly, (t, real(3), 20.0), {}


def chirps():
    for x, axis in [(X, -1), (XS, 1), (cplx(7), 0)]:
        for m in (None, 5, 16):
            yield sp.czt, (x, m), {"axis": axis}
            yield sp.czt, (x, m, at(np.exp(-0.3j)), at(0.9 + 0.2j)), {"axis": axis}
            for endpoint in (True, False):
                kw = {"axis": axis, "endpoint": endpoint, "fs": 3.0}
                yield sp.zoom_fft, (x, (0.2, 0.7), m), kw
                yield sp.zoom_fft, (x, at(0.7), m), kw
                yield sp.zoom_fft, (x, np.array([0.2, 0.7]), m), kw
    yield sp.czt_points, (5, at(0.9 * np.exp(-0.3j)), at(0.9 + 0.2j)), {}
    yield sp.czt_points, (5, None, at(0.9 + 0.2j)), {}
    times, tones = np.sort(real(9)) * 3, np.array([0.4, 1.1, 2.3])
    for normalize in (False, True, "amplitude"):
        for floating_mean in (False, True):
            for weights in (None, RNG.uniform(0.5, 1, 9)):
                kw = {"normalize": normalize, "floating_mean": floating_mean}
                yield (
                    sp.lombscargle,
                    (times, real(9), tones),
                    kw | ({} if weights is None else {"weights": tuple(weights)}),
                )


HILLS = np.array([0.0, 1.0, 0.4, 2.0, 1.7, 1.1, 1.4, 0.3, 0.9, 0.1, 0.6])


def peaks():
    places = sp.find_peaks(HILLS)[0]
    for wlen in (None, 3, 5):
        yield sp.peak_prominences, (HILLS, places, wlen), {}
        for height in (0.5, 0.83):
            yield sp.peak_widths, (HILLS, places, at(height)), {"wlen": wlen}
    data = sp.peak_prominences(HILLS, places)
    yield sp.peak_widths, (HILLS, places, at(0.4), data), {}


def linear_phase():
    freq, gain = (
        np.array([0.0, 0.22, 0.51, 0.83, 1.0]),
        np.array([1.0, 0.8, 0.3, 0.1, 0]),
    )
    for n, kw in [(9, {}), (8, {"window": ("kaiser", 3.0)}), (8, {"window": None})]:
        yield sp.firwin2, (n, freq, gain), kw | {"nfreqs": 31}
        yield sp.firwin2, (n, 2.1 * freq, gain), kw | {"fs": 4.2}
    jump = np.array([0.0, 0.5, 0.5, 1.0])  # at a place of the grid
    yield sp.firwin2, (8, jump.tolist(), np.array([1.0, 0.8, 0.2, 0.0])), {}
    odd = gain * freq * (1 - freq)
    for n in (7, 8):
        yield sp.firwin2, (n, freq, odd), {"antisymmetric": True}
    bands, levels = np.array([0.0, 0.3, 0.45, 1.0]), np.array([1.0, 0.9, 0.1, 0.05])
    for kw in ({}, {"weight": (1.0, 3.0)}, {"fs": 2.6}):
        yield sp.firls, (9, bands, levels), kw
    h = np.array([0.1, 0.3, 1.1, 0.3, 0.1])
    for half in (True, False):
        for size in (None, 65, 64):
            yield sp.minimum_phase, (h, "homomorphic", size), {"half": half}
    yield sp.minimum_phase, (sp.firwin(9, 0.4), "hilbert", 64), {}
    for deriv in (0, 1, 2):
        for use in ("conv", "dot"):
            yield sp.savgol_coeffs, (5, 2, deriv, at(0.5), at(1.3), use), {}
            yield sp.savgol_coeffs, (6, 3, deriv, at(0.5), None, use), {}
    for ftype in ("notch", "peak"):
        for pass_zero in (True, False):
            kw = {"fs": 2.0, "pass_zero": pass_zero}
            yield sp.iircomb, (0.4, at(3.0), ftype), kw
    for ftype in ("fir", "iir"):
        yield sp.gammatone, (at(0.3), ftype), {}
    yield sp.gammatone, (at(440.0), "fir", 3, 20, 16000), {}


def fractions():
    a3 = 1.5 * np.poly([0.5, -0.3, 0.8])
    cut = np.array([0.0, 0.0, 1.0, 0.4, 0.3])
    for b, a in [(B, a3), (real(6), a3), (B, np.array([1.0, 0.3])), (cplx(4), a3)]:
        yield sp.residue, (b, a), {}
        yield sp.residuez, (b, a), {}
    yield sp.residue, (cut.tolist(), a3), {}
    p = np.array([0.5, -0.3, 0.8j])
    for k in (np.array([]), real(1), real(3)):
        for r in (cplx(3), real(3)):
            yield sp.invres, (r, p, k), {}
            yield sp.invresz, (r, p, k), {}
            yield sp.invres, (r, p.real + 0.1, k), {}


def splines():
    for x in (LONG, real(3, 40)):
        for z in (0.3, -0.4):
            yield sp.symiirorder1, (x, at(1.7), at(z), 1e-12), {}
        yield sp.symiirorder2, (x, at(0.3), at(0.8), 1e-12), {}
    for n in (1, 2, 12):
        yield sp.cspline1d, (real(n),), {}
        yield sp.qspline1d, (real(n),), {}
    yield sp.cspline1d, (X, 0.7), {}
    yield sp.cspline2d, (real(22, 23), 0.0, 1e-9), {}
    yield sp.cspline2d, (real(22, 23), 0.1, 1e-9), {}
    yield sp.qspline2d, (real(22, 23), 0.0, 1e-9), {}
    yield sp.spline_filter, (real(22, 23), 0.0), {}
    where = np.array([-14.7, -0.4, 0.3, 2.2, 7.9, 11.3, 25.6])
    for f in (sp.cspline1d_eval, sp.qspline1d_eval):
        yield f, (X, where), {}
        yield f, (X, where, at(0.8), at(0.15)), {}
    yield sp.gauss_spline, (where / 5, 3), {}


def system_responses():
    t = np.linspace(0.5, 3.0, 6).tolist()
    space = real(3, 3), real(3, 1), real(2, 3), real(2, 1)
    single = real(3, 3), real(3, 1), real(1, 3), real(1, 1)
    zpk = Z, np.array([-1.0, -2.0, -0.5]), K
    for system in (space, (B, A), zpk):
        for x0 in (None, real(3)):
            yield sp.step, (system, x0, t), {}
            column = None if x0 is None else x0[:, None]
            yield sp.impulse, (system, column, t), {}
    w = [0.3, 1.1, 2.0]
    for system in (single, (B, A), zpk):
        yield sp.freqresp, (system, w), {}
        yield sp.bode, (system, w), {}
        yield sp.dfreqresp, ((*system, 0.3), w), {}
        yield sp.dbode, ((*system, at(0.3)), w), {}
        yield sp.dbode, ((*system, 0.3), w), {}
    many = real(2, 2), real(2, 2), real(3, 2), real(3, 2)
    for system in (many, (B, A), zpk):
        yield sp.dstep, ((*system, at(0.3)),), {"n": 5}
        yield sp.dimpulse, ((*system, at(0.3)),), {"n": 5}
    yield sp.dimpulse, ((*many, 0.3), real(2)), {"n": 4}
    yield sp.tf2sos, (B, A), {}
    yield sp.sos2zpk, (np.array([[1.2, 0.3, -0.4, 1.1, 0.5, 0.9]] * 2),), {}
    for b, a in [(B, A), (A, B), (np.array([2.0]), np.array([1.5]))]:
        for irlen in (None, 5):
            kw = {"method": "gust", "irlen": irlen}
            yield sp.filtfilt, (b, a, real(16)), kw
            yield sp.filtfilt, (b, a, real(2, 17, 2)), kw | {"axis": 1}


GROUPS = {
    f.__name__: f
    for f in (
        convolution,
        filters,
        sections,
        smoothing,
        resampling,
        windows,
        designs,
        spectra,
        responses,
        conversions,
        systems,
        recursive_designs,
        waveforms,
        chirps,
        peaks,
        linear_phase,
        fractions,
        splines,
        system_responses,
    )
}
CASES = {
    f"{f.__name__}-{i}": (f, args, options)
    for group in GROUPS.values()
    for i, (f, args, options) in enumerate(calls(group))
}
