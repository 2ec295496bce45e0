"""Derived functions, and their arguments."""

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic

import numpy as np

from rules_autodiff._boundary.directions import check_function
from rules_autodiff._hooks.calls import Transform
from rules_autodiff._python.handlers import HANDLERS
from rules_autodiff._python.plain_level import PLAIN

__all__ = [
    "INTEGERS",
    "SEVERAL",
    "Argnums",
    "Derived",
    "P",
    "R",
    "on_plain",
    "positions",
]

# The signature of a derived function is that of its function.
if TYPE_CHECKING:
    from typing_extensions import ParamSpec, TypeVar

    P = ParamSpec("P", default=...)
    R = TypeVar("R", default=Any)
else:
    from typing import ParamSpec, TypeVar

    P, R = ParamSpec("P"), TypeVar("R")

Argnums = int | tuple[int, ...]

# Classes as tuples: `isinstance(x, A | B)` makes a union at each call, which takes as
# long as ten tests.
INTEGERS = (int, np.integer)
SEVERAL = (tuple, list)


class Derived(Transform, Generic[P, R]):
    """A function derived by the engine, such as `grad(f)`, with its result `R`."""

    def __init__(self, name: str, f: Any, run_on: Callable[..., Any]):
        check_function(f, name)
        self._run_on = run_on
        self._name = name
        functools.update_wrapper(self, f, updated=())

    def run_on(self, below: Any, *args: Any, **kwargs: Any) -> Any:
        return self._run_on(below, *args, **kwargs)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        result: R = self._run_on(PLAIN, *args, **kwargs)
        return result

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Bind like a function, so that `grad` works on methods inside classes."""
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        inner = getattr(self.__wrapped__, "__qualname__", repr(self.__wrapped__))
        return f"{self._name}({inner})"

    __wrapped__: Any


def on_plain(run_on: Callable[..., Any]) -> Callable[..., Any]:
    """A public transformation: called in a run it works on top of that run."""

    @functools.wraps(run_on)
    def call(*args: Any, **kwargs: Any) -> Any:
        return run_on(PLAIN, *args, **kwargs)

    HANDLERS[call] = run_on
    own = inspect.signature(run_on)
    seen = list(own.parameters.values())[1:]  # the level is not a user's argument
    # `inspect` reads an attribute that functions do not declare.
    call.__signature__ = own.replace(parameters=seen)  # type: ignore[attr-defined]
    return call


def positions(argnums: Argnums, args: Any, name: str) -> tuple[int, ...]:
    """The positions of the arguments to differentiate, counted from the front."""
    if type(argnums) is int and 0 <= argnums < len(args):
        return (argnums,)
    numbers: Any = argnums if isinstance(argnums, SEVERAL) else (argnums,)
    for i in numbers:
        if not isinstance(i, INTEGERS) or not -len(args) <= i < len(args):
            message = (
                f"{name}: argnums must name positional arguments, of which there are "
                f"{len(args)}, but got {argnums!r}. Values go to {name}(f)(x)."
            )
            raise ValueError(message)
    places = tuple([int(i) % len(args) for i in numbers])
    if len(set(places)) < len(places):
        message = f"{name}: argnums must name each argument once, but got {argnums!r}."
        raise ValueError(message)
    return places
