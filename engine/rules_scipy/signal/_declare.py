"""Declaring functions of `scipy.signal`: SciPy's value, the derivative of a step."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import rules_core as rc
from rules_scipy._steps import DECLARED, At, constant, declare

__all__ = ["DECLARED", "At", "constant", "declared", "trial"]


def declared(f: Any, step: Callable[..., Any], *of: str, **more: Any) -> rc.Primitive:
    """The primitive of `f`, differentiated in the arguments `of`; the shape by a trial.

    Args:
        f: The function of SciPy.
        step: As in `rules_scipy.linalg`: array-API code with the derivative of `f`.
        of: Names of the arguments.
        more: As in `rules_scipy.linalg`.
    """
    return declare(f, step, of=of, **({"out": trial(f)} | more))


def trial(f: Any, *, sections: bool = False) -> Callable[..., Any]:
    """The shape rule of a function whose shapes do not depend on values: it is run.

    Args:
        f: The function.
        sections: Its first argument has a column that must be one.
    """

    def trial_shape(*args: Any, **kw: Any) -> Any:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            options = {name: _sample(x) for name, x in kw.items()}
            given = [_sample(x) for x in args]
            if sections:
                given[0] = np.array(given[0])
                given[0][:, 3] = 1
            return _shapes(f(*given, **options))

    trial_shape.__qualname__ = f"{f.__name__}_shape"
    return trial_shape


def _sample(x: Any) -> Any:
    """Numbers in place of an array that is known by its shape."""
    if isinstance(x, tuple):
        return tuple(map(_sample, x))
    if isinstance(x, str) or not hasattr(x, "shape") or not hasattr(x, "dtype"):
        return x
    dtype = np.dtype(x.dtype)
    size = int(np.prod(x.shape))
    numbers = np.linspace(0.3, 0.6, size) if dtype.kind in "fc" else np.ones(size)
    return numbers.astype(dtype).reshape(x.shape)


def _shapes(y: Any) -> Any:
    if isinstance(y, tuple | list):
        return tuple(map(_shapes, y))
    y = np.asarray(y)
    return rc.ShapeDtype(y.shape, y.dtype)
