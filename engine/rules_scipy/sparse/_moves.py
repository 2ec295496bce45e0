"""Functions of SciPy that only move the numbers of matrices: which number goes where.

The function itself tells: it is called with numbered entries. The numbers that it
returns are the places from which the entries of its result are taken. Since no number
is zero, entries that happen to be zero keep their place. Whole numbers among the
arguments may be indices, and stay as they are: those that come back are constants,
which the great numbers of entries tell apart.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

import rules_core as rc
from rules_core.extend import is_sparse

from ._array import SparseArray
from ._pattern import Pattern, places_of
from ._products import gathered

__all__ = [
    "asked",
    "assembled",
    "canonical",
    "check_each",
    "laid_out",
    "like",
    "moved",
    "of_nonzeros",
    "to_scipy",
    "without_repeats",
]

_NUMBERS = (float, complex, np.inexact)
_SORTED_FORMATS = ("csr", "csc", "coo")


class Move(NamedTuple):
    """Where the numbers of one result are from.

    Attributes:
        result: The result with numbered entries.
        index: The places in the arguments' numbers; None for a result without numbers.
        constants: Numbers that follow those of the arguments: they were whole.
        dtype: The dtype of the result.
        shared: Which array of numbers the result shares memory with, or None.
        same: Whether the result is the first argument itself.
        drops: Whether SciPy leaves out numbers that are zero.
    """

    result: Any
    index: Any
    constants: Any
    dtype: Any
    shared: int | None = None
    same: bool = False
    drops: bool = False

    def __tangent_structure__(self) -> None:
        """Places have no derivative."""


def moved(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`f(*args, **kwargs)`, by moving the numbers.

    Where SciPy leaves out zeros, dense arguments give their other entries, and numbers
    of sparse ones are an error.
    """
    args, kwargs = _in_arrays(args), _in_arrays(kwargs)
    plan = planned(f, args, kwargs)
    if _drops(plan):
        args = tuple([of_nonzeros(x) for x in args])
        kwargs = {name: of_nonzeros(x) for name, x in kwargs.items()}
        plan = planned(f, args, kwargs)
        if _drops(plan):
            raise _dropped(f)
    if plan is None:
        args = _merged_arguments(args, kwargs)
        plan = planned(f, args, kwargs)
        if plan is None:
            raise _adds_up(f)
    arrays = _arrays((args, kwargs))
    flat = np.concatenate([np.reshape(x, (-1,)) for x in arrays])
    return _built(plan, args, arrays, flat)


# Formats of Python's lists and dicts, whose numbers are constants.
_IN_LISTS = ("dok", "lil")


def _in_arrays(x: Any) -> Any:
    """Arguments with matrices of such formats as ones of arrays."""
    if is_sparse(x):
        return x.tocoo() if x.format in _IN_LISTS else x
    if isinstance(x, dict):
        return {name: _in_arrays(entry) for name, entry in x.items()}
    return type(x)([_in_arrays(e) for e in x]) if type(x) in (list, tuple) else x


def _built(plan: Any, args: Any, arrays: Any, flat: Any) -> Any:
    if type(plan) is tuple:
        return tuple([_built(part, args, arrays, flat) for part in plan])
    if plan.same:
        _lay_out(args[0], plan.result)
        return args[0]
    if plan.index is None:
        return plan.result
    if plan.shared is not None:
        return assembled(plan.result, arrays[plan.shared])
    if plan.constants.size:
        flat = np.concatenate([flat, plan.constants])
    data = np.reshape(gathered(flat, plan.index.reshape(-1)), plan.index.shape)
    if data.dtype != plan.dtype:
        data = data.astype(plan.dtype)
    if is_sparse(plan.result):
        return assembled(plan.result, data)
    return data if plan.index.ndim else data[()]


def _lay_out(x: Any, like: Any) -> None:
    """Places of a matrix as SciPy leaves them: `permute_dims` turns its argument."""
    if x.format == "coo":
        turned = dict(vars(like))
        del turned["data"]
        vars(x).update(turned)


def assembled(template: Any, data: Any) -> Any:
    """A new matrix with these numbers at the places of the template."""
    template.data = data
    return template


