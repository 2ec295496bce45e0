"""What numba has taken into compiled code, compared with what a program reads now.

Numba compiles the values of global and captured variables, and of attributes of
modules, into a function, and does not read them again. The engine reads the Python
source, which means the values of now. Both must mean one function.

Numba's own intermediate code tells the values of variables. Of arrays, attributes of
modules and code from numba's cache it does not: the function is compiled once more, and
must become the same code.
"""

import dis
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

__all__ = ["stale"]

# Modules whose attributes are constants, and values whose identity is all of them.
CONSTANT = frozenset({"math", "cmath", "numpy", "numba", "builtins"})
CODE = (FunctionType, BuiltinFunctionType, type, np.ufunc, ModuleType)
PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic, np.dtype)
ARRAYS = (np.ndarray, np.void)
# What each compilation names anew: versions of functions, and parallel loops.
NUMBERS = re.compile(r"B\d+v\d+|gufunc_0x[0-9a-f]+")
CACHED = re.compile(r"= (?:global|freevar)\((\w+): (.*)\)  :: ")
ADDRESS = re.compile(r" at 0x[0-9a-f]+")
# A pickled exception that code may raise. The place in it, numba's or the program's, is
# another where a function of numba's own is compiled for the first time in a process.
MESSAGE = re.compile(r'^(@\S+) = .*constant \[\d+ x i8\] c"\\80\\04\\95')
DIGEST = re.compile(r"^(@\S+) = .*constant \[20 x i8\] c")
NAME = re.compile(r'[@%]("[^"]*"|[\w.$]+)')


class Text(str):
    """The text of a value, which is all that numba's cache has of it."""

    __slots__ = ()


@dataclass(frozen=True)
class Read:
    """A value that a compiled function has read from outside.

    Attributes:
        text: What the program calls it.
        value: What it is now.
        direct: Whether numba's intermediate code has it by this name.
    """

    text: str
    value: Any
    direct: bool


@dataclass
class Compared:
    """What a comparison has found, for such compiled code and such values."""

    overloads: tuple[Any, ...]
    values: list[tuple[str, Any]]
    reason: str


KNOWN: "WeakKeyDictionary[Any, Compared]" = WeakKeyDictionary()


def stale(f: Any) -> str:
    """Why the source of a jitted function is not what numba compiled, if it is not."""
    defaults, now = defaults_of(f), f.py_func.__defaults__ or ()
    if not equal(defaults, now):
        return reason_of(f, f"its defaults were {defaults}, and are {now} now")
    overloads = tuple(f.overloads.values())
    if not overloads:
        return ""
    reads = [*reads_of(f)]
    known = KNOWN.get(f)
    if known and holds(known, overloads, reads):
        return known.reason
    found = compared(f, overloads, reads)
    reason = found and reason_of(f, found)
    KNOWN[f] = Compared(overloads, [(r.text, held(r.value)) for r in reads], reason)
    return reason


def reason_of(f: Any, found: str) -> str:
    return f"numba compiled {f.__name__} when {found}"


# what is read


def reads_of(f: Any) -> Iterator[Read]:
    """The values that a jitted function reads, and those that are copied into it."""
    for read in reads_in(f.py_func):
        yield read
        if is_inlined(read.value) and read.value is not f:
            yield from [replace(x, direct=False) for x in reads_of(read.value)]


def is_inlined(x: Any) -> bool:
    """Whether numba puts the code of a function into that of its caller."""
    options = getattr(x, "targetoptions", None)
    return type(options) is dict and options.get("inline", "never") != "never"


def reads_in(source: FunctionType) -> Iterator[Read]:
    """The global and captured variables of code, and the attributes of modules."""
    cells = dict(
        zip(source.__code__.co_freevars, source.__closure__ or (), strict=True)
    )
    for name, attributes in loads_of(source.__code__):
        if name in cells:
            text, value = name, cells[name].cell_contents
        elif name in source.__globals__:
            text, value = name, source.__globals__[name]
        else:
            continue
        yield Read(text, value, direct=True)
        for attribute in attributes:
            if not of_program(value):
                break
            text, value = f"{text}.{attribute}", getattr(value, attribute, None)
            yield Read(text, value, direct=False)


