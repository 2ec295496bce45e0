"""Run-time helpers of reductions, shapes and linear algebra."""

import math
from typing import Any

import numpy as np

from .elementwise import unfollowed

__all__ = [
    "cholesky_back", "cholesky_forward", "cumprod_back", "cumprod_forward", "dense",
    "det_slopes", "diag_back", "float_range",
    "floating", "floats", "from_left", "full", "kron_by_left", "kron_by_right",
    "linspace_by_start", "linspace_by_stop", "mean_along", "mean_of", "norm_of",
    "np_broadcast_to", "np_einsum", "np_solve", "np_tensordot", "np_tile", "padded",
    "prod_back", "product_of", "ramp", "repeat_back", "row_of", "solve_back",
    "sort_back", "std_back", "times", "trace_back", "undiff", "var_back", "winners",
    "winners_along",
]  # fmt: skip

add_reduce: Any = np.add.reduce
np_broadcast_to = np.broadcast_to
np_einsum, np_solve = np.einsum, np.linalg.solve
np_tensordot, np_tile = np.tensordot, np.tile
DOUBLE = np.dtype(float)
LITTLE = 32  # rows of a matrix that is inverted whole
LARGE = 100_000  # entries from which the memory of a product matters

# For small arrays `a.dot(b)` is faster than `a @ b`; for large ones it is slower,
# because it first fills the result with zeros. The transpose of a product with few
# columns is faster from the other side, which reads rows contiguously.


def dense(d: Any) -> Any:
    """An array with separate, contiguous entries: products of others are slow."""
    return d.copy() if 0 in d.strides else d


def times(d: Any, y: Any) -> Any:
    """The product of two matrices."""
    if d.size * y.size <= LARGE:
        return d.dot(y)
    return dense(d) @ y


def from_left(d: Any, xT: Any) -> Any:
    """The product of two matrices, the second a cotangent."""
    if xT.size <= LARGE:
        return xT.dot(d)
    return (dense(d).T @ xT.T).T


# new float64 arrays: a number may be an integer in one branch


def floats(made: Any) -> Any:
    """The array, which must have a float dtype."""
    return made if made.dtype is DOUBLE else unfollowed("an array of whole numbers")


def row_of(*numbers: Any) -> Any:
    """An array of numbers, or of arrays of one shape, at least one a float."""
    return floats(np.array(numbers))


def floating(x: Any) -> None:
    """Check that a number is not truncated when it is written to an array."""
    if x.dtype is not DOUBLE:
        unfollowed("an array of whole numbers")


def full(shape: Any, value: Any) -> Any:
    """`numpy.full` of a float."""
    if not isinstance(value, float):
        unfollowed("an array of whole numbers")
    made = np.empty(shape)
    made.fill(value)
    return made


# reductions


def mean_of(x: Any) -> Any:
    """The mean of all entries, bypassing NumPy's Python functions."""
    return add_reduce(x, None) / x.size if x.size else np.mean(x)


def mean_along(x: Any, axis: int, keepdims: bool) -> Any:
    """The mean along one axis."""
    n = x.shape[axis]
    if not n:
        return np.mean(x, axis=axis, keepdims=keepdims)
    return add_reduce(x, axis, None, None, keepdims) / n


def product_of(x: Any) -> Any:
    """The product of all entries."""
    return np.multiply.reduce(x, None)


def norm_of(x: Any) -> Any:
    """The root of the sum of squares."""
    flat = x.ravel("K")
    return np.sqrt(flat.dot(flat))


def winners(d: Any, x: Any, z: Any) -> Any:
    """The cotangent of a maximum or minimum over all entries: ties share."""
    hit = x == z
    count = np.count_nonzero(hit)
    if not count:
        unfollowed("an extreme that is no number")
    if hit.size < LARGE:
        return hit * (d / count)
    made = np.zeros(x.shape)
    made[hit] = d / count
    return made


def winners_along(d: Any, x: Any, z: Any, axes: Any) -> Any:
    """As `winners`, along axes; `d` and `z` keep them, with length one."""
    hit = x == z
    count = add_reduce(hit, axes, None, None, True)
    if not count.all():
        unfollowed("an extreme that is no number")
    return hit * (d / count)


def var_back(d: Any, x: Any, axes: Any, ddof: Any) -> Any:
    """The cotangent of a variance; `d` keeps the reduced axes, with length one."""
    centred = x - np.mean(x, axis=axes, keepdims=True)
    n = math.prod([x.shape[axis] for axis in axes])
    return centred * (2.0 * d / (n - ddof))


def std_back(d: Any, x: Any, z: Any, axes: Any, ddof: Any) -> Any:
    """The cotangent of a standard deviation, zero where it is zero."""
    return var_back(0.5 * d / (z + (z == 0)), x, axes, ddof)


def prod_back(d: Any, x: Any, z: Any) -> Any:
    """The cotangent of a product of all entries, or along axes of length one."""
    if not np.all(np.isfinite(z) & (np.abs(z) > 1e-290)):
        unfollowed("a product of nearly zero")
    return d * z / x


def cumprod_back(d: Any, x: Any, z: Any) -> Any:
    """The cotangent of a vector with cumulative products."""
    if not np.all(np.isfinite(z) & (np.abs(z) > 1e-290)):
        unfollowed("a product of nearly zero")
    return (d * z)[::-1].cumsum()[::-1] / x


def cumprod_forward(d: Any, x: Any, z: Any) -> Any:
    """The tangent of the cumulative products of a vector."""
    if not np.all(np.isfinite(z) & (np.abs(z) > 1e-290)):
        unfollowed("a product of nearly zero")
    return z * (d / x).cumsum(0)


