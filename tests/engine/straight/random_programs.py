"""Random programs in the language of the straight-line tier.

Loops of every kind, `break`, `continue`, `else` and returns in the middle; writes into
fresh arrays; names that are used again for values of another kind; calls of helpers;
what a module and a closure hold. A program is text, registered in `linecache`. Its
tests are marked, so that a second function records what they decide.
"""

import linecache
import math
import re

import numpy as np

from tests.engine.straight import random_helpers
from tests.engine.straight.random_structures import Structures
from tests.engine.straight.random_texts import COLUMN, MATRIX, VECTOR

TRACE: list[bytes] = []
MARK = re.compile(r"\bTEST\(")
HEADER = """
def make(bias, grid):
    def program(x, y, a, b, m, n):
"""
FRESH = {
    VECTOR: (
        "np.zeros(4)",
        "np.ones(len(a))",
        "np.zeros_like(a)",
        "WEIGHTS * 1.0",
        "a.copy()",
        "(a + y)",
        "np.exp(0.3 * b)",
        "np.tanh(a)",
        "m[0] * x",
        "np.copy(m[1])",
    ),
    MATRIX: (
        "np.zeros((3, 4))",
        "np.ones((3, len(b)))",
        "np.zeros_like(m)",
        "m.copy()",
        "np.tanh(m)",
        "grid * y",
        "np.empty_like(m) * 0.0",
    ),
}
SLICES = {
    "1:": 3,
    ":-1": 3,
    "::-1": 4,
    ":": 4,
    "::2": 2,
    "2:": 2,
    "-2:": 2,
    "3:0:-1": 3,
}


def note(condition):
    """Record what a test decided."""
    TRACE.append(np.asarray(condition).tobytes())
    return condition


