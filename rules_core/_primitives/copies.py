"""Copies for libraries that write to their arguments or reuse their results."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from rules_core._tangents.leaves import is_numpy

__all__ = ["with_copies"]


def with_copies(
    fun: Callable[..., Any], *, copy_in: bool, copy_out: bool
) -> Callable[..., Any]:
    """`fun` on copies of its arrays, with copied results; `fun` itself without both."""
    if not copy_in and not copy_out:
        return fun

    @wraps(fun)
    def run(*args: Any, **kwargs: Any) -> Any:
        if copy_in:
            args, kwargs = copied(args), copied(kwargs)
        y = fun(*args, **kwargs)
        return copied(y) if copy_out else y

    if hasattr(fun, "nout"):  # a ufunc
        vars(run)["nout"] = fun.nout
    return run


def copied(x: Any) -> Any:
    """A value with its own arrays; tuples, lists and dicts are searched."""
    if isinstance(x, dict):
        return {key: copied(item) for key, item in x.items()}
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*map(copied, x))
    if isinstance(x, (tuple, list)):
        return type(x)(map(copied, x))
    return x.copy() if is_numpy(x) else x
