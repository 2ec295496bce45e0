"""Random programs at the edges of Python's meaning, which are compiled.

Variables that may have no value, loops without steps, whole numbers near powers of two,
divisions by zero, indices outside of arrays, truth values as numbers, floats that no
integer holds, and errors whose result has no use. Most raise an error for some
arguments.
"""

import linecache
import math
import random
from typing import Any

import numpy as np

from tests.engine.straight.random_numbers import HELPERS, Writer

__all__ = ["WHOLE", "edge_arguments", "edge_program"]

POWERS = [2**31, 2**32, 2**53, 2**61, 2**62, 2**63]
WHOLE = [
    *range(-3, 4), True,
    *[sign * power + step for power in POWERS for sign in (1, -1)
      for step in (-1, 0, 1)],
]  # fmt: skip
LATE = """
def late(u, count):
    for k in range(count):
        if u > 0.25 * k:
            v = u * k + 1.0
    return 0.5 * v + 0.1 * k

def later(u, count):
    while count > 2:
        w = u * 0.5
        count = count - 1
    return w if u > 0.0 else u
"""
WHOLES = (
    "k + {}", "k - {}", "k * {}", "-k", "-{}", "k // {}", "{} // k", "k % {}", "{} % k",
    "int({1} * 1e18)", "int({1} * 1e3)", "math.floor({1} * k)",
    "math.ceil({1} * 1e18)", "k ** 2", "int(b[1] * {1})", "len(a) * {}", "min(k, {})",
    "max(k, {})", "({}) // -1",
)  # fmt: skip
ODD = (
    "late({}, n)", "later({}, n)", "{} / (n - 2)", "math.log({} - 0.5)",
    "math.acos(2.0 * {})", "math.exp(400.0 * {})", "{} ** n", "({} > y) * {}", "k / 3",
    "k * {}", "float(k)", "{} % (n - 1)", "{} // y", "math.sqrt({})", "(not {}) * y",
    "(k > {}) * {}", "math.sin(k)", "({} or y)", "{} ** -1", "{} ** 3",
)  # fmt: skip


class EdgeWriter(Writer):
    """Writes one program from a seed."""

    def __init__(self, seed: int):
        super().__init__(seed)
        self.whole = ["n", "n", "c"]

    def body(self, count: int = 3) -> None:
        """A block; sometimes what it assigns is read after it."""
        held = set(self.numbers), set(self.whole)
        super().body(count)
        made = [name for name in self.made if name not in held[0]]
        self.numbers += self.random.sample(made, min(len(made), self.pick(0, 0, 1)))

    @property
    def made(self) -> list[str]:
        return [f"t{i}" for i in range(1, self.count + 1) if self.is_made(f"t{i}")]

    def is_made(self, name: str) -> bool:
        return any(line.strip().startswith(f"{name} = ") for line in self.lines)

    def index(self) -> Any:
        return self.pick(super().index(), super().index(), super().index(), "n", "c")

    def statement(self) -> None:
        if self.random.random() < 0.35:
            self.pick(
                self.odd, self.odd, self.count_odd, self.turns, self.dead, self.truth
            )()
        else:
            super().statement()

    def odd(self) -> None:
        one, other = self.number(0), self.number(0)
        own = self.pick("x", "s", "y", "total")
        text = self.pick(*ODD).format(one, other) if one else ""
        self.put(f"{own} = 0.5 * {own} + {text}")

    def count_odd(self) -> None:
        whole, one = self.pick(*self.whole, "2", "-1"), self.number(0)
        self.put(f"c = {self.pick(*WHOLES).format(whole, one)}")

    def turns(self) -> None:
        """A range at the edges, left at its second step."""
        name = self.new("i")
        ends = self.pick(
            "k", "k - 2, k + 2", "c", "0, k, c", "k, -k, -1", "c, k", "n - 3"
        )
        self.put(f"for {name} in range({ends}):")
        self.put(f"    s = 0.5 * s + 0.125 * {self.pick(name, 'x')}")
        self.put(f"    if s > x or {name} != {self.pick('k', '0')}:")
        self.put("        break")
        if self.pick(True, False):
            self.whole.append(name)

    def dead(self) -> None:
        """An error whose result changes nothing."""
        self.put(f"if {self.pick(*ODD).format(self.number(0), 'x')} > 0.0:")
        self.put("    pass")

    def truth(self) -> None:
        test = self.pick("x > y", "k > n", "a[0] > s", "not y > x", "n == 2")
        other = self.pick("and k != n", "or s > x", "", "")
        self.put(f"q = {test} {other}")
        self.put(f"s = 0.25 * s + q * {self.pick(*self.numbers)}")

    def text(self) -> str:
        return super().text().replace("(x, y, a, n):", "(x, y, a, n, k):")


def edge_program(seed: int) -> tuple[Any, str]:
    """A program, and its text."""
    text = EdgeWriter(seed).text()
    name = f"<edges {seed}>"
    whole = f"{HELPERS}\n{LATE}\n{text}\n"
    linecache.cache[name] = len(whole), None, whole.splitlines(True), name
    namespace = {"np": np, "math": math, "__name__": "random_edges"}
    exec(compile(whole, name, "exec"), namespace)
    return namespace["program"], text


def edge_arguments(seed: int) -> tuple[Any, ...]:
    """Arguments of one kind; those of another seed differ."""
    rng = random.Random(seed)
    x, y = rng.choice([0.0, 1.0, 0.5, -1.25, rng.uniform(-2, 2)]), rng.uniform(-2, 2)
    a = np.array([rng.choice([0.0, 1.0, rng.uniform(-2, 2)]) for _ in range(4)])
    return x, y, a, rng.randint(0, 5), rng.choice(WHOLE[:7] + WHOLE[8:])
