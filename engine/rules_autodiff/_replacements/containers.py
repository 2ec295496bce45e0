"""Changes of lists, dicts, sets and deques, recorded to be undone."""

import array
import copy
import functools
import operator
import random
import typing
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rules_autodiff._hooks.access import entry_of
from rules_autodiff._hooks.caches import check_memo, note_key
from rules_autodiff._hooks.skipped_stores import kept_instead
from rules_autodiff._hooks.special_methods import check_key
from rules_autodiff._python.handlers import CALLABLES, HANDLERS, handler
from rules_autodiff._python.methods import users_method
from rules_autodiff._python.values import INERT
from rules_autodiff._refusals import no_rule_error, refused
from rules_core import structure

from .iteration import followed

__all__: list[str] = []


def changing(method: Any) -> Callable[..., Any]:
    """The method itself, with the container's state recorded before."""

    def handle(run: Any, owner: Any, *args: Any, **kwargs: Any) -> Any:
        run.changing(owner)
        return method(owner, *args, **kwargs)

    return handle


def filling(method: Any) -> Callable[..., Any]:
    """A change by the items of an iterable."""

    def handle(run: Any, owner: Any, items: Any) -> Any:
        run.changing(owner)
        is_list = isinstance(owner, list)
        return method(owner, (run.starred if is_list else run.iter)(items))

    return handle


CHANGING = (
    list.insert, list.clear, list.reverse, list.__imul__, list.__setitem__,
    list.__delitem__, dict.popitem, dict.clear, set.pop, set.clear,
    set.difference_update, set.intersection_update, set.symmetric_difference_update,
    set.__ior__, set.__iand__, set.__isub__, set.__ixor__, deque.__setitem__,
    deque.__delitem__, deque.__imul__, deque.append, deque.appendleft,
    deque.pop, deque.popleft, deque.insert, deque.rotate, deque.clear,
    deque.reverse, OrderedDict.move_to_end, OrderedDict.pop, OrderedDict.popitem,
    OrderedDict.clear, OrderedDict.__setitem__, OrderedDict.__delitem__,
)  # fmt: skip
for _method in CHANGING:
    HANDLERS[_method] = changing(_method)


def losing(method: Any) -> Callable[..., Any]:
    """A change by a key, which is hashed."""

    def handle(run: Any, owner: Any, key: Any, *default: Any) -> Any:
        check_key(run, key)
        run.changing(owner)
        return method(owner, key, *default)

    return handle


for _losing in (dict.pop, dict.__delitem__, set.discard, set.remove):
    HANDLERS[_losing] = losing(_losing)
for _filling in (
    list.extend, list.__iadd__, deque.extend, deque.extendleft, deque.__iadd__,
):  # fmt: skip
    HANDLERS[_filling] = filling(_filling)


@handler(dict.__ior__)
def handle_union_in_place(run: Any, owner: Any, other: Any) -> Any:
    run.call(owner.update, other)
    return owner


def changing_bytes(name: str) -> Callable[..., Any]:
    """A method of an array of the standard library: its owner's state is recorded."""

    def handle(run: Any, owner: Any, *args: Any, **kwargs: Any) -> Any:
        run.changing(owner)
        return run.call_opaque(getattr(owner, name), args, kwargs)

    return handle


for _name in (
    "append", "extend", "insert", "remove", "reverse", "pop", "clear", "byteswap",
    "fromlist", "frombytes", "__iadd__", "__imul__", "__setitem__", "__delitem__",
):  # fmt: skip
    for _cls in (bytearray, array.array):
        if hasattr(_cls, _name):
            HANDLERS[getattr(_cls, _name)] = changing_bytes(_name)


def call_itemgetter(run: Any, f: Any, args: Any, _kwargs: Any) -> Any:
    """`operator.itemgetter(…)(x)`: items read one by one."""
    keys = f.__reduce__()[1]
    items = tuple([run.getitem(args[0], key) for key in keys])
    return items[0] if len(keys) == 1 else items


CALLABLES[operator.itemgetter] = call_itemgetter