class Writer(Structures):
    """Writes one program from a seed."""

    def block(self, count=3):
        """Statements whose new names end with it."""
        held = [*self.numbers], [*self.whole]
        arrays = {shape: [*names] for shape, names in self.arrays.items()}
        mutable = {shape: [*names] for shape, names in self.mutable.items()}
        self.depth += 1
        for _ in range(self.random.randint(1, count)):
            self.statement()
        self.depth -= 1
        (self.numbers, self.whole), self.arrays, self.mutable = held, arrays, mutable

    def statement(self):
        self.pick(
            self.let_number,
            self.let_number,
            self.let_array,
            self.let_array,
            self.change,
            self.change,
            self.swap,
            self.fresh,
            self.write,
            self.write,
            self.write_slice,
            self.write_all,
            self.mask,
            self.branch,
            self.branch,
            self.loop,
            self.loop,
            self.search,
            self.unpack,
            self.reuse,
            self.inactive,
            self.leave,
            self.factors,
            self.alias,
            self.local_function,
            self.tuples,
            self.unrolled,
            self.containers,
            self.functions,
            self.filled_list,
            self.comprehended,
            self.classes,
        )()

    # variables

    def let_number(self):
        value = self.number(self.random.randint(1, 3))
        name = self.new("s")
        self.emit(f"{name} = {value}")
        self.numbers.append(name)

    def let_array(self):
        shape = self.pick(VECTOR, VECTOR, COLUMN, MATRIX)
        value = self.array(shape, self.random.randint(1, 3))
        name = self.new("v")
        self.emit(f"{name} = {value} * {self.pick('1.0', '0.5', 'x')}")
        self.arrays[shape].append(name)

    def change(self):
        name = self.pick(*self.numbers)
        sign = self.pick("+=", "-=", "*=", "=")
        value = (
            f"{name} * {self.number(1)}"
            if sign == "="
            else f"np.tanh({self.number(2)})"
        )
        self.emit(f"{name} {sign} {value}")

    def swap(self):
        s, t = self.pick(*self.numbers), self.pick(*self.numbers)
        self.emit(
            self.pick(
                f"{s}, {t} = {t}, {s}",
                f"{s}, {t} = {t} * 0.5, {s} + {t}",
                f"{s} = {t} = {self.number(2)}",
            )
        )

    def unpack(self):
        s, v = self.new("s"), self.new("v")
        if self.chance(0.5):
            self.emit(f"{s}, {v} = both({self.number(1)}, {self.array(VECTOR, 1)})")
            self.arrays[VECTOR].append(v)
        else:
            self.emit(f"{s}, {v} = halves({self.number(2)})")
            self.numbers.append(v)
        self.numbers.append(s)

    def reuse(self):
        """One name for an array, a number, a whole number."""
        name = self.new("r")
        self.emit(f"{name} = {self.array(VECTOR, 2)}")
        self.emit(f"{name} = {name}[{self.index()}] * 0.5")
        if self.chance(0.5):
            self.emit(f"if {self.test()}:")
            self.emit(f"    {name} = {self.pick('1', '0', 'n', '0.25', 'x')}")
        self.numbers.append(name)

    def inactive(self):
        name = self.new("k")
        value = self.pick(
            "len(b) - 1", "n + 2", "m.shape[1] // 2", "b.size % 3", "int(3 * x)"
        )
        self.emit(f"{name} = {value}")
        self.whole.append(name)

    def alias(self):
        shape = self.pick(VECTOR, MATRIX)
        source = [a for a in self.arrays[shape] if a not in self.mutable[shape]]
        if source:
            name = self.new("v")
            self.emit(f"{name} = {self.pick(*source)}")
            self.arrays[shape].append(name)

    # arrays that are written to

    def fresh(self):
        shape = self.pick(VECTOR, VECTOR, MATRIX)
        name, value = self.new("w"), self.pick(*FRESH[shape])
        if self.chance(0.2):
            twin = self.new("s")
            self.emit(f"{name}, {twin} = {value}, {self.number(1)}")
            self.numbers.append(twin)
        else:
            self.emit(f"{name} = {value}")
        self.mutable[shape].append(name)
        self.arrays[shape].append(name)

    def target(self):
        shape = self.pick(VECTOR, VECTOR, MATRIX)
        while not self.mutable[shape]:
            self.fresh()
        return shape, self.pick(*self.mutable[shape])

    def write(self):
        shape, name = self.target()
        sign = self.pick("=", "+=", "-=", "*=")
        key = self.index() if shape == VECTOR else f"{self.index(3)}, {self.index()}"
        self.emit(f"{name}[{key}] {sign} {self.number(2)}")

    def write_slice(self):
        shape, name = self.target()
        sign = self.pick("=", "=", "+=", "-=", "*=", "/=")
        key, count = self.pick(*SLICES.items())
        value = self.pick(
            self.number(2),
            f"({self.array(VECTOR, 2)})[:{count}] * 0.5",
            f"np.cos({name if shape == VECTOR else 'b'})[{key}]",
        )
        if sign == "/=":
            value = f"2.0 + np.cos({value})"
        row = f"{self.index(3)}, " if shape == MATRIX else ""
        self.emit(f"{name}[{row}{key}] {sign} {value}")

    def write_all(self):
        shape, name = self.target()
        other = self.pick(self.number(2), self.array(shape, 2), self.array(VECTOR, 1))
        self.emit(
            self.pick(
                f"{name} {self.pick('+=', '-=', '*=')} np.tanh({other})",
                f"{name}[...] = {other}",
                f"{name}[:] *= np.cos({other})",
                f"{name} = {name} * {other}",
            )
        )

    def mask(self):
        shape, name = self.target()
        other = self.array(shape, 0)
        sign = self.pick("=", "*=", "+=")
        self.emit(f"{name}[TEST({other} > {self.number(0)})] {sign} {self.number(2)}")

    def factors(self):
        """An array without a derivative that is a factor, and then written to."""
        name, total = self.new("f"), self.new("s")
        self.emit(
            f"{name} = {self.pick('np.ones(4)', 'WEIGHTS.copy()', 'np.arange(4)')}"
        )
        self.emit(f"{total} = {self.pick('0', '0.0', 'x')}")
        self.emit("for j in range(2):")
        part = self.pick(
            f"np.sum({name} * a)",
            f"({name}[1:3] @ b[:2])",
            f"early({name}[0] * x, b)",
            f"np.sum(np.where({name}[:2] > 1, a[1:3], b[::2]))",
            f"({name}[::2] * b[1:3])[j]",
        )
        self.emit(f"    {total} += {part}")
        key, sign = self.pick("0", "j", "1:3", "-1"), self.pick("=", "+=", "*=")
        self.emit(f"    {name}[{key}] {sign} 2")
        self.numbers.append(total)

    # control flow

    def branch(self):
        if self.depth > 5:
            return self.change()
        name = self.new("s")
        if self.chance(0.2):
            self.emit(f"if TEST(({name} := {self.number(2)}) > {self.number(0)}):")
            self.numbers.append(name)
        else:
            self.emit(f"if {self.test(2)}:")
        self.block()
        if self.chance(0.3):
            self.emit(f"elif {self.test()}:")
            self.block()
        if self.chance(0.5):
            self.emit("else:")
            self.block()
        return None

    def leave(self):
        """A way out: of the loop, or of the function."""
        if self.loops and self.chance(0.7):
            self.emit(f"if {self.test()}:")
            self.emit(f"    {self.pick('break', 'continue')}")
        elif self.chance(0.4):
            self.emit(f"if TEST({self.number(1)} > {self.pick('0.9', '1.5')}):")
            self.emit(f"    return {self.number(1)} * 1.0 + 0.0")
        else:
            self.change()

    def loop(self):
        if self.loops > 1:
            return self.write()
        total = self.new("s")
        self.emit(f"{total} = {self.pick('0', '0.0', '1', 'x', self.number(1))}")
        self.numbers.append(total)
        held = [*self.numbers], [*self.whole], {k: [*v] for k, v in self.arrays.items()}
        self.head()
        self.loops += 1
        self.block(4)
        self.emit(f"    {total} += {self.pick(*self.numbers)} * 0.5")
        self.loops -= 1
        (self.numbers, self.whole, self.arrays) = held
        if self.chance(0.2):
            self.emit("else:")
            self.emit(f"    {total} = {total} * {self.number(1)}")
        return None

    def head(self):
        i, v, w = self.pick("i", "j") + str(self.loops), self.new("u"), self.new("u")
        kind = self.random.randrange(9)
        if kind < 3:
            count = self.pick("3", "1, 4", "n", "0", "len(a)", "3, 0, -1", "0, 4, 2")
            text = f"range({count})"
            self.emit(f"for {i} in {self.pick(text, f'reversed({text})')}:")
            self.whole.append(i)
        elif kind == 3:
            self.emit(f"for {v} in {self.array(VECTOR, 1)}:")
            self.numbers.append(v)
        elif kind == 4:
            self.emit(f"for {v} in {self.array(MATRIX, 1)}:")
            self.arrays[VECTOR].append(v)
        elif kind == 5:
            self.emit(f"for {i}, {v} in enumerate({self.array(VECTOR, 1)}):")
            self.whole.append(i)
            self.numbers.append(v)
        elif kind == 6:
            rows, column = self.array(MATRIX, 1), self.array(COLUMN, 1)
            self.emit(f"for {v}, {w} in zip({rows}, {column}):")
            self.arrays[VECTOR].append(v)
            self.numbers.append(w)
        elif kind == 7:
            self.emit(f"for {i} in KEYS:")
            self.whole.append(i)
        else:
            self.count(w)

    def count(self, name):
        """A loop that ends by the value of a number, at last after three rounds."""
        start, step, end = self.pick(("3", "-= 1", "> 0"), ("0", "+= 1", "< 3"))
        self.emit(f"{name} = {start}")
        self.emit(f"while {name} {end} and TEST({self.number(1)} < 1.5):")
        self.emit(f"    {name} {step}")
        self.whole.append(name)

    def search(self):
        """A loop that never ends by itself."""
        if self.loops > 1:
            return self.change()
        count, value = self.new("k"), self.new("s")
        self.emit(f"{count}, {value} = 0, {self.number(1)}")
        self.emit("while True:")
        self.emit(f"    {count} += 1")
        more = f"{self.number(1)} + {self.number(0)} * 0.1"
        self.emit(f"    {value} = np.tanh({value}) * {more}")
        self.emit(f"    if {count} > {self.pick('1', '2')} or TEST({value} > 0.6):")
        self.emit(f"        {self.pick('break', 'break', f'return {value}')}")
        self.numbers.append(value)
        return None

    def text(self):
        self.emit("s0 = 0")
        self.numbers.append("s0")
        for _ in range(self.random.randint(3, 8)):
            self.statement()
        total = " + ".join(self.pick(*self.numbers) for _ in range(2))
        if self.chance(0.4) and not any("return" in line for line in self.lines):
            self.emit(f"return {self.array(VECTOR, 2)} * ({total})")
        end = f"np.sum({self.array(MATRIX, 1)}) * 0.5 + s0"
        self.emit(f"return {total} + {self.number(2)} + {end}")
        return HEADER + "\n".join(self.lines) + "\n    return program\n"


def made(text, name, test):
    """The program of a text."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace = {**vars(random_helpers), "np": np, "math": math, **test}
    exec(compile(text, name, "exec"), namespace)
    return namespace["make"](0.4, np.linspace(-0.6, 0.5, 12).reshape(3, 4))


def program(seed):
    """The program of a seed, one that records its tests, and the text."""
    text = Writer(seed).text()
    plain = made(MARK.sub("(", text), f"<straight {seed}>", {})
    return plain, made(text, f"<noted {seed}>", {"TEST": note}), MARK.sub("(", text)


def arguments(seed):
    """Arguments of moderate size for a program."""
    rng = np.random.default_rng(seed)
    numbers = (float(rng.uniform(-0.8, 0.8)), np.float64(rng.uniform(-0.8, 0.8)))
    vectors = (rng.uniform(-0.8, 0.8, 4), rng.uniform(-0.8, 0.8, 8)[::2])
    return (*numbers, *vectors, rng.uniform(-0.8, 0.8, (3, 4)), int(rng.integers(0, 4)))
