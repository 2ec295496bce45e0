"""Arithmetic of sparse matrices, with sparse and dense ones and with numbers."""

from __future__ import annotations

import numbers
import operator
from typing import Any

import numpy as np
import scipy.sparse

import rules_core as rc
from rules_core.extend import is_sparse

from ._array import SparseArray, as_sparse, in_rows
from ._methods import CLASSES, covers, covers_method, like, methods_of
from ._moves import canonical, check_each, laid_out, of_nonzeros
from ._pattern import Pattern


def _is_number(x: Any) -> bool:
    if isinstance(x, np.ndarray):
        return x.ndim == 0
    return bool(np.isscalar(x))


def _refuse_classes(a: Any, b: Any) -> None:
    """Of an operand SciPy or its class chooses what the result is."""
    if isinstance(b, memoryview) or (
        isinstance(b, np.ndarray) and type(b) is not np.ndarray
    ):
        message = (
            f"an operation of a sparse matrix and a {type(b).__name__} has no rule, "
            "for its result has another class. Give numpy.asarray(…)."
        )
        raise rc.UnsupportedError(message)
    if isinstance(b, numbers.Number) and not isinstance(b, _NUMBERS):
        message = (
            f"an operation of a sparse matrix and a {type(b).__name__} has no rule. "
            "Give float(…)."
        )
        raise rc.UnsupportedError(message)


_NUMBERS = (int, float, complex, np.generic)


def _refuse_matrix(a: Any, b: Any) -> None:
    """`A + x` of a sparse matrix and an array."""
    if isinstance(a, scipy.sparse.spmatrix) and not (is_sparse(b) or _is_number(b)):
        message = (
            "the sum of a sparse matrix and an array is a numpy.matrix, which has no "
            "derivatives. Use a sparse array: csr_array(A)."
        )
        raise rc.UnsupportedError(message)


rc.non_differentiable([_refuse_classes, _refuse_matrix])


def _answers_itself(x: Any) -> bool:
    """Whether Python asks the other operand, which NumPy does not know as an array."""
    if _is_number(x) or is_sparse(x) or isinstance(x, np.ndarray | list | tuple):
        return False
    return bool(np.asanyarray(x).dtype == object)


rc.non_differentiable(_answers_itself)


@covers_method("__add__", "__radd__")
def plus(a: Any, b: Any) -> Any:
    """`A + B`: sparse for a sparse `B`."""
    return _combined(operator.add, a, b)


@covers_method("__sub__")
def minus(a: Any, b: Any) -> Any:
    """`A - B`."""
    return _combined(operator.sub, a, b)


def _combined(operation: Any, a: Any, b: Any) -> Any:
    _refuse_classes(a, b)
    if is_sparse(b):
        return laid_out(operation(in_rows(a), in_rows(b)), operation, a, b)
    if _is_number(b):
        return _shifted(a, b)
    if not isinstance(b, np.ndarray):
        return NotImplemented
    _refuse_matrix(a, b)
    return operation(a.toarray(), b)


@covers_method("__rsub__")
def subtracted(a: Any, b: Any) -> Any:
    """`B - A` of a dense `B`."""
    is_dense = _is_number(b) or isinstance(b, np.ndarray)
    return -(a - b) if is_dense else NotImplemented


def _shifted(a: Any, b: Any) -> Any:
    if isinstance(b, int | float) and b == 0:
        return a.copy()
    message = "adding a nonzero scalar to a sparse array is not supported"
    raise NotImplementedError(message)


@covers_method("__iadd__", "__isub__")
def in_place(a: Any, b: Any) -> Any:
    """As SciPy: `A += B` makes a new matrix."""
    return NotImplemented


@covers_method("__imul__")
def times_in_place(a: Any, b: Any) -> Any:
    """`A *= b` for a number."""
    _refuse_classes(a, b)
    if not _is_number(b):
        return NotImplemented
    a.data *= b
    return a


@covers_method("__itruediv__")
def divided_in_place(a: Any, b: Any) -> Any:
    """`A /= b` for a number."""
    _refuse_classes(a, b)
    if not _is_number(b):
        return NotImplemented
    a.data *= 1.0 / b
    return a


@covers_method("multiply")
def multiplied(a: Any, b: Any) -> Any:
    """`A.multiply(B)`, entry by entry."""
    _refuse_classes(a, b)
    if _is_number(b):
        return like(a, a.data * b)
    if _answers_itself(b):
        return NotImplemented
    if not is_sparse(b):
        b = np.asarray(b)
    if (is_sparse(b) and b.shape != a.shape) or b.ndim > a.ndim:
        message = "A.multiply(B) has derivatives for matrices of one shape."
        raise rc.UnsupportedError(message)
    if is_sparse(b):
        check_each(a, b)
    right = in_rows(b) if is_sparse(b) else b
    return laid_out(in_rows(a) * right, type(a).multiply, a, b)


@covers(*methods_of("__mul__", CLASSES[::2]), *methods_of("__rmul__", CLASSES[::2]))
def times(a: Any, b: Any) -> Any:
    """`A * B` of sparse arrays: entry by entry."""
    return a.multiply(b)


@covers(*methods_of("__mul__", CLASSES[1::2]))
def times_matrix(a: Any, b: Any) -> Any:
    """`A * B` of sparse matrices: their product."""
    _refuse_classes(a, b)
    if _answers_itself(b):
        return NotImplemented
    return like(a, a.data * b) if _is_number(b) else a @ b