def like(a: Any, data: Any) -> Any:
    """A matrix at the places of `a` with other numbers."""
    return assembled(_with_data(a, np.zeros(a.data.shape)), data)


def _drops(plan: Any) -> bool:
    """Whether SciPy leaves out numbers that are zero."""
    if type(plan) is tuple:
        return any(map(_drops, plan))
    return plan is not None and plan.drops


def _dropped(f: Any) -> Exception:
    message = (
        f"{getattr(f, '__qualname__', f)} drops numbers that are zero, and with them "
        "their derivative. Give the places: csr_array((values, (rows, columns)), "
        "shape=...) keeps zeros, diags_array(values, format='dia') too; or use dense "
        "arrays, as by toarray()."
    )
    return rc.UnsupportedError(message)


def of_nonzeros(x: Any) -> Any:
    """A dense array with zeros as SciPy stores it; an error if it has a derivative."""
    if type(x) in (list, tuple):
        return type(x)([of_nonzeros(entry) for entry in x])
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "fc" or not _has_zeros(x):
        return x
    return assembled(_places_of_nonzeros(x), _nonzeros(x))


def _has_zeros(x: Any) -> bool:
    return x.ndim == 2 and not np.all(x)


def _places_of_nonzeros(x: Any) -> Any:
    return scipy.sparse.coo_matrix(x)


_DENSE = "A sparse matrix of a dense one"


@rc.primitive
def _nonzeros(x: Any) -> Any:
    return x[np.nonzero(x)]


@rc.frule.define(_nonzeros)
def _nonzeros_frule(tangents: Any, x: Any) -> Any:
    raise _dropped(_DENSE)


@rc.rrule.define(_nonzeros)
def _nonzeros_rrule(x: Any) -> Any:
    raise _dropped(_DENSE)


def laid_out(x: SparseArray, f: Any, *args: Any) -> Any:
    """`x`, the value of `f(*args)`, with its numbers in SciPy's order."""
    found = asked(f, args, {})
    x = x.merged()
    index, lost = _order(found, x.pattern)
    if lost:
        raise _dropped(f)
    if index is None and found.ndim == 1:
        raise _adds_up(f)
    if index is None:
        return to_scipy(x, type(found))
    data = np.reshape(gathered(x.data, index), found.data.shape)
    return assembled(found, data)


def _order(found: Any, pattern: Pattern) -> tuple[Any, bool]:
    """Which entry each number is (None if some are one), and whether any has none."""
    count = found.data.size
    numbers = np.arange(count).reshape(found.data.shape) + 1.0
    listed = _with_data(found, numbers).tocoo()
    flat = places_of(listed).flat
    if len(np.unique(flat)) < len(flat):
        return None, False
    _, entry, number = np.intersect1d(
        pattern.flat, flat, assume_unique=True, return_indices=True
    )
    index = np.full(count, -1)
    index[listed.data[number].astype(np.int64) - 1] = entry
    return index, len(entry) < pattern.nnz


def to_scipy(x: SparseArray, cls: Any) -> Any:
    """A SciPy matrix of class `cls`, as a program for NumPy uses it."""
    x = x.merged()
    made = assembled(_template(x.pattern, cls), x.data)
    return made if cls in _COMPRESSED else moved(cls, (made,), {})


_COMPRESSED = (scipy.sparse.csr_array, scipy.sparse.csr_matrix)


def _template(pattern: Pattern, cls: Any) -> Any:
    made = pattern.csr(np.ones(pattern.nnz))
    return scipy.sparse.csr_matrix(made) if cls is scipy.sparse.csr_matrix else made


def without_repeats(x: Any) -> Any:
    """A SciPy matrix with one number for each place."""
    if not _repeats(x):
        return x
    if x.format not in _SORTED_FORMATS:
        raise _adds_up(type(x))
    if x.ndim == 1:
        return laid_out(SparseArray.from_scipy(x), _summed_up, x)
    return to_scipy(SparseArray.from_scipy(x), type(x))


def canonical(x: Any) -> Any:
    """A SciPy matrix with one number for each place, in order: as SciPy leaves it."""
    if x.format not in _SORTED_FORMATS or _repeats(x):
        return without_repeats(x)
    if x.has_canonical_format:
        return x
    if x.ndim == 1:
        return laid_out(SparseArray.from_scipy(x), _summed_up, x)
    return to_scipy(SparseArray.from_scipy(x), type(x))


