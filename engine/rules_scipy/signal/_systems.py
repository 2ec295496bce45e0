"""Linear systems: transfer functions, state spaces, and their response in time."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import scipy.signal as _sp

import rules_core as rc
from rules_scipy._arrays import vector
from rules_scipy._axes import concat
from rules_scipy._steps import declare
from rules_scipy.linalg import expm
from rules_scipy.linalg._matrices import adjoint, identity, solved, transposed

from ._axis import alike, fixed, flipped, padded, together
from ._convolution import product
from ._declare import At, declared
from ._forms import parts_of
from ._roots import from_roots

__all__ = [
    "bilinear",
    "cont2discrete",
    "dlsim",
    "lp2bp",
    "lp2bs",
    "lp2hp",
    "lp2lp",
    "lsim",
    "normalize",
    "simulated",
    "sos2tf",
    "space_of",
    "ss2tf",
    "stepped",
    "times_of",
    "tf2ss",
    "transfer_of",
    "zpk2ss",
]


# Transfer functions


def _normal(b: Any, a: Any, y: Any, name: str) -> Any:
    """Both divided by the first coefficient of the denominator."""
    if (b.shape, a.shape) != (y[0].shape, y[1].shape):
        message = f"derivative of {name} at coefficients that begin with zero; cut them"
        raise rc.UnsupportedError(message)
    return b / a[0], a / a[0]


def _normalize_step(at: At, b: Any, a: Any) -> Any:
    b, a = together(vector(b), vector(a))
    return _normal(b, a, at.y, "normalize")


normalize = declared(_sp.normalize, _normalize_step, "b", "a")


def _sos2tf_step(at: At, sos: Any) -> Any:
    b, a = sos[0, :3], sos[0, 3:]
    for i in range(1, sos.shape[0]):
        b = product(b, sos[i, :3], "full", "direct", (0,))
        a = product(a, sos[i, 3:], "full", "direct", (0,))
    return b, a


sos2tf = declared(_sp.sos2tf, _sos2tf_step, "sos")


def _substituted(c: Any, weights: Any) -> Any:
    """Σ c[i] weights[i] of coefficients in rising order, in falling order."""
    rising, total = flipped(c, 0), 0.0
    for i in range(c.shape[0]):
        total = total + rising[i] * weights(i)
    return flipped(total, 0)


def _row(length: int, entries: dict[int, Any], like: Any) -> Any:
    """An array with few entries."""
    unit, total = fixed(np.eye(length), like), 0 * fixed(np.zeros(length), like)
    for place, entry in entries.items():
        total = total + entry * unit[place]
    return total


def _lp2lp(i: int, size: Any, wo: Any) -> Any:
    return _row(size[2], {i: wo**-i}, wo)


def _lp2hp(i: int, size: Any, wo: Any) -> Any:
    return _row(size[0] + 1, {size[0] - i: wo**i}, wo)


def _lp2bp(i: int, size: Any, wo: Any, bw: Any) -> Any:
    order, degree, _ = size
    terms = {
        order - i + 2 * k: comb(i, k) * wo ** (2 * (i - k)) / bw**i
        for k in range(i + 1)
    }
    return _row(degree + order + 1, terms, wo)


def _lp2bs(i: int, size: Any, wo: Any, bw: Any) -> Any:
    rest = size[0] - i
    terms = {
        i + 2 * k: comb(rest, k) * wo ** (2 * (rest - k)) * bw**i
        for k in range(rest + 1)
    }
    return _row(2 * size[0] + 1, terms, wo)


def _bilinear_weights(i: int, order: int, fs: Any, like: Any) -> Any:
    one = np.polynomial.Polynomial
    table = (one((1, 1)) ** (order - i) * one((-1, 1)) ** i).coef
    return (2 * fs) ** (i - order / 2) * fixed(table, like)


def _bilinear_step(at: At, b: Any, a: Any, fs: Any) -> Any:
    b, a = together(vector(b), vector(a))
    order = max(b.shape[0], a.shape[0]) - 1
    b, a = [
        _substituted(c, lambda i, c=c: _bilinear_weights(i, order, fs, c))
        for c in (b, a)
    ]
    return _normal(b, a, at.y, "bilinear")


def _changed(f: Any, weights: Any, *of: str) -> rc.Primitive:
    """A substitution of the variable in both polynomials."""

    def change_step(at: At, b: Any, a: Any, *edges: Any) -> Any:
        b, a, *own = together(vector(b), vector(a), *edges)
        own = [rc.array_namespace(e).reshape(e, ()) for e in own]
        order = max(b.shape[0], a.shape[0]) - 1

        def of_one(c: Any) -> Any:
            size = order, c.shape[0] - 1, c.shape[0]
            return _substituted(c, lambda i: weights(i, size, *own))

        return _normal(of_one(b), of_one(a), at.y, f.__name__)

    return declared(f, change_step, "b", "a", *of)


lp2lp = _changed(_sp.lp2lp, _lp2lp, "wo")
lp2hp = _changed(_sp.lp2hp, _lp2hp, "wo")
lp2bp = _changed(_sp.lp2bp, _lp2bp, "wo", "bw")
lp2bs = _changed(_sp.lp2bs, _lp2bs, "wo", "bw")
bilinear = declared(_sp.bilinear, _bilinear_step, "b", "a")


# State spaces


def _controller(num: Any, den: Any) -> Any:
    """The state space in controller form of a transfer function."""
    num, den = together(vector(num), vector(den))
    num = num[None, :] if num.ndim == 1 else num
    num, den = num / den[0], den / den[0]
    n = den.shape[0] - 1
    num = padded(num, 1, n + 1 - num.shape[1], 0)
    xp, first = rc.array_namespace(num, den), num[:, :1]
    if n == 0:
        zero = 0 * first
        return 0 * den[None, :], xp.reshape(zero[:1], (1, 1)), zero, first
    unit = identity(den, n)
    return (
        concat([-den[None, 1:], unit[:-1]], 0),
        0 * den[1:, None] + unit[:, :1],
        num[:, 1:] - first * den[None, 1:],
        first,
    )


def _tf2ss_step(at: At, num: Any, den: Any) -> Any:
    return _controller(num, den)


def _zpk2ss_step(at: At, z: Any, p: Any, k: Any) -> Any:
    return _controller(*_from_zpk(z, p, k, at.y[0]))


def _from_zpk(z: Any, p: Any, k: Any, like: Any) -> Any:
    z, p, k = together(vector(z), vector(p), k)
    k = rc.array_namespace(k).reshape(k, (-1,))
    return k * from_roots(z, like), from_roots(p, like)


tf2ss = declared(_sp.tf2ss, _tf2ss_step, "num", "den")
zpk2ss = declared(_sp.zpk2ss, _zpk2ss_step, "z", "p", "k")


def _characteristic(a: Any) -> Any:
    """The polynomial of a matrix, by the recurrence of Faddeev and LeVerrier."""
    xp, n = rc.array_namespace(a), a.shape[0]
    unit = identity(a, n)
    m, c = unit, [xp.sum(0 * a) + 1]
    for i in range(1, n + 1):
        product_ = a @ m
        c.append(-xp.sum(product_ * unit) / i)
        m = product_ + c[-1] * unit
    return xp.stack(c)


def transfer_of(A: Any, B: Any, C: Any, D: Any, column: int) -> Any:
    A, B, C, D = together(A, B, C, D)
    B, D = B[:, column : column + 1], D[:, column : column + 1]
    den = _characteristic(A)
    rows = [
        _characteristic(A - B @ C[i : i + 1, :]) + (D[i] - 1) * den
        for i in range(C.shape[0])
    ]
    return rc.array_namespace(den).stack(rows, axis=0), den


def _ss2tf_step(at: At, A: Any, B: Any, C: Any, D: Any, input: Any) -> Any:
    return transfer_of(A, B, C, D, input)


ss2tf = declared(_sp.ss2tf, _ss2tf_step, "A", "B", "C", "D")


def _stacked(rows: Any) -> Any:
    return concat([concat(row, 1) for row in rows], 0)


def _zeros(like: Any, *shape: int) -> Any:
    return fixed(np.zeros(shape), like)


def _held(a: Any, b: Any, dt: Any) -> Any:
    """The exponential over one step with a constant input."""
    n, m = b.shape
    y = expm(dt * _stacked([[a, b], [_zeros(a, m, n + m)]]))
    return y[:n, :n], y[:n, n:]


def _sloped(a: Any, b: Any, dt: Any) -> Any:
    """As `_held`, with a linear input: by its value at both ends."""
    n, m = b.shape
    upper = [dt * a, dt * b, _zeros(a, n, m)]
    middle = [_zeros(a, m, n + m), identity(a, m)]
    y = expm(_stacked([upper, middle, [_zeros(a, m, n + 2 * m)]]))
    end = y[:n, n + m :]
    return y[:n, :n], y[:n, n : n + m] - end, end


_ALPHAS = {"bilinear": 0.5, "tustin": 0.5, "euler": 0.0, "forward_diff": 0.0,
           "backward_diff": 1.0}  # fmt: skip


def _discrete(a: Any, b: Any, c: Any, d: Any, dt: Any, method: str, alpha: Any) -> Any:
    unit = identity(a, a.shape[0])
    if method == "zoh":
        return *_held(a, b, dt), c, d
    if method == "foh":
        ad, start, end = _sloped(a, b, dt)
        return ad, start + ad @ end, c, d + c @ end
    if method == "impulse":
        ad = expm(a * dt)
        return ad, ad @ b * dt, c, c @ b * dt
    alpha = _ALPHAS.get(method, alpha)
    inner = unit - alpha * dt * a
    ad, bd = solved(inner, unit + (1 - alpha) * dt * a), solved(inner, dt * b)
    return (
        ad,
        bd,
        transposed(solved(transposed(inner), transposed(c))),
        d + alpha * (c @ bd),
    )


def _cont2discrete_step(at: At, system: Any, dt: Any, method: Any, alpha: Any) -> Any:
    if not isinstance(system, tuple) or len(system) == 3:
        message = "derivative of cont2discrete of a system other than (A, B, C, D) or \
(num, den); convert it"
        raise rc.UnsupportedError(message)
    parts: Any = together(*system, dt)
    dt = parts[-1]
    a, b, c, d = parts[:-1] if len(parts) == 5 else _controller(parts[0], parts[1])
    a, b, c, d = _discrete(a, b, c, d, dt, method, alpha)
    if len(parts) == 5:
        return a, b, c, d, dt
    return *transfer_of(a, b, c, d, 0), dt


cont2discrete = declared(_sp.cont2discrete, _cont2discrete_step, "system", "dt")


# Responses in time


def _states(A: Any, u: Any, x0: Any) -> Any:
    """x with x[k + 1] = A x[k] + u[k]."""
    x = np.empty((len(u) + 1, len(x0)), np.result_type(A, u, x0))
    x[0] = x0
    for k in range(len(u)):
        x[k + 1] = A @ x[k] + u[k]
    return x


def _states_shape(A: Any, u: Any, x0: Any) -> Any:
    dtype = np.result_type(*[np.dtype(x.dtype) for x in (A, u, x0)])
    return rc.ShapeDtype((u.shape[0] + 1, x0.shape[0]), dtype)


def _states_residual(at: At, A: Any, u: Any, x0: Any) -> Any:
    return at.y - concat([x0[None, :], at.y[:-1] @ transposed(A) + u], 0)


def _states_again(at: At, r: Any) -> Any:
    return states(at.args[0], r[1:], r[0])


def _states_adjoint(at: At, w: Any) -> Any:
    back = flipped(w, 0)
    return flipped(states(adjoint(at.args[0]), back[1:], back[0]), 0)


states = declare(
    _states,
    _states_residual,
    count=3,
    out=_states_shape,
    solve=_states_again,
    adjoint=_states_adjoint,
)


def space_of(system: Any, name: str) -> Any:
    """A system as a state space."""
    system = parts_of(system)
    if not isinstance(system, tuple):
        message = f"derivative of {name} of an object; pass a tuple of arrays"
        raise rc.UnsupportedError(message)
    system = tuple(together(*system))
    if len(system) == 2:
        return _controller(*system)
    if len(system) == 3:
        z, p, k = system
        return _controller(*_from_zpk(z, p, k, _zeros(p, 1)))
    return system


def _input(u: Any, n: int, count: int, like: Any) -> Any:
    if u is None or u.ndim == 0:
        return _zeros(like, n, count)
    u = together(u, like)[0]
    return u[:, None] if u.ndim == 1 else u


def times_of(at: At, like: Any) -> tuple[int, Any, Any]:
    """How many times the result is at, the first, and the step between them."""
    times = rc.ignore_derivatives(together(at.y[0], like)[0])
    n = times.shape[0]
    return n, times[0], times[1] - times[0] if n > 1 else 0 * times[0]


def _lsim_step(at: At, system: Any, U: Any, X0: Any, interp: Any) -> Any:
    space = space_of(system, "lsim")
    n, first, dt = times_of(at, space[0])
    u = _input(U, n, space[1].shape[1], space[0])
    y, xs = simulated(space, u, X0, first, dt, interp=interp)
    xp = rc.array_namespace(y, xs)
    return None, xp.reshape(y, at.y[1].shape), xp.reshape(xs, at.y[2].shape)


def simulated(
    space: Any, u: Any, x: Any, first: Any, dt: Any, *, interp: bool
) -> tuple[Any, Any]:
    """Outputs and states at times from `first` on, with steps `dt`.

    Args:
        space: The matrices A, B, C and D.
        u: The input at each time, (n, m).
        x: The state at time zero, None for rest.
        first: The first time.
        dt: The step.
        interp: Whether the input is linear between times, and not constant.
    """
    A, B, C, D, u = alike(*space, u)
    x = _zeros(A, A.shape[0]) if x is None else together(x, A)[0]
    A, x = alike(A, x)
    x = expm(A * first) @ x
    u, x, A, B, C, D = alike(u, x, A, B, C, D)
    xs = x[None, :]
    if u.shape[0] > 1:
        if interp:
            Ad, start, end = _sloped(A, B, dt)
            drive = u[:-1] @ transposed(start) + u[1:] @ transposed(end)
        else:
            Ad, Bd = _held(A, B, dt)
            drive = u[:-1] @ transposed(Bd)
        xs = states(Ad, drive, x)
    return xs @ transposed(C) + u @ transposed(D), xs


lsim = declared(_sp.lsim, _lsim_step, "system", "U", "X0")


def _dlsim_step(at: At, system: Any, u: Any, x0: Any, t: Any) -> Any:
    if t is not None:
        message = "derivative of dlsim with t; pass the input at each step"
        raise rc.UnsupportedError(message)
    system = parts_of(system)
    if not isinstance(system, tuple):
        message = "derivative of dlsim of an object; pass a tuple of arrays"
        raise rc.UnsupportedError(message)
    space = space_of(system[:-1], "dlsim")
    u = _input(u, 0, space[1].shape[1], space[0])
    y, xs = stepped(space, u, x0)
    times = system[-1] * fixed(np.arange(u.shape[0] * 1.0), u)
    return (times, y, xs) if len(system) == 5 else (times, y)


def stepped(space: Any, u: Any, x: Any) -> tuple[Any, Any]:
    """Outputs and states of a system in discrete time."""
    A, B, C, D = space
    x = _zeros(A, A.shape[0]) if x is None else together(x, A)[0]
    u, x, A, B, C, D = alike(u, x, A, B, C, D)
    xs = states(A, u[:-1] @ transposed(B), x)
    return xs @ transposed(C) + u @ transposed(D), xs


dlsim = declared(_sp.dlsim, _dlsim_step, "system", "u", "x0")
