"""Statistics of samples along an axis: from SciPy's signature and a formula."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import rules_core as rc
from rules_scipy._axes import moveaxis

from ._declare import covers
from ._numbers import floats, plain
from ._short import has_no_value, without_value

__all__ = ["statistic"]

_EVERYWHERE = ("axis", "keepdims", "nan_policy", "dtype")
_PLAIN = (str, int, float, tuple)


def statistic(
    scipy: Any, *samples: str, reduces: bool = True
) -> Callable[[Any], Callable[..., Any]]:
    """Define a function of SciPy by what it does along the last axis.

    The function has SciPy's arguments. The definition gets the array library, the
    samples with their axis last, and those of the other arguments that it names; for
    the rest only SciPy's defaults are accepted.

    Args:
        scipy: The function of SciPy.
        *samples: The names of the arguments that have the axis.
        reduces: Whether the axis is gone in the result.
    """
    parameters = inspect.signature(scipy).parameters.values()
    names = tuple([p.name for p in parameters])
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}

    def define(formula: Any) -> Callable[..., Any]:
        taken = set(inspect.signature(formula).parameters)

        def own(*args: Any, **kwds: Any) -> Any:
            given = {**defaults, **dict(zip(names, args, strict=False)), **kwds}
            _check(scipy, args, kwds, names, given)
            options = {n: given[n] for n in given if n not in samples}
            _refuse_options(scipy, options, defaults, taken)
            found = [given[n] for n in samples if given[n] is not None]
            others = _arrays_in(list(options.values()))
            xp, *xs = floats(*found, *others)
            as_floats = dict(zip(map(id, others), xs[len(found) :], strict=True))
            options = {n: _with_floats(x, as_floats) for n, x in options.items()}
            axis, shape = given.get("axis"), xs[0].shape
            moved = iter([_axis_last(xp, x, axis) for x in xs[: len(found)]])
            used = {n: None if given[n] is None else next(moved) for n in samples}
            chosen = {n: x for n, x in options.items() if n in taken and n != "xp"}
            y = _value(scipy, xp, used, options, partial(formula, **chosen), reduces)
            if not reduces:
                return plain(_axis_back(xp, y, axis, shape))
            keep = given.get("keepdims") or False
            return _results(xp, y, axis, len(shape)) if keep else _results(xp, y)

        own.__name__ = own.__qualname__ = scipy.__name__
        own.__doc__ = f"`scipy.stats.{scipy.__name__}`, with derivatives."
        covers(scipy)(own)
        return own

    return define


def _value(
    scipy: Any, xp: Any, samples: Any, options: Any, formula: Any, reduces: bool
) -> Any:
    """The formula's, unless SciPy has none for samples of these sizes."""
    own = {n: x for n, x in samples.items() if x is not None}
    sizes = tuple([x.shape[-1] for x in own.values()])
    of_samples = partial(formula, xp)
    if reduces and has_no_value(scipy, sizes, tuple(own), options):
        return without_value(xp, samples.values(), of_samples)
    return of_samples(*samples.values())


def _arrays_in(x: Any) -> list[Any]:
    """Arrays in lists and tuples, of which numbers may be one."""
    if isinstance(x, list | tuple):
        return [array for entry in x for array in _arrays_in(entry)]
    return [x] if rc.is_array(x) else []


def _with_floats(x: Any, as_floats: dict[int, Any]) -> Any:
    """Floating NumPy arrays of an option as arrays of the samples' framework."""
    if isinstance(x, list | tuple):
        return type(x)([_with_floats(entry, as_floats) for entry in x])
    floating = isinstance(x, np.ndarray) and x.dtype.kind == "f"
    return as_floats[id(x)] if floating else x


def _check(scipy: Any, args: Any, kwds: Any, names: Any, given: Any) -> None:
    unknown = [n for n in kwds if n not in names or n in names[: len(args)]]
    missing = [n for n in names if n not in given]
    if unknown or missing or len(args) > len(names):
        message = (
            f"{scipy.__name__} must be given {', '.join(names)}, each once, but got "
            f"{len(args)} by position and {sorted(kwds)} by name."
        )
        raise TypeError(message)


def _refuse_options(scipy: Any, options: Any, defaults: Any, taken: Any) -> None:
    """What changes the formula, and is not known to it."""
    for name, x in options.items():
        known = name in taken or name in ("axis", "keepdims")
        same = x is defaults.get(name) or (
            isinstance(x, _PLAIN) and x == defaults.get(name)
        )
        if not (known or same):
            message = (
                f"scipy.stats.{scipy.__name__} must be differentiated with "
                f"{name}={defaults.get(name)!r}, its default, but got {x!r}. Prepare "
                "the sample before, or give numbers without derivative."
            )
            raise rc.UnsupportedError(message)


def _axis_last(xp: Any, x: Any, axis: Any) -> Any:
    if axis is None:
        return xp.reshape(x, (-1,))
    if isinstance(axis, tuple):
        count = len(axis)
        x = moveaxis(x, axis, tuple(range(-count, 0)))
        rest = x.shape[: x.ndim - count]
        return xp.reshape(x, (*rest, math.prod(x.shape[x.ndim - count :])))
    return moveaxis(x, axis, -1) if x.ndim > 1 else x


def _axis_back(xp: Any, y: Any, axis: Any, shape: Any) -> Any:
    if axis is None:
        return xp.reshape(y, shape)
    return moveaxis(y, -1, axis)


def _results(xp: Any, y: Any, axis: Any = None, ndim: int = 0) -> Any:
    """One result or several, with the axis as one of length 1 if `ndim` is given."""
    if isinstance(y, tuple):
        several: Any = y  # of named fields
        return several._make([_results(xp, part, axis, ndim) for part in y])
    if not ndim:
        return plain(y)
    if axis is None:
        return xp.reshape(y, (1,) * ndim)
    axes = axis if isinstance(axis, tuple) else (axis,)
    for place in sorted(a % ndim for a in axes):
        y = xp.expand_dims(y, axis=place)
    return y
