"""Text and bytes: written freely, but no way for a derivative to travel.

A text holds no derivative, so a number that is read back from one would silently lose
it. The numbers that went into texts are noted; reading one of them back from a text, or
from a file, raises an error.
"""

import builtins
import logging
from collections.abc import Callable, Iterator
from numbers import Number
from typing import Any

import numpy as np

from rules_autodiff._python.handlers import HANDLERS, handler
from rules_autodiff._python.methods import class_attribute, users_method
from rules_autodiff._python.opaque import root_of
from rules_autodiff._python.values import INERT, is_float_array, is_number
from rules_autodiff._refusals import name_of, refused

from .bytes import mark, note_made, stands_for
from .calls import is_reader
from .interface import Hooks
from .own_keys import NUMBER, is_own_key
from .special_methods import check_key
from .text_stand_ins import has_text, shown

__all__ = ["formatted", "from_text", "holds_numbers", "written"]

NOTED = 4096  # entries of an array of which the first are noted, or looked at

# Modules whose functions read no text: they compute, or move what they are given.
COMPUTING = frozenset({
    "math", "cmath", "operator", "_operator", "itertools", "functools", "random",
    "statistics", "scipy", "time", "collections", "heapq", "bisect", "weakref",
})  # fmt: skip


def numbers_in(x: Any, above: tuple[int, ...] = ()) -> Iterator[Any]:
    """The numbers that builtin containers hold, of arrays the first ones."""
    if isinstance(x, Number):
        yield x
    elif isinstance(x, np.ndarray):
        if x.dtype.kind in "fc":
            yield from x.ravel()[:NOTED].tolist()
    elif isinstance(x, list | tuple | dict) and id(x) not in above:
        for value in x.values() if isinstance(x, dict) else x:
            yield from numbers_in(value, (*above, id(x)))


def written(run: Hooks, text: Any, *sources: Any) -> None:
    """Remember the numbers of a text that was made of values with derivatives."""
    sources = tuple([x.args if isinstance(x, BaseException) else x for x in sources])
    if not stands_for(run, *sources):
        return
    noted = {x for x in numbers_in(sources) if not isinstance(x, int)}
    if isinstance(text, str):
        noted.update(map(float, NUMBER.findall(text)))
    if isinstance(text, bytes | bytearray):
        mark(run, text)
    elif isinstance(text, str | int):
        note_made(run, text)
    run.texts |= noted - {float("inf"), float("-inf")}


def from_text(run: Hooks, value: Any, f: Any = str, args: tuple[Any, ...] = ()) -> Any:
    """The result of a function of constants; refused if the run wrote it to a text."""
    if isinstance(value, bytes | bytearray) and run.keys:
        marked = any(is_own_key(run, x) for x in args)
        return mark(run, value) if marked else value
    if type(value) is str and run.texts and is_own_key(run, value):
        return note_made(run, value)
    if run.keys and holds_numbers(value) and any(is_own_text(run, x) for x in args):
        refused("text", f"what {name_of(f)} reads")
    if not run.texts or (f is not str and not may_read(f, args)):
        return value
    for x in numbers_in(value):
        parts = (x, getattr(x, "real", x), getattr(x, "imag", x))
        known = any(p in run.texts for p in parts if not isinstance(p, int))
        if known and not run.is_active(x):
            refused("text", x)
    return value


def is_own_text(run: Hooks, x: Any) -> bool:
    """Whether a function is given a text that was made of values."""
    return isinstance(x, str) and is_own_key(run, str(x))


def formatted(run: Hooks, value: Any, conversion: str, spec: str) -> str:
    """One replacement field of an f-string."""
    convert = CONVERSIONS.get(conversion)
    if convert is not None:
        value = run.call(convert, value)
    return str(run.call(format, value, spec))


CONVERSIONS = {"s": str, "r": repr, "a": ascii}


def holds_numbers(x: Any) -> bool:
    """Whether a value is, or a builtin container holds, a float or a float array."""
    if isinstance(x, list | tuple):
        return any(map(holds_numbers, x))
    return is_number(x) or is_float_array(x)


