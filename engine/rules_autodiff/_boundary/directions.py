"""Checks of the user's tangents and cotangents against primals and results."""

from typing import Any

import numpy as np

from rules_autodiff._python.values import is_float_array, is_number
from rules_core import (
    AbstractZero,
    StructuralTangent,
    backing,
    normalise,
    structure,
)

from .enter import is_leaf, refuse_foreign, without_const

__all__ = [
    "check_differentiable",
    "check_direction",
    "check_function",
    "check_tangents",
    "is_constant",
]


def check_function(f: Any, name: str) -> None:
    """Raise an error unless `f` is a function: `grad(f(x))` instead of `grad(f)(x)`."""
    if not callable(f):
        message = (
            f"{name}: the first argument must be a function, but got {f!r}. Pass the "
            "function itself, not its result."
        )
        raise TypeError(message)


def check_differentiable(x: Any, place: int) -> None:
    """Raise an error for an argument without a tangent, as JAX does."""
    if type(x) is not float and is_constant(x):
        refuse_foreign(x)
        kind = x.dtype if isinstance(x, np.ndarray) else type(x).__name__
        message = (
            f"grad: argument {place} must be real or complex to be differentiated, but "
            f"got {kind}. Convert it to float, or choose others by argnums."
        )
        raise TypeError(message)


def check_tangents(primals: Any, tangents: Any, name: str) -> None:
    """Raise an error for tangents that are not directions of the primals."""
    for what, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, tuple | list):
            message = (
                f"{name}: the {what} must be a tuple or list, with one entry for each "
                f"argument, but got {type(given).__name__}. Write (x,)."
            )
            raise TypeError(message)
    if len(primals) != len(tangents):
        message = (
            f"{name}: there must be one tangent for each of the {len(primals)} "
            f"primals, but got {len(tangents)}."
        )
        raise TypeError(message)
    pairs = list(zip(without_const(primals), tangents, strict=True))
    for place, (x, dx) in enumerate(pairs):
        what = f"{name}: the tangent of primal {place}"
        check_direction(x, dx, what)
        check_moved(x, dx, what)
    containers = [(x, dx) for x, dx in pairs if not is_leaf(x)]
    if containers:
        given = tuple([x for x, _ in containers]), tuple([dx for _, dx in containers])
        (tangent,) = normalise((given[0],), (given[1],))
        check_shared(given[0], tangent, name, {})


def check_direction(x: Any, dx: Any, what: str) -> None:
    """Raise an error for a direction of another shape, or complex for a real primal."""
    if isinstance(x, tuple | list) and isinstance(dx, tuple | list):
        for value, part in zip(x, dx, strict=False):  # lengths are compared later
            check_direction(value, part, what)
    elif isinstance(x, dict) and isinstance(dx, dict):
        for key in x.keys() & dx.keys():
            check_direction(x[key], dx[key], what)
    elif type(x) is not type(dx) or type(x) is np.ndarray:
        check_leaf(x, dx, what)


def check_moved(x: Any, dx: Any, what: str) -> None:
    """Raise an error for a tangent of a constant: integers, strings, sets, files.

    A direction in the structure of a primal may contain the primal's own constants.
    """
    if isinstance(x, tuple | list) and isinstance(dx, tuple | list):
        for value, part in zip(x, dx, strict=False):
            check_moved(value, part, what)
    elif isinstance(x, dict) and isinstance(dx, dict):
        for key in x.keys() & dx.keys():
            check_moved(x[key], dx[key], what)
    elif is_constant(x) and dx is not x and not is_nothing(dx):
        refuse_foreign(x)
        message = (
            f"{what} must be None, NoTangent() or zero, because {kind_of(x)} has no "
            f"derivative, but got {dx!r}. Convert it to float before."
        )
        raise TypeError(message)


def is_nothing(dx: Any) -> bool:
    """Whether a tangent is zero."""
    if dx is None or isinstance(dx, AbstractZero):
        return True
    return (is_number(dx) or isinstance(dx, int | np.ndarray)) and not np.any(dx)


def is_constant(x: Any) -> bool:
    """Whether a value is a leaf without a tangent."""
    return not (is_number(x) or is_float_array(x)) and structure(x) is None


def check_leaf(x: Any, dx: Any, what: str) -> None:
    if not (is_leaf(x) and (is_number(dx) or isinstance(dx, np.ndarray))):
        return
    if not (is_number(x) or is_float_array(x)):
        return
    if np.shape(dx) != np.shape(x):
        message = f"{what} must have shape {np.shape(x)}, but got shape {np.shape(dx)}."
        raise TypeError(message)
    if np.iscomplexobj(dx) and not np.iscomplexobj(x):
        message = (
            f"{what} must be real for {kind_of(x)}, but got {kind_of(dx)}. Take its "
            "real part, or make the value complex before."
        )
        raise TypeError(message)


def kind_of(x: Any) -> str:
    array = isinstance(x, np.ndarray)
    return f"an array of {x.dtype}" if array else f"a value of {type(x).__name__}"


def check_shared(x: Any, dx: Any, name: str, met: dict[int, Any]) -> None:
    """Raise an error for two tangents of one instance, which is one variable."""
    level = structure(x) if isinstance(dx, StructuralTangent) else None
    if level is None:
        return
    if level.mutable:
        if id(x) in met:
            if met[id(x)] is not dx:
                message = (
                    f"{name}: an instance of {type(x).__qualname__} stands in two "
                    "places. It must have one tangent, the same object in both, but "
                    "got two. Build the tangent once, or pass a copy of the instance."
                )
                raise TypeError(message)
            return
        met[id(x)] = dx
    entries = backing(dx)
    for part, value in zip(level.names, level.values, strict=True):
        check_shared(value, entries.get(part), name, met)
