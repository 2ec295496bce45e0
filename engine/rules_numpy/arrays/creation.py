"""Creating arrays: from nested lists, one value, ranges; changing the dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_numpy._declare.arguments import array_of, restore, tangent_array
from rules_numpy._declare.derivative import derivative
from rules_numpy._declare.maps import times_number
from rules_numpy.elementwise.special import bessel_i

__all__: list[str] = []


@derivative(
    [np.array, np.asarray, np.asanyarray, np.asarray_chkfinite, np.require],
    arrays=False,
)
def array_derivative(
    y: Any, a: Any, dtype: Any = None, *_options: Any, **_kw: Any
) -> Any:
    """These entries, as an array."""

    def array_pushforward(da: Any) -> Any:
        moved = np.asarray(tangent_array(a, da))
        return np.reshape(moved, np.shape(y)).astype(y.dtype)

    def array_pullback(dy: Any) -> Any:
        plain = array_of(a, np.asarray)
        return restore(a, rc.ProjectTo(plain)(np.reshape(dy, plain.shape)))

    return array_pushforward, array_pullback


@derivative([np.full], argnums=1)
def full_derivative(
    y: Any,
    shape: Any,
    fill_value: Any,
    dtype: Any = None,
    order: Any = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> Any:
    """One value, broadcast."""
    return _filled(y, fill_value)


@derivative(np.full_like, argnums=(0, 1))
def full_like_derivative(
    y: Any, a: Any, fill_value: Any, *_options: Any, **_kw: Any
) -> Any:
    """One value, broadcast; independent of the entries of the model."""
    return None, _filled(y, fill_value)


def _filled(y: Any, value: Any) -> Any:
    lead = y.ndim - np.ndim(value)
    shape = np.shape(value)

    def full_pushforward(dvalue: Any) -> Any:
        return np.broadcast_to(dvalue, y.shape)

    def full_pullback(dy: Any) -> Any:
        axes = tuple(i for i in range(dy.ndim) if i < lead or shape[i - lead] == 1)
        return np.reshape(np.sum(dy, axis=axes), shape)

    return full_pushforward, full_pullback


def _affine_in_ends(y: Any, start: Any, stop: Any, weights: Any, axis: int) -> Any:
    """y = (1 - t) start + t stop along an axis."""
    shape = [1] * np.ndim(y)
    shape[axis] = -1
    t = np.reshape(weights, shape)

    def pair(share: Any, end: Any) -> Any:
        def range_pushforward(dend: Any) -> Any:
            return share * _along(dend, y, axis)

        def range_pullback(dy: Any) -> Any:
            return rc.ProjectTo(end)(np.sum(share * dy, axis=axis))

        return range_pushforward, range_pullback

    return pair(1.0 - t, start), pair(t, stop)


def _along(x: Any, y: Any, axis: int) -> Any:
    return np.expand_dims(np.broadcast_to(x, np.delete(y.shape, axis)), axis)


def _steps(num: Any, endpoint: Any) -> Any:
    count = max(num - 1 if endpoint else num, 1)
    return np.arange(num) / count


@derivative(np.linspace, argnums=(0, 1))
def linspace_derivative(
    y: Any,
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: Any = True,
    retstep: Any = False,
    dtype: Any = None,
    axis: Any = 0,
    *,
    device: Any = None,
) -> Any:
    """Linear in both ends, and so is the step."""
    if not retstep:
        return _affine_in_ends(y, start, stop, _steps(num, endpoint), axis)
    values, _ = y
    maps = _affine_in_ends(values, start, stop, _steps(num, endpoint), axis)
    count = num - 1 if endpoint else num
    return tuple(
        _with_step(pair, sign / count if count else np.nan, end, y)
        for pair, sign, end in zip(maps, (-1.0, 1.0), (start, stop), strict=True)
    )


def _with_step(pair: Any, rate: float, end: Any, y: Any) -> Any:
    def step_pushforward(dend: Any) -> Any:
        return pair[0](dend), np.broadcast_to(rate * dend, np.shape(y[1]))

    def step_pullback(dy: Any) -> Any:
        return pair[1](dy[0]) + rc.ProjectTo(end)(rate * dy[1])

    return step_pushforward, step_pullback


@derivative(np.logspace, argnums=(0, 1, 4))
def logspace_derivative(
    y: Any,
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: Any = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: Any = 0,
) -> Any:
    """baseᵗ for t between the ends: dy = y (ln base dt + t / base dbase)."""
    if np.ndim(base):
        message = (
            "the derivative of numpy.logspace must be taken with one number as base, "
            "but got an array. Use base ** numpy.linspace(start, stop, num)."
        )
        raise rc.UnsupportedError(message)
    t = np.linspace(start, stop, num, endpoint, axis=axis)
    ends = _affine_in_ends(t, start, stop, _steps(num, endpoint), axis)

    scaled = tuple(_scaled(pair, y * np.log(base)) for pair in ends)
    return (*scaled, times_number(y * t / base))


def _scaled(pair: Any, slope: Any) -> Any:
    def scaled_pushforward(dx: Any) -> Any:
        return slope * pair[0](dx)

    def scaled_pullback(dy: Any) -> Any:
        return pair[1](np.conjugate(slope) * dy)

    return scaled_pushforward, scaled_pullback


@derivative(np.geomspace, argnums=(0, 1))
def geomspace_derivative(
    y: Any,
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: Any = True,
    dtype: Any = None,
    axis: Any = 0,
) -> Any:
    """start¹⁻ᵗ stopᵗ: dy = y ((1 - t) dstart / start + t dstop / stop)."""
    ends = _affine_in_ends(y, start, stop, _steps(num, endpoint), axis)
    return tuple(
        _scaled(pair, y / _along(end, y, axis))
        for pair, end in zip(ends, (start, stop), strict=True)
    )


def _cast_maps(y: Any, x: Any) -> Any:
    def cast_pushforward(dx: Any) -> Any:
        return _cast(dx, y)

    def cast_pullback(dy: Any) -> Any:
        return _cast(dy, x)

    return cast_pushforward, cast_pullback


def _cast(dx: Any, like: Any) -> Any:
    """In the dtype of `like`: the real part if that is real."""
    if isinstance(like, float | complex) and not rc.is_array(like):
        # A NumPy scalar as an object is Python's number.
        return complex(dx) if isinstance(like, complex) else float(np.real(dx))
    if like.dtype.kind != "c":
        dx = np.real(dx)
    return dx.astype(like.dtype) if rc.is_array(dx) else like.dtype.type(dx)


@derivative([np.astype, np.ndarray.astype, np.generic.astype])
def astype_derivative(y: Any, x: Any, dtype: Any, *_options: Any, **_kw: Any) -> Any:
    """The tangent in the other precision; none if the result is an integer."""
    return _cast_maps(y, x)


@derivative([np.real_if_close])
def real_if_close_derivative(y: Any, a: Any, tol: Any = 100) -> Any:
    """The real part if the imaginary part is rounding error."""

    def part_pushforward(da: Any) -> Any:
        return da if y.dtype.kind == "c" else np.real(da)

    def part_pullback(dy: Any) -> Any:
        return dy

    return part_pushforward, part_pullback


@derivative([np.float16, np.float32, np.float64, np.longdouble])
def number_derivative(y: Any, x: Any = 0.0, *_rest: Any) -> Any:
    """The number in the other precision."""
    return _cast_maps(y, x)


def _complex_of(cls: Any) -> Any:
    """The class, for one argument: some accept no second, none a complex first with it.

    Their signatures have an imaginary part, with default zero.
    """

    def complex_of(real: Any = 0, imag: Any = 0) -> Any:
        return cls(real if imag == 0 else real + 1j * imag)

    return complex_of


for _class in (np.complex64, np.complex128, np.clongdouble):
    derivative(_class, call=_complex_of(_class))(number_derivative)


@derivative(np.arange, argnums=(0, 1, 2))
def arange_derivative(
    y: Any, start: Any, stop: Any = None, step: Any = 1, **_kw: Any
) -> Any:
    """yᵢ = start + i step; the number of entries is a step function of all three."""
    moved = None if stop is None else times_number(np.ones(y.shape))
    return moved, None, times_number(np.arange(y.size) * 1.0)


@derivative([np.fft.fftfreq, np.fft.rfftfreq], argnums=1)
def fftfreq_derivative(y: Any, n: Any, d: Any = 1.0, device: Any = None) -> Any:
    """Frequencies k / (n d)."""
    return times_number(-y / d)


@derivative(np.kaiser, argnums=1)
def kaiser_derivative(y: Any, M: Any, beta: Any) -> Any:
    """I₀(β r) / I₀(β): the slope is (r I₁(β r) - y I₁(β)) / I₀(β)."""
    half = (M - 1) / 2.0
    t = (np.arange(M) - half) / half if M > 1 else np.zeros(M)
    r = np.sqrt(1.0 - t * t)
    slope = (r * bessel_i(1, beta * r) - y * bessel_i(1, beta)) / np.i0(beta)
    return times_number(slope)
