"""Programs that write to what they capture: each place of a state with each write.

A place is text that makes a program and a way to read its state, in which `{s}` is the
state as an expression. A write is a statement that changes the state.
"""

from __future__ import annotations

import array
import itertools
import linecache
from collections import deque
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from tests.engine.oracle_library import shown

__all__ = ["NAMES", "Program", "programs", "seen"]

NUMBERS = count()

BODY = """
        {write}
        result = x * 2.0 + weighed({s})
        {end}
        return result
"""
NONLOCAL = "s = start\n    def program(x):\n        nonlocal s{body}"
GLOBAL = "global s\n    s = start\n    def program(x):\n        global s{body}"
HELPER = (
    "s = start\n    def helper(x):\n        nonlocal s{body}"
    "    def program(x):\n        return helper(x * 1.0)"
)
GENERATOR = (
    "s = start\n    def items(x):\n        nonlocal s\n        yield x\n{body}"
    "    def program(x):\n        return sum([v for v in items(x)])"
)


def in_owner(make: str, expression: str, after: str = "") -> tuple[str, str]:
    """The state is what an expression of an owner `o` says."""
    start = f"o = {make}\n    {expression} = start\n    "
    of_two = "o, x" if after else "x"
    return expression, f"{start}def program({of_two}):{{body}}\n    {after or 'pass'}"


PLACES = {
    "nonlocal": ("s", NONLOCAL),
    "global": ("s", GLOBAL),
    "helper": ("s", HELPER),
    "generator": ("s", GENERATOR),
    "attribute": in_owner("Box()", "o.s"),
    "slot": in_owner("Slotted()", "o.s"),
    "property": in_owner("Asking()", "o.s"),
    "descriptor": in_owner("Described()", "o.s"),
    "dataclass": in_owner("Record(None)", "o.s"),
    "class": in_owner("type('C', (), {{}})", "o.s"),
    "function": in_owner("lambda: 0", "o.s"),
    "module": in_owner("ModuleType('m')", "o.s"),
    "namespace": in_owner("SimpleNamespace()", "o.s"),
    "item": in_owner("{{}}", "o['s']"),
    "entry": in_owner("[0]", "o[0]"),
    "in a tuple": in_owner("(Box(),)", "o[0].s"),
    "default": ("q[0]", "q = [start]\n    def program(x, q=q):{body}"),
    "keyword": ("q[0]", "q = [start]\n    def program(x, *, q=q):{body}"),
    "method": in_owner("Box()", "o.s", "program = MethodType(program, o)"),
    "partial": in_owner("Box()", "o.s", "program = partial(program, o)"),
    "callable": in_owner("Calling()", "o.s", "Calling.asked, program = program, o"),
}


# By state: what it starts as, and what is written to it.
STATES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "number": (lambda: 2.0, (
        "{s} = x * 3.0", "{s} += x", "{s} = {s} * x", "{s}, y = x, {s}",
        "{s} = [x, {s}]", "for {s} in (x, 2.0 * x): pass", "{s} = None; {s} = x",
        "{s} = 5.0", "{s} = np.float64(3.0) * x", "{s} = {{'a': x}}",
        "{s} = np.ones(2) * x",
    )),
    "list": (lambda: [1.0, 3.0, 2.0], (
        "{s}.append(x)", "{s}[0] = x", "{s}.extend([x, 1.0])", "{s}.insert(1, x)",
        "{s}.pop()", "{s}.sort()", "{s}.reverse()", "{s}.clear()", "{s} += [x]",
        "{s}[1:2] = [x, x]", "del {s}[0]", "{s}.remove(3.0)", "{s} *= 2",
        "{s}[-1] += x", "{s} = {s} + [x]", "{s}[0], {s}[1] = {s}[1], x",
        "{s}.append({s})", "heapq.heappush({s}, x)", "bisect.insort({s}, x)",
        "random.shuffle({s})", "operator.setitem({s}, 1, x)", "list.append({s}, x)",
        "{s}[:] = [x]",
    )),
    "dict": (lambda: {"a": 1.0, "b": 2.0}, (
        "{s}['a'] = x", "{s}.update(c=x)", "{s}.pop('a')", "{s}.setdefault('c', x)",
        "{s}.clear()", "{s} |= {{'b': x}}",
        "dict.__ior__({s}, {{'b': x}})", "del {s}['a']", "{s}.popitem()",
        "{s}['b'] *= x", "{s} = {{**{s}, 'c': x}}", "{s}['d'] = {{'e': [x]}}",
    )),
    "array": (lambda: np.array([1.0, 3.0, 2.0]), (
        "{s}[0] = x", "{s} += x", "{s}[:] = {s} * x", "np.copyto({s}, x)",
        "{s}.fill(x)", "{s}.sort()", "np.add.at({s}, [0, 0], x)", "{s}[{s} > 1.5] = x",
        "np.multiply({s}, x, out={s})", "{s} = {s} * x", "{s}[1:] -= x * {s}[:-1]",
        "{s}[::-1][0] = x", "np.put({s}, [1], x)", "{s}.flat[2] = x", "{s}.T[1] = x",
        "np.fill_diagonal({s}[:, None], x)", "{s}.real[0] = x", "{s} **= 2",
    )),
    "deque": (lambda: deque([1.0, 3.0], 3), (
        "{s}.append(x)", "{s}.appendleft(x)", "{s}.rotate(1)", "{s}.popleft()",
        "{s}.extend([x, x])", "{s}[0] = x", "{s}.clear()", "{s} += [x]",
        "deque.__setitem__({s}, 0, x)", "deque.__delitem__({s}, 0)", "{s} *= 2",
    )),
    "object": (lambda: Box(), (
        "{s}.v = x", "setattr({s}, 'v', x)", "{s}.__dict__['v'] = x", "{s}.v += x",
        "del {s}.u", "{s}.u.append(x)", "{s}.u = ({s}.v, x)", "vars({s})['w'] = x",
        "{s}.a[0] *= x", "{s}.__dict__.update(v=x)", "object.__setattr__({s}, 'v', x)",
    )),
    "set": (lambda: {1, 2}, (
        "{s}.add(7)", "{s}.discard(1)", "{s} |= {{5}}", "{s}.clear()", "{s}.pop()",
        "{s} &= {{1}}", "{s} -= {{1}}", "{s} ^= {{1, 5}}", "set.__ior__({s}, {{5}})",
        "{s}.update([5])", "{s}.symmetric_difference_update([1])",
    )),
    "bytes": (lambda: bytearray(b"ab"), (
        "{s}[0] = 7", "{s} += b'c'", "{s}.clear()", "{s}.append(7)", "del {s}[0]",
        "{s}.extend(b'cd')", "{s}.reverse()", "{s}.pop()", "{s}[:1] = b'xyz'",
    )),
    "numbers": (lambda: array.array("d", [1.0, 3.0]), (
        "{s}[0] = 7.0", "{s}.append(7.0)", "{s} += {s}", "{s}.reverse()", "{s}.pop()",
        "{s}.extend([2.0, 5.0])", "del {s}[0]", "{s}.insert(0, 4.0)", "{s} *= 2",
    )),
}  # fmt: skip
ENDS = {"returns": "pass", "raises": "raise ValueError('after the write')"}