@covers(*methods_of("__rmul__", CLASSES[1::2]))
def times_matrix_reflected(a: Any, b: Any) -> Any:
    """`B * A` of sparse matrices."""
    _refuse_classes(a, b)
    if _answers_itself(b):
        return NotImplemented
    return like(a, a.data * b) if _is_number(b) else b @ a


@covers_method("__truediv__")
def divided(a: Any, b: Any) -> Any:
    """`A / b` for a number, or entry by entry by a dense matrix."""
    if is_sparse(b):
        message = (
            "A / B of sparse matrices is not a number where both store nothing, and "
            "has no rule. Divide A by B.toarray(), or divide their data."
        )
        raise rc.UnsupportedError(message)
    _refuse_classes(a, b)
    if _answers_itself(b):
        return NotImplemented
    return a.multiply(1.0 / (b if _is_number(b) else np.asarray(b)))


@covers(*methods_of("__pow__", CLASSES[::2]))
def raised(a: Any, n: Any) -> Any:
    """`A ** n` of sparse arrays: entry by entry."""
    return a.power(n)


@covers(*methods_of("__pow__", CLASSES[1::2]), scipy.sparse.linalg.matrix_power)
def matrix_power(a: Any, n: Any) -> Any:
    """The product of `n` factors `A`."""
    if operator.index(n) < 1:
        message = "matrix_power(A, n) has derivatives for n > 0."
        raise rc.UnsupportedError(message)
    result = a
    for _ in range(n - 1):
        result = result @ a
    return result


@covers_method("__matmul__")
def matmul(a: Any, b: Any) -> Any:
    """`A @ B`."""
    _refuse_classes(a, b)
    _check_no_number(b)
    return NotImplemented if _answers_itself(b) else a.dot(b)


def _check_no_number(b: Any) -> None:
    if _is_number(b):
        message = "Scalar operands are not allowed, use '*' instead"
        raise ValueError(message)


@covers_method("dot")
def dot(a: Any, b: Any) -> Any:
    """`A.dot(B)`."""
    _refuse_classes(a, b)
    if is_sparse(b):
        if a.ndim == b.ndim == 1:
            check_each(a, b)
            return (in_rows(a) @ b.toarray())[0]
        right = in_rows(b).T if b.ndim == 1 else as_sparse(b)
        found = in_rows(a) @ right
        return laid_out(found.T if b.ndim == 1 else found, operator.matmul, a, b)
    if _is_number(b):
        return a * b
    y = in_rows(a) @ np.asarray(b)
    return y[0] if a.ndim == 1 else y


@covers_method("__rmatmul__")
def matmul_reflected(a: Any, b: Any) -> Any:
    """`B @ A`."""
    _refuse_classes(a, b)
    _check_no_number(b)
    if _answers_itself(b):
        return NotImplemented
    if a.ndim == 1:
        return (np.asarray(b) @ in_rows(a).T)[..., 0]
    return np.asarray(b) @ as_sparse(a)


@covers(scipy.sparse.kron)
def kron(A: Any, B: Any, format: Any = None) -> Any:
    """The Kronecker product."""
    a, b = in_rows(of_nonzeros(_in_floats(A))), in_rows(of_nonzeros(_in_floats(B)))
    i, j = _all_pairs(a.nnz, b.nnz)
    rows = a.pattern.rows[i] * b.shape[0] + b.pattern.rows[j]
    columns = a.pattern.columns[i] * b.shape[1] + b.pattern.columns[j]
    shape = (a.shape[0] * b.shape[0], a.shape[1] * b.shape[1])
    data = a.data[i] * b.data[j]
    made = SparseArray(data, Pattern(rows, columns, shape))
    return laid_out(made, scipy.sparse.kron, A, B, format)


def _in_floats(x: Any) -> Any:
    """A list or an array of whole numbers with numbers that may be dropped."""
    if is_sparse(x):
        return x
    x = np.asarray(x)
    return x if x.dtype.kind in "fc" else x.astype(float)


def _all_pairs(m: int, n: int) -> Any:
    return np.divmod(np.arange(m * n), max(n, 1))


rc.non_differentiable(_all_pairs)


@covers(scipy.sparse.kronsum)
def kronsum(A: Any, B: Any, format: Any = None) -> Any:
    """`kron(I, A) + kron(B, I)`."""
    one = scipy.sparse.kron(scipy.sparse.eye_array(B.shape[0]), A, "coo")
    other = scipy.sparse.kron(B, scipy.sparse.eye_array(A.shape[0]), "coo")
    made = as_sparse(one) + as_sparse(other)
    return laid_out(made, scipy.sparse.kronsum, A, B, format)


@covers_method("power")
def power(a: Any, n: Any, dtype: Any = None) -> Any:
    """`A.power(n)`, entry by entry."""
    _refuse_classes(a, n)
    _check_number("power", n)
    a = canonical(a)
    data = a.data**n
    return like(a, data if dtype is None else data.astype(dtype))


def _check_number(name: str, n: Any) -> None:
    if not np.isscalar(n) or n == 0 or np.real(n) < 0:
        message = (
            f"A.{name}(n) has derivatives for a positive number n only: other powers "
            "of the entries that are not stored are not zero."
        )
        raise rc.UnsupportedError(message)
