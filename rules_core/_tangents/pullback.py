"""A pullback with explicit residuals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

__all__ = ["Pullback"]


@final
class Pullback:
    """A pullback `dy ↦ fn(*residuals, dy)`.

    An rrule may return it instead of a closure. It is a pytree whose children are the
    residuals, so frameworks store it without analysing a closure: the fastest form in
    JAX and PyTorch.

    Args:
        fn: A module-level function of the residuals and the cotangent.
        *residuals: Arrays, numbers or pytrees of them; static values are allowed.

    >>> from rules_core import NoTangent, Pullback
    >>> def scale_pullback(c, dy):
    ...     return NoTangent(), c * dy
    >>> Pullback(scale_pullback, 3.0)(2.0)
    (NoTangent(), 6.0)
    """

    __slots__ = ("fn", "residuals")

    def __init__(self, fn: Callable[..., Any], *residuals: Any) -> None:
        self.fn = fn
        self.residuals = residuals

    def __call__(self, dy: Any) -> Any:
        return self.fn(*self.residuals, dy)

    def __reduce__(self) -> Any:
        return Pullback, (self.fn, *self.residuals)

    def __repr__(self) -> str:
        name = getattr(self.fn, "__qualname__", repr(self.fn))
        return f"Pullback({name}, {len(self.residuals)} residuals)"
