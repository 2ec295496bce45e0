"""Declaring the rules of this pack.

`derivative(f)` makes frule and rrule of `f` from one function, which returns the
derivative as a linear map together with its adjoint; `linear(f)` needs only the
adjoint; `method` applies a function's rule to a method.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from .arguments import NoValue
from .declaration import LINEAR_MAPS, REVERSE, SYMBOLIC, Declaration

__all__ = [
    "DECLARED",
    "NoValue",
    "constant",
    "derivative",
    "linear",
    "method",
]

F = TypeVar("F", bound=Callable[..., Any])
# Declared functions: function → (its derivative, the active positions).
DECLARED: dict[Any, tuple[Callable[..., Any], tuple[int, ...] | None]] = {}


def derivative(
    f: Any,
    argnums: int | tuple[int, ...] | None = 0,
    *,
    arrays: bool | tuple[int, ...] = True,
    call: Callable[..., Any] | None = None,
    reverse: tuple[Callable[..., Any], Callable[..., bool]] | None = None,
    symbolic: bool = False,
    linear: bool = False,
) -> Callable[[F], F]:
    """Define frule and rrule of `f` by its derivative and the adjoint.

    The bodies are NumPy code: JAX and PyTorch run them as opaque calls, at first order;
    an AD system for NumPy programs can differentiate them again.

    Decorates `maps(y, *args, **kw)`, which receives the output and the arguments in
    normal form and returns `(pushforward, pullback)`: `dy = pushforward(dx)` and `dx =
    pullback(dy)`; for several argnums a tuple of such pairs, whose contributions are
    added. None instead of a pair means that the derivative is zero. Cotangents are
    projected on their arguments.

    Args:
        f: The function, or a list of functions that share the derivative.
        argnums: Positions of the differentiated arguments, None for all; any other must
            have no tangent.
        arrays: Whether numbers and lists at `argnums` are converted to arrays first, or
            at which positions.
        call: The function that computes `y` instead of `f`, if the signature of `f` has
            wrong defaults.
        reverse: `(choose, unchosen)` if `f` has several valid values and the pullback
            needs a certain one: `choose(f, *args, **kw)` computes it for the rrule,
            `unchosen(y, dy)` says whether the cotangent for `dy` is equal for all of
            them.
        symbolic: Whether the pullback accepts `ZeroTangent` for unused results, if the
            AD system knows them.
        linear: Whether the pullbacks only move, scale and add entries.
    """
    functions = f if isinstance(f, list) else [f]
    bare = isinstance(argnums, int)
    numbers = (argnums,) if isinstance(argnums, int) else argnums

    def declare(maps: F) -> F:
        if linear:
            LINEAR_MAPS.add(maps)
        if symbolic:
            SYMBOLIC.add(maps)
        if reverse is not None:
            REVERSE[maps] = reverse
        for function in functions:
            DECLARED[function] = maps, numbers
            Declaration(function, maps, numbers, bare, arrays, call).register()
        return maps

    return declare


def linear(
    f: Any, argnums: int | tuple[int, ...] = 0, *, arrays: bool = True
) -> Callable[[F], F]:
    """Define frule and rrule of an `f` that is jointly linear in some arguments.

    Decorates `adjoint(dy, *args, **kw)`, which returns one cotangent per argnum, not in
    a tuple if there is one. The pushforward is `f` itself.
    """
    functions = f if isinstance(f, list) else [f]

    def declare(adjoint: F) -> F:
        for function in functions:
            maps = _maps_of_linear(function, adjoint, argnums)
            derivative(function, argnums, arrays=arrays, linear=True)(maps)
        return adjoint

    return declare


def _maps_of_linear(f: Any, adjoint: Any, argnums: Any) -> Callable[..., Any]:
    if not isinstance(argnums, int):
        return _maps_of_jointly_linear(f, adjoint, argnums)

    @wraps(adjoint)
    def maps(y: Any, *args: Any, **kw: Any) -> Any:
        def linear_pushforward(dx: Any) -> Any:
            return f(*args[:argnums], dx, *args[argnums + 1 :], **kw)

        def linear_pullback(dy: Any) -> Any:
            return adjoint(dy, *args, **kw)

        return linear_pushforward, linear_pullback

    return maps


def _maps_of_jointly_linear(f: Any, adjoint: Any, numbers: Any) -> Callable[..., Any]:
    @wraps(adjoint)
    def maps(y: Any, *args: Any, **kw: Any) -> Any:
        def pair(k: int) -> Any:
            def linear_pushforward(dx: Any) -> Any:
                moved = list(args)
                for i in numbers:
                    moved[i] = np.zeros_like(args[i])
                moved[numbers[k]] = dx
                return f(*moved, **kw)

            def linear_pullback(dy: Any) -> Any:
                return adjoint(dy, *args, **kw)[k]

            return linear_pushforward, linear_pullback

        return tuple(pair(k) for k in range(len(numbers)))

    return maps


def constant(functions: list[Any]) -> list[Any]:
    """Record functions without derivative; for `rc.non_differentiable`."""
    for function in functions:
        DECLARED[function] = constant, ()
    return functions


def method(names: list[str] | str, function: Any) -> None:
    """Apply the rule of a function to the methods of arrays and NumPy scalars."""
    maps, numbers = DECLARED[function]
    for name in [names] if isinstance(names, str) else names:
        for cls in (np.ndarray, np.generic):
            own = getattr(cls, name, None)
            if own is not None and own not in DECLARED:
                bare = numbers is not None and len(numbers) == 1
                argnums: Any = numbers[0] if bare and numbers else numbers
                derivative(own, argnums)(maps)
