"""`ShortTimeFFT` for every framework: SciPy's slices, the window and signal traced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, final

import numpy as np
import scipy.signal as _sp

import rules_core as rc
from rules_core.extend import stand_in
from rules_scipy._axes import concat, moveaxis
from rules_scipy.linalg._matrices import conjugate, real

from ._axis import fixed, padded, selected, together
from ._smoothing import detrended
from ._spectra import overlapped, placed
from ._windows import window_of

__all__ = ["ShortTimeFFT"]

_KEPT = ("mfft", "fft_mode", "phase_shift", "fs", "T")  # set on the plan


@rc.primitive
def _plan(win: Any, hop: int, fs: float, options: dict[str, Any]) -> Any:
    """SciPy's object: which slices there are depends on zeros at a window's ends.

    In traced code a window has no numbers: it is taken to be without zeros.
    """
    try:
        numbers = np.array(win)
    except Exception:  # of a traced array; each framework raises its own
        kind = complex if "complex" in str(win.dtype) else float
        numbers = np.hanning(win.shape[0] + 2)[1:-1].astype(kind)
    return _Held(_sp.ShortTimeFFT(numbers, hop, fs, **options))


class _Held:
    """A constant."""

    def __init__(self, plan: Any) -> None:
        self.plan = plan

    def __tangent_structure__(self) -> None:
        """A constant."""


_RATE = "ShortTimeFFT: the rate fs must be a constant: its derivative has no rule."


@rc.frule.define(_plan)
def _plan_frule(tangents: Any, win: Any, hop: Any, fs: Any, options: Any) -> Any:
    if not isinstance(tangents[3], rc.AbstractZero):
        raise rc.UnsupportedError(_RATE)
    return _plan(win, hop, fs, options), rc.NoTangent()


@rc.rrule.define(_plan)
def _plan_rrule(win: Any, hop: Any, fs: Any, options: Any, *, needs: Any) -> Any:
    if needs[2]:
        raise rc.UnsupportedError(_RATE)
    return _plan(win, hop, fs, options), lambda _dy: (rc.NoTangent(),) * 5


def _power(win: Any) -> Any:
    return real(win * conjugate(win))


def _overlaps(win: Any, hop: int) -> Any:
    """Σ |win[n + k hop]|² over all k, for each n."""
    xp, n = rc.array_namespace(win), win.shape[0]
    rows = -(-n // hop)
    squares = xp.reshape(padded(_power(win), 0, 0, rows * hop - n), (rows, hop))
    return concat([xp.sum(squares, axis=0)] * rows, 0)[:n]


@final
class ShortTimeFFT:
    """A short-time Fourier transform, as `scipy.signal.ShortTimeFFT`.

    The transforms have derivatives in the signal and in the window; `dual_win` is a
    function of the window. Methods and attributes are those of SciPy's object.

    Args:
        win: The window, an array of any framework.
        hop: By how many samples slices are apart.
        fs: The sampling rate.
        fft_mode: As in SciPy.
        mfft: The length of the transform.
        dual_win: The dual window; by default the canonical one.
        scale_to: "magnitude", "psd" or None.
        phase_shift: As in SciPy.

    >>> import jax, numpy as np
    >>> from rules_scipy.signal import ShortTimeFFT
    >>> def power(win, x):
    ...     return ShortTimeFFT(win, hop=2, fs=1.0).spectrogram(x).sum()
    >>> win, x = np.asarray([1.0, 2.0, 1.0]), np.arange(8.0)
    >>> jax.jit(jax.grad(power))(win, x).shape
    (3,)
    """

    def __init__(
        self,
        win: Any,
        hop: int,
        fs: float,
        *,
        fft_mode: str = "onesided",
        mfft: int | None = None,
        dual_win: Any = None,
        scale_to: str | None = None,
        phase_shift: int | None = 0,
    ) -> None:
        options = {"fft_mode": fft_mode, "mfft": mfft, "scale_to": scale_to,
                   "phase_shift": phase_shift}  # fmt: skip
        held: Any = _plan(rc.ignore_derivatives(win), hop, fs, options)
        self._fill(held.plan, win, dual_win)
        if scale_to is not None:
            self._scale(scale_to)

    def _fill(self, plan: Any, win: Any, dual: Any) -> None:
        vars(self).update(plan=plan, win=win, _dual=dual)

    @classmethod
    def of_plan(cls, plan: Any, win: Any, dual: Any) -> ShortTimeFFT:
        """SciPy's object with another window and dual window."""
        self = cls.__new__(cls)
        self._fill(plan, win, dual)
        return self

    @classmethod
    def from_dual(
        cls, dual_win: Any, hop: int, fs: float, **options: Any
    ) -> ShortTimeFFT:
        """The transform whose window is the canonical dual of `dual_win`."""
        win = dual_win / _overlaps(dual_win, hop)
        return cls(win, hop, fs, dual_win=dual_win, **options)

    @classmethod
    def from_window(
        cls,
        win_param: Any,
        fs: float,
        nperseg: int,
        noverlap: int,
        *,
        symmetric_win: bool = False,
        **options: Any,
    ) -> ShortTimeFFT:
        """A window by its name, or by its name and parameters."""
        win = window_of(win_param, nperseg, np.ones(1), fftbins=not symmetric_win)
        return cls(win, nperseg - noverlap, fs, **options)

    @classmethod
    def from_win_equals_dual(
        cls,
        desired_win: Any,
        hop: int,
        fs: float,
        *,
        mfft: int | None = None,
        scale_to: str | None = None,
        **options: Any,
    ) -> ShortTimeFFT:
        """A window that is its own dual, up to a factor."""
        win = desired_win / rc.array_namespace(desired_win).sqrt(
            _overlaps(desired_win, hop)
        )
        unitary = scale_to == "unitary"
        factor = (len(desired_win) if mfft is None else mfft) ** (unitary / 2)
        self = cls(
            win / factor, hop, fs, mfft=mfft, dual_win=win * factor,
            scale_to=None if unitary else scale_to, **options,
        )  # fmt: skip
        if unitary:
            vars(self.plan).update(_scaling=scale_to)
        return self

    def __tangent_structure__(self) -> rc.Structure:
        def build(values: Sequence[Any]) -> ShortTimeFFT:
            return ShortTimeFFT.of_plan(self.plan, *values)

        own = [self.win, self._dual]
        return rc.Structure(ShortTimeFFT, "field", ["win", "_dual"], own, build)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "plan":
            raise AttributeError(name)
        return getattr(self.plan, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _KEPT:
            raise AttributeError(name)
        setattr(self.plan, name, value)

    # scales and windows

    @property
    def fac_magnitude(self) -> Any:
        """The factor that scales the window to magnitudes."""
        return 1 if self.plan.scaling == "magnitude" else self._factor("magnitude")

    @property
    def fac_psd(self) -> Any:
        """The factor that scales the window to power spectral densities."""
        return 1 if self.plan.scaling == "psd" else self._factor("psd")

    def _factor(self, scaling: str) -> Any:
        xp = rc.array_namespace(self.win)
        if scaling == "psd":
            return 1 / xp.sqrt(xp.sum(_power(self.win)) * self.plan.fs)
        return 1 / xp.sqrt(_power(xp.sum(self.win)))

    def _scale(self, scaling: str) -> None:
        factor = self._factor(scaling)
        dual = None if self._dual is None else self._dual / factor
        self._fill(self.plan, self.win * factor, dual)

    def scale_to(self, scaling: str) -> None:
        """Scale the window, and its dual."""
        if self.plan.scaling != scaling:
            self.plan.scale_to(scaling)
            self._scale(scaling)

    @property
    def dual_win(self) -> Any:
        """The dual window: that which was given, or the canonical one."""
        if self._dual is not None:
            return self._dual
        _ = self.plan.dual_win  # an error where there is none
        return self.win / _overlaps(self.win, self.plan.hop)

    # transforms

    def stft(self, x: Any, p0: int | None = None, p1: int | None = None, *,
             k_offset: int = 0, padding: str = "zeros", axis: int = -1,
             ) -> Any:  # fmt: skip
        """The transform, with frequencies in place of `axis` and slices last."""
        return self.stft_detrend(
            x, None, p0, p1, k_offset=k_offset, padding=padding, axis=axis
        )

    def stft_detrend(self, x: Any, detr: Any, p0: int | None = None,
                     p1: int | None = None, *, k_offset: int = 0,
                     padding: str = "zeros", axis: int = -1) -> Any:  # fmt: skip
        """The transform of slices without their trend."""
        x, win = together(x, self.win)
        x = moveaxis(x, axis, -1)
        if self.plan.onesided_fft and "complex" in str(x.dtype):
            message = f"Complex-valued `x` not allowed for fft_mode={self.fft_mode!r}."
            raise ValueError(message)
        p0, p1 = self.plan.p_range(x.shape[-1], p0, p1)
        parts = self._slices(x, k_offset, p0, p1, padding)
        parts = _without_trend(parts, detr)
        return placed(self._transformed(parts * conjugate(win)), axis)

    def _slices(self, x: Any, offset: int, p0: int, p1: int, padding: str) -> Any:
        """Slices (…, slice, sample) of the padded signal."""
        hop, size = self.plan.hop, self.plan.m_num
        first = p0 * hop - self.plan.m_num_mid + offset
        last = first + (p1 - p0) * hop + size
        wide = _widened(x, first, last, padding)
        index = np.arange(p1 - p0)[:, None] * hop + np.arange(size)
        taken = selected(wide, wide.ndim - 1, index.ravel())
        return rc.array_namespace(x).reshape(taken, (*x.shape[:-1], *index.shape))

    def _shift(self) -> int:
        return int((self.plan.phase_shift + self.plan.m_num_mid) % self.plan.m_num)

    def _pairs(self) -> Any:
        """Weights of the mode "onesided2X": all but unpaired frequencies."""
        factor = np.sqrt(2) if self.plan.scaling == "psd" else 2.0
        weights = np.full(self.plan.f_pts, factor)
        weights[0] = 1
        if self.plan.mfft % 2 == 0:
            weights[-1] = 1
        return weights

    def _transformed(self, parts: Any) -> Any:
        xp, n = rc.array_namespace(parts), self.plan.mfft
        if self.plan.phase_shift is not None:
            parts = padded(parts, parts.ndim - 1, 0, n - parts.shape[-1])
            parts = xp.roll(parts, -self._shift(), axis=-1)
        if self.plan.onesided_fft:
            y = xp.fft.rfft(parts, n=n, axis=-1)
            both = self.plan.fft_mode == "onesided2X"
            return y * fixed(self._pairs(), y) if both else y
        y = xp.fft.fft(parts + 0j, n=n, axis=-1)
        centred = self.plan.fft_mode == "centered"
        return xp.fft.fftshift(y, axes=(-1,)) if centred else y

    def _back(self, spectra: Any) -> Any:
        xp, n = rc.array_namespace(spectra), self.plan.mfft
        if self.plan.fft_mode == "onesided2X":
            spectra = spectra / fixed(self._pairs(), spectra)
        if self.plan.onesided_fft:
            parts = xp.fft.irfft(spectra, n=n, axis=-1)
        else:
            if self.plan.fft_mode == "centered":
                spectra = xp.fft.ifftshift(spectra, axes=(-1,))
            parts = xp.fft.ifft(spectra, n=n, axis=-1)
        if self.plan.phase_shift is not None:
            parts = xp.roll(parts, self._shift(), axis=-1)
        return parts[..., : self.plan.m_num]

    def spectrogram(self, x: Any, y: Any = None, detr: Any = None,
                    *, p0: int | None = None, p1: int | None = None, k_offset: int = 0,
                    padding: str = "zeros", axis: int = -1) -> Any:  # fmt: skip
        """The squared transform, or the product with that of another signal."""
        run = partial(self.stft_detrend, detr=detr, p0=p0, p1=p1, k_offset=k_offset,
                      padding=padding, axis=axis)  # fmt: skip
        one = run(x)
        if y is None or y is x:
            xp = rc.array_namespace(one)
            return xp.real(one) ** 2 + xp.imag(one) ** 2
        return one * conjugate(run(y))

    def istft(self, S: Any, k0: int = 0, k1: int | None = None, *,
              f_axis: int = -2, t_axis: int = -1) -> Any:  # fmt: skip
        """The signal whose transform is `S`, from sample `k0` to `k1`."""
        plan, size = self.plan, self.plan.m_num
        first, last, k1 = self._range(S, k0, k1, f_axis, t_axis)
        S, dual = together(S, self.dual_win)
        freq, time = f_axis % S.ndim, t_axis % S.ndim
        spectra = moveaxis(S, (time, freq), (-2, -1)) + 0j
        # SciPy takes the last slice for one before the first.
        index = (np.arange(first, last) - plan.p_min) % S.shape[time]
        spectra = selected(spectra, S.ndim - 2, index)
        x = overlapped(self._back(spectra) * dual, plan.hop)
        begin = k0 - (first * plan.hop - size // 2)
        axis = x.ndim - 1
        x = padded(x, axis, max(-begin, 0), max(begin + k1 - k0 - x.shape[-1], 0))
        x = x[..., max(begin, 0) : max(begin, 0) + k1 - k0]
        # as SciPy, which looks at negative axes only where they are not the last
        moved = freq if (time, freq) != (S.ndim - 1, S.ndim - 2) else -2
        if x.ndim > 1:
            x = moveaxis(x, -1, moved if moved < x.ndim else time)
        return x

    def _range(
        self, S: Any, k0: int, k1: int | None, f_axis: int, t_axis: int
    ) -> tuple[int, int, int]:
        """The first and last slice, and the last sample; SciPy's errors by its code."""
        plan = self.plan
        empty = np.broadcast_to(np.zeros((), complex), S.shape)
        n = plan.istft(empty, k0, k1, f_axis=f_axis, t_axis=t_axis).size
        others = int(np.prod(S.shape)) // (S.shape[f_axis] * S.shape[t_axis])
        k1 = k0 + n // others
        first = k0 // plan.hop + (plan.p_min if k0 >= 0 else 0)
        return first, min(plan.p_max(k1), S.shape[t_axis] + plan.p_min), k1


def _widened(x: Any, first: int, last: int, padding: str) -> Any:
    """The samples from `first` to `last`, some of which are beyond the signal."""
    n, axis = x.shape[-1], x.ndim - 1
    inside = np.arange(max(first, 0), min(last, n))
    width = (max(-first, 0), max(last - n, 0))
    if padding == "zeros":
        return padded(selected(x, axis, inside), axis, *width)
    edge = selected(x, axis, np.pad(inside, width, "edge"))
    if padding == "edge":
        return edge
    mirrored = selected(x, axis, np.pad(inside, width, "reflect"))
    if padding == "even":
        return mirrored
    if max(width) >= inside.size:
        message = "derivative of ShortTimeFFT with padding='odd' and a signal that is \
shorter than its padding; use 'even' or a longer signal"
        raise rc.UnsupportedError(message)
    where = np.pad(np.ones(inside.size, bool), width)
    return rc.array_namespace(x).where(fixed(where, x), mirrored, 2 * edge - mirrored)


def _without_trend(parts: Any, detr: Any) -> Any:
    if detr is None:
        return parts
    if isinstance(detr, str):
        return detrended(parts, -1, detr)
    each = [detr(parts[..., i, :]) for i in range(parts.shape[-2])]
    return rc.array_namespace(parts).stack(each, axis=-2)


# In programs for NumPy


def _own(plan: Any) -> Any:
    """SciPy's object, whose window is a constant."""
    if isinstance(plan, ShortTimeFFT):
        return plan
    return ShortTimeFFT.of_plan(plan, plan.win, vars(plan)["_dual_win"])


def _method(name: str) -> Callable[..., Any]:
    def body(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(_own(self), name)(*args, **kwargs)

    body.__name__ = name
    return body


def _maker(name: str) -> Callable[..., Any]:
    def body(cls: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(ShortTimeFFT, name)(*args, **kwargs)

    body.__name__ = name
    return body


stand_in(_sp.ShortTimeFFT)(ShortTimeFFT)
for _name in ("stft", "stft_detrend", "spectrogram", "istft"):
    stand_in(getattr(_sp.ShortTimeFFT, _name))(_method(_name))
for _name in ("from_dual", "from_window", "from_win_equals_dual"):
    if hasattr(_sp.ShortTimeFFT, _name):  # the last one: SciPy 1.16
        stand_in(getattr(_sp.ShortTimeFFT, _name).__func__)(_maker(_name))
