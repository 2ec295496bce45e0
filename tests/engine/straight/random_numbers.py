"""Random programs of numbers, small arrays and slices, which are compiled.

Loops with `break`, `continue` and `else`, branches that return, whole numbers, sums
that start with 0, writes into fresh arrays and arguments, helpers. No number leaves
the domain of a function.
"""

import linecache
import math
import random
from typing import Any

import numpy as np

__all__ = ["arguments", "number_program"]

CURVES = (
    "math.sin({})", "math.tanh({})", "math.exp(0.1 * math.sin({}))",
    "math.sqrt(1.0 + {0} * {0})", "math.log(2.0 + {0} * {0})", "np.cos({})",
    "math.atan2({}, 2.0)", "(1.0 + {0} * {0}) ** 1.5", "{} / 3.0", "{} ** 2",
    "abs({})", "float({})", "(2.0 + {0} * {0}) ** -0.5", "helper({}, y)",
    "np.exp(0.1 * np.sin({}))",
    "-{}", "min({}, y)", "max({}, 0.25)", "early({}, n)", "pair({}, y)[0]",
)  # fmt: skip
FRESH = ("a.copy()", "np.zeros(4)", "a * y", "np.tanh(a)", "2.0 * a - y", "np.ones(4)")
HELPERS = """
def helper(u, v):
    if u > v:
        return u * 0.5
    return u + 0.1 * math.sin(v)

def early(u, count):
    for k in range(count):
        u = 0.5 * u + 0.1 * k
        if u > 1.5:
            return u - 1.0
    return u * 1.25

def pair(u, v):
    return u * v, u - v
"""


