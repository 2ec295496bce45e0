"""Parameters of generic classes: the signature and the result of a function.

They have defaults, so that `Primitive` alone means `Primitive[..., Any]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["P", "R"]

if TYPE_CHECKING:
    from typing_extensions import ParamSpec, TypeVar

    P = ParamSpec("P", default=...)
    R = TypeVar("R", default=Any)
else:
    from typing import ParamSpec, TypeVar

    P, R = ParamSpec("P"), TypeVar("R")
