"""`to_jax`: a function, with its rules, as a JAX function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import update_wrapper
from typing import Any, Generic, Never, ParamSpec, TypeVar, final

import jax
import jax.numpy as jnp
import numpy as np
from jax import tree_util

import rules_core as rc
from rules_core.extend import FLAGS, declared_shapes, refuse_unknown

from ._call import BACK_ENDS, OUT, call_primitive

__all__ = ["to_jax"]

P = ParamSpec("P")
R = TypeVar("R")


@final
class JaxFunction(Generic[P, R]):
    """The result of `to_jax`: call it on JAX arrays, under any transformation."""

    def __init__(self, primitive: Any, via: str | None) -> None:
        self.primitive, self.via = primitive, via
        update_wrapper(self, primitive.fun)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        leaves = tree_util.tree_leaves((args, kwargs))
        if not any(isinstance(leaf, jax.Array) for leaf in leaves):
            given: Any = jax.tree.map(_promote, (args, kwargs))
        else:
            given = args, kwargs
        result: R = call_primitive(self.primitive, *given, via=self.via)
        return result

    def __repr__(self) -> str:
        return f"to_jax({self.primitive!r})"


def _promote(leaf: Any) -> Any:
    """Data as JAX arrays, where no argument is one."""
    is_data = isinstance(leaf, (np.ndarray, np.inexact, float, complex))
    return jnp.asarray(leaf) if is_data else leaf


def to_jax(
    f: Callable[P, R],
    *,
    host: bool | None = None,
    elementwise: bool | None = None,
    vectorized: bool | None = None,
    static_argnames: str | Iterable[str] | None = None,
    pure: bool | None = None,
    copy_in: bool | None = None,
    copy_out: bool | None = None,
    native: Any = None,
    out: Any = None,
    via: str | None = None,
    **unknown: Never,
) -> JaxFunction[P, R]:
    """`f`, with its rules, as a JAX function.

    Calling a primitive on JAX arrays does the same without a wrapper; this is for
    functions of other libraries, and for choosing the back end.

    Args:
        f: A function or a primitive.
        host: As in `rules_core.primitive`.
        elementwise: As in `rules_core.primitive`.
        vectorized: As in `rules_core.primitive`.
        static_argnames: As in `rules_core.primitive`.
        pure: As in `rules_core.primitive`.
        copy_in: As in `rules_core.primitive`.
        copy_out: As in `rules_core.primitive`.
        native: As in `rules_core.primitive`.
        out: As in `rules_core.primitive`, for this wrapper alone.
        via: The mechanism: `"primitive"` (the default: whichever rules there are, in
            both modes), `"linear"` (both rules or an rrule, on JAX's
            stable API; the rrule runs again in the backward pass), `"custom_vjp"`
            (the rrule alone, no forward mode) or `"custom_jvp"` (the frule alone).
        **unknown: An error, which names the nearest argument.

    Raises:
        PrimitiveError: `f` is a primitive that was made with other flags.
        UnsupportedError: `via` is not one of these.

    >>> import jax, numpy as np
    >>> import rules_core as rc
    >>> from rules_jax import to_jax
    >>> def cube(x):
    ...     return np.asarray(x) ** 3
    >>> rc.scalar_rule(cube, lambda y, x: (3 * x**2,))
    >>> float(jax.grad(to_jax(cube, host=True, elementwise=True))(2.0))
    12.0
    """
    refuse_unknown("to_jax", unknown, (*FLAGS, *("out", "via")))
    if via is not None and via not in BACK_ENDS:
        message = f"via must be one of {', '.join(BACK_ENDS)}, but got {via!r}."
        raise rc.UnsupportedError(message)
    flags: dict[str, Any] = {
        "host": host,
        "elementwise": elementwise,
        "vectorized": vectorized,
        "static_argnames": static_argnames,
        "pure": pure,
        "copy_in": copy_in,
        "copy_out": copy_out,
        "native": native,
    }
    handle = rc.as_primitive(f, **flags)
    if out is not None:  # of this wrapper alone; rules that call the handle see it too
        handle = rc.Primitive(handle.fun, **handle.flags)
        handle.__dict__[OUT] = declared_shapes(out, handle)
    return JaxFunction(handle, via)
