"""The arguments of a call: by position, and their signature."""

from types import CodeType, FunctionType
from typing import Any

from numpy import ndarray

from .signatures import (
    DEEP,
    DOUBLE,
    MANY,
    SIMPLE,
    check_positions,
    is_differentiated,
    leave,
)

__all__ = ["bound", "check_flat", "differentiated", "leaves_of", "signature_of"]

CONTAINERS = frozenset({tuple, list, dict})


def signature_of(
    code: CodeType, args: Any, active: Any, depth: int = DEEP
) -> tuple[Any, ...]:
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
            signature.append((cls, signature_of(code, x, (), depth - 1)))
        elif cls is dict:
            parts = signature_of(code, [*x.values()], (), depth - 1)
            signature.append((cls, *x, parts))
        else:
            leave(f"it has an argument of class {cls.__name__}")
    return tuple(signature)


def bound(f: FunctionType, code: CodeType, args: Any, kwargs: Any) -> tuple[Any, ...]:
    """The arguments by position, with defaults."""
    check_positions(code)
    names = code.co_varnames[len(args) : code.co_argcount]
    if not kwargs.keys() <= set(names[max(code.co_posonlyargcount - len(args), 0) :]):
        leave("it is called with other arguments than it has")
    defaults = f.__defaults__ or ()
    own = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    values = {**dict(zip(own, defaults, strict=True)), **kwargs}
    if len(args) > code.co_argcount or not values.keys() >= set(names):
        leave("it is called with other arguments than it has")
    return (*args, *[values[name] for name in names])


def differentiated(args: Any) -> tuple[int, ...]:
    """The positions of differentiable arguments; the others are constants."""
    return tuple([i for i, x in enumerate(args) if is_differentiated(x)])


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
