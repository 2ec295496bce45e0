"""Host primals: functions of NumPy arrays, called on torch tensors."""

from __future__ import annotations

from typing import Any

import rules_core as rc

__all__ = ["run_primal"]


def run_primal(
    primitive: rc.Primitive, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The primitive's own result, without rules."""
    if not primitive.host:
        return primitive.fun(*args, **kwargs)
    raise NotImplementedError
