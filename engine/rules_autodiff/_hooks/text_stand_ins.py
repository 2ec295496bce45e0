"""Objects on their way into a text: their own `__str__` and `__format__` are followed.

`"%s" % x`, `"{}".format(x)` and `print(x)` ask an object for its text from C code. A
stand-in is given in its place, which asks by way of the run.
"""

import functools
from typing import Any

from rules_autodiff._python.methods import class_attribute, users_method
from rules_autodiff._python.values import INERT

__all__ = ["has_text", "shown"]

ASKED = ("__str__", "__repr__", "__format__")


def shown(run: Any, x: Any) -> Any:
    """A stand-in for an object that says in Python what its text is; else itself.

    It is for C code that formats, and must not get anywhere else: it is not equal to
    the object, nor an instance of its class.
    """
    made: list[Any] = []
    found = copied(run, x, {}, made)
    return found if made else x


def copied(run: Any, x: Any, seen: dict[int, Any], made: list[Any]) -> Any:
    """A container with stand-ins for its objects, which are added to `made`."""
    if type(x) in INERT or isinstance(x, float | complex):
        return x
    if id(x) in seen:  # it holds itself
        return seen[id(x)]
    if type(x) is list:
        found: list[Any] = []
        seen[id(x)] = found
        found.extend(copied(run, value, seen, made) for value in x)
        return found
    if type(x) is dict:
        table: dict[Any, Any] = {}
        seen[id(x)] = table
        table.update({k: copied(run, value, seen, made) for k, value in x.items()})
        return table
    if type(x) is tuple:
        return tuple([copied(run, value, seen, made) for value in x])
    if not has_text(x):
        return x
    made.append(x)
    return (Items if readable(x) else Shown)(run, x)


def has_text(x: Any) -> bool:
    """Whether a user wrote what the text of an object is."""
    return any(users_method(x, name) is not None for name in ASKED)


def readable(x: Any) -> bool:
    """Whether `"%(name)s" % x` reads an item."""
    return class_attribute(type(x), "__getitem__") is not None


class Shown:
    """Answers what formatting asks, for one object."""

    def __init__(self, run: Any, value: Any):
        self._run, self._value = run, value

    def __format__(self, spec: str) -> str:
        return str(self._run.call(format, self._value, spec))

    def __getattr__(self, name: str) -> Any:
        return shown(self._run, self._run.getattr(self._value, name))


class Items(Shown):
    """The stand-in of an object with items."""

    def __getitem__(self, key: Any) -> Any:
        return shown(self._run, self._run.getitem(self._value, key))


def answer(f: Any) -> Any:
    """A special method that asks the object itself, by the run."""

    def ask(self: Shown) -> Any:
        return self._run.call(f, self._value)

    return functools.wraps(f, assigned=())(ask)


for _f in (str, repr, int, float):
    setattr(Shown, f"__{_f.__name__}__", answer(_f))
