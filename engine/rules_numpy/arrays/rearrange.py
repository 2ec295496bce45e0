"""Functions that rearrange entries of their arguments, possibly among zeros.

Calling the function on the indices of the entries gives the origin of each entry; the
adjoint adds every cotangent at its origin.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rules_numpy._declare.axes import scatter_add
from rules_numpy._declare.derivative import derivative

__all__ = ["origin", "rearrangement"]


def origin(moved: Callable[[Any], Any], a: Any) -> Any:
    """For each entry of `moved(a)` the flat number of its entry of `a`, -1 for none."""
    numbers = np.reshape(np.arange(1, a.size + 1), a.shape)
    return np.asarray(moved(numbers)) - 1


def rearrangement(f: Any, argnums: int | tuple[int, ...] = 0) -> None:
    """Declare that `f` rearranges the entries of some arguments among zeros."""
    bare = isinstance(argnums, int)
    numbers = (argnums,) if isinstance(argnums, int) else argnums

    def rearrangement_derivative(y: Any, *args: Any, **kw: Any) -> Any:
        pairs = tuple(_pair(f, i, numbers, args, kw) for i in numbers)
        return pairs[0] if bare else pairs

    rearrangement_derivative.__qualname__ = f"{f.__name__}_derivative"
    derivative(f, argnums)(rearrangement_derivative)


def _pair(f: Any, i: int, numbers: tuple[int, ...], args: Any, kw: Any) -> Any:
    def moved(x: Any) -> Any:
        shifted = list(args)
        for j in numbers:
            shifted[j] = np.zeros(args[j].shape, x.dtype)
        shifted[i] = x
        return f(*shifted, **kw)

    def rearrangement_pullback(dy: Any) -> Any:
        return scatter_add(dy, origin(moved, args[i]), args[i].shape)

    return moved, rearrangement_pullback


rearrangement(np.tile)
rearrangement(np.resize)
rearrangement(np.repeat)
rearrangement(np.diag)
rearrangement(np.diagflat)
rearrangement(np.take)
rearrangement(np.take_along_axis)
rearrangement(np.compress, 1)
rearrangement(np.extract, 1)
rearrangement(np.delete)
rearrangement(np.insert, (0, 2))
rearrangement(np.lib.stride_tricks.sliding_window_view)


@derivative(np.trim_zeros)
def trim_zeros_derivative(y: Any, filt: Any, *options: Any, **kw: Any) -> Any:
    """The part between the outermost nonzero entries."""
    places = np.argwhere(filt)
    low = places.min(axis=0) if places.size else np.zeros(filt.ndim, int)
    index = _window(y, filt, low, options, kw)

    def trim_pushforward(dx: Any) -> Any:
        return dx[index]

    def trim_pullback(dy: Any) -> Any:
        places = np.reshape(np.arange(filt.size), filt.shape)[index]
        return scatter_add(dy, places, filt.shape)

    return trim_pushforward, trim_pullback


def _window(y: Any, filt: Any, low: Any, options: Any, kw: Any) -> Any:
    trim = (options[0] if options else kw.get("trim", "fb")).lower()
    starts = low if "f" in trim else np.zeros(filt.ndim, int)
    return tuple(
        slice(int(s), int(s) + n) for s, n in zip(starts, np.shape(y), strict=True)
    )
