"""Functions that are arguments, as functions of NumPy arrays.

A solver in compiled code calls its function from a callback, where the framework must
not run. The adapter takes the function apart: into the arrays that it captures, which
are operands of the callback, and a function that computes with NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

from rules_core._base.errors import UnsupportedError
from rules_core._dispatch.rule_key import describe
from rules_core._primitives.find_host import find_adapter

from .derived_rules import find_deriver

__all__ = ["Unbound", "numpy_function"]

# `call(arrays)` is the function again, with NumPy arrays in place of what it captured.
Unbound = Callable[[Sequence[Any]], Callable[..., Any]]


@final
class _Plain:
    """A function that computes with NumPy already."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.f = f

    def __call__(self, arrays: Sequence[Any]) -> Callable[..., Any]:
        return self.f


def numpy_function(
    f: Callable[..., Any], *examples: Any, host: Any = None
) -> tuple[Unbound, tuple[Any, ...]]:
    """`(call, arrays)`: the arrays that `f` captures, and `f` without them.

    `call(arrays)` for NumPy arrays is a function of NumPy arrays. It computes in double
    precision, as solvers expect, whatever the precision of the arrays.

    Args:
        f: The function.
        *examples: Arrays of the shapes and dtypes with which it will be called.
        host: The adapter that takes it apart; by default that of the arrays.

    Raises:
        UnsupportedError: The function cannot be taken apart, or runs an operation for
            which there is none in NumPy.

    >>> import jax.numpy as jnp
    >>> import numpy as np
    >>> from rules_core.extend import numpy_function
    >>> a = jnp.asarray([1.0, 2.0])
    >>> call, arrays = numpy_function(lambda x: jnp.sin(a * x), jnp.ones(2))
    >>> call([np.asarray([0.0, 0.5])])(np.ones(2)).round(4)
    array([0.    , 0.4794])
    """
    adapter = host or find_adapter((f, *examples), {})
    if adapter is None:
        plain = getattr(find_deriver(), "numpy_function", None)
        return _Plain(f if plain is None else plain(f)), ()
    convert = getattr(adapter, "numpy_function", None)
    if convert is None:
        message = (
            f"{describe(f)} is an argument of a solver that runs in NumPy, which needs "
            f"the adapter's method numpy_function, but the adapter {adapter.name!r} "
            "has none. Call the solver with NumPy arrays."
        )
        raise UnsupportedError(message)
    found: tuple[Unbound, tuple[Any, ...]] = convert(f, *examples)
    return found
