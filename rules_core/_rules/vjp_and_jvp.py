"""`vjp` and `jvp`: derivatives by the AD system of the arrays at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from rules_core._base.arrays import array_namespace, is_array
from rules_core._base.errors import ViaADError
from rules_core._dispatch.configs import RuleConfig, frule_via_ad, rrule_via_ad
from rules_core._dispatch.rule_key import describe
from rules_core._primitives.find_host import find_adapter
from rules_core._tangents.leaves import is_numpy
from rules_core._tangents.pullback import Pullback
from rules_core._tangents.zeros import NoTangent

from .derived_rules import find_deriver

__all__ = ["jvp", "vjp"]


def vjp(f: Callable[..., Any], *args: Any) -> tuple[Any, Callable[..., Any]]:
    """`(y, pullback)` with `y = f(*args)` and `pullback(dy) = (dx1, dx2, …)`.

    The arrays decide who differentiates, in rules, in the residuals of `implicit` and
    elsewhere: JAX for its arrays and tracers, PyTorch for tensors, `rules_autodiff` for
    NumPy arrays, as in the body of a host function. Arrays that `f` captures count too.

    NumPy arrays and tensors among the arguments, and those that `f` captures, are not
    copied: do not write to them before the last call of the pullback, which would be
    the derivative at neither point, without an error. You may write to `y`.

    Args:
        f: A function of code that this system can differentiate.
        *args: Its arguments; all are differentiated.

    Raises:
        MixedHostsError: There are arrays of two frameworks.
        ViaADError: No AD system is installed for these arrays.

    >>> import numpy as np
    >>> from rules_core import vjp
    >>> y, pullback = vjp(lambda a, x: a * x, 3.0, np.asarray([1.0, 2.0]))
    >>> y, pullback(np.ones(2))
    (array([3., 6.]), (3.0, array([3., 3.])))
    """
    config, args = _at_hand("vjp", f, args)
    y, pull = rrule_via_ad(config, f, *args)
    return y, Pullback(_of_arguments, pull)


def _of_arguments(pull: Callable[..., Any], dy: Any) -> tuple[Any, ...]:
    cotangents: tuple[Any, ...] = pull(dy)
    return cotangents[1:]


def jvp(
    f: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[Any, Any]:
    """`(y, dy)` with `y = f(*primals)` and `dy = f'(x) dx`, as `vjp` finds its system.

    Args:
        f: The function.
        primals: Its arguments.
        tangents: One tangent per argument; `NoTangent()` for an integer.

    Raises:
        MixedHostsError: There are arrays of two frameworks.
        ViaADError: No AD system is installed for these arrays, or the counts differ.

    >>> import numpy as np
    >>> from rules_core import jvp
    >>> y, dy = jvp(np.square, (np.asarray([1.0, 3.0]),), (np.asarray([1.0, 0.5]),))
    >>> dy
    array([2., 3.])
    """
    if len(primals) != len(tangents):
        message = (
            f"jvp({describe(f)}): there must be one tangent for each of the "
            f"{len(primals)} arguments, but got {len(tangents)}. Pass tuples; "
            "NoTangent() for an integer."
        )
        raise ViaADError(message)
    config, primals = _at_hand("jvp", f, primals)
    return frule_via_ad(config, (NoTangent(), *tangents), f, *primals)


def _at_hand(
    name: str, f: Any, args: tuple[Any, ...]
) -> tuple[RuleConfig, tuple[Any, ...]]:
    """The configuration of the AD system that owns the arrays of a call; its arguments.

    Python's floats become arrays of a framework, for which they are constants.
    """
    adapter = find_adapter((f, *args), {})
    owner = adapter or find_deriver()
    config: RuleConfig | None = getattr(owner, "config", None)
    if config is None:
        who = "NumPy arrays" if owner is None else f"arrays of {owner.name}"
        cure = "Install rules_autodiff." if owner is None else "Its adapter has none."
        message = (
            f"{name}({describe(f)}): an AD system must be installed for {who}, but got "
            f"none. {cure}"
        )
        raise ViaADError(message)
    if adapter is None:
        return config, args
    arrays = list(_arrays(args))
    return config, tuple([_moving(name, f, x, arrays) for x in args])


def _arrays(x: Any) -> Iterator[Any]:
    """The framework's arrays among the arguments."""
    if isinstance(x, (tuple, list, dict)):
        for item in x.values() if isinstance(x, dict) else x:
            yield from _arrays(item)
    elif is_array(x) and not is_numpy(x):
        yield x


def _moving(name: str, f: Any, x: Any, arrays: list[Any]) -> Any:
    """An argument with its Python floats as arrays like others of the call."""
    if type(x) in (tuple, list):
        return type(x)([_moving(name, f, item, arrays) for item in x])
    if type(x) is dict:
        return {key: _moving(name, f, item, arrays) for key, item in x.items()}
    if not isinstance(x, (float, complex)) or is_array(x):
        return x
    if not arrays:
        message = (
            f"{name}({describe(f)}): a number must be an array of the framework whose "
            f"arrays the function captures, but got {x!r}. Pass xp.asarray({x!r})."
        )
        raise ViaADError(message)
    xp = array_namespace(*arrays)
    like = next((a for a in arrays if xp.isdtype(a.dtype, "real floating")), None)
    dtype = None if like is None or isinstance(x, complex) else like.dtype
    return xp.asarray(x, dtype=dtype)
