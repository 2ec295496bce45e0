"""The supported operations; one file per branch of mathematics, as in `rules_numpy`."""

from . import (
    arithmetic,
    choices,
    constants,
    elementwise,
    joining,
    linalg,
    products,
    reductions,
    shapes,
    written_code,
)

__all__ = [
    "arithmetic",
    "choices",
    "constants",
    "elementwise",
    "joining",
    "linalg",
    "products",
    "reductions",
    "shapes",
    "written_code",
]