def check_each(*vectors: Any) -> None:
    """Of vectors with repeated places SciPy multiplies each number by itself."""
    for x in vectors:
        if x.ndim == 1 and _repeats(x):
            raise _adds_up(type(x))


def _summed_up(x: Any) -> Any:
    x.sum_duplicates()
    return x


def _repeats(x: Any) -> bool:
    if x.format == "dia":
        return len(np.unique(x.offsets)) < len(x.offsets)
    if x.ndim == 1:
        places = x.coords[0] if x.format == "coo" else x.indices
        return len(np.unique(places)) < len(places)
    marked = _with_data(x, np.ones(x.data.shape)).tocoo()
    marked.sum_duplicates()
    return bool(np.any(marked.data > 1))


def _merged_arguments(args: Any, kwargs: Any) -> Any:
    """The arguments with one number for each place, so that none are added up."""
    first = args[0] if args else None
    if type(first) is tuple and len(first) == 2 and type(first[1]) is tuple:
        shape = kwargs.get("shape", args[1] if len(args) > 1 else None)
        made = _listed(first[1], shape)
        return (without_repeats(assembled(made, np.asarray(first[0]))),)
    return tuple([without_repeats(x) if is_sparse(x) else x for x in args])


def _listed(places: Any, shape: Any) -> Any:
    ones = np.ones(len(places[0]))
    return scipy.sparse.coo_array((ones, places), shape=shape)


def _adds_up(f: Any) -> Exception:
    message = (
        f"{getattr(f, '__qualname__', f)} adds up entries of a sparse matrix that "
        "stand in one place, which has no rule. Call sum_duplicates() where the matrix "
        "is made, before its numbers have derivatives, or use csr_array or coo_array."
    )
    return rc.UnsupportedError(message)


def planned(f: Any, args: Any, kwargs: Any) -> Any:
    """Where the numbers of the result are from; None if some are added up."""
    if kwargs.get("out") is not None:
        message = f"{f.__qualname__}: out= cannot receive numbers with a derivative."
        raise rc.UnsupportedError(message)
    true = asked(f, args, kwargs)
    kept = {name: x for name, x in kwargs.items() if name != "dtype"}
    numbers = _Numbers(distinct=True)
    given = numbers.replace(args)
    found = f(*given, **numbers.replace(kept))
    ones = _Numbers(distinct=False)
    counted = f(*ones.replace(args), **ones.replace(kept))
    if given and found is given[0]:
        return Move(found, None, None, None, same=True)
    return _compared(f, true, found, counted, numbers.made)


def asked(f: Any, args: Any, kwargs: Any) -> Any:
    """SciPy's result, without derivative.

    It sees copies: many functions first add up or sort the entries of their arguments
    in place, where numbers would lose their derivative.
    """
    return f(*_copied(args), **_copied(kwargs))


def _copied(x: Any) -> Any:
    if is_sparse(x) or isinstance(x, np.ndarray):
        return x.copy()
    if isinstance(x, dict):
        return {name: _copied(entry) for name, entry in x.items()}
    return type(x)(map(_copied, x)) if type(x) in (list, tuple) else x


def _compared(f: Any, true: Any, found: Any, counted: Any, made: Any) -> Any:
    if isinstance(found, tuple | list):
        parts = zip(true, found, counted, strict=True)
        plans = tuple([_compared(f, *part, made) for part in parts])
        return None if None in plans else plans
    places, counts = _numbers_of(found), _numbers_of(counted)
    if places is None:
        return Move(true, None, None, None)
    whole = (places == counts) & (np.abs(places) < _FIRST / 2)
    if np.any((counts > 1) & ~whole):
        return None
    if not _is_moving(places, counts):
        message = f"{f.__qualname__} changes the numbers of a sparse matrix."
        raise rc.UnsupportedError(message)
    numbers = np.asarray(_numbers_of(true))
    dtype, drops = numbers.dtype, numbers.shape != np.shape(places)
    if dtype.kind not in "fc":
        message = (
            f"{f.__qualname__} makes a matrix of dtype {dtype}, which would cut off "
            "derivatives. Use dtype=float, or astype for a constant."
        )
        raise rc.UnsupportedError(message)
    index = np.where(whole, -1, np.real(places) - _FIRST).astype(np.int64)
    constant = whole & (places != 0)
    constants = np.asarray(places)[constant]
    index[constant] = sum(x.size for x in made) + np.arange(constants.size)
    shared = _shared(places, index, dtype, made)
    return Move(found, index, constants, dtype, shared, drops=drops)


