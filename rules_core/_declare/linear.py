"""`linear`: two functions that are each other's adjoint."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from rules_core._base.arrays import ShapeDtype
from rules_core._base.errors import RuleClashError, RuleDefinitionError
from rules_core._dispatch.rule import Location, Rule
from rules_core._dispatch.rule_key import describe
from rules_core._primitives.declare import primitive
from rules_core._primitives.primitive import Primitive
from rules_core._primitives.shape_and_batch_rules import numpy_dtype
from rules_core._tangents.leaves import is_complex

from .linear_rule import linear_rule

__all__ = ["linear"]


def linear(
    f: Callable[..., Any],
    *,
    adjoint: Callable[..., Any],
    argnum: int = 0,
    out: Any = None,
    host: bool | None = None,
    vectorized: bool | None = None,
    copy_in: bool | None = None,
    copy_out: bool | None = None,
) -> Primitive:
    """Make `f` a primitive that is linear in one argument, from its adjoint.

    `⟨f(x), y⟩ = ⟨x, adjoint(y)⟩`. Gives frules and rrules of both functions, in every
    order, the shape rule and the batch rule. Other arguments have no derivative.

    Args:
        f: The function; linear in the argument `argnum`.
        adjoint: The adjoint map. It is called like `f`, with the cotangent in place of
            the linear argument. `f` itself if it is self-adjoint.
        argnum: The position of the linear argument.
        out: The shape of the result of `f`, as in `primitive`; the result of the
            adjoint is like the linear argument.
        host: As in `primitive`, for both functions, like the flags that follow.
        vectorized: Both accept further leading axes.
        copy_in: Give them copies of their arrays.
        copy_out: Copy their results.

    Raises:
        RuleClashError: One of the functions has a rule from another place.
        RuleDefinitionError: `adjoint` is not callable, or `argnum` is no position.

    >>> import numpy as np
    >>> import rules_core as rc
    >>> def differences(x):
    ...     return np.diff(x)
    >>> def differences_adjoint(dy):
    ...     return -np.diff(dy, prepend=0.0, append=0.0)
    >>> diff = rc.linear(
    ...     differences,
    ...     adjoint=differences_adjoint,
    ...     host=True,
    ...     out=lambda x: rc.ShapeDtype((x.shape[0] - 1,), x.dtype),
    ... )
    >>> y, pullback = rc.rrule(diff, np.asarray([1.0, 2.0, 4.0]))
    >>> y, pullback(np.asarray([1.0, 2.0]))[1]
    (array([1., 2.]), array([-1., -1.,  2.]))
    """
    given: tuple[Any, Any] = adjoint, argnum  # unchecked so far
    if not callable(given[0]) or type(given[1]) is not int:
        message = (
            f"linear({describe(f)}) must get a callable adjoint and the position of "
            f"the linear argument, but got {adjoint!r} and {argnum!r}."
        )
        raise RuleDefinitionError(message)
    flags: dict[str, Any] = {
        "host": host,
        "vectorized": vectorized,
        "copy_in": copy_in,
        "copy_out": copy_out,
    }
    forward = primitive(f, out=out, **flags)
    back = primitive(adjoint, **flags)
    for handle, other in ((forward, adjoint), (back, f)):
        _refuse_other_rules(handle, Location.of(other))
    _declare(forward, back, argnum)
    if back is not forward:
        _declare(back, forward, argnum)
    return forward


def _refuse_other_rules(handle: Primitive, where: Location) -> None:
    """Refuse a function whose rules, of whatever signature, are from another place.

    Raises:
        RuleClashError: It has such a rule, as of a pack.
    """
    for rules in (handle.table.rrule.rules, handle.table.frule.rules):
        for old in rules:
            if (old.module, old.name) != (where.module, where.name):
                new = Rule(old.kind, handle.fun, handle.fun, where, old.types)
                raise RuleClashError(old, new)


def _declare(forward: Primitive, back: Primitive, argnum: int) -> None:
    """The linear rule of one of the two functions."""
    pull = _transposed(forward, back, argnum) if forward.host else None

    def adjoint(dy: Any, *args: Any, **kw: Any) -> Any:
        if pull is None:
            return back(*_with(args, argnum, dy), **kw)
        x = args[argnum]
        others = _without(args, argnum)
        return pull(dy, getattr(x, "shape", ()), is_complex(x), *others, **kw)

    linear_rule(forward, _named(adjoint, back), argnum)


def _transposed(forward: Primitive, back: Primitive, argnum: int) -> Primitive:
    """The adjoint as a host primitive that is told the shape of its result."""

    def transposed(
        dy: Any, shape: Any, is_complex: Any, *others: Any, **kw: Any
    ) -> Any:
        return back.fun(*_with(others, argnum, dy, insert=True), **kw)

    transposed.__qualname__ = f"{describe(back.fun)}[adjoint]"

    def transposed_shape(
        dy: Any, shape: Any, is_complex: bool, *others: Any, **kw: Any
    ) -> ShapeDtype:
        return ShapeDtype(tuple(shape), _of_kind(dy.dtype, is_complex))

    def adjoint(
        dx: Any, dy: Any, shape: Any, is_complex: bool, *others: Any, **kw: Any
    ) -> Any:
        return forward(*_with(others, argnum, dx, insert=True), **kw)

    flags = {k: v for k, v in back.flags.items() if k != "static_argnames"}
    handle = primitive(transposed, out=transposed_shape, **flags)
    linear_rule(handle, _named(adjoint, forward), 0)
    return handle


def _named(adjoint: Callable[..., Any], primitive: Primitive) -> Callable[..., Any]:
    """A function under the name and at the place of the one that it calls."""
    return update_wrapper(adjoint, primitive.fun, updated=())


def _with(
    args: tuple[Any, ...], i: int, x: Any, *, insert: bool = False
) -> tuple[Any, ...]:
    """The arguments with `x` at a position."""
    return (*args[:i], x, *args[i + (not insert) :])


def _without(args: tuple[Any, ...], i: int) -> tuple[Any, ...]:
    return (*args[:i], *args[i + 1 :])


def _of_kind(dtype: Any, is_complex: bool) -> Any:
    """A dtype of this precision, real or complex."""
    found = numpy_dtype(dtype)
    if found.kind not in "fc" or (found.kind == "c") == is_complex:
        return found
    return numpy_dtype(
        f"c{2 * found.itemsize}" if is_complex else f"f{found.itemsize // 2}"
    )
