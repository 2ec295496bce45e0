"""A mapping from functions whose values live as long as the function."""

from collections.abc import Iterator, MutableMapping
from types import FunctionType
from typing import Any, Generic, TypeVar
from weakref import WeakSet

__all__ = ["Attached"]

T = TypeVar("T")


class Attached(MutableMapping[Any, T], Generic[T]):
    """A mapping from functions, which store the values as attributes.

    A dict would keep a function that is made in a loop, with its captured values, alive
    for the whole process, because its rules refer to it. Builtins and ufuncs, which
    accept no attributes, are kept.

    Attributes:
        fixed: The values of keys without attributes.

    >>> from rules_autodiff._python.attached import Attached
    >>> known = Attached("_known")
    >>> def f(x): ...
    >>> known[f] = 1
    >>> f in known, len in known, dict(known) == {f: 1}
    (True, False, True)
    """

    def __init__(self, name: str):
        self.name = name
        self.fixed: dict[Any, T] = {}
        self.holders: WeakSet[Any] = WeakSet()

    def __getitem__(self, f: Any) -> T:
        if type(f) is not FunctionType:
            return self.fixed[f]
        owner, value = f.__dict__[self.name]
        if owner is not f:  # `functools.wraps` copies attributes
            raise KeyError(f)
        entry: T = value
        return entry

    def __contains__(self, f: object) -> bool:
        if type(f) is not FunctionType:
            return f in self.fixed
        entry = f.__dict__.get(self.name)
        return entry is not None and entry[0] is f

    def __setitem__(self, f: Any, value: T) -> None:
        if type(f) is not FunctionType:
            self.fixed[f] = value
        else:
            f.__dict__[self.name] = f, value
            self.holders.add(f)

    def __delitem__(self, f: Any) -> None:
        if f not in self:
            raise KeyError(f)
        if type(f) is not FunctionType:
            del self.fixed[f]
        else:
            del f.__dict__[self.name]
            self.holders.discard(f)

    def __iter__(self) -> Iterator[Any]:
        yield from [*self.fixed, *self.holders]

    def __len__(self) -> int:
        return len(self.fixed) + len(self.holders)
