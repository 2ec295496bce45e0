"""JAX's operations on NumPy arrays, by their names: one operation an entry.

`OPERATIONS[name](params, *operands)` is the result, or a tuple where there are several.
Operations that contain programs (loops, branches, calls) are in `numpy_programs`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.special

from .numpy_gather import gather, scatter

__all__ = ["OPERATIONS", "wide"]

Operation = Callable[..., Any]


def wide(dtype: Any) -> Any:
    """The dtype in which NumPy computes: double precision in place of any other."""
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        return np.dtype(np.complex128)
    # The narrow kinds of ml_dtypes have the letter V.
    return np.dtype(np.float64) if dtype.kind in "fV" else dtype


def _divided(_: Any, x: Any, y: Any) -> Any:
    if np.result_type(x, y).kind not in "iu":
        return np.divide(x, y)
    return np.where(y == 0, -1, np.trunc(np.divide(x, y))).astype(x.dtype)


def _sign(_: Any, x: Any) -> Any:
    return np.sign(x)


def _rounded(p: Any, x: Any) -> Any:
    if int(p["rounding_method"]):
        return np.rint(x)
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def _power(p: Any, x: Any) -> Any:
    exponent = p["y"]
    return np.power(x, exponent) if exponent >= 0 else 1 / np.power(x, -exponent)


def _broadcast(p: Any, x: Any) -> Any:
    shape = [1] * len(p["shape"])
    for axis, place in enumerate(p["broadcast_dimensions"]):
        shape[place] = np.shape(x)[axis]
    return np.broadcast_to(np.reshape(x, shape), p["shape"])


def _sliced(p: Any, x: Any) -> Any:
    strides = p["strides"] or (1,) * np.ndim(x)
    places = zip(p["start_indices"], p["limit_indices"], strides, strict=True)
    return x[tuple(slice(*place) for place in places)]


def _window(x: Any, start: Any, sizes: Any) -> Any:
    pairs = zip(start, np.shape(x), sizes, strict=True)
    first = [int(np.clip(i, 0, n - size)) for i, n, size in pairs]
    return tuple(slice(i, i + size) for i, size in zip(first, sizes, strict=True))


def _dynamic_slice(p: Any, x: Any, *start: Any) -> Any:
    return x[_window(x, start, p["slice_sizes"])]


def _dynamic_update(_: Any, x: Any, update: Any, *start: Any) -> Any:
    y = np.array(x)
    y[_window(x, start, np.shape(update))] = update
    return y


def _padded(p: Any, x: Any, value: Any) -> Any:
    low, high, inner = zip(*p["padding_config"], strict=True)
    rows = zip(np.shape(x), low, high, inner, strict=True)
    shape = [a + n + max(n - 1, 0) * i + b for n, a, b, i in rows]
    y = np.full([max(n, 0) for n in shape], value, dtype=x.dtype)
    places: list[Any] = []
    for n, a, i, size in zip(np.shape(x), low, inner, shape, strict=True):
        at = a + np.arange(n) * (i + 1)
        keep = (at >= 0) & (at < size)
        places.append(at[keep])
        x = np.compress(keep, x, axis=len(places) - 1)
    y[np.ix_(*places)] = x
    return y


def _product(p: Any, x: Any, y: Any) -> Any:
    (cx, cy), (bx, by) = p["dimension_numbers"]
    names = iter(range(np.ndim(x) + np.ndim(y)))
    of_x = [next(names) for _ in range(np.ndim(x))]
    of_y = [next(names) for _ in range(np.ndim(y))]
    for i, j in (*zip(cx, cy, strict=True), *zip(bx, by, strict=True)):
        of_y[j] = of_x[i]
    free_x = [n for i, n in enumerate(of_x) if i not in (*cx, *bx)]
    free_y = [n for j, n in enumerate(of_y) if j not in (*cy, *by)]
    return np.einsum(x, of_x, y, of_y, [of_x[i] for i in bx] + free_x + free_y)


def _reducing(f: Any) -> Operation:
    def reduce(p: Any, x: Any) -> Any:
        return f(x, axis=tuple(p["axes"]))

    return reduce


def _index(f: Any) -> Operation:
    def index(p: Any, x: Any) -> Any:
        return f(x, axis=p["axes"][0]).astype(p["index_dtype"])

    return index


def _cumulating(f: Any) -> Operation:
    def cumulate(p: Any, x: Any) -> Any:
        axis = p["axis"]
        x = np.flip(x, axis) if p["reverse"] else x
        y = f(x, axis=axis)
        return np.flip(y, axis) if p["reverse"] else y

    return cumulate


def _sorted(p: Any, *xs: Any) -> Any:
    keys = xs[: p["num_keys"]][::-1]
    order = np.lexsort(keys, axis=p["dimension"])
    return tuple(np.take_along_axis(x, order, p["dimension"]) for x in xs)


def _iota(p: Any) -> Any:
    shape = [1] * len(p["shape"])
    shape[p["dimension"]] = -1
    line = np.arange(p["shape"][p["dimension"]], dtype=wide(p["dtype"]))
    return np.broadcast_to(line.reshape(shape), p["shape"])


def _clamp(_: Any, low: Any, x: Any, high: Any) -> Any:
    return np.minimum(np.maximum(x, low), high)


def _select(_: Any, which: Any, *cases: Any) -> Any:
    if len(cases) == 2:
        return np.where(which, cases[1], cases[0])
    return np.choose(which, cases)


def _triangular(p: Any, a: Any, b: Any) -> Any:
    if p["conjugate_a"]:
        a = np.conj(a)
    if not p["left_side"]:
        a, b = np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2)
    lower = p["lower"] == p["left_side"]
    n = np.shape(b)
    flat_a, flat_b = a.reshape(-1, *a.shape[-2:]), b.reshape(-1, *n[-2:])
    x = np.stack([
        scipy.linalg.solve_triangular(
            one, other, trans=int(p["transpose_a"]), lower=lower,
            unit_diagonal=p["unit_diagonal"],
        )
        for one, other in zip(flat_a, flat_b, strict=True)
    ]).reshape(n)  # fmt: skip
    return x if p["left_side"] else np.swapaxes(x, -1, -2)


def _lu(_: Any, a: Any) -> Any:
    flat = a.reshape(-1, *a.shape[-2:])
    factors, pivots, orders = [], [], []
    for one in flat:
        lu, pivot = scipy.linalg.lu_factor(one, check_finite=False)
        factors.append(lu)
        pivots.append(pivot)
        orders.append(_order(pivot, one.shape[0]))
    lead = a.shape[:-2]
    return (
        np.stack(factors).reshape(a.shape),
        np.stack(pivots).reshape(*lead, -1).astype(np.int32),
        np.stack(orders).reshape(*lead, -1).astype(np.int32),
    )


def _order(pivots: Any, n: int) -> Any:
    order = np.arange(n)
    for i, j in enumerate(pivots):
        order[[i, j]] = order[[j, i]]
    return order


def _permutation(p: Any, pivots: Any) -> Any:
    flat = pivots.reshape(-1, pivots.shape[-1])
    orders = [_order(row, p["permutation_size"]) for row in flat]
    return np.stack(orders).reshape(*pivots.shape[:-1], -1).astype(np.int32)


def _cholesky(_: Any, a: Any) -> Any:
    return np.linalg.cholesky(a)


def _plain(f: Any) -> Operation:
    def operation(_: Any, *xs: Any) -> Any:
        return f(*xs)

    return operation


def _moved(f: Any, name: str) -> Operation:
    def operation(p: Any, x: Any) -> Any:
        return f(x, p[name])

    return operation


def _same(_: Any, *xs: Any) -> Any:
    return xs if len(xs) > 1 else xs[0]


def _converted(p: Any, x: Any) -> Any:
    x, dtype = np.asarray(x), wide(p["new_dtype"])
    # As JAX, without NumPy's warning: transposes of other conversions do it.
    return (x.real if np.dtype(dtype).kind == "f" else x).astype(dtype)


def _stacked(p: Any, *xs: Any) -> Any:
    return np.stack(xs, axis=p["axis"])


def _split(p: Any, x: Any) -> Any:
    return tuple(np.split(x, np.cumsum(p["sizes"])[:-1], axis=p["axis"]))


def _unstacked(p: Any, x: Any) -> Any:
    return tuple(np.moveaxis(x, p["axis"], 0))


def _tiled(p: Any, x: Any) -> Any:
    return np.tile(x, p["reps"])


def _joined(p: Any, *xs: Any) -> Any:
    return np.concatenate(xs, axis=p["dimension"])


_UFUNCS: dict[str, Any] = {
    "abs": np.abs, "acos": np.arccos, "acosh": np.arccosh, "add": np.add,
    "add_any": np.add, "and": np.bitwise_and, "asin": np.arcsin, "asinh": np.arcsinh,
    "atan": np.arctan, "atan2": np.arctan2, "atanh": np.arctanh, "cbrt": np.cbrt,
    "ceil": np.ceil, "conj": np.conj, "cos": np.cos, "cosh": np.cosh,
    "eq": np.equal, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1,
    "floor": np.floor, "ge": np.greater_equal, "gt": np.greater, "imag": np.imag,
    "is_finite": np.isfinite, "le": np.less_equal, "log": np.log, "log1p": np.log1p,
    "lt": np.less, "max": np.maximum, "min": np.minimum, "mul": np.multiply,
    "ne": np.not_equal, "neg": np.negative, "nextafter": np.nextafter,
    "not": np.invert, "or": np.bitwise_or, "pow": np.power, "real": np.real,
    "rem": np.fmod, "shift_left": np.left_shift,
    "shift_right_arithmetic": np.right_shift, "sin": np.sin, "sinh": np.sinh,
    "sqrt": np.sqrt, "square": np.square, "sub": np.subtract, "tan": np.tan,
    "tanh": np.tanh, "xor": np.bitwise_xor,
    "bessel_i0e": scipy.special.i0e, "bessel_i1e": scipy.special.i1e,
    "digamma": scipy.special.digamma, "erf": scipy.special.erf,
    "erf_inv": scipy.special.erfinv, "erfc": scipy.special.erfc,
    "igamma": scipy.special.gammainc, "igammac": scipy.special.gammaincc,
    "lgamma": scipy.special.gammaln, "logistic": scipy.special.expit,
    "polygamma": lambda n, x: scipy.special.polygamma(n.astype(int), x),
    "regularized_incomplete_beta": scipy.special.betainc,
    "rsqrt": lambda x: 1 / np.sqrt(x), "complex": lambda x, y: x + 1j * y,
    "zeta": scipy.special.zeta,
}  # fmt: skip

OPERATIONS: dict[str, Operation] = {
    **{name: _plain(f) for name, f in _UFUNCS.items()},
    "argmax": _index(np.argmax), "argmin": _index(np.argmin),
    "broadcast_in_dim": _broadcast, "cholesky": _cholesky, "clamp": _clamp,
    "concatenate": _joined, "convert_element_type": _converted, "copy": _same,
    "copy_p": _same, "cummax": _cumulating(np.maximum.accumulate),
    "cummin": _cumulating(np.minimum.accumulate), "cumprod": _cumulating(np.cumprod),
    "cumsum": _cumulating(np.cumsum),
    "cumlogsumexp": _cumulating(np.logaddexp.accumulate), "div": _divided,
    "dot_general": _product, "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update,
    "expand_dims": _moved(np.expand_dims, "dimensions"), "gather": gather,
    "integer_pow": _power, "iota": _iota, "lu": _lu,
    "lu_pivots_to_permutation": _permutation, "optimization_barrier": _same,
    "pad": _padded, "pvary": _same, "reduce_and": _reducing(np.all),
    "reduce_max": _reducing(np.max), "reduce_min": _reducing(np.min),
    "reduce_or": _reducing(np.any), "reduce_prod": _reducing(np.prod),
    "reduce_sum": _reducing(np.sum), "reshape": _moved(np.reshape, "new_sizes"),
    "rev": _moved(np.flip, "dimensions"), "round": _rounded,
    "scatter": scatter(None), "scatter-add": scatter(np.add),
    "scatter_add": scatter(np.add), "scatter-mul": scatter(np.multiply),
    "scatter_mul": scatter(np.multiply), "scatter_max": scatter(np.maximum),
    "scatter_min": scatter(np.minimum), "select_n": _select, "sign": _sign,
    "slice": _sliced, "sort": _sorted, "split": _split, "stack": _stacked,
    "squeeze": _moved(np.squeeze, "dimensions"),
    "tile": _tiled, "unstack": _unstacked,
    "scatter-max": scatter(np.maximum),
    "scatter-min": scatter(np.minimum), "scatter-sub": scatter(np.subtract),
    "stop_gradient": _same, "strong_mul": lambda _, p, x: np.where(x == 0, 0.0, p * x),
    "transpose": _moved(np.transpose, "permutation"), "triangular_solve": _triangular,
}  # fmt: skip
