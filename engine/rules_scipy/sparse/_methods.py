"""Bodies for functions and methods of `scipy.sparse` in programs for NumPy."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

import rules_core as rc
from rules_core.extend import stand_in

from ._array import SparseArray
from ._moves import canonical, like, moved

__all__ = [
    "CLASSES",
    "DECLARED",
    "constant",
    "covers",
    "covers_method",
    "like",
    "methods_of",
]

# Functions of SciPy: "covered" or "constant".
DECLARED: dict[Any, str] = {}

_FORMATS = ("csr", "csc", "coo", "dia", "bsr")
_KINDS = ("array", "matrix")
CLASSES = [getattr(scipy.sparse, f"{f}_{k}") for f in _FORMATS for k in _KINDS]


def covers(*functions: Any) -> Callable[[Any], Any]:
    """Define a body that stands in for functions of SciPy."""
    for f in functions:
        DECLARED[f] = "covered"
    return stand_in(*functions)


def constant(*functions: Any) -> None:
    """Declare functions without derivative."""
    for f in functions:
        DECLARED[f] = "constant"
        rc.non_differentiable(f)


def methods_of(name: str, classes: Any = CLASSES) -> list[Any]:
    """The functions that classes have under a name."""
    found = [inspect.getattr_static(cls, name, None) for cls in classes]
    plain = [getattr(f, "fget", f) for f in found if f is not None]
    return list(dict.fromkeys(plain))


def covers_method(*names: str) -> Callable[[Any], Any]:
    """Define a body for methods of every class."""

    def define(body: Any) -> Any:
        for name in names:
            covers(*methods_of(name))(body)
        return body

    return define


# what only moves numbers


def _moving(f: Any) -> None:
    def body(*args: Any, **kwargs: Any) -> Any:
        return moved(f, _without_lists(f, args), kwargs)

    covers(f)(body)


def _without_lists(f: Any, args: Any) -> Any:
    """A constructor's list of lists as an array."""
    if f in CLASSES and args and type(args[0]) is list:
        return (np.array(args[0]), *args[1:])
    return args


_MOVING_METHODS = (
    "__getitem__ asformat copy diagonal getcol getrow reshape sorted_indices toarray "
    "tobsr tocoo tocsc tocsr todense todia transpose"
).split()
_MOVING_FUNCTIONS = (
    "block_array block_diag bmat diags diags_array expand_dims find hstack "
    "permute_dims spdiags swapaxes tril triu vstack"
).split()

for _name in _MOVING_METHODS:
    for _method in methods_of(_name):
        _moving(_method)
for _name in _MOVING_FUNCTIONS:
    if hasattr(scipy.sparse, _name):
        _moving(getattr(scipy.sparse, _name))
for _class in CLASSES:
    _moving(_class)


@covers_method("T")
def transposed(a: Any) -> Any:
    """`A.T`."""
    return a.transpose()


# entry by entry

_UNARY = (
    "arcsin arcsinh arctan arctanh ceil deg2rad expm1 floor log1p rad2deg rint sign "
    "sin sinh sqrt tan tanh trunc"
).split()


def _by_entry(name: str) -> None:
    f = getattr(np, name)

    def body(a: Any) -> Any:
        a = canonical(a)
        return like(a, f(a.data))

    covers_method(name)(body)


for _name in _UNARY:
    _by_entry(_name)


@covers_method("__neg__")
def negative(a: Any) -> Any:
    """`-A`."""
    return like(a, -a.data)


@covers_method("__abs__")
def absolute(a: Any) -> Any:
    """`abs(A)`."""
    a = canonical(a)
    return like(a, np.abs(a.data))


@covers_method("conj", "conjugate")
def conjugated(a: Any, copy: bool = True) -> Any:
    """`A.conj()`; without `copy` a real matrix itself."""
    if a.dtype.kind == "c":
        return like(a, np.conj(a.data))
    return a.copy() if copy else a


@covers_method("getH")
def adjoint(a: Any) -> Any:
    """`A.getH()`."""
    return a.conj().transpose()


@covers_method("real", "_real")
def real(a: Any) -> Any:
    """`A.real`."""
    return like(a, np.real(a.data))


@covers_method("imag", "_imag")
def imag(a: Any) -> Any:
    """`A.imag`."""
    return like(a, np.imag(a.data))


@covers_method("astype")
def astype(a: Any, dtype: Any, casting: str = "unsafe", copy: bool = True) -> Any:
    """`A.astype(dtype)`; without `copy` a matrix of this dtype itself."""
    if not copy and a.dtype == np.dtype(dtype):
        return a
    if a.dtype != np.dtype(dtype):
        a = canonical(a)
    return like(a, a.data.astype(dtype, casting=casting))


@covers_method("asfptype")
def asfptype(a: Any) -> Any:
    """`A.asfptype()`: floating numbers are kept."""
    return a


# sums


@covers_method("sum")
def total(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """`A.sum(axis)`."""
    axis = _check_plain("sum", a, axis, out)
    if axis is None:
        return _cast(np.sum(_inside(a)), dtype)
    return _cast(SparseArray.from_scipy(a).sum(_axis(axis)), dtype)


def _inside(a: Any) -> Any:
    """The stored numbers; diagonals have some outside of the matrix."""
    return SparseArray.from_scipy(a).data if a.format == "dia" else a.data


def _axis(axis: Any) -> int:
    return operator.index(axis)


def _check_plain(name: str, a: Any, axis: Any, out: Any) -> Any:
    """The axis; None for all numbers."""
    if out is not None:
        message = f"A.{name}: out= cannot receive numbers with a derivative."
        raise rc.UnsupportedError(message)
    if axis is None or (a.ndim == 1 and axis in (0, -1)):
        return None
    if isinstance(axis, tuple) or a.ndim != 2:
        message = f"A.{name}(axis) has derivatives for a matrix and one axis only."
        raise rc.UnsupportedError(message)
    if isinstance(a, scipy.sparse.spmatrix):
        message = (
            f"A.{name}(axis) of a sparse matrix is a numpy.matrix, which has no "
            "derivatives. Use a sparse array: csr_array(A)."
        )
        raise rc.UnsupportedError(message)
    return axis


def _cast(x: Any, dtype: Any) -> Any:
    return x if dtype is None else x.astype(dtype)


@covers_method("mean")
def mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """`A.mean(axis)`."""
    axis = _check_plain("mean", a, axis, out)
    count = int(np.prod(a.shape)) if axis is None else a.shape[_axis(axis)]
    return _cast(a.sum(axis) / count, dtype)


@covers_method("trace")
def trace(a: Any, offset: int = 0) -> Any:
    """`A.trace(offset)`."""
    return np.sum(a.diagonal(offset))
