"""Lists of numbers, and NumPy's arrays, in place of arrays of a framework."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

import rules_core as rc
from rules_numpy._declare.arguments import array_of, restore, tangent_array

__all__ = ["constant_like", "dtype_of", "entries_like", "shape_of", "taking_lists"]


def shape_of(x: Any) -> tuple[int, ...]:
    """The shape of an array, or of a list as an array."""
    if not isinstance(x, list | tuple):
        return tuple(getattr(x, "shape", ()))
    return (len(x), *(shape_of(x[0]) if len(x) else ()))


def dtype_of(x: Any) -> Any:
    """The dtype of an array, or of a list as an array."""
    if isinstance(x, list | tuple):
        return np.result_type(*map(dtype_of, x))
    return np.dtype(x.dtype) if hasattr(x, "dtype") else np.asarray(x).dtype


def entries_like(x: Any, dx: Any) -> Any:
    """The cotangent of a list as a list."""
    if not isinstance(x, list | tuple):
        return dx
    return type(x)([entries_like(entry, dx[i]) for i, entry in enumerate(x)])


def constant_like(x: Any, like: Any) -> Any:
    """A NumPy array as one of another library."""
    from array_api_compat import device

    # PyTorch has no negative strides.
    x = np.asarray(x, order="C")
    return rc.array_namespace(like).asarray(x, device=device(like))


def taking_lists(
    f: Any, frule: Callable[..., Any], rrule: Callable[..., Any]
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Rules of arrays that take a list of numbers, as NumPy does, for an array."""

    def as_array(x: Any) -> Any:
        return array_of(x, f) if isinstance(x, list) else x

    @wraps(frule)
    def of_lists_frule(tangents: Any, *args: Any, **kw: Any) -> Any:
        head, *own = tangents
        dxs = [
            tangent_array(x, dx) if isinstance(x, list) else dx
            for x, dx in zip(args, own, strict=True)
        ]
        return frule((head, *dxs), *map(as_array, args), **kw)

    @wraps(rrule)
    def of_lists_rrule(*args: Any, **kw: Any) -> Any:
        y, pullback = rrule(*map(as_array, args), **kw)
        if list not in map(type, args):
            return y, pullback

        def of_lists_pullback(dy: Any) -> tuple[Any, ...]:
            head, *dxs = pullback(dy)
            pairs = zip(args, dxs, strict=True)
            return head, *[restore(x, dx) if isinstance(x, list) else dx
                           for x, dx in pairs]  # fmt: skip

        return y, of_lists_pullback

    return of_lists_frule, of_lists_rrule
