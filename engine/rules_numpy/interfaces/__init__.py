"""Other interfaces to these functions: methods of arrays and of ufuncs."""

from rules_numpy import (  # noqa: F401  (first: what is here lends their declarations)
    analysis,
    arrays,
    elementwise,
    linalg,
    python,
)

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
