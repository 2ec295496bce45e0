"""Code that takes a call apart: it asks for the kinds, and gives cotangents their form.

A solver calls a function hundreds of times. To look at the kinds of all arguments and
captured values in a loop would take longer than the function.
"""

from itertools import count
from types import FunctionType, MethodType
from typing import Any

import numpy as np
from numpy import ndarray

from rules_autodiff._lift.compile import PARSING
from rules_autodiff._lift.lift import unlifted
from rules_autodiff.straight._guard.class_entries import overrides
from rules_autodiff.straight._guard.function_kinds import (
    as_written,
    is_attribute,
    is_entry,
    is_instance,
)
from rules_autodiff.straight._program.kinds import kind_of
from rules_core import (
    AbstractZero,
    MutableTangent,
    NoTangent,
    StructuralTangent,
    Tangent,
    backing,
    structure,
)

from .results import array_like, check_finite
from .signatures import DOUBLE, leave
from .tier import check_cotangent

__all__ = ["Code", "tangent_at"]

FLOATS = (float, np.float64)
CLOSED = "{}.__closure__[{}].cell_contents"


class Root:
    """What is called, for the guard, which looks at functions from here."""

    __slots__ = ("functions",)

    def __init__(self, functions: Any) -> None:
        self.functions = functions


class Entry:
    """The text of the two functions, while it is written.

    Attributes:
        lines: What asks for the kinds.
        functions: The texts of functions that no other captures, for the guard.
        asked: The names of all functions, of which none may have rules.
        holders: Those of what must not stand in two places: its cotangents are one.
        leaves: Those of the leaves of the arguments.
        active: Those of leaves that have a cotangent.
        reals: The names of cotangents that are numbers.
        paths: The way to each of these in the tangents of a call.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.functions: list[str] = []
        self.asked: list[str] = []
        self.holders: list[str] = []
        self.leaves: list[str] = []
        self.active: list[str] = []
        self.reals: list[str] = []
        self.paths: list[tuple[Any, ...]] = []
        self.path: tuple[Any, ...] = ()
        self.numbers = count()
        self.namespace: dict[str, Any] = {
            "ndarray": ndarray, "float64": np.float64, "double": DOUBLE,
            "function": FunctionType, "kind_of": kind_of, "none": NoTangent(),
            "Root": Root, "Tangent": Tangent, "unlifted": unlifted,
            "check_finite": check_finite, "array_like": array_like,
        }  # fmt: skip

    def constant(self, value: Any) -> str:
        name = f"k{len(self.namespace)}"
        self.namespace[name] = value
        return name

    def forbid(self, test: str) -> None:
        self.lines += [f"    if {test}:", "        return None"]

    def read(self, text: str) -> str:
        name = f"x{next(self.numbers)}"
        self.lines.append(f"    {name} = {text}")
        return name

    def value(self, text: str, x: Any, *, top: bool = True, leaf: bool = True) -> str:
        """Ask for the kind of a value; the text of its cotangent.

        Args:
            text: The text of the value.
            x: The value at a call.
            top: Whether no function captures it.
            leaf: Whether its leaves are arguments of the generated code.
        """
        cls = type(x)
        name = self.read(text)
        if cls is FunctionType:
            return self.function(name, x, top=top, leaf=leaf)
        if cls is tuple or cls is list or cls is dict:
            return self.entries(name, x, top=top, leaf=leaf)
        if cls is MethodType:
            return self.method(name, x, top=top, leaf=leaf)
        if is_instance(x):
            return self.instance(name, x, top=top, leaf=leaf)
        active = cls in FLOATS or (cls is ndarray and x.dtype is DOUBLE)
        if cls in FLOATS:
            self.forbid(f"type({name}) is not float and type({name}) is not float64")
        elif active:
            self.forbid(
                f"type({name}) is not ndarray or {name}.dtype is not double "
                f"or {name}.ndim != {x.ndim}"
            )
        elif kind_of(x) is not None:
            self.forbid(f"kind_of({name}) != {self.constant(kind_of(x))}")
        else:  # the guard looks at it
            self.forbid(f"type({name}) is not {self.constant(cls)}")
        if leaf:
            self.leaves.append(name)
        if not active or not leaf:
            return "none"
        self.active.append(name)
        self.paths.append(self.path)
        if cls is ndarray:
            return f"array_like({name}, c{name})"
        self.reals.append(f"c{name}")
        return f"(c{name} if type(c{name}) is type({name}) else type({name})(c{name}))"

    def inside(self, key: Any, text: str, x: Any, *, top: bool, leaf: bool) -> str:
        """`value` of an entry of a value."""
        before, self.path = self.path, (*self.path, key)
        found = self.value(text, x, top=top, leaf=leaf)
        self.path = before
        return found

    def entries(self, name: str, x: Any, *, top: bool, leaf: bool) -> str:
        cls = type(x)
        self.forbid(f"type({name}) is not {cls.__name__}")
        if cls is dict:
            self.forbid(f"tuple({name}) != {self.constant(tuple(x))}")
        else:
            self.forbid(f"len({name}) != {len(x)}")
        if cls is not tuple:
            self.holders.append(name)
        keys = list(x) if cls is dict else range(len(x))
        texts = [
            self.inside(key, f"{name}[{key!r}]", x[key], top=top, leaf=leaf)
            for key in keys
        ]
        if cls is dict:
            pairs = zip(map(repr, keys), texts, strict=True)
            return f"{{{', '.join(map(': '.join, pairs))}}}"
        row = "".join(f"{text}, " for text in texts)
        return f"({row})" if cls is tuple else f"[{row}]"

    def function(self, name: str, x: FunctionType, *, top: bool, leaf: bool) -> str:
        code = self.constant(x.__code__)
        self.forbid(f"type({name}) is not function or {name}.__code__ is not {code}")
        own = as_written(x)
        self.asked.append(name)
        if top:
            self.functions.append(name if own is x else f"unlifted({name})")
        if not x.__closure__:
            return "none"
        self.holders.append(name)
        names = x.__code__.co_freevars
        items = dict.fromkeys(names, "none")
        for key, cell in zip(
            own.__code__.co_freevars, own.__closure__ or (), strict=True
        ):
            i, value = names.index(key), cell.cell_contents
            active = leaf and is_entry(value)
            if active:
                self.holders.append(self.read(f"{name}.__closure__[{i}]"))
            text = CLOSED.format(name, i)
            found = self.inside(key, text, value, top=False, leaf=active)
            items[key] = found if active else "none"
        given = ", ".join(f"{key!r}: {text}" for key, text in items.items())
        return f"Tangent(function, **{{{given}}})"

    def method(self, name: str, x: MethodType, *, top: bool, leaf: bool) -> str:
        self.forbid(f"type({name}) is not {self.constant(MethodType)}")
        if top:
            self.functions.append(name)
        self.inside("__func__", f"{name}.__func__", x.__func__, top=False, leaf=leaf)
        own = f"{name}.__self__"
        found = self.inside("__self__", own, x.__self__, top=False, leaf=leaf)
        cls = self.constant(MethodType)
        return f"Tangent({cls}, __self__={found})"

    def instance(self, name: str, x: Any, *, top: bool, leaf: bool) -> str:
        cls, keys = self.constant(type(x)), self.constant(tuple(vars(x)))
        usual = self.constant(object.__getattribute__)
        self.forbid(f"type({name}) is not {cls} or tuple({name}.__dict__) != {keys}")
        changed = (
            f"{cls}.__getattribute__ is not {usual} or hasattr({cls}, '__getattr__')"
        )
        self.forbid(changed)
        self.namespace["overrides"] = overrides
        if top:
            self.functions.append(name)
        self.holders.append(name)
        items = {}
        for key, value in vars(x).items():
            self.forbid(f"overrides({cls}, {key!r})")
            active = leaf and is_attribute(value)
            text = f"{name}.__dict__[{key!r}]"
            found = self.inside(key, text, value, top=False, leaf=active)
            items[key] = found if active else "none"
        given = ", ".join(f"{key!r}: {text}" for key, text in items.items())
        level: Any = structure(x)
        made = self.constant(MutableTangent if level.mutable else Tangent)
        return f"{made}({cls}, **{{{given}}})"


class Code:
    """What takes calls like one call apart.

    Attributes:
        match: `match(f, args)` gives what the guard looks at, the functions, and the
            leaves; None for a call of other kinds.
        given: `given(leaves, cotangents)` gives one cotangent for the function and for
            each argument.
        paths: The way to each leaf that has a tangent, in the tangents of a call.
        active: The places of these leaves.
    """

    __slots__ = ("active", "given", "match", "paths")

    def __init__(self, f: Any, args: tuple[Any, ...]) -> None:
        entry = Entry()
        entry.forbid(f"len(args) != {len(args)}")
        texts = [entry.inside(0, "f", f, top=True, leaf=True)]
        for i, x in enumerate(args):
            texts.append(entry.inside(1 + i, f"args[{i}]", x, top=True, leaf=True))
        if len(entry.holders) > 1:
            ids = ", ".join(f"id({name})" for name in entry.holders)
            entry.forbid(f"len({{{ids}}}) != {len(entry.holders)}")
        with PARSING:
            code = compile(text_of(entry, texts), "<arguments>", "exec")
        exec(code, entry.namespace)
        self.match, self.given = entry.namespace["match"], entry.namespace["given"]
        self.paths = entry.paths
        self.active = [entry.leaves.index(name) for name in entry.active]


def text_of(entry: Entry, texts: list[str]) -> str:
    """The text of `match`, and of `given`."""
    leaves = as_row(entry.leaves)
    found = f"Root({as_row(entry.functions)}), {as_row(entry.asked)}, {leaves}"
    lines = [
        "def match(f, args):",
        "    try:",
        *[f"    {line}" for line in entry.lines],
        f"        return {found}",
        "    except (IndexError, KeyError, ValueError):",
        "        return None",
        "",
        "def given(leaves, cotangents):",
        f"    {leaves} = leaves",
        f"    {as_row([f'c{name}' for name in entry.active])} = cotangents",
        f"    check_finite({' + '.join(entry.reals)}, {', '.join(entry.reals)})"
        if entry.reals
        else "",
        f"    return {as_row(texts)}",
    ]
    return "\n".join(lines)


def as_row(texts: list[str]) -> str:
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


def tangent_at(tangent: Any, path: tuple[Any, ...], x: Any) -> Any:
    """The tangent of a leaf.

    Raises:
        Left: It is in another form than that of its number or array.
    """
    for name in path:
        if tangent is None or isinstance(tangent, AbstractZero):
            break
        if isinstance(tangent, StructuralTangent):
            tangent = backing(tangent).get(name)
        elif type(tangent) in (tuple, list, dict):
            tangent = tangent[name]
        else:
            leave(f"a tangent is of class {type(tangent).__name__}")
    if tangent is None or isinstance(tangent, AbstractZero):
        return np.zeros(x.shape) if type(x) is ndarray else 0.0
    check_cotangent(x, tangent)
    return tangent