@cache
def loads_of(code: CodeType) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The outer variables that code reads, each with attributes that follow."""
    found: list[tuple[str, tuple[str, ...]]] = []
    follows = False
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_DEREF"):
            found.append((step.argval, ()))
            follows = True
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and follows:
            name, attributes = found[-1]
            found[-1] = name, (*attributes, step.argval)
        else:
            follows = False
    inner = [part for part in code.co_consts if isinstance(part, CodeType)]
    return tuple(
        dict.fromkeys([*found, *[x for part in inner for x in loads_of(part)]])
    )


def of_program(x: Any) -> bool:
    """Whether a value is a module whose attributes may change."""
    return isinstance(x, ModuleType) and not is_constant_module(x)


def is_constant_module(x: Any) -> bool:
    return isinstance(x, ModuleType) and x.__name__.partition(".")[0] in CONSTANT


# comparisons


def held(x: Any) -> Any:
    """A value as it is now, for a comparison later."""
    if isinstance(x, ARRAYS):
        return np.array(x)
    if isinstance(x, tuple):
        return tuple(map(held, x))
    return (x, *x.overloads.values()) if is_compiled(x) else x


def is_compiled(x: Any) -> bool:
    return hasattr(x, "overloads") and hasattr(x, "py_func")


def holds(known: Compared, overloads: Any, reads: list[Read]) -> bool:
    """Whether nothing has changed since a comparison."""
    if not (identical(known.overloads, overloads) and len(reads) == len(known.values)):
        return False
    return all(
        read.text == text and unchanged(value, read.value)
        for read, (text, value) in zip(reads, known.values, strict=True)
    )


def identical(one: Any, other: Any) -> bool:
    same = [x is y for x, y in zip(one, other, strict=False)]
    return len(one) == len(other) and all(same)


def unchanged(old: Any, new: Any) -> bool:
    if isinstance(new, ARRAYS):
        return alike(old, np.asarray(new))
    if not (isinstance(new, tuple) or is_compiled(new)):
        return equal(old, new)
    if not isinstance(old, tuple):
        return False
    if is_compiled(new):
        return identical(old, held(new))
    return len(old) == len(new) and all(map(unchanged, old, new))


def alike(old: Any, new: Any) -> bool:
    if not isinstance(old, np.ndarray) or old.dtype != new.dtype:
        return False
    return bool(old.shape == new.shape and old.tobytes() == new.tobytes())


def equal(old: Any, new: Any) -> bool:
    """Whether two values are one, or equal constants of one class."""
    if old is new:
        return True
    if isinstance(old, Text):
        return ADDRESS.sub("", old) == ADDRESS.sub("", str(new))
    if type(old) is not type(new) or not isinstance(new, (*PLAIN, tuple)):
        return False
    if isinstance(new, tuple):
        return len(old) == len(new) and all(
            equal(x, y) for x, y in zip(old, new, strict=True)
        )
    return repr(old) == repr(new)


def is_plain(x: Any) -> bool:
    if isinstance(x, tuple):
        return all(map(is_plain, x))
    if isinstance(x, np.void):
        return False
    return isinstance(x, (*PLAIN, *CODE)) or is_compiled(x)


def compared(f: Any, overloads: tuple[Any, ...], reads: list[Read]) -> str:
    """Why compiled code and source differ, if they do."""
    for compiled in overloads:
        frozen, unsure = frozen_in(compiled), []
        for read in reads:
            values = frozen.get(read.text, []) if read.direct else []
            if not values or not is_plain(read.value):
                unsure += [] if is_constant_module(read.value) else [read]
                continue
            for value in values:
                if not equal(value, read.value):
                    return change_of(read, value)
            if is_older(read.value, compiled):
                return f"{read.text} was not yet compiled again"
        if unsure and not is_same_code(f, compiled):
            names = dict.fromkeys(read.text for read in unsure)
            return f"the value of {' or '.join(names)} may have been another"
    return ""


def frozen_in(compiled: Any) -> dict[str, list[Any]]:
    """The values of variables in numba's intermediate code, if it is there."""
    found: dict[str, list[Any]] = {}
    if isinstance(compiled.type_annotation, str):  # from numba's cache
        for name, text in CACHED.findall(compiled.type_annotation):
            found.setdefault(name, []).append(Text(text))
        return found
    for value in outer_values(compiled.type_annotation.blocks):
        found.setdefault(value.name, []).append(value.value)
    return found


def outer_values(blocks: Any) -> Iterator[Any]:
    """The global and captured variables in blocks, also of parallel loops."""
    for block in blocks.values():
        for statement in block.body:
            value = vars(statement).get("value")
            if type(value).__name__ in ("Global", "FreeVar"):
                yield value
            if hasattr(statement, "loop_body"):
                yield from outer_values(statement.loop_body)


def defaults_of(f: Any) -> tuple[Any, ...]:
    """The defaults of arguments as numba has taken them."""
    parameters = f._compiler.pysig.parameters.values()  # noqa: SLF001
    return tuple(p.default for p in parameters if p.default is not p.empty)


def is_older(callee: Any, compiled: Any) -> bool:
    """Whether compiled code contains an earlier compilation of what it calls."""
    if not is_compiled(callee) or not callee.overloads:
        return False
    parts = getattr(compiled.library, "_linking_libraries", None) or ()
    own = [overload.library for overload in callee.overloads.values()]
    return bool(parts) and not any(part is library for part in parts for library in own)


def change_of(read: Read, old: Any) -> str:
    if isinstance(read.value, CODE) or is_compiled(read.value):
        return f"{read.text} was another function"
    return f"{read.text} was {old}, and is {read.value} now"


def is_same_code(f: Any, compiled: Any) -> bool:
    """Whether numba would make the same code now."""
    if isinstance(compiled.type_annotation, str):
        return False  # nothing is known of code from numba's cache
    try:
        fresh = type(f)(f.py_func, targetoptions=dict(f.targetoptions))
        fresh.compile(compiled.signature.args)
        made = fresh.overloads[compiled.signature.args]
        return code_text(made) == code_text(compiled)
    except Exception:  # of numba: it is not known
        return False


def code_text(compiled: Any) -> str:
    """The text of compiled code, without what each compilation names anew."""
    lines = compiled.library.get_llvm_str().splitlines()
    kept = [x for x in lines if not x.startswith((";", "source_filename"))]
    kept = without_messages(kept)
    text = "\n".join(x for x in kept if "missing Environment" not in x)
    names: dict[str, str] = {}
    return NAME.sub(
        lambda found: names.setdefault(found.group(), f"n{len(names)}"),
        NUMBERS.sub("", text),
    )


def without_messages(lines: list[str]) -> list[str]:
    """Code without the exceptions that it may raise, and the digests of these."""
    messages = {found.group(1) for x in lines if (found := MESSAGE.match(x))}
    about = [x for x in lines if " constant { " in x and messages & names_in(x)]
    related = messages.union(*map(names_in, about))
    return [
        x
        for x in lines
        if x not in about
        and not ((found := MESSAGE.match(x) or DIGEST.match(x)) and found[1] in related)
    ]


def names_in(line: str) -> set[str]:
    return {found.group() for found in NAME.finditer(line)}