def _is_moving(places: Any, counts: Any) -> bool:
    whole = np.all(np.floor(np.real(places)) == places)
    return bool(whole and np.array_equal(places != 0, counts != 0))


def _shared(places: Any, index: Any, dtype: Any, made: Any) -> int | None:
    first = 0
    for i, x in enumerate(made):
        if x.shape == places.shape and np.shares_memory(x, places):
            # Some functions sort this memory in place.
            in_order = np.array_equal(index.reshape(-1), first + np.arange(x.size))
            return i if in_order else None
        first += x.size
    return None


def _numbers_of(x: Any) -> Any:
    """The numbers of a result; None for whole numbers, as indices."""
    if is_sparse(x):
        if x.format in _IN_LISTS:
            message = (
                f"A matrix of class {type(x).__name__} keeps its numbers in Python's "
                "lists, where they have no derivative. Use csr_array or coo_array."
            )
            raise rc.UnsupportedError(message)
        return x.data
    if isinstance(x, np.matrix):
        message = "numpy.matrix has no derivatives. Use toarray(), or a sparse array."
        raise rc.UnsupportedError(message)
    if isinstance(x, np.ndarray | np.generic) and x.dtype.kind in "fc":
        return np.asarray(x)
    return np.asarray(x) if isinstance(x, float | complex) else None


def _arrays(x: Any) -> list[Any]:
    """The arrays of numbers inside of arguments, in order."""
    if is_sparse(x):
        return [x.data] if x.data.dtype.kind in "fc" else []
    if isinstance(x, np.ndarray):
        return [x] if x.dtype.kind in "fc" else []
    if isinstance(x, _NUMBERS):
        return [np.reshape(x, (1,))]
    if isinstance(x, dict):
        x = list(x.values())
    if isinstance(x, list | tuple):
        return [a for entry in x for a in _arrays(entry)]
    return []


# Greater than whole numbers among the arguments; those above it are exact.
_FIRST = 2.0**45


class _Numbers:
    """Replaces the numbers in arguments, in the order of `_arrays`.

    Attributes:
        distinct: By great numbers, in order, in place of ones.
        made: The arrays that took their places.
    """

    def __init__(self, *, distinct: bool) -> None:
        self.distinct, self.count = distinct, 0
        self.made: list[Any] = []

    def like(self, shape: Any) -> Any:
        size = int(np.prod(shape))
        first, self.count = self.count, self.count + size
        numbers = np.arange(first, first + size) + _FIRST
        made = numbers.reshape(shape) if self.distinct else np.ones(shape)
        self.made.append(made)
        return made

    def replace(self, x: Any) -> Any:
        if is_sparse(x):
            has_numbers = x.data.dtype.kind in "fc"
            return _with_data(x, self.like(x.data.shape)) if has_numbers else x.copy()
        if isinstance(x, np.ndarray):
            return self.like(x.shape) if x.dtype.kind in "fc" else x.copy()
        if isinstance(x, _NUMBERS):
            return float(self.like(()))
        if isinstance(x, dict):
            return {name: self.replace(entry) for name, entry in x.items()}
        if type(x) in (list, tuple):
            return type(x)([self.replace(entry) for entry in x])
        return x


def _with_data(x: Any, data: Any) -> Any:
    """A matrix at the same places, with indices of its own: SciPy may sort them."""
    made = x.copy()
    made.data = data
    return made


rc.non_differentiable(
    [
        _drops,
        _has_zeros,
        _lay_out,
        _listed,
        _order,
        _places_of_nonzeros,
        _repeats,
        _template,
        _with_data,
        asked,
        check_each,
        planned,
    ]
)
