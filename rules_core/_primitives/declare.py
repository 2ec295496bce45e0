"""`primitive`: wrap a function so that it runs in every framework."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Never, overload

from rules_core._base.type_parameters import P, R
from rules_core._base.unknown_names import refuse_unknown
from rules_core._dispatch.call_site import caller_location
from rules_core._dispatch.registry import find_table, load_pack
from rules_core._dispatch.rule import Location

from .primitive import FLAGS, Primitive, check_flags, names_of, register
from .result_shapes import declared_shapes
from .shape_and_batch_rules import shape_rule

__all__ = ["as_primitive", "primitive"]


def _given(flags: dict[str, Any]) -> dict[str, Any]:
    explicit = {name: value for name, value in flags.items() if value is not None}
    if "static_argnames" in explicit:
        explicit["static_argnames"] = names_of(explicit["static_argnames"])
    return explicit


@overload
def primitive(
    f: Callable[P, R],
    /,
    *,
    host: bool | None = None,
    elementwise: bool | None = None,
    vectorized: bool | None = None,
    static_argnames: str | Iterable[str] | None = None,
    pure: bool | None = None,
    copy_in: bool | str | tuple[str, ...] | None = None,
    copy_out: bool | None = None,
    native: Any = None,
    out: Any = None,
) -> Primitive[P, R]: ...
@overload
def primitive(
    f: None = None,
    /,
    *,
    host: bool | None = None,
    elementwise: bool | None = None,
    vectorized: bool | None = None,
    static_argnames: str | Iterable[str] | None = None,
    pure: bool | None = None,
    copy_in: bool | str | tuple[str, ...] | None = None,
    copy_out: bool | None = None,
    native: Any = None,
    out: Any = None,
) -> Callable[[Callable[P, R]], Primitive[P, R]]: ...
def primitive(
    f: Callable[..., Any] | None = None,
    /,
    *,
    host: bool | None = None,
    elementwise: bool | None = None,
    vectorized: bool | None = None,
    static_argnames: str | Iterable[str] | None = None,
    pure: bool | None = None,
    copy_in: bool | str | tuple[str, ...] | None = None,
    copy_out: bool | None = None,
    native: Any = None,
    out: Any = None,
    **unknown: Never,
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
        vectorized: `f` accepts further leading axes in any of its arrays, which
            broadcast, and computes each example by itself, as `np.linalg.det` does.
            Supplies the batch rule: a whole batch is one call.
        static_argnames: Arguments to treat as constants. Ints, strings, None, functions
            and dtypes always are.
        pure: Whether a framework may repeat or drop calls; False for effects or
            randomness.
        copy_in: Give `f` its own writable copies of its arrays, with plain NumPy too;
            the name of an option that lets `f` overwrite them, or a tuple of such
            names: in calls with one of them alone.
        copy_out: Copy the results, for a library that reuses its output.
        native: Compiled code that computes what `f` does, which compiled JAX programs
            call without Python: a ufunc (NumPy's, SciPy's, numba's), or a C function
            of numbers from ctypes, cffi, numba or `scipy.LowLevelCallable`. A ufunc
            `f` needs no declaration.
        out: The shape rule in short form, needed where a framework compiles: `"x"` for
            a result like argument `x`; `("n", 3)` for a shape of ints and names of
            integer arguments; `"(m,n),(n)->(m)"` for a signature as of `np.vectorize`,
            with several results after the arrow; `float` or another dtype for a number;
            `ShapeDtype(("n",), int)` for a shape with its dtype; a function of the
            arguments; or a tuple, list or dict of these. Where no dtype is given it is
            the widest floating one among the arguments.

        **unknown: An error, which names the nearest argument.

    Raises:
        PrimitiveError: `f` is a primitive already, with other flags.
        RuleClashError: `out` is given, and `f` has a shape rule from another module.
        RuleDefinitionError: `out` has another form, or flags contradict each other.

    >>> import numpy as np
    >>> import rules_core as rc
    >>> @rc.primitive
    ... def softplus(x):
    ...     xp = rc.array_namespace(x)
    ...     return xp.log1p(xp.exp(x))
    >>> float(softplus(np.asarray(0.0))) == float(np.log(2.0))
    True
    """
    refuse_unknown("primitive", unknown, (*FLAGS, "out"))
    flags = _given(
        {
            "host": host,
            "elementwise": elementwise,
            "vectorized": vectorized,
            "static_argnames": static_argnames,
            "pure": pure,
            "copy_in": copy_in,
            "copy_out": copy_out,
            "native": native,
        }
    )
    where = caller_location("primitive") if out is not None else None
    if f is None:
        return lambda function: _declare(function, flags, out, where)
    return _declare(f, flags, out, where)


def _declare(
    f: Any, flags: dict[str, Any], out: Any, where: Location | None
) -> Primitive:
    if isinstance(f, Primitive):
        handle = check_flags(f, flags)
    else:
        load_pack(f)
        handle = register(f, flags)
    if where is not None:
        shapes = declared_shapes(out, handle)
        shape_rule.register(handle.table, shapes, where)
    return handle


def as_primitive(
    f: Callable[P, R],
    *,
    host: bool | None = None,
    elementwise: bool | None = None,
    vectorized: bool | None = None,
    static_argnames: str | Iterable[str] | None = None,
    pure: bool | None = None,
    copy_in: bool | str | tuple[str, ...] | None = None,
    copy_out: bool | None = None,
    native: Any = None,
    **unknown: Never,
) -> Primitive[P, R]:
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
    refuse_unknown("as_primitive", unknown, FLAGS)
    explicit = _given(
        {
            "host": host,
            "elementwise": elementwise,
            "vectorized": vectorized,
            "static_argnames": static_argnames,
            "pure": pure,
            "copy_in": copy_in,
            "copy_out": copy_out,
            "native": native,
        }
    )
    if isinstance(f, Primitive):
        own: Primitive[P, R] = f
        return check_flags(own, explicit)
    load_pack(f)
    table = find_table(f)
    if table is not None and table.primitive is not None:
        return check_flags(table.primitive, explicit)
    return Primitive(f, **explicit)
