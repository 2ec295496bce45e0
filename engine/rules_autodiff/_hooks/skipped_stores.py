"""Results of earlier calls that stand where an update was skipped.

    if not np.allclose(self.x, x):
        self.x, self.value = x.copy(), f(x)
    return self.value

The skipped branch stores the last point and what was computed there: plain numbers
where the derivative should be. To read them is refused where three things come
together: the branch would have stored what depends on an argument, the run found the
argument to be one that the program knows (`close_calls`), and the numbers stand in
something that is older than the run (`carried`). What is stored under keys of a dict,
or found by comparing whole arrays for equality, is refused elsewhere (`caches`).
"""

import sys
from collections.abc import Callable
from functools import partial
from types import MethodType
from typing import Any

import numpy as np

from rules_autodiff._lift.skipped_stores import WRITING
from rules_autodiff._python.leaves import leaves
from rules_autodiff._python.outside_reads import reads_active
from rules_autodiff._python.values import (
    INERT,
    SCALARS,
    has_fields,
    is_float_array,
    is_number,
)
from rules_autodiff._refusals import refused
from rules_autodiff._shadows.memory import owner_of

from .carried import is_carried
from .interface import Hooks
from .keepers import is_keeper, keepers
from .stored_places import (
    CONTAINERS,
    Variables,
    called,
    held,
    keeps_no_results,
    value_of,
)

__all__ = [
    "attribute_for_test",
    "check_read",
    "decided",
    "found",
    "item_for_test",
    "kept_instead",
    "outer",
    "passed",
    "passing",
]

# Methods of containers and functions that give none of the entries.
QUIET = frozenset({
    "append", "appendleft", "add", "extend", "insert", "update", "clear", "index",
    "keys", "count", "__len__", "__contains__",
})  # fmt: skip
COUNTING = frozenset({
    len, isinstance, type, bool, id, hasattr, repr, str, np.allclose, np.isclose,
    np.array_equal, np.array_equiv, np.shape, np.size, np.ndim,
})  # fmt: skip


def decided(run: Hooks, test: Any, *skips: Any, depth: int = 1) -> bool:
    """The truth of a test; notes what may be cached where a branch is skipped.

    Args:
        run: The run.
        test: The test.
        *skips: As `_lift/skipped_stores.Skips` has them.
        depth: How far the frame of the program is from this one.
    """
    if_true, if_false, *rest = skips
    truth = bool(test)
    places = if_true if truth else if_false
    if places and run.close:
        frame = sys._getframe(depth)  # noqa: SLF001  (the variables of the program)
        look(run, frame, places, *rest)
    return truth


def passing(run: Hooks, *skips: Any, depth: int = 1) -> None:
    """Note what may be cached before a statement that may end anywhere."""
    frame = sys._getframe(depth)  # noqa: SLF001  (the variables of the program)
    look(run, frame, *skips)


def passed(run: Hooks, *skips: Any, depth: int = 1) -> None:
    """Note what may be cached after a loop that may have had no turns."""
    if run.close:
        passing(run, *skips, depth=depth + 1)


def look(run: Hooks, frame: Any, places: Any, sources: Any, names: Any) -> None:
    """Note what the skipped statements have stored in earlier calls."""
    outside = frame.f_globals
    if keeps_no_results(outside):
        return
    variables = frame.f_locals
    found = [
        (owner, value)
        for owner, value in held(variables, outside, places)
        if type(value) not in INERT
    ]
    if not found or not depends(run, variables, outside, places, sources):
        return
    for owner, value in found:
        note(run, owner, value)
    for name, value in variables.items() if run.close else ():
        used = name in names or not name.isidentifier() or name.startswith("_ad")
        if used and id(value) in run.skipped and not isinstance(value, np.ndarray):
            check_read(run, value, name)


def depends(
    run: Hooks, variables: Variables, outside: Variables, places: Any, sources: Any
) -> bool:
    """Whether what would be stored may depend on an argument."""
    for chain in sources:
        value = value_of(variables, outside, chain)
        if is_number(value) or isinstance(value, np.ndarray):
            if run.slot(value) is not None:
                return True
        elif type(value) not in INERT and any(
            run.slot(x) is not None for x in leaves(value)
        ):
            return True
    calls = (place[1:] for place in places if place[0] == "call")
    for (*owner_chain, name), args in calls:
        owner = value_of(variables, outside, owner_chain) if owner_chain else None
        f = called(variables, outside, owner, name)
        if f is not None and (args is None or reads_active(run, f)):
            return True
    return False


