"""Other interfaces to these functions: methods of arrays and of ufuncs.

`array_api_compat` is a pack of its own: its import takes as long as all of these rules.
"""

from rules_numpy import (  # noqa: F401  (first: what is here lends their declarations)
    analysis,
    arrays,
    elementwise,
    linalg,
    python,
)

from . import (
    constants,
    methods,
    ufunc_methods,
    ufunc_steps,
)

__all__ = [
    "constants",
    "methods",
    "ufunc_methods",
    "ufunc_steps",
]
