"""Functions of whole arrays."""

from . import (
    creation,
    cumulative,
    differences,
    indexing,
    joining,
    nan_functions,
    padding,
    rearrange,
    reductions,
    shape,
    sorting,
)

__all__ = [
    "creation",
    "cumulative",
    "differences",
    "indexing",
    "joining",
    "nan_functions",
    "padding",
    "rearrange",
    "reductions",
    "shape",
    "sorting",
]
