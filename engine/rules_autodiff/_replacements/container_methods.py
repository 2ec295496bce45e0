"""Filling methods of C containers, which would iterate over arrays unseen.

Numbers that C code reads from an array are copies without derivative, and a user's
`__iter__` that C code calls is not lifted.
"""

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, MutableMapping
from typing import Any

from rules_autodiff._hooks.calls import entries_of, is_opaque_class, iter_array
from rules_autodiff._hooks.sequence_operators import foreign
from rules_autodiff._hooks.skipped_stores import kept_instead
from rules_autodiff._python.handlers import HANDLERS, handler
from rules_autodiff._python.methods import python_method

__all__: list[str] = []

ITEM_METHODS = ("__getitem__", "__setitem__", "__iter__", "keys")
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


def asks_items(x: Any) -> bool:
    """Whether a subclass of a dict defines its items in Python."""
    return any(python_method(type(x), name) is not None for name in ITEM_METHODS)


@handler(dict.__or__)
def handle_union(run: Any, x: Any, y: Any) -> Any:
    """`x | y` of dicts: made of the first by the class that Python chooses."""
    if python_method(type(x), "__or__") is not None:  # which calls super()
        return dict.__or__(x, y)
    if not isinstance(y, dict):
        return NotImplemented
    if not (asks_items(x) or asks_items(y)):
        return foreign(run, "or_", x, y)
    made: Any = dict(run.entries(x))
    for own in (y, x):
        if isinstance(own, OrderedDict):
            made = run.call(type(own), x)
        elif isinstance(own, defaultdict):
            made = run.call(type(own), own.default_factory, x)
    update = OrderedDict.update if isinstance(made, OrderedDict) else dict.update
    run.call(update, made, y)
    return made


@handler(dict.copy)
def handle_dict_copy(run: Any, owner: Any) -> Any:
    return dict(run.entries(owner)) if asks_items(owner) else dict.copy(owner)


@handler(tuple.__new__)
def handle_new_tuple(run: Any, cls: Any, *items: Any) -> Any:
    return tuple.__new__(cls, *[iter_array(run, x) for x in items])


@handler(frozenset.__new__)
def handle_new_frozenset(run: Any, cls: Any, *items: Any) -> Any:
    return frozenset.__new__(cls, *(map(run.hashed, run.iter(x)) for x in items))


def initialising(init: Any, taken: Callable[..., Any]) -> Callable[..., Any]:
    """`init` of a container, with each argument read by `taken(run, x)`."""

    def handle(run: Any, owner: Any, *args: Any, **kwargs: Any) -> None:
        run.changing(owner)
        init(owner, *[taken(run, x) for x in args], **kwargs)

    return handle


HANDLERS[list.__init__] = initialising(list.__init__, iter_array)
HANDLERS[deque.__init__] = initialising(deque.__init__, iter_array)
HANDLERS[dict.__init__] = initialising(dict.__init__, entries_of)


@handler(OrderedDict.__init__, OrderedDict.update)
def handle_ordered_update(run: Any, owner: Any, *args: Any, **kwargs: Any) -> None:
    """Its C code calls the methods of subclasses, as Python code would."""
    if any(map(asks_items, (owner, *args))):
        run.call(MutableMapping.update, owner, *args, **kwargs)
        return
    run.changing(owner)
    OrderedDict.update(owner, *map(run.entries, args), **kwargs)


@handler(OrderedDict.setdefault)
def handle_ordered_default(run: Any, owner: Any, key: Any, default: Any = None) -> Any:
    if run.contains(key, owner):
        return kept_instead(run, owner, run.getitem(owner, key), default)
    run.store_item(default, owner, key)
    return default


@handler(OrderedDict.copy)
def handle_ordered_copy(run: Any, owner: Any) -> Any:
    if type(owner) is OrderedDict:
        return OrderedDict.copy(owner)
    made = run.call(type(owner))
    for key in list(OrderedDict.keys(owner)):
        run.store_item(run.getitem(owner, key), made, key)
    return made
