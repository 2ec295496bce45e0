"""Functions and methods of `scipy.sparse` without derivative."""

from __future__ import annotations

from typing import Any

import scipy.sparse

from ._methods import DECLARED, constant, covers, methods_of
from ._moves import asked

__all__: list[str] = []

_FACTS = (
    "blocksize col dtype format get_shape getformat getmaxprint getnnz "
    "has_canonical_format has_sorted_indices ndim nnz row shape size"
).split()


def _question(f: Any) -> None:
    def body(*args: Any, **kwargs: Any) -> Any:
        return asked(f, args, kwargs)

    covers(f)(body)
    DECLARED[f] = "constant"


# The function of a property has no name by which a rule of it could be pickled.
for _name in _FACTS:
    for _method in methods_of(_name):
        _question(_method)
for _name in ("argmax", "argmin", "check_format", "count_nonzero", "nonzero"):
    for _method in methods_of(_name):
        _question(_method)
_CONSTANTS = (
    "eye eye_array get_index_dtype identity issparse isspmatrix isspmatrix_bsr "
    "isspmatrix_coo isspmatrix_csc isspmatrix_csr isspmatrix_dia isspmatrix_dok "
    "isspmatrix_lil rand random random_array safely_cast_index_arrays"
).split()
for _name in _CONSTANTS:
    if hasattr(scipy.sparse, _name):
        constant(getattr(scipy.sparse, _name))
