"""Transposition of linear functions, and the refusal of those that are not linear.

A pullback may call primitives on the cotangent, and an frule on the tangent. JAX
transposes such a call without knowing its operand, so the operand's value must not
matter: that is checked on the traced derivative, not taken for granted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from itertools import compress
from typing import Any

import jax

import rules_core as rc
from rules_jax import _compat
from rules_jax._errors import is_leak, leaked_text
from rules_jax._values.leaves import has_tangent

from .dependence import depends
from .offset import refuse_offset

__all__ = ["NotLinear", "transpose", "transpose_call"]

# Calls that are being transposed by an frule, which may apply them again.
_ACTIVE: ContextVar[tuple[Any, ...]] = ContextVar("transposing", default=())

# Rules whose transposition is being made from their derivative.
_DERIVED: ContextVar[tuple[Any, ...]] = ContextVar("deriving", default=())

Backward = Callable[[Sequence[Any], Sequence[Any]], list[Any]]


class NotLinear(rc.UnsupportedError):
    """A call is transposed at an unknown point, on which its derivative depends."""


def transpose(
    linear: Callable[..., list[Any]], avals: Sequence[Any], given: list[Any], rule: Any
) -> list[Any]:
    """The transposition of a linear function; an error names the rule."""
    try:
        closed = jax.make_jaxpr(linear)(*avals)
        offset = refuse_offset(closed, lambda: _with_offset(rule))
        again = partial(jax.core.eval_jaxpr, closed.jaxpr, closed.consts)
        back = jax.linear_transpose(again, *avals)
        return _poisoned(back(given), offset, rule)
    except jax.errors.UnexpectedTracerError as error:
        if is_leak(error):
            raise rc.UnsupportedError(leaked_text(rule)) from error
        raise
    except NotLinear as error:
        failed: Exception = error
    except rc.RulesCoreError:
        raise
    except (AssertionError, NotImplementedError, ValueError) as error:
        failed = error
    found = _by_derivative(linear, avals, given, rule)
    if found is None:
        raise rc.UnsupportedError(_untransposed(rule, failed)) from failed
    return found


def _poisoned(found: Sequence[Any], offset: Any, rule: Any) -> list[Any]:
    """The results, NaN where the map turns out not to be linear while it runs.

    An frule's constants may be zeros times what is transposed: to ask for their
    values would not be linear.
    """
    if offset is None or rule.kind == "frule":
        return list(found)
    return [x + offset.astype(x.dtype) for x in found]


def _by_derivative(
    linear: Callable[..., list[Any]], avals: Sequence[Any], given: list[Any], rule: Any
) -> list[Any] | None:
    """The transposition of the function's derivative, which a linear function is.

    It serves where the argument is packed into one array with constants: there every
    single operation looks nonlinear, and at a known point it need not. None where the
    derivative may depend on the point.
    """

    def derivative(point: Any, given: Any) -> list[Any]:
        return list(jax.vjp(linear, *point)[1](given))

    if rule in _DERIVED.get():
        return None
    token = _DERIVED.set((*_DERIVED.get(), rule))
    try:
        closed = jax.make_jaxpr(derivative)(list(avals), given)
    except (AssertionError, NotImplementedError, ValueError, rc.UnsupportedError):
        return None
    finally:
        _DERIVED.reset(token)
    if depends(closed, len(avals)):
        return None
    zeros = map(_compat.zeros_of, avals)
    return list(jax.core.eval_jaxpr(closed.jaxpr, closed.consts, *zeros, *given))


def _with_offset(rule: Any) -> rc.UnsupportedError:
    mode, what = ("reverse", "dx") if rule.kind == "frule" else ("forward", "dy")
    return rc.UnsupportedError(
        f"{rule.label}: {mode} mode "
        f"transposes it, and it is not linear: what it returns for {what} = 0 is not "
        f"zero. Multiply every term by {what}."
    )


def _untransposed(rule: Any, error: Exception) -> str:
    reverse = rule.kind == "frule"
    mode, other = ("reverse", "rrule") if reverse else ("forward", "frule")
    what = "it" if reverse else "its pullback"
    vague = isinstance(error, (AssertionError, NotLinear))
    reason = "it is not linear, as far as can be told" if vague else str(error)
    return (
        f"{rule.label}: {mode} mode "
        f"transposes {what}, which JAX cannot do: {reason.rstrip('.')}. Define an "
        f"{other} as well, or use operations that JAX transposes."
    )


def transpose_call(
    spec: Any,
    backward: Backward,
    operands: Sequence[Any],
    cotangents: Sequence[Any],
    avals: Sequence[Any],
) -> list[Any]:
    """Cotangents of the unknown operands of a call, None for zero.

    Args:
        spec: Of the call.
        backward: `(operands, cotangents) → cotangents` of the unknown operands.
        operands: Arguments; some are unknown, and marked as such by JAX.
        cotangents: Of the results that have a tangent, None for zero.
        avals: Types of these cotangents.

    Raises:
        NotLinear: The derivative depends on the unknown operands.
    """
    opened = _open_types(operands)
    given = [ct for ct in cotangents if ct is not None]
    present: list[bool] = []

    def flat(opened: Sequence[Any], given: Sequence[Any]) -> list[Any]:
        at = _merged(operands, opened)
        rest = iter(given)
        found = backward(at, [None if ct is None else next(rest) for ct in cotangents])
        present[:] = [x is not None for x in found]
        return [x for x in found if x is not None]

    with _noted(spec, opened) as is_repeated:
        if is_repeated:
            return _transposed_body(spec, operands, cotangents, avals)
        closed = jax.make_jaxpr(flat)(opened, given)
    jaxpr, used = _compat.pruned(
        _compat.without_consts(closed), [True] * len(closed.out_avals)
    )
    first = len(closed.consts)
    if any(used[first : first + len(opened)]):
        raise NotLinear(_not_linear(spec))
    inputs = [*closed.consts, *[None] * len(opened), *given]
    found = iter(jax.core.eval_jaxpr(jaxpr, (), *compress(inputs, used)))
    return [next(found) if there else None for there in present]


def _open_types(operands: Sequence[Any]) -> list[Any]:
    return [x.aval for x in operands if _compat.is_undefined_primal(x)]


def _merged(operands: Sequence[Any], opened: Sequence[Any]) -> list[Any]:
    rest = iter(opened)
    return [next(rest) if _compat.is_undefined_primal(x) else x for x in operands]


@contextmanager
def _noted(spec: Any, opened: Sequence[Any]) -> Iterator[bool]:
    """Notes a call by an frule while it is transposed; True if it is noted already.

    The frule of a linear function may apply the function itself to the tangent, so that
    its transposition asks for itself.
    """
    active = _ACTIVE.get()
    key = getattr(spec, "subject", spec), tuple((x.shape, x.dtype) for x in opened)
    if key in active:
        yield True
        return
    token = _ACTIVE.set(active if spec.has_rrule else (*active, key))
    try:
        yield False
    finally:
        _ACTIVE.reset(token)


def _transposed_body(
    spec: Any, operands: Sequence[Any], cotangents: Sequence[Any], avals: Sequence[Any]
) -> list[Any]:
    """The transposition of the body of a function that its frule says is linear."""
    rule = spec.frule
    if spec.is_host:
        message = (
            f"frule {rule.name} for {rule.target} at {rule.location} applies the "
            "function itself to the tangent, so that reverse mode would be made of "
            "itself, and its body runs in NumPy, which JAX cannot transpose. Define an "
            "rrule as well."
        )
        raise rc.UnsupportedError(message)
    pairs = zip(cotangents, avals, strict=True)
    given = [_compat.zeros_of(aval) if ct is None else ct for ct, aval in pairs]

    def body(*opened: Any) -> list[Any]:
        results = spec.primal(*_merged(operands, opened))
        return [x for x in results if has_tangent(jax.typeof(x))]

    return transpose(body, _open_types(operands), given, rule)


def _not_linear(spec: Any) -> str:
    rule = spec.rrule if spec.has_rrule else spec.frule
    return (
        f"{spec.name} is transposed, as by jax.linear_transpose, or because another "
        "rule applies it to a tangent or cotangent and is transposed itself. That "
        f"needs a linear function, but the derivative that {rule.kind} {rule.name} for "
        f"{rule.target} at {rule.location} gives depends on the argument. Where a rule "
        "applies it, define that rule's other mode (frule or rrule) as well."
    )