def note(run: Hooks, owner: Any, value: Any) -> None:
    """Refuse to read numbers of a value from now on, where they are constants."""
    found = [value] if is_array_of_records(value) else leaves(value)
    numbers = [x for x in found if is_real(x) and run.slot(x) is None]
    kept = [x for x in keepers(value) if not run.is_active(x)]
    if not (numbers or kept):
        return
    watch_reads(run)
    for x in numbers + kept:
        run.skipped[id(x)] = x, owner
        read = run.read_since.get(id(owner_of(x) if isinstance(x, np.ndarray) else x))
        if read is not None:
            check_owner(run, (x, owner), read[1])
        if isinstance(x, np.ndarray):
            run.skipped[id(owner_of(x))] = owner_of(x), owner
    if not (is_number(value) or isinstance(value, np.ndarray)):
        run.holders[id(value)] = value, owner


def found(run: Hooks) -> None:
    """Called when the argument was found: what is read now may be a result."""
    if run.decides:
        watch_reads(run)


def watch_reads(run: Hooks) -> None:
    """Let the hooks that read tell what they have read, from now on."""
    if "store_item" in vars(run):
        return
    hooks = {name: getattr(run, name) for name in READERS}
    vars(run).update({n: partial(READERS[n], run, h) for n, h in hooks.items()})


def is_real(x: Any) -> bool:
    records = is_array_of_records(x)
    return records or is_float_array(x) or isinstance(x, float | complex | np.inexact)


def is_array_of_records(x: Any) -> bool:
    return isinstance(x, np.ndarray) and has_fields(x.dtype)


# reading a result


def check_read(run: Hooks, value: Any, place: Any) -> Any:
    """A value that is read; refused if it is a result of an earlier call."""
    if type(value) in SCALARS:
        whole, kept = value, False
    elif isinstance(value, np.ndarray):
        whole, kept = owner_of(value), True
    else:
        whole, kept = value, type(value) not in INERT and is_keeper(value)
    entry = run.skipped.get(id(whole))
    if entry is None:
        if kept and run.close:
            run.read_since[id(whole)] = whole, place
    elif run.slot(value) is None:
        check_owner(run, entry, place)
    return value


def check_owner(run: Hooks, entry: Any, place: Any) -> None:
    owner = entry[1]
    if not is_carried(run, owner):
        return
    name = f"{place[0]}[{place[1]!r}]" if isinstance(place, tuple) else str(place)
    if run.close:
        refused("skipped", name)
    run.read_early = run.read_early or name


def check_kept(run: Hooks, x: Any, place: str) -> None:
    """Refuse to hand out a whole container with results in it."""
    entry = run.holders.get(id(x))
    if entry is not None:
        check_owner(run, entry, place)


def read_attribute(run: Hooks, hook: Callable[..., Any], owner: Any, name: str) -> Any:
    value = hook(owner, name)
    if isinstance(value, np.ndarray):  # it may be written to, or compared
        return value
    return check_read(run, value, f"{type(owner).__name__}.{name}")


def read_item(run: Hooks, hook: Callable[..., Any], owner: Any, key: Any) -> Any:
    value = hook(owner, key)
    place = type(owner).__name__, key
    if isinstance(owner, np.ndarray) and not is_part(value, owner):
        check_read(run, owner, place)
    return value if isinstance(value, np.ndarray) else check_read(run, value, place)


def is_part(value: Any, a: Any) -> bool:
    """Whether a value shares the memory of an array; entries of objects do not."""
    numpys = isinstance(value, np.ndarray | np.generic)
    return numpys and owner_of(value) is owner_of(a)


def read_items(run: Hooks, hook: Callable[..., Any], x: Any, *pattern: Any) -> Any:
    check_kept(run, x, f"the items of a {type(x).__name__}")
    if isinstance(x, np.ndarray):
        check_read(run, x, "the items of an array")
    return hook(x, *pattern)


