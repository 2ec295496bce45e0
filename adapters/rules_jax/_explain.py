"""How a compiled program reaches a host function: a line of `rules_core.explain`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import tree_util

import rules_core as rc
from rules_core.extend import EXPLAINERS, find_table
from rules_jax._host.native.loops import Undeclared

from ._call import spec_of

__all__ = ["explain_calls"]


def explain_calls(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Iterator[str]:
    """Whether compiled code on a CPU calls a host function natively, or why not."""
    table = None if isinstance(f, rc.Primitive) else find_table(f)
    primitive: Any = f if table is None else table.primitive
    if not isinstance(primitive, rc.Primitive) or not primitive.host:
        return
    if _of_others(args, kwargs):
        return
    args, kwargs = _as_arrays(args, kwargs)
    name = primitive.__qualname__
    try:
        leaves, spec = spec_of(primitive, args, kwargs, (None, None))
        avals = list(map(jax.typeof, leaves))
        promised, _ = spec.host_primal.results(avals)
        call = spec.host_primal.native(avals, promised)
    except Undeclared as error:
        yield f"Compiled JAX programs reach {name} by callback: {error}."
    except (rc.RulesCoreError, TypeError, ValueError):
        return  # no such call is compiled; it has its own error
    else:
        yield (
            f"Compiled JAX programs call {name} natively on a CPU, by its loop "
            f"{call.loop.fields}, and by callback elsewhere."
        )


_ARRAYS = (jax.Array, np.ndarray, np.generic)


def _of_others(*parts: Any) -> bool:
    """Whether arrays of another framework are among the arguments."""
    leaves = tree_util.tree_leaves(parts)
    return any(rc.is_array(x) and not isinstance(x, _ARRAYS) for x in leaves)


def _as_arrays(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The arguments in JAX: where there is no array, numbers are arrays."""
    leaves = tree_util.tree_leaves((args, kwargs))
    if any(isinstance(x, (jax.Array, np.ndarray)) for x in leaves):
        return args, kwargs
    return jax.tree.map(_traced, (args, kwargs))


def _traced(x: Any) -> Any:
    return jnp.asarray(x) if isinstance(x, (float, complex)) else x


EXPLAINERS.append(explain_calls)