def sort_back(d: Any, x: Any) -> Any:
    """The cotangent of a sorted vector; equal entries keep their order."""
    made = np.empty(x.shape)
    made[x.argsort(kind="stable")] = d
    return made


def float_range(*bounds: Any) -> Any:
    """`numpy.arange` of floats."""
    return floats(np.arange(*bounds))


# shapes


def undiff(d: Any, shape: tuple[int, ...], axis: int) -> Any:
    """The cotangent of first differences."""
    made = np.zeros(shape)
    lead = (slice(None),) * axis
    made[(*lead, slice(1, None))] = d
    made[(*lead, slice(None, -1))] -= d
    return made


def diag_back(d: Any, shape: tuple[int, ...], k: int) -> Any:
    """The cotangent of a matrix from that of a diagonal."""
    made = np.zeros(shape)
    m = shape[1]
    first = k if k >= 0 else -k * m
    made.reshape(-1)[first : first + d.size * (m + 1) : m + 1][: d.size] = d
    return made


def trace_back(d: Any, shape: tuple[int, ...]) -> Any:
    """The cotangent of a matrix from that of its trace."""
    made = np.zeros(shape)
    n = min(shape)
    made.reshape(-1)[: n * (shape[1] + 1) : shape[1] + 1] = d
    return made


def padded(d: Any, shape: tuple[int, ...], starts: tuple[int, ...]) -> Any:
    """An array, with further axes at its end or not, amid zeros."""
    count = len(shape)
    made = np.zeros(shape + d.shape[count:])
    pairs = zip(starts, d.shape[:count], strict=True)
    made[tuple([slice(n, n + length) for n, length in pairs])] = d
    return made


def repeat_back(d: Any, shape: tuple[int, ...], axis: int, count: int) -> Any:
    """The cotangent of an array from that of repeated entries along an axis."""
    split = d.reshape(*shape[: axis + 1], count, *shape[axis + 1 :])
    return add_reduce(split, axis + 1)


def linspace_by_start(d: Any) -> Any:
    """The derivative of evenly spaced numbers in the first."""
    return add_reduce(d, None) - linspace_by_stop(d)


def linspace_by_stop(d: Any) -> Any:
    """The derivative of evenly spaced numbers in the last."""
    return d.dot(ramp(d.shape))


def ramp(shape: tuple[int, ...]) -> Any:
    """Evenly spaced numbers from 0 to 1, or 0 alone."""
    (n,) = shape
    return np.arange(n) / max(n - 1, 1)


# linear algebra


def kron_blocks(d: Any, s: tuple[int, ...], t: tuple[int, ...]) -> Any:
    """The entries of a Kronecker product, by the entries of both factors."""
    if len(s) == 1:
        return d.reshape(s[0], t[0])
    split = d.reshape(s[0], t[0], s[1], t[1]).transpose(0, 2, 1, 3)
    return split.reshape(s[0] * s[1], t[0] * t[1])


def kron_by_left(d: Any, y: Any, shape: tuple[int, ...]) -> Any:
    """The cotangent of the first factor of a Kronecker product."""
    return kron_blocks(d, shape, y.shape).dot(y.reshape(-1)).reshape(shape)


def kron_by_right(d: Any, x: Any, shape: tuple[int, ...]) -> Any:
    """The cotangent of the second factor."""
    return x.reshape(-1).dot(kron_blocks(d, x.shape, shape)).reshape(shape)


def solve_back(d: Any, a: Any, z: Any) -> Any:
    """The cotangent of the matrix of a linear system with the solution `z`."""
    db = np.linalg.solve(a.T, d)
    return -(db[:, None].dot(z[None]) if z.ndim == 1 else db.dot(z.T))


def det_slopes(a: Any, z: Any) -> Any:
    """The derivative of the determinant of a matrix that is far from singular."""
    inverse = np.linalg.inv(a)
    size = np.abs(inverse).sum() * np.abs(a).sum()
    if not size < 1e8 or not abs(z) > 1e-290:
        unfollowed("a matrix that is nearly singular")
    return inverse.T * z


def lower_inverse(z: Any) -> Any:
    """The inverse of a lower triangular matrix, block by block.

    It takes a fourth of the time of LAPACK's for general matrices.
    """
    n = len(z)
    if n <= LITTLE:
        return np.linalg.inv(z)
    half = n // 2
    made = np.zeros(z.shape)
    made[:half, :half] = first = lower_inverse(z[:half, :half])
    made[half:, half:] = last = lower_inverse(z[half:, half:])
    made[half:, :half] = -last.dot(z[half:, :half].dot(first))
    return made


def cholesky_back(d: Any, z: Any) -> Any:
    """The cotangent of a matrix by its Cholesky factor; of the lower triangle."""
    inverse = lower_inverse(z)
    m = np.tril(z.T.dot(np.tril(d)))
    m.reshape(-1)[:: m.shape[0] + 1] *= 0.5
    m = inverse.T.dot(m).dot(inverse)
    return np.tril(m) + np.tril(m.T, -1)


def cholesky_forward(d: Any, z: Any) -> Any:
    """The tangent of the Cholesky factor of a matrix of which the lower half counts."""
    inverse = lower_inverse(z)
    low = np.tril(d, -1)
    whole = low + low.T + np.diag(d.diagonal())
    m = np.tril(inverse.dot(whole).dot(inverse.T))
    m.reshape(-1)[:: m.shape[0] + 1] *= 0.5
    return z.dot(m)