def read_by_call(
    run: Hooks, hook: Callable[..., Any], f: Any, /, *args: Any, **kwargs: Any
) -> Any:
    owner = getattr(f, "__self__", None)
    name = getattr(f, "__name__", "")
    if isinstance(owner, CONTAINERS) and name not in QUIET and id(owner) in run.holders:
        result = hook(f, *args, **kwargs)
        if is_number(result) or isinstance(result, np.ndarray):
            return check_read(run, result, f"{type(owner).__name__}.{name}")
        if type(result) not in INERT and id(result) not in run.holders:
            check_kept(run, owner, f"{type(owner).__name__}.{name}")
        return result
    native = not isinstance(f, MethodType) and not hasattr(f, "__code__")
    if native and not gives_no_entries(f) and name not in WRITING:
        for x in args:
            check_kept(run, x, f"an argument of {name}")
        check_operands(run, name, *args)
        check_operands(run, name, *(x for n, x in kwargs.items() if n != "out"))
    check_read(run, f, name)
    result = hook(f, *args, **kwargs)
    return result if name in WRITING else check_read(run, result, name)


def gives_no_entries(f: Any) -> bool:
    try:
        return f in COUNTING
    except TypeError:  # unhashable
        return False


def read_by_method(
    run: Hooks,
    hook: Callable[..., Any],
    owner: Any,
    name: str,
    /,
    *args: Any,
    **kw: Any,
) -> Any:
    """`owner.name(…)`: of an array, the whole is read."""
    if name not in WRITING:
        check_operands(run, name, owner, *args)
        check_operands(run, name, *(x for n, x in kw.items() if n != "out"))
    return hook(owner, name, *args, **kw)


def read_to_store(
    run: Hooks, hook: Callable[..., Any], value: Any, owner: Any, key: Any
) -> None:
    """`owner[key] = value`: an array is copied there."""
    if isinstance(owner, np.ndarray):
        check_operands(run, "=", value)
    hook(value, owner, key)


def check_operands(run: Hooks, name: str, *values: Any) -> None:
    """Refuse to compute with an array of results, by whatever name it is reached."""
    for x in values:
        if isinstance(x, np.ndarray):
            check_read(run, x, f"an operand of {name!r}")
        elif type(x) in (list, tuple):
            for array in _arrays_within(x):
                check_read(run, array, f"an operand of {name!r}")


def _arrays_within(values: Any) -> list[Any]:
    """The arrays in lists and tuples, which may contain themselves."""
    found, entered, left = [], {id(values)}, list(values)
    while left:
        x = left.pop()
        if isinstance(x, np.ndarray):
            found.append(x)
        elif type(x) in (list, tuple) and id(x) not in entered:
            entered.add(id(x))
            left += x
    return found


def computing(name: str) -> Callable[..., Any]:
    """The hook of an operator."""

    def compute(run: Hooks, hook: Callable[..., Any], *operands: Any) -> Any:
        result = hook(*operands)
        arrays = [x for x in operands[-2:] if isinstance(x, np.ndarray)]
        if arrays and not (name == "sub" and run.close and not np.any(result)):
            check_operands(run, name, *arrays)
        return result  # a difference of nothing asks where the last point was

    return compute


OPERATIONS = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "neg", "pos",
    "abs", "inplace",
)  # fmt: skip
READERS: dict[str, Any] = {
    **{name: computing(name) for name in OPERATIONS},
    "method": read_by_method,
    "store_item": read_to_store,
    "getattr": read_attribute,
    "getitem": read_item,
    "iter": read_items,
    "starred": read_items,
    "unpack": read_items,
    "call": read_by_call,
}


def kept_instead(run: Hooks, owner: Any, found: Any, default: Any) -> Any:
    """The entry of a container in place of a new value, as `setdefault` gives it."""
    if run.is_active(default):
        note(run, owner, found)
        check_read(run, found, f"{type(owner).__name__}.setdefault")
    return found


def outer(run: Hooks, value: Any, name: str) -> Any:
    """A global or captured variable that some function stores to."""
    return check_read(run, value, name) if run.skipped else value


def attribute_for_test(run: Hooks, owner: Any, name: str) -> Any:
    """`owner.name` where it is compared: that tells no derivative."""
    return type(run).getattr(run, owner, name)


def item_for_test(run: Hooks, owner: Any, key: Any) -> Any:
    """`owner[key]` where it is compared."""
    return type(run).getitem(run, owner, key)
