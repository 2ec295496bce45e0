"""Functions of matrices: the derivative is a block of the function of a larger matrix.

f([[A, E], [0, A]]) = [[f(A), L(A, E)], [0, f(A)]], where L(A, ·) is the derivative of f
at A (Mathias, 1996). That gives every order of every primary function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg as _sp

import rules_core as rc
from rules_numpy._declare.arguments import array_of, restore, tangent_array
from rules_scipy._axes import concat
from rules_scipy._steps import DECLARED, At, declare

from ._gauge import is_singular, nan_if
from ._matrices import conjugate, real, transposed
from ._shapes import like, shaped

__all__ = [
    "coshm",
    "cosm",
    "expm",
    "expm_frechet",
    "fractional_matrix_power",
    "logm",
    "signm",
    "sinhm",
    "sinm",
    "sqrtm",
    "tanhm",
    "tanm",
]


def _block(a: Any, e: Any) -> Any:
    """[[a, e], [0, a]]."""
    xp = rc.array_namespace(a, e)
    upper = concat([a, e], -1)
    return concat([upper, concat([xp.zeros_like(e), a], -1)], -2)


def _corner(m: Any) -> Any:
    """The upper right quarter."""
    n = m.shape[-1] // 2
    return m[..., :n, n:]


def _slope_by_blocks(f: Callable[..., Any]) -> Callable[..., Any]:
    """L(A, E) of `f` on NumPy arrays; E is scaled to the size of A."""

    def slope(a: Any, e: Any, *options: Any) -> Any:
        size, own = np.max(np.abs(e), initial=0.0), np.max(np.abs(a), initial=0.0)
        scale = size / own if size > 0 and own > 0 else 1.0
        y = scale * _corner(f(_block(a, e / scale), *options))
        return _real_if_rounding(y) if np.isrealobj(a) and np.isrealobj(e) else y

    return slope


def _off_the_cut(slope: Callable[..., Any]) -> Callable[..., Any]:
    """NaN for eigenvalues zero or negative, around which the function jumps."""

    def checked(a: Any, e: Any, *options: Any) -> Any:
        whole = bool(options) and float(options[0]).is_integer() and options[0] >= 0
        if whole or not _is_on_cut(a):
            return slope(a, e, *options)
        shape = np.broadcast_shapes(a.shape, e.shape)
        return np.full(shape, np.nan, np.result_type(a, e))

    return checked


def _is_on_cut(a: Any) -> bool:
    """Whether an eigenvalue is zero or negative, up to rounding."""
    w = np.linalg.eigvals(a)
    size = np.max(np.abs(w), axis=-1, keepdims=True, initial=0.0)
    slack = 1e3 * np.finfo(w.dtype).eps
    near = (np.abs(w.imag) <= slack * np.abs(w)) & (w.real <= 0)
    return bool(np.any(near | (np.abs(w) <= slack * size)))


def _real_if_rounding(y: Any) -> Any:
    """Real, if the imaginary parts are rounding errors of a real result."""
    limit = 1e3 * np.finfo(y.dtype).eps * np.max(np.abs(y), initial=0.0)
    return y.real if np.all(np.abs(y.imag) <= limit) else y


def _slope_of_expm(a: Any, e: Any) -> Any:
    if a.ndim > 2:
        return _slope_by_blocks(_sp.expm)(a, e)
    return _sp.expm_frechet(a, e, compute_expm=False, check_finite=False)


def _slope_of_sqrtm(a: Any, e: Any) -> Any:
    """X L + L X = E."""
    root = _sp.sqrtm(a)
    if np.iscomplexobj(a) and _is_on_cut(a):
        return np.full(np.broadcast_shapes(a.shape, e.shape), np.nan, root.dtype)
    if a.ndim == 2:
        return _slope_at_root(root, e)
    stacks = np.broadcast_arrays(root, e)
    flat = [x.reshape(-1, *x.shape[-2:]) for x in stacks]
    parts = [_slope_at_root(x, d) for x, d in zip(*flat, strict=True)]
    return np.reshape(parts, stacks[1].shape)


def _slope_at_root(root: Any, e: Any) -> Any:
    """NaN where the equation has no solution: the matrix is singular."""
    y = _sp.solve_sylvester(root, root, e)
    gap = np.max(np.abs(root @ y + y @ root - e), initial=0.0)
    solved = gap <= np.sqrt(np.finfo(y.dtype).eps) * np.max(np.abs(e), initial=0.0)
    return y if solved else np.full_like(y, np.nan)


def _in_single(slope: Callable[..., Any]) -> Callable[..., Any]:
    """SciPy computes functions of half precision, but not their slopes, in single."""

    def single(*args: Any) -> Any:
        return slope(*[x.astype(np.float32) if _is_half(x) else x for x in args])

    return single


def _is_half(x: Any) -> bool:
    return getattr(x, "dtype", None) == np.float16


def _slope_shape(a: Any, e: Any, *_options: Any) -> Any:
    return shaped(e.shape, a, e)


def _adjoint_slope(slope: Any, a: Any, w: Any, options: tuple[Any, ...]) -> Any:
    """The adjoint of L(A, ·), where f(conj z) = conj f(z)."""
    return conjugate(slope(transposed(a), conjugate(w), *options))


class Slope:
    """The derivatives of the functions, where `pickle` finds them."""


def _slope_primitive(function: Callable[..., Any], name: str) -> rc.Primitive:
    """L(A, E) as a primitive: the same block once more is its derivative."""
    function = _in_single(function)
    function.__name__, function.__qualname__ = f"slope_of_{name}", f"Slope.{name}"
    setattr(Slope, name, staticmethod(function))
    slope = rc.primitive(function, host=True, out=_slope_shape)

    def slope_frule(tangents: Any, a: Any, e: Any, *options: Any) -> Any:
        y, (da, de) = slope(a, e, *options), tangents[1:3]
        if isinstance(da, rc.AbstractZero):
            return y, slope(a, de, *options)
        xp = rc.array_namespace(a, e)
        de = xp.zeros_like(e) if isinstance(de, rc.AbstractZero) else de
        return y, _corner(slope(_block(a, e), _block(da, de), *options))

    def slope_rrule(a: Any, e: Any, *options: Any) -> Any:
        def slope_pullback(dy: Any) -> Any:
            n, xp = a.shape[-1], rc.array_namespace(dy)
            zero = xp.zeros_like(dy)
            seed = concat([concat([zero, dy], -1), concat([zero, zero], -1)], -2)
            g = _adjoint_slope(slope, _block(a, e), seed, options)
            da = g[..., :n, :n] + g[..., n:, n:]
            none = [rc.NoTangent()] * len(options)
            return rc.NoTangent(), _like(a, da), _like(e, g[..., :n, n:]), *none

        return slope(a, e, *options), slope_pullback

    _define(slope, name, slope_frule, slope_rrule)
    return slope


def _like(x: Any, dx: Any) -> Any:
    """The cotangent of a real matrix is real."""
    xp = rc.array_namespace(x)
    return dx if xp.isdtype(x.dtype, "complex floating") else real(dx)


def _define(made: rc.Primitive, name: str, frule: Any, rrule: Any) -> None:
    frule.__name__ = frule.__qualname__ = f"{made.fun.__name__}_frule"
    rrule.__name__ = rrule.__qualname__ = f"{made.fun.__name__}_rrule"
    rc.frule.define(made)(frule)
    rc.rrule.define(made)(rrule)


def _given(a: Any, f: Any) -> Any:
    """A list as SciPy reads it, which takes a number for a matrix of one entry."""
    own = array_of(a, f) if isinstance(a, list | int | float) else a
    if not own.shape:
        message = (
            f"the derivative of scipy.linalg.{f.__name__} must be taken of a matrix, "
            "but got a number. Give a matrix of one entry."
        )
        raise rc.UnsupportedError(message)
    return own


def primary(
    f: Callable[..., Any], slope: Callable[..., Any] | None = None
) -> tuple[rc.Primitive, rc.Primitive]:
    """The primitives of a function of one matrix, and of its derivative.

    Args:
        f: The function of SciPy.
        slope: L(A, E) on NumPy arrays, if there is a better way than by blocks.
    """
    DECLARED[f] = "covered"
    made = rc.primitive(f, host=True, out=like(of=1))
    push = _slope_primitive(slope or _slope_by_blocks(f), f.__name__)

    def primary_frule(tangents: Any, a: Any, *options: Any, **kw: Any) -> Any:
        _refuse_estimate(f, options, kw)
        own, da = _given(a, f), tangents[1]
        da = tangent_array(a, da) if own is not a else da
        return made(a, *options, **kw), push(own, da)

    def primary_rrule(a: Any, *options: Any, **kw: Any) -> Any:
        _refuse_estimate(f, options, kw)
        own = _given(a, f)

        def primary_pullback(dy: Any) -> Any:
            none = [rc.NoTangent()] * len(options)
            da = _like(own, _adjoint_slope(push, own, dy, ()))
            return rc.NoTangent(), restore(a, da) if own is not a else da, *none

        return made(a, *options, **kw), primary_pullback

    _define(made, f.__name__, primary_frule, primary_rrule)
    return made, push


def _refuse_estimate(f: Any, options: Any, kw: dict[str, Any]) -> None:
    if not all((*options, kw.get("disp", True))):
        message = (
            f"scipy.linalg.{f.__name__}(disp=False) returns an estimate of its error "
            "too, which has no rule. Leave out disp."
        )
        raise rc.UnsupportedError(message)


expm, slope_of_expm = primary(_sp.expm, _slope_of_expm)
logm, _ = primary(_sp.logm, _off_the_cut(_slope_by_blocks(_sp.logm)))
sqrtm, _ = primary(_sp.sqrtm, _slope_of_sqrtm)
cosm, _ = primary(_sp.cosm)
sinm, _ = primary(_sp.sinm)
tanm, _ = primary(_sp.tanm)
coshm, _ = primary(_sp.coshm)
sinhm, _ = primary(_sp.sinhm)
tanhm, _ = primary(_sp.tanhm)


def _frechet_step(at: At, a: Any, e: Any, compute_expm: Any) -> Any:
    if not compute_expm:
        return slope_of_expm(a, e)
    return (lambda: expm(a)), (lambda: slope_of_expm(a, e))


def _frechet_shape(
    a: Any, e: Any, _method: Any = None, compute_expm: Any = True, *_args: Any
) -> Any:
    y = _slope_shape(a, e)
    return (shaped(a.shape, a), y) if compute_expm else y


expm_frechet = declare(_sp.expm_frechet, _frechet_step, count=2, out=_frechet_shape)


# Powers: of the exponent too.

DECLARED[_sp.fractional_matrix_power] = "covered"
fractional_matrix_power = rc.primitive(
    _sp.fractional_matrix_power, host=True, out=like(of=1)
)
slope_of_power = _slope_primitive(
    _off_the_cut(_slope_by_blocks(_sp.fractional_matrix_power)),
    "fractional_matrix_power",
)


@rc.frule.define(fractional_matrix_power)
def power_frule(tangents: Any, a: Any, t: Any) -> Any:
    """L(A, dA) + log(A) Aᵗ dt."""
    y, (da, dt) = fractional_matrix_power(a, t), tangents[1:]
    dy: Any = rc.ZeroTangent()
    if not isinstance(da, rc.AbstractZero):
        dy = dy + slope_of_power(a, da, t)
    if not isinstance(dt, rc.AbstractZero):
        dy = dy + logm(a) @ y * dt
    return y, dy


@rc.rrule.define(fractional_matrix_power)
def power_rrule(a: Any, t: Any) -> Any:
    """The adjoint; that of the exponent is computed if it is asked for."""
    y = fractional_matrix_power(a, t)

    def power_pullback(dy: Any) -> Any:
        def of_exponent() -> Any:
            xp = rc.array_namespace(dy)
            return xp.sum(real(conjugate(logm(a) @ y) * dy))

        da = _like(a, _adjoint_slope(slope_of_power, a, dy, (t,)))
        dt = rc.NoTangent() if isinstance(t, int) else rc.thunk(of_exponent)
        return rc.NoTangent(), da, dt

    return y, power_pullback


_SINGULAR = (
    "the derivative of scipy.linalg.{} must be taken at a regular matrix, but got a "
    "singular one, where the function jumps."
)


def _sign_step(at: At, a: Any) -> Any:
    """N L + L N = E - S E S with N = S A."""
    s, (a0,) = at.y, at.args
    n = nan_if(is_singular(a0), s @ a0, _SINGULAR.format("signm"))
    from ._equations import solve_sylvester

    return solve_sylvester(n, n, a - s @ a @ s)


signm = declare(_sp.signm, _sign_step, out=like(of=1))
