"""Other ways to the same functions: methods of arrays and of ufuncs."""

# They come first: what is here gives their functions other names.
from rules_numpy import analysis, arrays, elementwise, linalg, python  # noqa: F401

from . import (
    array_api_compat,
    constants,
    methods,
    ufunc_methods,
    ufunc_steps,
)

__all__ = [
    "array_api_compat",
    "constants",
    "methods",
    "ufunc_methods",
    "ufunc_steps",
]
