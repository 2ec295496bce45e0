"""Declaring the rules of ufuncs by their partials."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

import rules_core as rc
from rules_core.extend import SELECTION

from .arguments import (
    array_of,
    check_entries,
    is_number_type,
    name_of,
    signed,
)
from .declaration import Declaration
from .derivative import DECLARED
from .maps import selects, times
from .partials_in_hosts import IN_HOSTS

__all__ = ["choose", "elementwise", "maps_of_partials"]

_NUMBERS: Any = np.ndarray | np.generic | float | int


def elementwise(
    f: Any,
    *,
    holomorphic: bool = False,
    real_valued: bool = False,
    generic: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Define the rules of a ufunc by its partials, `partials(y, *args)`.

    The ufunc's options `where`, `dtype`, `casting`, `order` and `subok` are supported;
    entries outside `where` have derivative zero.

    Args:
        f: The ufunc, or a list of ufuncs that share the partials.
        holomorphic: Whether the Cauchy–Riemann equations hold.
        real_valued: Whether the value is real at complex arguments too.
        generic: Whether the partials are arithmetic that works on any array; others are
            NumPy code, opaque to JAX and PyTorch, unless `partials_in_hosts` has a form
            for frameworks.
    """
    functions = f if isinstance(f, list) else [f]

    def declare(partials: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            DECLARED[function] = partials, tuple(range(getattr(function, "nin", 1)))
            wrapper = _with_options(function, partials)
            opaque = not generic and function not in IN_HOSTS
            rc.scalar_rule(
                function,
                wrapper,
                holomorphic=holomorphic,
                real_valued=real_valued,
                host=opaque,
            )
            if getattr(function, "nout", 1) == 1:
                _register_lists(function, partials)
        return partials

    return declare


def _register_lists(f: Any, partials: Any) -> None:
    """These rules for lists and tuples of numbers."""
    lists: Any = list | tuple
    kinds: dict[int, list[tuple[Any, ...]]] = {
        1: [(lists,)],
        2: [(lists, object), (object, lists), (lists, lists)],
    }
    for types in kinds[f.nin]:
        maps = maps_of_partials(partials)
        declaration = Declaration(f, maps, tuple(range(f.nin)), bare=False, arrays=True)
        declaration.register_for(types)


def maps_of_partials(partials: Any) -> Any:
    @wraps(partials)
    def maps(y: Any, *args: Any) -> Any:
        rows = partials(y, *map(signed, args))
        return tuple(None if isinstance(p, rc.AbstractZero) else times(p) for p in rows)

    return maps


def choose(f: Any, partials: Any) -> None:
    """Define the rules of a ufunc that selects, on arrays and numbers, by its partials.

    An argument with partial zero has no part in the value: it gets a zero cotangent,
    even from an infinite one.
    """

    def choice_derivative(
        y: Any,
        a: Any,
        b: Any,
        *,
        where: Any = True,
        dtype: Any = None,
        casting: Any = "same_kind",
        order: Any = "K",
        subok: Any = True,
    ) -> Any:
        """Entries that are not selected have derivative zero."""
        of_a, of_b = partials(y, a, b)
        return selects(np.where(where, of_a, 0.0)), selects(np.where(where, of_b, 0.0))

    setattr(choice_derivative, SELECTION, partials)
    declared = Declaration(f, choice_derivative, (0, 1), bare=False, arrays=True)
    declared.register_for((_NUMBERS, _NUMBERS))


def _with_options(f: Any, partials: Callable[..., Any]) -> Callable[..., Any]:
    in_hosts = IN_HOSTS.get(f)

    @wraps(partials)
    def with_options(y: Any, *args: Any, **options: Any) -> Any:
        for x in args:
            if is_number_type(type(x)):
                continue
            if type(x) is np.ndarray:
                if x.dtype.kind == "O":
                    check_entries(x, f)
            elif isinstance(x, np.ndarray):
                array_of(x, f)
            elif in_hosts is not None and _is_foreign(x):
                _check_in_host(f, options)
                return in_hosts(rc.array_namespace(*args), y, *args, **options)
        if not options:
            return partials(y, *args)
        needs = {k: v for k, v in options.items() if k == "needs"}
        _check_options(f, options)
        where = options.get("where", True)
        if where is True:
            return partials(y, *args, **needs)
        with np.errstate(all="ignore"):
            rows = partials(y, *args, **needs)
        return tuple(_masked(p, where) for p in rows)

    signature = inspect.signature(partials)
    options = inspect.Parameter("options", inspect.Parameter.VAR_KEYWORD)
    # `inspect` reads an attribute that functions do not declare.
    with_options.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[
            *(
                p.replace(annotation=inspect.Parameter.empty)
                for p in signature.parameters.values()
            ),
            options,
        ],
        return_annotation=inspect.Signature.empty,
    )
    return with_options


def _is_foreign(x: Any) -> bool:
    return not isinstance(x, np.generic) and rc.is_array(x)


def _check_in_host(f: Any, options: dict[str, Any]) -> None:
    for name in options.keys() - {"needs"}:
        message = (
            f"the derivative of {name_of(f)} inside JAX or PyTorch must be taken "
            f"without options, but got {name}=. Use the framework's where()."
        )
        raise rc.UnsupportedError(message)


def _masked(p: Any, where: Any) -> Any:
    if isinstance(p, rc.AbstractTangent):
        return p
    if isinstance(p, tuple):
        return tuple(_masked(q, where) for q in p)
    return np.where(where, p, np.zeros_like(p))


def _check_options(f: Any, options: dict[str, Any]) -> None:
    out = options.get("out")
    outputs = out if isinstance(out, tuple) else (out,)
    if any(x is not None for x in outputs):
        message = (
            f"the derivative of {name_of(f)} must be taken without out=, but got it. "
            "Assign the result instead."
        )
        raise rc.UnsupportedError(message)
