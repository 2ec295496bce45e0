"""`np.emath`: functions with complex results outside the real domain."""

from __future__ import annotations

from typing import Any

import numpy as np

from rules_numpy._declare.derivative import DECLARED, derivative
from rules_numpy._declare.elementwise import maps_of_partials

from . import arithmetic, formulas  # noqa: F401  (declare ufuncs)

__all__: list[str] = []


def _lend(f: Any, ufunc: Any) -> None:
    """The partials of the ufunc, at the arguments that NumPy evaluates."""
    partials = maps_of_partials(DECLARED[ufunc][0])

    def emath_derivative(y: Any, *args: Any) -> Any:
        if np.asarray(y).dtype.kind == "c":
            args = tuple(x + 0j for x in args)
        return partials(y, *args)

    emath_derivative.__qualname__ = f"emath_{f.__name__}_derivative"
    derivative(f, tuple(range(ufunc.nin)))(emath_derivative)


for _name, _ufunc in {
    "sqrt": np.sqrt,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "power": np.power,
    "arccos": np.arccos,
    "arcsin": np.arcsin,
    "arctanh": np.arctanh,
}.items():
    _lend(getattr(np.emath, _name), _ufunc)


@derivative(np.emath.logn, argnums=(0, 1))
def logn_derivative(y: Any, n: Any, x: Any) -> Any:
    """log_n x = ln x / ln n: (-y / n, 1 / x) / ln n."""
    scale = np.emath.log(n)
    maps = maps_of_partials(_logn_partials)
    return maps((y, scale), n, x)


def _logn_partials(known: Any, n: Any, x: Any) -> Any:
    y, scale = known
    return -y / (n * scale), 1.0 / (x * scale)
