"""Python numbers given to a framework's AD, for which they are constants."""

from __future__ import annotations

from typing import Any

from rules_core._base.errors import UnsupportedError
from rules_core._tangents.thunks import unthunk
from rules_core._tangents.zeros import AbstractZero, NotImplementedTangent

__all__ = ["cotangent_of_constant", "refuse_moving_constant"]

_TEXT = (
    "the derivative in a Python number, a constant in {0}; give {1}_via_ad an array of "
    "{0} in its place"
)


def cotangent_of_constant(x: Any, dx: Any, framework: str) -> Any:
    """`dx`, or for a number that an error follows if its cotangent is needed.

    >>> from rules_core.extend import cotangent_of_constant
    >>> cotangent_of_constant("option", None, "JAX")
    >>> cotangent_of_constant(2.0, 0.0, "JAX").info[:40]
    'the derivative in a Python number, a con'
    """
    if not _is_number(x):
        return dx
    return NotImplementedTangent(_TEXT.format(framework, "rrule"), "", __name__)


def refuse_moving_constant(x: Any, dx: Any, framework: str) -> None:
    """Refuse a tangent other than zero of a number.

    Raises:
        UnsupportedError: It is given.
    """
    if not _is_number(x) or dx is None:
        return
    dx = unthunk(dx)
    if not isinstance(dx, AbstractZero) and not (_is_number(dx) and dx == 0):
        message = f"frule_via_ad was asked for {_TEXT.format(framework, 'frule')}."
        raise UnsupportedError(message)


def _is_number(x: Any) -> bool:
    return type(x) in (float, complex)