PREAMBLE = """
import array, bisect, heapq, operator, random
from collections import deque
from dataclasses import dataclass
from functools import partial
from types import MethodType, ModuleType, SimpleNamespace
import numpy as np

class Slotted:
    __slots__ = ("s",)

class Asking:
    @property
    def s(self):
        return self.kept

    @s.setter
    def s(self, value):
        self.kept = value

class Keeping:
    def __get__(self, owner, cls=None):
        return owner.__dict__["kept"]

    def __set__(self, owner, value):
        owner.__dict__["kept"] = value

class Described:
    s = Keeping()

@dataclass
class Record:
    s: object

class Calling:
    def __call__(self, x):
        return type(self).asked(self, x)

def weighed(s):
    if isinstance(s, dict):
        return sum([weighed(v) for v in s.values()])
    if isinstance(s, (list, tuple, deque)):
        return sum([weighed(v) for v in s if v is not s])
    if isinstance(s, array.array):
        return sum(s) * 1.0
    if isinstance(s, np.ndarray):
        return np.sum(s * s)
    if isinstance(s, (set, bytearray, str, type(None))):
        return 0.0
    if isinstance(s, Box):
        return weighed(s.v) + weighed(s.a)
    return s * 1.5
"""


class Box:
    """An object with a number, a list and an array."""

    def __init__(self) -> None:
        self.v, self.u, self.a = 2.0, [1.0], np.array([1.0, 4.0])


class Program(NamedTuple):
    """A program with a state: what it is, and how to make it anew."""

    place: str
    state: str
    write: str
    end: str

    def made(self) -> tuple[Any, Any, Any]:
        """The program, a function that reads its state, and the state itself."""
        make = maker(self)
        start = STATES[self.state][0]()
        f, read = make(start)
        return f, read, start


# Names are not given back what they were: where they live a run cannot see.
NAMES = ("nonlocal", "global", "helper", "generator")
MADE: dict[Program, Any] = {}


def maker(program: Program) -> Any:
    """`make(start)`, from a text that the engine can read."""
    if program not in MADE:
        expression, text = PLACES[program.place]
        write = program.write.format(s=expression).replace("; ", "\n        ")
        body = BODY.format(write=write, s=expression, end=ENDS[program.end])
        source = f"def make(start):\n    {text.format(body=body)}\n"
        source += f"    return program, lambda: {expression}\n"
        lines = (PREAMBLE + source).splitlines(keepends=True)
        name = f"<captured {next(NUMBERS)}>"
        linecache.cache[name] = (len("".join(lines)), None, lines, name)
        scope: dict[str, Any] = {"Box": Box, "__name__": __name__}
        exec(compile("".join(lines), name, "exec"), scope)
        MADE[program] = scope["make"]
    return MADE[program]


def programs() -> list[Program]:
    """Each write at each place, with each end."""
    return [
        Program(place, state, write, end)
        for place, end in itertools.product(PLACES, ENDS)
        for state, (_, writes) in STATES.items()
        for write in writes
    ]


def seen(x: Any) -> Any:
    """A state to be compared, also one that holds itself."""
    if isinstance(x, Box):
        return "Box", [(k, seen(v)) for k, v in vars(x).items()]
    if isinstance(x, list):
        return "list", ["itself" if v is x else seen(v) for v in x]
    return shown(x)
