"""Matrices."""

from . import (
    decompositions,
    einsum,
    equal_value_blocks,
    equal_values,
    general_position,
    matrices,
    norms,
    products,
    solves,
    svd,
)

__all__ = [
    "decompositions",
    "einsum",
    "equal_value_blocks",
    "equal_values",
    "general_position",
    "matrices",
    "norms",
    "products",
    "solves",
    "svd",
]
