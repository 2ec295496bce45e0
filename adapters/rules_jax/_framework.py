"""Facts about JAX's arrays that the core needs, registered before all else."""

from __future__ import annotations

from typing import Any

import jax

from rules_core.extend import Framework, register_framework

__all__ = ["FRAMEWORK"]


def _type_name(cls: type) -> str:
    return "jax.Array"


def _is_concrete(x: Any) -> bool:
    return not isinstance(x, jax.core.Tracer)


FRAMEWORK = Framework(
    jax.Array,
    traced=(jax.core.Tracer,),
    type_name=_type_name,
    is_concrete=_is_concrete,
)
register_framework(FRAMEWORK)
