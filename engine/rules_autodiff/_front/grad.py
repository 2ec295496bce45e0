"""Gradients of functions with one number as result."""

from collections.abc import Callable
from typing import Any

import numpy as np

from rules_autodiff._boundary.directions import check_differentiable
from rules_autodiff._boundary.whole_results import is_whole
from rules_autodiff._tape.recording import Recording
from rules_autodiff._transforms.derived_function import (
    SEVERAL,
    Argnums,
    Derived,
    P,
    R,
    positions,
)
from rules_autodiff.straight._tier.left import PINNED, asked, leave
from rules_autodiff.straight._tier.tier import (
    Left,
    PassWithAux,
    check_plain,
    check_tier,
    gradient,
    not_straight,
)

__all__ = ["grad", "split_aux", "value_and_grad"]

REALS = (float, np.floating)


def value_and_grad(
    f: Callable[P, R],
    argnums: Argnums = 0,
    has_aux: bool = False,
    tier: str = "auto",
) -> Derived[P, tuple[R, Any]]:
    """The function `args ↦ (f(args), ∇f(args))`.

    Args:
        f: A function with one real number as its result.
        argnums: The position of the argument to differentiate, or a tuple of several.
        has_aux: Whether `f` returns `(value, aux)`; `aux` is returned too.
        tier: As in `grad`.

    Raises:
        TypeError: The result is not a real number, or an argument has no derivative.

    >>> from rules_autodiff import value_and_grad
    >>> value_and_grad(lambda x, y: x * y * y, argnums=(0, 1))(3.0, 2.0)
    (12.0, (4.0, 12.0))
    """
    check_tier(tier, "value_and_grad")

    def run_on(below: Any, *args: Any, **kwargs: Any) -> Any:
        return both_of(below, f, args, kwargs, argnums, has_aux, tier)

    return Derived("value_and_grad", f, run_on)


def both_of(
    below: Any,
    f: Any,
    args: Any,
    kwargs: Any,
    argnums: Argnums,
    has_aux: bool,
    tier: str = "tape",
) -> tuple[Any, Any]:
    """The output of `f` and the gradient of its value."""
    active = positions(argnums, args, "grad")
    if tier != "tape":
        try:
            check_plain(below)
            now = asked(tier)
            made = with_aux if has_aux else gradient
            straight = made(f, args, kwargs, active, now=now)
            if straight is not None:
                value, cotangents = straight
                several = isinstance(argnums, SEVERAL)
                return value, cotangents if several else cotangents[0]
        except Left as error:
            if tier in PINNED:
                raise not_straight(f, error) from None
    for i in active:
        check_differentiable(args[i], i)
    recording = Recording(below, f, args, kwargs, active)
    out, _ = split_aux(recording, has_aux)
    one = seed_of(out, recording)
    value = recording.value()
    cotangents = recording.pull(out, one, below)
    return value, cotangents if isinstance(argnums, SEVERAL) else cotangents[0]


def with_aux(
    f: Any, args: Any, kwargs: Any, active: tuple[int, ...], *, now: int
) -> tuple[Any, tuple[Any, ...]]:
    """The pair that `f` returns, and the derivatives of its first part.

    Raises:
        Left: The tape has to do it.
    """
    run = PassWithAux(f, args, kwargs, active, now=now)
    if type(run.output) is np.ndarray:
        leave("the first part of its value is an array")
    return (run.output, run.aux), run.back(type(run.output)(1.0))


def grad(
    f: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    tier: str = "auto",
) -> Derived[P, Any]:
    """The gradient `args ↦ ∇f(args)`; with `has_aux` it returns `(∇f, aux)`.

    Args:
        f: A function with one real number as its result; an integer, as `sum` of no
            items gives, is a constant.
        argnums: The position of the argument to differentiate, or a tuple of several.
        has_aux: Whether `f` returns `(value, aux)`; `aux` is returned too.
        tier: The method, which changes only the speed. `"auto"` generates straight-line
            code if it can, at the second call with arguments of equal kinds, and
            otherwise records a tape, and compiles loops by numba, if it is installed,
            after many calls; `"tape"` always records; `"straight"` requires generated
            code, and `"compiled"` compiled code at the first call: both raise an error
            that explains why there is none.

    Raises:
        TypeError: The result is not a real number, or an argument has no derivative.
        UnsupportedProgram: There is no generated code, and `tier` requires it.

    >>> import numpy as np
    >>> from rules_autodiff import grad
    >>> def f(x):
    ...     total = 0.0
    ...     for v in x:
    ...         total += v * v
    ...     return total
    >>> grad(f)(np.array([1.0, 2.0]))
    array([2., 4.])
    >>> grad(f, tier="straight")(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    check_tier(tier, "grad")

    def run_on(below: Any, *args: Any, **kwargs: Any) -> Any:
        value, result = both_of(below, f, args, kwargs, argnums, has_aux, tier)
        return (result, value[1]) if has_aux else result

    return Derived("grad", f, run_on)


def split_aux(recording: Recording, has_aux: bool) -> tuple[Any, Any]:
    out = recording.output
    if not has_aux:
        return out, None
    if not isinstance(out, tuple) or len(out) != 2:
        recording.leave()
        message = (
            f"With has_aux the result must be a pair (value, aux), but got {out!r}."
        )
        raise TypeError(message)
    return out


def seed_of(out: Any, recording: Recording) -> Any:
    """The cotangent 1 of a scalar result."""
    if isinstance(out, REALS):
        return type(out)(1.0)
    if isinstance(out, np.ndarray) and out.shape == () and out.dtype.kind == "f":
        return np.ones((), out.dtype)
    if is_whole(out) and np.ndim(out) == 0:
        return 1.0
    recording.leave()
    kind = (
        f"an array of shape {out.shape} and dtype {out.dtype}"
        if isinstance(out, np.ndarray)
        else type(out).__name__
    )
    message = (
        f"grad: the function must return one real number, but returned {kind}. Use "
        "vjp or jacrev for other results."
    )
    raise TypeError(message)
