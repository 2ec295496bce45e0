"""`typing.override`, which Python 3.11 does not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

__all__ = ["override"]

if TYPE_CHECKING:
    from typing_extensions import override
else:

    def override(method: Callable[..., Any]) -> Callable[..., Any]:
        """Mark a method that overrides its base's."""
        return method
