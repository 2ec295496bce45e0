"""Methods of containers in C that fill them: they would iterate arrays unseen.

Numbers that C code takes out of an array are copies of which the engine knows nothing,
and a user's `__iter__` that C code asks is not followed.
"""

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any

from rules_autodiff._calls import HANDLERS, handler, is_opaque_class
from rules_autodiff._methods import python_method

__all__: list[str] = []

FROM_KEYS = vars(dict)["fromkeys"]


@handler(FROM_KEYS, vars(OrderedDict)["fromkeys"])
def handle_fromkeys(run: Any, cls: Any, keys: Any, value: Any = None) -> Any:
    items = run.iter(keys)
    if is_opaque_class(cls) and python_method(cls, "__setitem__") is None:
        return FROM_KEYS.__get__(None, cls)(items, value)
    made = run.call(cls)
    for key in items:
        run.store_item(value, made, key)
    return made


@handler(tuple.__new__)
def handle_new_tuple(run: Any, cls: Any, *items: Any) -> Any:
    return tuple.__new__(cls, *map(run.iter_array, items))


@handler(frozenset.__new__)
def handle_new_frozenset(run: Any, cls: Any, *items: Any) -> Any:
    return frozenset.__new__(cls, *(map(run.hashed, run.iter(x)) for x in items))


def initialising(init: Any, name: str) -> Callable[..., Any]:
    """`init` of a container, given items that the hook called `name` has read."""

    def handle(run: Any, owner: Any, *args: Any, **kwargs: Any) -> None:
        run.changing(owner)
        init(owner, *map(getattr(run, name), args), **kwargs)

    return handle


for _class, _name in ((list, "iter_array"), (deque, "iter_array"), (dict, "entries_of"),
                      (OrderedDict, "entries_of")):  # fmt: skip
    HANDLERS[_class.__init__] = initialising(_class.__init__, _name)
