"""Polynomials by their coefficients."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

import rules_core as rc
from rules_numpy._declare.derivative import derivative
from rules_numpy.arrays.shape import broadcast_to_adjoint
from rules_numpy.linalg.products import adjoint
from rules_numpy.linalg.solves import pinv_derivative

from .signals import convolve_derivative

__all__: list[str] = []


@derivative(np.polyval, argnums=(0, 1))
def polyval_derivative(y: Any, p: Any, x: Any) -> Any:
    """dy = p'(x) dx + Σ dpᵢ xⁿ⁻ⁱ; rows of coefficients are broadcast against x."""
    n = len(p)
    degrees = np.arange(n - 1, -1, -1)
    columns = np.reshape(degrees, (n,) + (1,) * np.ndim(y))
    slopes = p[:-1] * np.reshape(degrees[:-1], (-1,) + (1,) * (p.ndim - 1))
    slope = np.polyval(slopes, x) if n > 1 else np.zeros_like(y)
    powers = np.broadcast_to(x, np.shape(y)) ** columns

    def aligned(dp: Any) -> Any:
        """With axes of length one after the first, as many as the value has."""
        missing = np.ndim(y) - (p.ndim - 1)
        return np.reshape(dp, (n,) + (1,) * missing + p.shape[1:])

    def p_pushforward(dp: Any) -> Any:
        return np.sum(powers * aligned(dp), axis=0)

    def p_pullback(dy: Any) -> Any:
        terms = np.conjugate(powers) * dy
        summed = broadcast_to_adjoint(terms, aligned(p), terms.shape)
        return np.reshape(summed, p.shape)

    def x_pushforward(dx: Any) -> Any:
        return slope * dx

    def x_pullback(dy: Any) -> Any:
        return broadcast_to_adjoint(np.conjugate(slope) * dy, x, np.shape(y))

    return (p_pushforward, p_pullback), (x_pushforward, x_pullback)


def _sum_of_polynomials(f: Any, sign: float) -> None:
    @derivative(f, argnums=(0, 1))
    def polynomial_sum_derivative(y: Any, a1: Any, a2: Any) -> Any:
        """Coefficients are added from the end."""
        return _tail_pair(y, np.atleast_1d(a1), 1.0), _tail_pair(
            y, np.atleast_1d(a2), sign
        )


def _tail_pair(y: Any, a: Any, sign: float) -> Any:
    lead = y.size - a.size

    def tail_pushforward(da: Any) -> Any:
        return sign * np.concatenate([np.zeros(lead, y.dtype), np.atleast_1d(da)])

    def tail_pullback(dy: Any) -> Any:
        return sign * dy[lead:]

    return tail_pushforward, tail_pullback


@derivative(np.polymul, argnums=(0, 1))
def polymul_derivative(y: Any, a1: Any, a2: Any) -> Any:
    """The convolution of the coefficients, less the zeros that lead them."""
    first, second = _from_degree(a1), _from_degree(a2)
    maps = convolve_derivative(y, *map(_polynomial, (first, second)))
    return _trimmed(maps[0], a1, first, y), _trimmed(maps[1], a2, second, y)


def _from_degree(a: Any) -> Any:
    a = np.atleast_1d(a)
    places = np.flatnonzero(a)
    return a[places[0] if places.size else -1 :]


def _polynomial(a: Any) -> Any:
    return a if a.size else np.zeros(1, a.dtype)


def _trimmed(maps: Any, a: Any, kept: Any, y: Any) -> Any:
    """The maps of what is kept of `a`, as `np.trim_zeros` keeps it."""
    lead = a.size - kept.size

    def trimmed_pushforward(da: Any) -> Any:
        part = np.atleast_1d(da)[lead:]
        return maps[0](part) if part.size else np.zeros_like(y)

    def trimmed_pullback(dy: Any) -> Any:
        part = maps[1](dy)[: kept.size]
        return np.reshape(np.concatenate([np.zeros(lead, part.dtype), part]), a.shape)

    return trimmed_pushforward, trimmed_pullback


