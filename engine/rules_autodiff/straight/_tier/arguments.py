"""The arguments of a call: by position, and their signature."""

from types import CodeType, FunctionType
from typing import Any

from numpy import ndarray

from rules_autodiff._boundary.enter import without_const

from .signatures import (
    DEEP,
    DOUBLE,
    MANY,
    SIMPLE,
    check_positions,
    is_differentiated,
    leave,
)

__all__ = [
    "CONTAINERS", "STAR", "bound", "check_any", "check_flat", "differentiated",
    "leaves_of", "packed", "signature_of", "spread_out", "unshared",
]  # fmt: skip

CONTAINERS = frozenset({tuple, list, dict})
STAR = 0x04  # the bit of co_flags for *args


def signature_of(args: Any, active: Any, depth: int = DEEP) -> tuple[Any, ...]:
    """The signature of a call: the kinds of the arguments, in short."""
    if depth < 0:
        leave("it has an argument with containers in containers without end")
    if len(args) > MANY and type(args) is not tuple:
        leave(f"it has an argument with more than {MANY} entries")
    signature = [active]
    for x in args:
        cls = type(x)
        if cls is ndarray:
            signature.append(x.ndim if x.dtype is DOUBLE else (x.ndim, x.dtype))
        elif cls in SIMPLE:
            signature.append(cls)
        elif cls is tuple or cls is list:
            signature.append((cls, signature_of(x, (), depth - 1)))
        elif cls is dict:
            parts = signature_of([*x.values()], (), depth - 1)
            signature.append((cls, *x, parts))
        else:
            leave(unwritten(cls))
    return tuple(signature)


def unwritten(cls: type) -> str:
    """Why arguments of a class are not those of written code."""
    own = cls.__module__.partition(".")[0] not in ("builtins", "numpy")
    fields = ": pass those of its fields that it reads" if own else ""
    return (
        f"it has an argument of class {cls.__name__}, and takes real numbers, arrays "
        f"of float64, and tuples, lists and dicts of these{fields}"
    )


def bound(f: FunctionType, code: CodeType, args: Any, kwargs: Any) -> tuple[Any, ...]:
    """The arguments by position, with defaults."""
    check_positions(code)
    if code.co_flags & STAR and len(args) >= code.co_argcount and not kwargs:
        return tuple(args)
    names = code.co_varnames[len(args) : code.co_argcount]
    if not kwargs.keys() <= set(names[max(code.co_posonlyargcount - len(args), 0) :]):
        leave("it is called with other arguments than it has")
    defaults = f.__defaults__ or ()
    own = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    values = {**dict(zip(own, defaults, strict=True)), **kwargs}
    if len(args) > code.co_argcount or not values.keys() >= set(names):
        leave("it is called with other arguments than it has")
    return (*args, *[values[name] for name in names])


def packed(
    code: CodeType, args: tuple[Any, ...], active: tuple[int, ...]
) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """The values of the parameters, and the active ones: star arguments are a tuple."""
    count = code.co_argcount
    if not code.co_flags & STAR:
        return args, active
    if not all(is_differentiated(args[i]) for i in active):
        leave("it is differentiated by what holds no float or array of floats")
    own = tuple([i for i in active if i < count])
    stars = (count,) if len(own) < len(active) else ()
    return (*args[:count], args[count:]), (*own, *stars)


def spread_out(
    code: CodeType, active: Any, inner: Any, cotangents: tuple[Any, ...]
) -> tuple[Any, ...]:
    """The cotangents of the arguments, from those of the parameters."""
    if not code.co_flags & STAR:
        return cotangents
    count, by_place = code.co_argcount, dict(zip(inner, cotangents, strict=True))
    return tuple([
        by_place[i] if i < count else by_place[count][i - count] for i in active
    ])  # fmt: skip


def differentiated(args: Any) -> tuple[int, ...]:
    """The positions of differentiable arguments; the others are constants."""
    return tuple([i for i, x in enumerate(args) if is_differentiated(x)])


def check_any(active: tuple[int, ...], args: Any) -> None:
    """Let calls use the tape in which no argument can be differentiated."""
    if not active:
        signature_of(without_const(args), ())
        leave("no argument can be differentiated")


def check_flat(args: Any) -> None:
    """Let containers use the tape."""
    if any(type(x) in CONTAINERS for x in args):
        leave("it is differentiated by a container")


def leaves_of(x: Any) -> list[Any]:
    """All values in a container."""
    if type(x) not in CONTAINERS:
        return [x]
    parts = x.values() if type(x) is dict else x
    return [leaf for part in parts for leaf in leaves_of(part)]


def unshared(x: Any) -> Any:
    """A value whose arrays are copies, which the caller does not write to."""
    if type(x) is ndarray:
        return x.copy()
    if type(x) is dict:
        return {key: unshared(value) for key, value in x.items()}
    return type(x)(map(unshared, x)) if type(x) in CONTAINERS else x