class Writer:
    """Writes one program from a seed."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.numbers = ["x", "y", "s"]
        self.whole = ["n"]
        self.arrays = ["a", "b"]
        self.depth, self.loops, self.count = 1, 0, 0

    def pick(self, *options: Any) -> Any:
        return self.random.choice(options)

    def put(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def new(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def index(self) -> Any:
        whole = self.pick(*self.whole)
        return self.pick(
            f"{whole} % 4", f"({whole} + 1) % 4", "0", "-1", "3", f"-1 - {whole} % 4"
        )

    def number(self, depth: int = 2) -> Any:
        """The text of a number."""
        if depth == 0:
            entry = f"{self.pick(*self.arrays)}[{self.index()}]"
            return self.pick(*self.numbers, *self.numbers, entry, "0.75", "1.5")
        one, other = self.number(depth - 1), self.number(depth - 1)
        whole = f"{self.pick(*self.whole)} * {one}"
        curve = self.pick(*CURVES).format(f"({one})")
        return self.pick(
            f"({one} + {other})", f"({one} - {other})", f"(0.5 * {one} * {other})",
            curve, curve, f"({one} / (2.0 + {other} * {other}))", f"({whole}) / 4",
            f"({one} if {self.test()} else {other})",
        )  # fmt: skip

    def test(self) -> Any:
        sign = self.pick("<", ">", "<=", ">=")
        whole = f"{self.pick(*self.whole)} % 2 == {self.pick(0, 1)}"
        return self.pick(f"{self.number(0)} {sign} {self.number(0)}", whole)

    def body(self, count: int = 3) -> None:
        held = [*self.numbers], [*self.whole], [*self.arrays]
        self.depth += 1
        for _ in range(self.random.randint(1, count)):
            self.statement()
        self.depth -= 1
        self.numbers, self.whole, self.arrays = held

    def statement(self) -> None:
        options = [
            self.let, self.let, self.change, self.change, self.write, self.write_part,
            self.add, self.swap, self.count_up,
        ]  # fmt: skip
        if self.depth < 4:
            options += [self.branch, self.loop, self.loop, self.search, self.leave]
        self.pick(*options)()

    def let(self) -> None:
        value, name = self.number(), self.new("t")
        self.put(f"{name} = {value}")
        self.numbers.append(name)

    def change(self) -> None:
        own = self.pick("x", "s", "y")
        self.put(f"{own} = math.tanh({self.number()}) + 0.1 * {self.number(1)}")

    def add(self) -> None:
        self.put(f"total {self.pick('+=', '-=')} {self.number(1)}")

    def write(self) -> None:
        sign = self.pick("=", "=", "+=", "-=")
        self.put(f"b[{self.index()}] {sign} math.sin({self.number(1)})")

    def write_part(self) -> None:
        self.put(self.pick(
            f"b[1:] = 0.5 * b[:-1] + {self.number(0)}",
            f"b[:2] = a[2:] * {self.number(0)}",
            "b[::2] += 0.1 * a[1::2]",
            f"b[:] = np.tanh({self.number(0)} * b)",
            f"b = {self.pick(*FRESH)}",
            "b += 0.1 * a", f"b[1:3] = {self.number(0)}", "a[1:] -= 0.1 * b[:3]",
        ))  # fmt: skip

    def swap(self) -> None:
        self.put(f"x, s = {self.number(1)}, 0.5 * x")

    def count_up(self) -> None:
        self.put(self.pick("c = (c * 3 + 1) % 7", "c += n", "c = c // 2 - 1"))

    def branch(self) -> None:
        self.put(f"if {self.test()}:")
        self.body()
        if self.pick(True, False):
            self.put("else:")
            self.body()

    def loop(self) -> None:
        name = self.new("i")
        kind = self.pick("range", "range", "items", "while")
        if kind == "while":
            self.put(f"{name} = 0")
            self.put(f"while {name} < {self.pick('n', '3')}:")
            self.put(f"    {name} += 1")
        elif kind == "items":
            item = self.new("v")
            self.put(f"for {name}, {item} in enumerate({self.pick('a', 'b.copy()')}):")
            self.numbers.append(item)
        else:
            bounds = self.pick("n", "1, n + 1", "n, 0, -1", "4")
            self.put(f"for {name} in range({bounds}):")
        self.whole.append(name)
        if self.pick(True, False, False):
            self.put(f"    if {self.test()}:")
            self.put(f"        {self.pick('break', 'continue')}")
        self.body(4)
        self.whole.remove(name)
        self.numbers = [v for v in self.numbers if not v.startswith("v")]

    def search(self) -> None:
        name = self.new("i")
        self.put(f"for {name} in range(4):")
        self.put(f"    if a[{name}] > {self.number(0)}:")
        self.put("        break")
        self.put("else:")
        self.body(1)

    def leave(self) -> None:
        self.put(f"if {self.number(0)} > 1.4:")
        self.put(f"    return {self.number(1)} + total")

    def text(self) -> str:
        for _ in range(self.random.randint(4, 8)):
            self.statement()
        self.put("return " + self.pick(
            "s + x * y + total + np.sum(b)", "s + total * 0.5 + b[0] * a[-1] + c * x",
            "np.sum(a * b) + s + total", f"{self.number()} + total + s * b[-1]",
        ))  # fmt: skip
        head = ["def program(x, y, a, n):", "    s, c, total = 1.0, 1, 0",
                "    b = 0.5 * a"]  # fmt: skip
        return "\n".join([*head, *self.lines])


def number_program(seed: int) -> tuple[Any, str]:
    """A program, and its text."""
    text = Writer(seed).text()
    name = f"<numbers {seed}>"
    whole = f"{HELPERS}\n{text}\n"
    linecache.cache[name] = len(whole), None, whole.splitlines(True), name
    namespace = {"np": np, "math": math, "__name__": "random_numbers"}
    exec(compile(whole, name, "exec"), namespace)
    return namespace["program"], text


def arguments(seed: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(-1.5, 1.5, 2).tolist()
    return x, y, rng.uniform(-1.5, 1.5, 4), int(rng.integers(0, 5))