@derivative(np.polyder)
def polyder_derivative(y: Any, p: Any, m: Any = 1) -> Any:
    """Linear in the coefficients."""
    n, m = p.size, int(m)
    factors = np.ones(max(n - m, 0))
    for k in range(m):
        factors = factors * (np.arange(n - 1, m - 1, -1) - k)

    def polyder_pushforward(dp: Any) -> Any:
        return dp[: n - m] * factors

    def polyder_pullback(dy: Any) -> Any:
        return np.concatenate([dy * factors, np.zeros(min(m, n))])

    return polyder_pushforward, polyder_pullback


@derivative(np.polyint, argnums=(0, 2))
def polyint_derivative(y: Any, p: Any, m: Any = 1, k: Any = None) -> Any:
    """Linear in the coefficients and the constants."""
    n, m = p.size, int(m)
    factors = np.ones(n)
    for j in range(1, m + 1):
        factors = factors / (np.arange(n - 1, -1, -1) + j)

    def polyint_pushforward(dp: Any) -> Any:
        dy = np.concatenate([np.atleast_1d(dp) * factors, np.zeros(m)])
        return np.reshape(dy, np.shape(y))

    def polyint_pullback(dy: Any) -> Any:
        return np.reshape(np.ravel(dy)[:n] * factors, p.shape)

    # The i-th constant is integrated m - 1 - i times more.
    powers = np.arange(m - 1, -1, -1)
    weights = 1.0 / np.array([np.prod(np.arange(1, j + 1)) for j in powers])

    def constants_pushforward(dk: Any) -> Any:
        terms = np.broadcast_to(dk, (m,)) * weights
        return np.reshape(np.concatenate([np.zeros(n), terms]), np.shape(y))

    def constants_pullback(dy: Any) -> Any:
        terms = np.ravel(dy)[n:] * weights
        return terms if np.size(k) == m and np.ndim(k) else np.sum(terms)

    constants = None if k is None else (constants_pushforward, constants_pullback)
    return (polyint_pushforward, polyint_pullback), constants


@derivative(np.vander)
def vander_derivative(y: Any, x: Any, N: Any = None, increasing: Any = False) -> Any:
    """Columns xʲ: d xʲ = j xʲ⁻¹ dx."""
    count = x.shape[0] if N is None else int(N)
    powers = np.arange(count) if increasing else np.arange(count - 1, -1, -1)
    slope = powers * x[:, None] ** np.maximum(powers - 1, 0)

    def vander_pushforward(dx: Any) -> Any:
        return slope * dx[:, None]

    def vander_pullback(dy: Any) -> Any:
        return np.sum(np.conjugate(slope) * dy, axis=-1)

    return vander_pushforward, vander_pullback


_sum_of_polynomials(np.polyadd, 1.0)
_sum_of_polynomials(np.polysub, -1.0)


@derivative(np.poly)
def poly_derivative(y: Any, zeros: Any) -> Any:
    """∂ Π (t - rⱼ) / ∂rᵢ = -Π over j ≠ i."""
    if zeros.ndim != 1:
        message = (
            "the derivative of numpy.poly must be given the zeros, but got a matrix. "
            "Use numpy.linalg.eigvals first."
        )
        raise rc.UnsupportedError(message)
    if not zeros.size:  # the number 1
        return lambda dzeros: 0.0, lambda dy: np.zeros(0)
    columns = [np.append(0.0, -np.poly(np.delete(zeros, i))) for i in range(zeros.size)]
    slope = np.stack(columns, axis=-1)

    return _by_matrix(slope)


def _by_matrix(m: Any) -> Any:
    def matrix_pushforward(dx: Any) -> Any:
        return np.matmul(m, dx)

    def matrix_pullback(dy: Any) -> Any:
        return np.matmul(adjoint(m), dy)

    return matrix_pushforward, matrix_pullback


@derivative(np.roots)
def roots_derivative(y: Any, p: Any) -> Any:
    """dr = -dp(r) / p'(r), for simple zeros."""
    powers = y[:, None] ** np.arange(p.size - 1, -1, -1)
    slope = -powers / np.polyval(np.polyder(p), y)[:, None]

    return _by_matrix(slope)


