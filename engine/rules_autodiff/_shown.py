"""Objects on their way into a text: their own `__str__` and `__format__` are followed.

`"%s" % x`, `"{}".format(x)` and `print(x)` ask an object for its text from C code. A
stand-in is given in its place, which asks by way of the run.
"""

import functools
from typing import Any

from rules_autodiff._methods import users_method
from rules_autodiff._values import INERT

__all__ = ["shown"]

ASKED = ("__str__", "__repr__", "__format__")


def shown(run: Any, x: Any) -> Any:
    """A stand-in for an object that says in Python what its text is; else itself."""
    if type(x) in INERT or isinstance(x, float | complex):
        return x
    if type(x) in (list, tuple):
        parts = [shown(run, value) for value in x]
        same = all(one is other for one, other in zip(parts, x, strict=True))
        return x if same else type(x)(parts)
    if type(x) is dict:
        return {key: shown(run, value) for key, value in x.items()}
    return Shown(run, x) if users_method_of(x, ASKED) else x


def users_method_of(x: Any, names: tuple[str, ...]) -> bool:
    return any(users_method(x, name) is not None for name in names)


class Shown:
    """Answers what formatting asks, for one object."""

    def __init__(self, run: Any, value: Any):
        self._run, self._value = run, value

    def __format__(self, spec: str) -> str:
        return str(self._run.call(format, self._value, spec))

    def __getattr__(self, name: str) -> Any:
        return shown(self._run, self._run.getattr(self._value, name))

    def __getitem__(self, key: Any) -> Any:
        return shown(self._run, self._run.getitem(self._value, key))


def answer(f: Any) -> Any:
    """A special method that asks the object itself, by the run."""

    def ask(self: Shown) -> Any:
        return self._run.call(f, self._value)

    return functools.wraps(f, assigned=())(ask)


for _f in (str, repr, int, float):
    setattr(Shown, f"__{_f.__name__}__", answer(_f))