def call_attrgetter(run: Any, f: Any, args: Any, _kwargs: Any) -> Any:
    """`operator.attrgetter("a.b", …)(x)`: attributes read one by one."""
    values = []
    for path in f.__reduce__()[1]:
        value = args[0]
        for name in path.split("."):
            value = run.getattr(value, name)
        values.append(value)
    return values[0] if len(values) == 1 else tuple(values)


CALLABLES[operator.attrgetter] = call_attrgetter


def call_methodcaller(run: Any, f: Any, args: Any, _kwargs: Any) -> Any:
    """`operator.methodcaller("name", *given)(x)`."""
    make, arguments = f.__reduce__()
    named = {}
    if isinstance(make, functools.partial):  # of methodcaller, with keywords
        name, named = make.args[0], make.keywords
    else:
        name, arguments = arguments[0], arguments[1:]
    return run.method(args[0], name, *arguments, **named)


CALLABLES[operator.methodcaller] = call_methodcaller
if hasattr(operator, "call"):  # from Python 3.11 on

    @handler(operator.call)
    def handle_call(run: Any, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        return run.call(f, *args, **kwargs)


def call_key(_run: Any, f: Any, args: Any, kwargs: Any) -> Any:
    """`functools.cmp_to_key(compare)(x)`: an object that wraps `x`, for comparison."""
    return f(*args, **kwargs)


CALLABLES[type(functools.cmp_to_key(operator.sub))] = call_key


def call_alias(run: Any, f: Any, args: Any, kwargs: Any) -> Any:
    """`Model[float](x)`: the class itself, called."""
    return run.call(f.__origin__, *args, **kwargs)


# Only a class may have `Generic[…]` as a base, for mypy; here its type is needed.
_GENERIC = typing.Generic[typing.AnyStr]  # type: ignore[index]
for _alias in (type(_GENERIC), type(list[int])):
    CALLABLES[_alias] = call_alias


@handler(typing.cast)
def handle_cast(_run: Any, _type: Any, x: Any) -> Any:
    return x


@handler(functools.cmp_to_key)
def handle_cmp_to_key(run: Any, compare: Any) -> Any:
    return functools.cmp_to_key(followed(run, compare))


@handler(random.Random.choice)
def handle_choice(run: Any, rng: Any, items: Any) -> Any:
    return run.getitem(items, rng.choice(range(len(items))))


@handler(random.Random.choices)
def handle_choices(
    run: Any, rng: Any, items: Any, weights: Any = None, **options: Any
) -> Any:
    places = rng.choices(range(len(items)), weights, **options)
    return [run.getitem(items, i) for i in places]


@handler(random.Random.sample)
def handle_sample(run: Any, rng: Any, items: Any, k: int, **options: Any) -> Any:
    if not isinstance(items, Sequence):
        return rng.sample(items, k, **options)  # raises Python's own error
    places = rng.sample(range(len(items)), k, **options)
    return [run.getitem(items, i) for i in places]


@handler(type(np.mgrid).__getitem__)
def handle_grid(run: Any, grid: Any, key: Any) -> Any:
    if run.is_active(key):
        refused("grid")
    return grid[key]


@handler(np.ndenumerate)
def handle_ndenumerate(run: Any, a: Any) -> Any:
    if not isinstance(a, np.ndarray):
        a = run.call(np.asarray, a)
    return ((index, run.read_array(a, index)) for index in np.ndindex(a.shape))


@handler(list.append)
def handle_append(run: Any, owner: Any, item: Any) -> None:
    run.note_append(owner, item)
    list.append(owner, item)


@handler(list.pop)
def handle_pop(run: Any, owner: Any, index: int = -1) -> Any:
    run.changing(owner)
    return list.pop(owner, index)


@handler(dict.__setitem__)
def handle_dict_setitem(run: Any, owner: Any, key: Any, value: Any) -> None:
    note_key(run, owner, check_key(run, key))
    run.changing(owner)
    dict.__setitem__(owner, key, value)


@handler(dict.setdefault)
def handle_setdefault(run: Any, owner: Any, key: Any, default: Any = None) -> Any:
    if dict.__contains__(owner, check_key(run, key)):
        found = check_memo(run, owner, key, dict.__getitem__(owner, key))
        return kept_instead(run, owner, found, default)
    handle_dict_setitem(run, owner, key, default)
    return default


@handler(dict.update)
def handle_update(run: Any, owner: Any, *args: Any, **kwargs: Any) -> None:
    run.changing(owner)
    dict.update(owner, *map(run.entries, args), **kwargs)


@handler(set.add)
def handle_add(run: Any, owner: Any, item: Any) -> None:
    run.hashed(item)
    run.changing(owner)
    set.add(owner, item)


@handler(set.update)
def handle_set_update(run: Any, owner: Any, *others: Any) -> None:
    run.changing(owner)
    set.update(owner, *(map(run.hashed, run.iter(other)) for other in others))


def combining(method: Any) -> Callable[..., Any]:
    """A set made of another and of iterables: of a dict only its keys are used."""

    def handle(run: Any, owner: Any, *others: Any) -> Any:
        return method(owner, *(map(run.hashed, run.iter(other)) for other in others))

    return handle


for _set in (set, frozenset):
    for _name in ("union", "intersection", "difference", "symmetric_difference"):
        HANDLERS[getattr(_set, _name)] = combining(getattr(_set, _name))


@handler(deque)
def handle_deque(run: Any, items: Any = (), maxlen: Any = None) -> Any:
    return deque(run.iter(items), maxlen)


@handler(defaultdict)
def handle_defaultdict(run: Any, factory: Any = None, *args: Any, **kw: Any) -> Any:
    return defaultdict(factory, *map(run.entries, args), **kw)


@handler(dict.__getitem__)
def handle_dict_getitem(run: Any, owner: Any, key: Any) -> Any:
    return entry_of(run, owner, check_key(run, key))


@handler(defaultdict.__missing__)
def handle_missing(run: Any, owner: Any, key: Any) -> Any:
    if owner.default_factory is None:
        return defaultdict.__missing__(owner, key)  # raises
    value = run.call(owner.default_factory)
    run.store_item(value, owner, key)
    return value


@handler(random.Random.shuffle)
def handle_shuffle(run: Any, rng: Any, items: Any) -> None:
    if isinstance(items, np.ndarray):
        order = list(range(len(items)))
        rng.shuffle(order)
        run.write(items, Ellipsis, run.read_array(items, order))
    else:
        len(items)  # without a length there is no state to record
        run.changing(items)
        rng.shuffle(items)


# copies


COPIED = (np.ndarray, np.inexact)  # NumPy copies these in C, unseen


def copy_of(run: Any, x: Any) -> Any:
    """A copy of an array; of a number only if NumPy's own is another object."""
    return x if not isinstance(x, np.ndarray) and copy.copy(x) is x else run.copied(x)


@handler(copy.copy)
def handle_copy(run: Any, x: Any) -> Any:
    if isinstance(x, COPIED):
        return copy_of(run, x)
    method = users_method(x, "__copy__")
    if method is not None:
        return run.call(method, x)
    check_pickled(run, copy.copy, x)
    return copy.copy(x)


PICKLING = ("__reduce_ex__", "__reduce__", "__getstate__", "__setstate__")


def check_pickled(run: Any, f: Any, x: Any) -> None:
    """Raise an error for copying by user methods that the engine would not lift."""
    if any(users_method(x, name) for name in PICKLING) and run.is_active(x):
        raise no_rule_error(f, run.kind.kind)


@handler(copy.deepcopy)
def handle_deepcopy(run: Any, x: Any, memo: Any = None) -> Any:
    memo = {} if memo is None else memo
    for part in parts_of(x, {}):
        method = users_method(part, "__deepcopy__")
        if method is not None:
            memo[id(part)] = run.call(method, part, memo)
        elif isinstance(part, COPIED):
            memo[id(part)] = copy_of(run, part)
        else:
            check_pickled(run, copy.deepcopy, part)
    return copy.deepcopy(x, memo)


def parts_of(x: Any, seen: dict[int, Any]) -> list[Any]:
    """Every array and object that a value reaches, itself included."""
    if type(x) in INERT or type(x) in (float, complex) or id(x) in seen:
        return []
    seen[id(x)] = x
    stop = isinstance(x, COPIED) or users_method(x, "__deepcopy__") is not None
    level = None if stop else structure(x)
    values = () if level is None else level.values
    if isinstance(x, set | frozenset):
        values = tuple(x)
    return [x, *(part for value in values for part in parts_of(value, seen))]