@derivative(np.polyfit, argnums=(0, 1))
def polyfit_derivative(
    c: Any,
    x: Any,
    y: Any,
    deg: Any,
    rcond: Any = None,
    full: Any = False,
    w: Any = None,
    cov: Any = False,
) -> Any:
    """c = V⁺ y with the Vandermonde matrix of x."""
    if full or cov or w is not None:
        message = (
            "the derivative of numpy.polyfit must be taken without full=, cov= and w=, "
            "but got one of them. Use numpy.linalg.lstsq with numpy.vander."
        )
        raise rc.UnsupportedError(message)
    deg = int(deg)
    matrix = np.vander(x, deg + 1)
    inverse = np.linalg.pinv(matrix)
    of_x = vander_derivative(matrix, x, deg + 1)
    of_matrix = pinv_derivative(inverse, matrix)
    columns = y if y.ndim == 2 else y[:, None]

    def x_pushforward(dx: Any) -> Any:
        return np.reshape(np.matmul(of_matrix[0](of_x[0](dx)), columns), c.shape)

    def x_pullback(dc: Any) -> Any:
        seed = np.reshape(dc, (deg + 1, columns.shape[1]))
        return of_x[1](of_matrix[1](np.matmul(seed, adjoint(columns))))

    return (x_pushforward, x_pullback), _by_matrix(inverse)


@derivative(np.polydiv, argnums=(0, 1))
def polydiv_derivative(y: Any, u: Any, v: Any) -> Any:
    """u = q v + r: (dq, dr) is du - q dv, divided by v; the degrees stay."""
    q, r = y
    u_shape, v_shape = np.shape(u), np.shape(v)
    u, v = np.atleast_1d(u), np.atleast_1d(v)
    if u.ndim > 1 or v.ndim > 1:
        _refuse("rows of coefficients", "several axes", "Divide row by row")
    if not v[0]:
        _refuse(
            "a divisor whose leading coefficient is not zero",
            "0",
            'Use np.trim_zeros(v, "f") first',
        )
    n = u.size - v.size + 1
    if n <= 0:
        return _remainder_alone(q, r, u), None
    columns = np.concatenate([v, np.zeros(n - 1, v.dtype)])
    shift = np.arange(u.size)[:, None] - np.arange(n)
    product = np.where(shift >= 0, np.take(columns, np.maximum(shift, 0)), 0.0)
    front, back = product[:n], product[n:]

    def divided(du: Any) -> Any:
        du = np.atleast_1d(du)
        dq = np.linalg.solve(front, du[:n])
        dr = np.concatenate([np.zeros(n, du.dtype), du[n:] - np.matmul(back, dq)])
        return dq, dr[u.size - r.size :]

    def undivided(dy: Any) -> Any:
        dq, dr = dy
        dr = np.concatenate([np.zeros(u.size - r.size, dr.dtype), dr])[n:]
        lead = np.linalg.solve(adjoint(front), dq - np.matmul(adjoint(back), dr))
        return np.concatenate([lead, dr])

    def u_pullback(dy: Any) -> Any:
        return np.reshape(undivided(dy), u_shape)

    def v_pushforward(dv: Any) -> Any:
        return divided(-np.convolve(q, np.atleast_1d(dv)))

    def v_pullback(dy: Any) -> Any:
        dv = -np.convolve(undivided(dy), np.conjugate(q)[::-1], "valid")
        return np.reshape(dv, v_shape)

    return (divided, u_pullback), (v_pushforward, v_pullback)


def _refuse(what: str, got: str, cure: str) -> NoReturn:
    message = (
        f"the derivative of numpy.polydiv must be given {what}, but got {got}. {cure}."
    )
    raise rc.UnsupportedError(message)


def _remainder_alone(q: Any, r: Any, u: Any) -> Any:
    """A divisor of higher degree: the remainder is the dividend."""

    def alone_pushforward(du: Any) -> Any:
        return np.zeros_like(q), np.atleast_1d(du)[u.size - r.size :]

    def alone_pullback(dy: Any) -> Any:
        return np.concatenate([np.zeros(u.size - r.size, r.dtype), dy[1]])

    return alone_pushforward, alone_pullback
