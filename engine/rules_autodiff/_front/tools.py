"""`overlay`, `opaque`, `show`, `tiers` and `is_primitive`."""

from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, TypeVar

from rules_autodiff._callbacks.config import EngineConfig
from rules_autodiff._callbacks.via_ad import derive_frule, derive_rrule
from rules_autodiff._lift.lift import shown
from rules_autodiff._mutating.rule_tables import frule_mutating, rrule_mutating
from rules_autodiff._python.handlers import HANDLERS, OVERLAYS, handler_of
from rules_autodiff._python.jitted import python_of
from rules_autodiff._python.methods import key_of_builtin
from rules_autodiff._python.opaque import DECLARED
from rules_autodiff._replacements.builtins import plainly
from rules_autodiff.straight._tier.report import report
from rules_autodiff.straight._tier.tier import code_of
from rules_core import Primitive, frule, rrule
from rules_core.extend import CHANGES, ShownText

from .grad import grad, value_and_grad
from .jacobians import hessian, jacfwd, jacrev

__all__ = ["is_primitive", "opaque", "overlay", "show", "tiers"]

F = TypeVar("F", bound=Callable[..., Any])

# Making a derived function or a config is not part of any derivative.
for _make in (
    grad, value_and_grad, jacfwd, jacrev, hessian, derive_rrule, derive_frule,
    EngineConfig,
):  # fmt: skip
    HANDLERS[_make] = plainly(_make)


def overlay(f: Callable[..., Any]) -> Callable[[F], F]:
    """Define another body for `f` that only differentiated programs run.

    For functions that cannot be lifted, or that have a better derivative in another
    form. The body must not call `f` itself.

    >>> from rules_autodiff import grad, overlay
    >>> import struct
    >>> def through_bytes(x):
    ...     return struct.unpack("d", struct.pack("d", x))[0]
    >>> @overlay(through_bytes)
    ... def through_bytes_overlay(x):
    ...     return x * 1.0
    >>> grad(through_bytes)(2.0)
    1.0
    """

    def register(body: F) -> F:
        def handle(run: Any, *args: Any, **kwargs: Any) -> Any:
            return run.call(body, *args, **kwargs)

        HANDLERS[f] = handle
        OVERLAYS.add(f)
        CHANGES.note()
        return body

    return register


def opaque(f: F) -> F:
    """Declare that only rules differentiate `f`: the engine never looks into its code.

    A call with active values that no rule fits raises an error, where it would
    otherwise be differentiated by the body of `f`. What Mooncake.jl calls
    `@is_primitive`.

    Args:
        f: A Python function. A primitive or a method is declared by its function.

    Returns:
        `f`, so that this is also a decorator.

    Raises:
        TypeError: `f` is no Python function.

    >>> from rules_autodiff import grad, opaque
    >>> @opaque
    ... def table_lookup(x):
    ...     return round(x, 2)
    >>> grad(table_lookup)(0.5)
    Traceback (most recent call last):
    ...
    rules_autodiff...UnsupportedProgram: ...table_lookup ... must have a rule ...
    """
    function = getattr(f, "__func__", f)
    function = function.fun if isinstance(function, Primitive) else function
    if not isinstance(function, FunctionType):
        message = f"opaque: f must be a Python function, but got {f!r}."
        raise TypeError(message)
    DECLARED.add(function)
    CHANGES.note()
    return f


def show(f: Any, *args: Any) -> ShownText:
    """The derived code of a function, a text that shows itself.

    `_ad` are the hooks of a run, which compute the operation and record its derivative.
    With arguments it is the straight-line code for calls with arguments of their kinds:
    the forward function, and the backward function for all of them. `Const(x)` is an
    argument that is not differentiated.

    Args:
        f: A Python function.
        *args: Arguments of a call; none for the code of every call.

    Raises:
        TypeError: `f` is not such a function.
        UnsupportedProgram: There is no derived code.

    >>> from rules_autodiff import show
    >>> def f(x):
    ...     y = x * x
    ...     return y + 1
    >>> show(f)
    def f(x):
        y = _ad.mul(x, x)
        return _ad.add(y, 1)
    """
    function = python_of(f.__func__ if isinstance(f, MethodType) else f)
    if not isinstance(function, FunctionType):
        message = f"show: the function must be written in Python, but got {f!r}."
        raise TypeError(message)
    return ShownText(code_of(function, args) if args else shown(function))


def tiers(f: Any) -> ShownText:
    """Which code computes the derivatives of a function: tape, generated or compiled.

    One line for each mode and all kinds of arguments that there were so far. It tells
    how long compiling took, or why a function is not compiled or left to the tape.

    Args:
        f: A function written in Python, or compiled by numba from such a one.

    Raises:
        TypeError: `f` is not such a function.

    >>> from rules_autodiff import grad, tiers
    >>> def f(x):
    ...     return [x, x * x][1]
    >>> grad(f)(3.0)
    6.0
    >>> tiers(f)
    reverse mode, (float): tape: first call
    """
    function = python_of(f.__func__ if isinstance(f, MethodType) else f)
    if not isinstance(function, FunctionType):
        message = f"tiers: the function must be written in Python, but got {f!r}."
        raise TypeError(message)
    return ShownText(report(function))


def is_primitive(f: Any, *args: Any) -> bool:
    """Whether the engine uses a rule for the call `f(*args)` instead of lifting it.

    `opaque` declares a function to be one for all calls.

    >>> from rules_autodiff import is_primitive
    >>> is_primitive(abs, 1.0), is_primitive(lambda x: x, 1.0)
    (True, False)
    """
    is_declared = isinstance(f, FunctionType) and f in DECLARED
    if is_declared or rrule_mutating.find(f, args) or frule_mutating.find(f, args):
        return True
    replacement = handler_of(f) or HANDLERS.get(
        key_of_builtin(f) if is_bound(f) else None
    )
    config = EngineConfig()
    return bool(
        replacement is not None
        or rrule.resolve(f, args, {}, config)
        or frule.resolve(f, args, {}, config)
    )


def is_bound(f: Any) -> bool:
    return type(f).__name__ == "builtin_function_or_method"
