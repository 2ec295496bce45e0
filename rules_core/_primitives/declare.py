"""`primitive`: wrap a function so that it runs in every framework."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, overload

from rules_core._dispatch.registry import find_table, load_pack

from .primitive import Primitive, check_flags, names_of, register

__all__ = ["as_primitive", "primitive"]


def _given(flags: dict[str, Any]) -> dict[str, Any]:
    explicit = {name: value for name, value in flags.items() if value is not None}
    if "static_argnames" in explicit:
        explicit["static_argnames"] = names_of(explicit["static_argnames"])
    return explicit


@overload
def primitive(
    f: Callable[..., Any],
    /,
    *,
    host: bool | None = None,
    elementwise: bool | None = None,
    static_argnames: str | Iterable[str] | None = None,
    pure: bool | None = None,
) -> Primitive: ...
@overload
def primitive(
    f: None = None,
    /,
    *,
    host: bool | None = None,
    elementwise: bool | None = None,
    static_argnames: str | Iterable[str] | None = None,
    pure: bool | None = None,
) -> Callable[[Callable[..., Any]], Primitive]: ...
def primitive(
    f: Callable[..., Any] | None = None,
    /,
    *,
    host: bool | None = None,
    elementwise: bool | None = None,
    static_argnames: str | Iterable[str] | None = None,
    pure: bool | None = None,
) -> Any:
    """Make `f` callable, with its rules, on the arrays of every framework.

    A call inspects its arguments: JAX arrays and tracers select `rules_jax`, torch
    tensors `rules_torch`; otherwise `f` runs unchanged. Works as a decorator and as a
    call; one function has one primitive.

    Args:
        f: The function; its rules apply to the primitive too.
        host: `f` needs NumPy arrays (it calls SciPy or C); otherwise it is array-API
            code, which each framework traces, compiles and batches itself.
        elementwise: `f` maps broadcast elements one by one, like a ufunc. Supplies the
            shape rule and the batch rule: shapes broadcast, the widest floating
            argument decides the dtype, a whole batch is one call.
        static_argnames: Constant arguments, besides ints, strings, None, functions and
            dtypes, which always are.
        pure: Whether a framework may repeat or drop calls; False for effects or
            randomness.

    Raises:
        PrimitiveError: `f` is a primitive already, with other flags.

    >>> import numpy as np
    >>> import rules_core as rc
    >>> @rc.primitive
    ... def softplus(x):
    ...     xp = rc.array_namespace(x)
    ...     return xp.log1p(xp.exp(x))
    >>> float(softplus(np.asarray(0.0))) == float(np.log(2.0))
    True
    """
    flags = _given(
        {
            "host": host,
            "elementwise": elementwise,
            "static_argnames": static_argnames,
            "pure": pure,
        }
    )
    if f is None:
        return lambda function: primitive(function, **flags)
    if isinstance(f, Primitive):
        return check_flags(f, flags)
    load_pack(f)
    return register(f, flags)


def as_primitive(
    f: Any,
    *,
    host: bool | None = None,
    elementwise: bool | None = None,
    static_argnames: str | Iterable[str] | None = None,
    pure: bool | None = None,
) -> Primitive:
    """`f` as a primitive without registering it: its own primitive, or a new one.

    For `to_jax` and `to_torch`, which may wrap functions of other libraries.

    Raises:
        PrimitiveError: `f` has a primitive with other flags.

    >>> from rules_core import as_primitive, primitive
    >>> def cube(x):
    ...     return x**3
    >>> as_primitive(cube) is as_primitive(cube)
    False
    >>> handle = primitive(cube)
    >>> as_primitive(cube) is handle
    True
    """
    explicit = _given(
        {
            "host": host,
            "elementwise": elementwise,
            "static_argnames": static_argnames,
            "pure": pure,
        }
    )
    if isinstance(f, Primitive):
        return check_flags(f, explicit)
    load_pack(f)
    table = find_table(f)
    if table is not None and table.primitive is not None:
        return check_flags(table.primitive, explicit)
    return Primitive(f, **explicit)
