"""Convolution, correlation, and polynomials by their coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_numpy._declare import derivative
from rules_numpy.linalg_products import adjoint, product_maps
from rules_numpy.linalg_solves import pinv_derivative

__all__: list[str] = []


def _start(mode: Any, n: int, m: int) -> int:
    """Where the result of a mode begins within the full convolution."""
    name = {0: "valid", 1: "same", 2: "full"}.get(mode, mode)
    if name == "full":
        return 0
    return (min(n, m) - 1) // 2 if name == "same" else min(n, m) - 1


def _full(dy: Any, start: int, length: int) -> Any:
    """The cotangent of the full convolution."""
    after = length - start - dy.shape[0]
    zeros = [np.zeros(k, dy.dtype) for k in (start, after)]
    return np.concatenate([zeros[0], dy, zeros[1]])


def _convolution_maps(f: Any, a: Any, v: Any, mode: Any, turn: Any) -> Any:
    """y = a * turn(v), cut to a mode; `turn` is linear up to conj, its own inverse."""
    n, m = a.shape[0], v.shape[0]
    kernel = turn(v)
    start = _start(mode, n, m)

    def to_a(dy: Any) -> Any:
        seed = _full(dy, start, n + m - 1)
        return np.convolve(seed, np.conjugate(kernel)[::-1], "valid")[:n]

    def to_v(dy: Any) -> Any:
        seed = _full(dy, start, n + m - 1)
        return turn(np.convolve(seed, np.conjugate(a)[::-1], "valid")[:m])

    return product_maps(f, a, v, to_a, to_v)


@derivative(np.convolve, argnums=(0, 1))
def convolve_derivative(y: Any, a: Any, v: Any, mode: Any = "full") -> Any:
    """Each factor gets the correlation of the cotangent with the other."""
    a, v = np.atleast_1d(a), np.atleast_1d(v)

    def product(left: Any, right: Any) -> Any:
        return np.convolve(left, right, mode)

    return _convolution_maps(product, a, v, mode, _as_it_is)


def _as_it_is(v: Any) -> Any:
    return v


def _reversed(v: Any) -> Any:
    return np.conjugate(v)[::-1]


@derivative(np.correlate, argnums=(0, 1))
def correlate_derivative(y: Any, a: Any, v: Any, mode: Any = "valid") -> Any:
    """Convolution with the reversed conjugate; of the longer with the shorter."""

    def product(left: Any, right: Any) -> Any:
        return np.correlate(left, right, mode)

    if v.shape[0] <= a.shape[0]:
        return _convolution_maps(product, a, v, mode, _reversed)
    # NumPy correlates the longer one with the shorter one and reverses the result.
    swapped = _convolution_maps(product, v, a, mode, _reversed)

    def to_a(dy: Any) -> Any:
        return swapped[1][1](np.conjugate(dy)[::-1])

    def to_v(dy: Any) -> Any:
        return swapped[0][1](np.conjugate(dy)[::-1])

    return product_maps(product, a, v, to_a, to_v)


@derivative(np.polyval, argnums=(0, 1))
def polyval_derivative(y: Any, p: Any, x: Any) -> Any:
    """dy = p'(x) dx + Σ dpᵢ xⁿ⁻ⁱ."""
    slope = np.polyval(np.polyder(p), x) if p.size > 1 else np.zeros_like(x * p[0])
    powers = np.expand_dims(x, -1) ** np.arange(p.size - 1, -1, -1)

    def p_pushforward(dp: Any) -> Any:
        return np.matmul(powers, dp)

    def p_pullback(dy: Any) -> Any:
        terms = np.conjugate(powers) * np.expand_dims(dy, -1)
        return np.sum(terms, axis=tuple(range(x.ndim)))

    def x_pushforward(dx: Any) -> Any:
        return slope * dx

    def x_pullback(dy: Any) -> Any:
        return np.conjugate(slope) * dy

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
    """The convolution of the coefficients."""
    return convolve_derivative(y, a1, a2)


@derivative(np.polyder)
def polyder_derivative(y: Any, p: Any, m: Any = 1) -> Any:
    """Linear in the coefficients."""
    n = p.size
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
    n = p.size
    factors = np.ones(n)
    for j in range(1, m + 1):
        factors = factors / (np.arange(n - 1, -1, -1) + j)

    def polyint_pushforward(dp: Any) -> Any:
        return np.concatenate([dp * factors, np.zeros(m)])

    def polyint_pullback(dy: Any) -> Any:
        return dy[:n] * factors

    # The i-th constant is integrated m - 1 - i times more.
    powers = np.arange(m - 1, -1, -1)
    weights = 1.0 / np.array([np.prod(np.arange(1, j + 1)) for j in powers])

    def constants_pushforward(dk: Any) -> Any:
        terms = np.broadcast_to(dk, (m,)) * weights
        return np.concatenate([np.zeros(n), terms])

    def constants_pullback(dy: Any) -> Any:
        terms = dy[n:] * weights
        return terms if np.size(k) == m and np.ndim(k) else np.sum(terms)

    constants = None if k is None else (constants_pushforward, constants_pullback)
    return (polyint_pushforward, polyint_pullback), constants


@derivative(np.vander)
def vander_derivative(y: Any, x: Any, N: Any = None, increasing: Any = False) -> Any:
    """Columns xʲ: d xʲ = j xʲ⁻¹ dx."""
    count = x.shape[0] if N is None else N
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
    columns = [np.append(0.0, -np.poly(np.delete(zeros, i))) for i in range(zeros.size)]
    slope = np.stack(columns, axis=-1)

    def poly_pushforward(dzeros: Any) -> Any:
        return np.matmul(slope, dzeros)

    def poly_pullback(dy: Any) -> Any:
        return np.matmul(np.conjugate(slope.T), dy)

    return poly_pushforward, poly_pullback


@derivative(np.roots)
def roots_derivative(y: Any, p: Any) -> Any:
    """dr = -dp(r) / p'(r), for simple zeros."""
    powers = y[:, None] ** np.arange(p.size - 1, -1, -1)
    slope = -powers / np.polyval(np.polyder(p), y)[:, None]

    def roots_pushforward(dp: Any) -> Any:
        return np.matmul(slope, dp)

    def roots_pullback(dy: Any) -> Any:
        return np.matmul(np.conjugate(slope.T), dy)

    return roots_pushforward, roots_pullback


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

    def y_pushforward(dy: Any) -> Any:
        return np.matmul(inverse, dy)

    def y_pullback(dc: Any) -> Any:
        return np.matmul(adjoint(inverse), dc)

    return (x_pushforward, x_pullback), (y_pushforward, y_pullback)