def may_read(f: Any, args: tuple[Any, ...]) -> bool:
    """Whether a function without a derivative may have read numbers from a text."""
    owner = getattr(f, "__self__", None)
    if isinstance(owner, np.ndarray | np.generic):
        return owner.dtype.kind in "SUO"
    root = root_of(f)
    if root != "numpy":
        return root not in COMPUTING
    return is_reader(f) or bool(args and is_text(args[0]))


def is_text(x: Any) -> bool:
    """Whether a value is a text, or an array or list of texts."""
    if isinstance(x, list | tuple):
        return bool(x) and is_text(x[0])
    if isinstance(x, np.ndarray | np.generic):
        return x.dtype.kind in "SUO"
    return isinstance(x, str | bytes | bytearray)


# what writes


OBJECTS_OWN = vars(object)["__format__"]


@handler(format)
def handle_format(run: Any, x: Any, spec: str = "") -> Any:
    """`format(x, spec)`: an object without a `__format__` is asked for its text."""
    method = users_method(x, "__format__")
    if method is not None:
        return run.call(method, x, spec)
    if spec == "" and class_attribute(type(x), "__format__") is OBJECTS_OWN:
        return run.call(str, x)
    text = run.below.call(format, x, spec)
    written(run, text, x)
    return text


@handler(hash)
def handle_hash(run: Any, x: Any) -> Any:
    method = users_method(x, "__hash__")
    found = run.call(method, x) if method is not None else hash(check_key(run, x))
    if method is None and is_own_key(run, x):
        note_made(run, found)
    elif type(x) not in INERT:
        written(run, found, x)
    return hash(found) if method is not None else found


# Special methods that the builtins ask, in this order.
SPECIAL = {
    str: ("__str__", "__repr__"),
    repr: ("__repr__",),
    bytes: ("__bytes__",),
}


# Functions whose C code asks what it is given for texts, and keeps none of it.
ASKING = frozenset({str, repr, ascii, str.format, str.format_map})

LEVELS = ("debug", "info", "warning", "error", "critical", "exception", "log")
LOGGING = [getattr(x, name) for x in (logging, logging.Logger) for name in LEVELS]


def writing(f: Any) -> Callable[..., Any]:
    """The function as it is, and a note of what was written."""
    names = SPECIAL.get(f, ())

    def handle(run: Any, *args: Any, **kwargs: Any) -> Any:
        method = users_method(args[0], *names) if names and args else None
        if method is not None:
            return run.call(method, *args)
        if f in ASKING:
            # It says what another of its texts is: this one is of Python's.
            own = f in SPECIAL and bool(args) and has_text(args[0])
            given = list(args) if own else [shown(run, x) for x in args]
            named = {name: shown(run, x) for name, x in kwargs.items()}
            text = run.below.call(f, *given, **named)
        else:
            text = run.below.call(f, *args, **kwargs)
        if any(type(x) not in INERT for x in (*args, *kwargs.values())):
            written(run, text, *args, *kwargs.values())
        return text

    return handle


for _write in (
    str, repr, ascii, bytes, bytearray, str.format, str.format_map,
    float.hex, float.__repr__, float.__str__, float.__format__, np.ndarray.tobytes,
    np.ndarray.tofile, np.ndarray.dumps, np.ndarray.dump, np.generic.tobytes,
    np.generic.tofile, np.generic.dumps, np.generic.dump, np.save, np.savez,
    np.savez_compressed, np.savetxt, np.array2string, np.array_str, np.array_repr,
    np.format_float_positional, np.format_float_scientific, *LOGGING,
):  # fmt: skip
    HANDLERS[_write] = writing(_write)


@handler(builtins.print)
def handle_print(run: Any, *args: Any, **kwargs: Any) -> None:
    texts = [run.call(str, x) for x in args]
    run.below.call(print, *texts, **kwargs)
    if kwargs.get("file") is not None:
        written(run, " ".join(texts), *args)


@handler(float.as_integer_ratio)
def handle_ratio(run: Any, x: Any) -> Any:
    if run.is_active(x):
        refused("digits")
    return x.as_integer_ratio()
