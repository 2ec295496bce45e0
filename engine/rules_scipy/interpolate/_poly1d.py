"""`Polynomial`: NumPy's `poly1d` with coefficients that have derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_scipy._axes import concat

from ._arrays import arrays

__all__ = ["Polynomial"]


class Polynomial(np.poly1d):
    """A polynomial by its coefficients, highest first, of any framework.

    Zeros among the first are kept, for their derivative is not zero.

    >>> import numpy as np
    >>> from rules_scipy.interpolate import Polynomial
    >>> p = Polynomial(np.asarray([1.0, 2.0, 3.0]))
    >>> float(p(2.0)), p.deriv().coeffs
    (11.0, array([2., 2.]))
    """

    __stands_for__ = np.poly1d
    own: Any = None

    def __init__(self, coefficients: Any) -> None:
        self.own = coefficients

    @property  # type: ignore[misc]
    def coeffs(self) -> Any:
        """The coefficients."""
        return self.own

    c = coef = coefficients = coeffs

    @property
    def order(self) -> int:
        """The degree."""
        return int(self.own.shape[0]) - 1

    o = order

    def __call__(self, val: Any) -> Any:
        """Values at points."""
        c, q = arrays(self.own, val)
        total = c[0] + 0.0 * q
        for i in range(1, c.shape[0]):
            total = total * q + c[i]
        return total

    def __getitem__(self, val: int) -> Any:
        """The coefficient of a power."""
        n = self.order
        return self.own[n - val] if 0 <= val <= n else 0

    def __len__(self) -> int:
        return self.order

    def __array__(self, t: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.own, t)

    def __repr__(self) -> str:
        return f"Polynomial({self.own!r})"

    __str__ = __repr__

    def deriv(self, m: Any = 1) -> Any:
        """A derivative."""
        c = self.own
        for _ in range(m):
            n = c.shape[0] - 1
            if n == 0:
                return Polynomial(0.0 * c)
            c = c[:-1] * _like(np.arange(n, 0.0, -1.0), c)
        return Polynomial(c)

    def integ(self, m: Any = 1, k: Any = 0) -> Any:
        """An antiderivative, with the constant `k`."""
        c, k = arrays(self.own, k)
        xp = rc.array_namespace(c)
        for _ in range(m):
            n = c.shape[0]
            last = xp.reshape(k + 0.0 * c[0], (1,))
            c = concat([c / _like(np.arange(n, 0.0, -1.0), c), last])
        return Polynomial(c)


def _like(x: Any, c: Any) -> Any:
    return arrays(x, c)[0]
