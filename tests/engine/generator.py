"""Random in-place programs: loops, branches, views, fancy indices, `out=`,
writes by callees and closures.

A program is text, registered in `linecache`. What its branches decided is recorded, so
that a program whose branches flip between the points of a difference is left out.
"""

import linecache
import random

import numpy as np

TRACE = []
SCRATCH = np.zeros(5)


def note(condition):
    """Record what a branch decided."""
    TRACE.append(bool(condition))
    return bool(condition)


def scale_into(v, c, out=None):
    """A callee that writes: into `out`, or into its argument."""
    if out is None:
        v *= c
        return v
    out[...] = v * c
    return out


HEADER = """
def program(a, b, m):
    s = a[0] * 0.5
    t = b[1] + 0.25
    c = a * 0.5 + b
    items = [s, t, 0.75]
    def bump(i, v):
        nonlocal s
        c[i] = c[i] * 0.5 + v
        s = s * 0.5 + c[i - 1]
"""

N = 5


class Writer:
    """Writes one program from a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.depth = 1
        self.loops = 0

    def pick(self, *options):
        return self.random.choice(options)

    def emit(self, text):
        self.lines.append("    " * self.depth + text)

    # pieces

    def array(self):
        return self.pick("a", "b", "c", "c", "m[1]", "m[:, 2]", "SCRATCH", "m.T[0]")

    def index(self):
        return self.pick("0", "1", "-1", "3", *(["i", "i - 1"] if self.loops else []))

    def span(self, length):
        """A slice with `length` entries of an array of length 5."""
        start = self.random.randrange(N - length + 1)
        forward = f"{start}:{start + length}"
        if length == 2:
            return self.pick(forward, "::3", "0:3:2", "4:1:-2")
        if length == 3:
            return self.pick(forward, "::2", "::-2", "-3:")
        if length == 4:
            return self.pick(forward, ":-1", "1:", ":0:-1")
        return self.pick(":", "::-1", "...")

    def view(self, length):
        base = self.array()
        if self.random.random() < 0.2:
            return (
                f"{base}[1:][{self.pick(':', '::-1')}][:{length}]"
                if length < N
                else base
            )
        return f"{base}[{self.span(length)}]"

    def fancy(self, length):
        entries = [self.random.randrange(N) for _ in range(length)]
        return self.pick(str(entries), f"np.array({entries})")

    def scalar(self):
        return self.pick(
            "s", "t", "0.3", "-0.7", f"{self.array()}[{self.index()}]", "items[0]",
            f"items[{self.pick('1', '-1')}]", "s * t", "(s - 0.2)",
            f"{self.array()}[{self.index()}] * 0.5", "float(a[1])", "t * t",
        )  # fmt: skip

    def vector(self, length):
        def part():
            if self.random.random() < 0.25:
                return f"{self.array()}[{self.fancy(length)}]"
            return self.view(length)

        return self.pick(
            part(), f"{part()} * {self.scalar()}", f"{part()} + {part()} * 0.5",
            f"{part()} * {part()} * 0.5", f"-{part()}", f"({part()} - {self.scalar()})",
            f"{part()} / (1.5 + {part()} ** 2)", f"{part()}.copy()",
            f"{self.vector_sum(length)} * {part()}",
        )  # fmt: skip

    def vector_sum(self, length):
        return f"({self.view(length)} @ {self.view(length)} * 0.2)"

    # statements

    def statement(self):
        self.pick(
            self.write, self.write, self.write, self.fancy_write, self.mask_write,
            self.item_write, self.item_write, self.inplace, self.inplace, self.call_out,
            self.callee, self.closure, self.scalar_update, self.list_update,
            self.add_at,
            self.rebind, self.copyto, self.matrix, self.branch, self.loop, self.guarded,
        )()  # fmt: skip

    def write(self):
        length = self.random.randint(2, N)
        self.emit(f"{self.view(length)}[...] = {self.vector(length)}")

    def fancy_write(self):
        length = self.random.randint(2, N)
        operator = self.pick("=", "=", "*=", "+=")
        self.emit(
            f"{self.array()}[{self.fancy(length)}] {operator} {self.vector(length)}"
        )

    def mask_write(self):
        array = self.pick("a", "b", "c")
        mask = self.pick(
            "np.arange(5) % 2 == 0", "np.arange(5) > 2", "np.arange(5) < 0"
        )
        self.emit(f"{array}[{mask}] {self.pick('=', '*=')} {self.scalar()}")

    def item_write(self):
        operator = self.pick("=", "+=", "*=", "-=")
        self.emit(f"{self.array()}[{self.index()}] {operator} {self.scalar()}")

    def inplace(self):
        length = self.random.randint(2, N)
        operator = self.pick("+=", "-=", "*=")
        value = self.pick(self.vector(length), self.scalar())
        self.emit(f"w = {self.view(length)}")
        self.emit(f"w {operator} {value}")

    def call_out(self):
        length = self.random.randint(2, N)
        out = self.view(length)
        self.emit(f"scale_into({self.vector(length)}, {self.scalar()}, out={out})")

    def callee(self):
        self.emit(f"w = scale_into({self.view(3)}, {self.scalar()})")
        self.emit(f"w[0] += {self.scalar()}")

    def closure(self):
        self.emit(f"bump({self.index()}, {self.scalar()})")

    def scalar_update(self):
        self.emit(f"{self.pick('s', 't')} {self.pick('=', '+=', '*=')} {self.scalar()}")

    def list_update(self):
        self.emit(
            self.pick(
                f"items[{self.pick('0', '1')}] = {self.scalar()}",
                f"items.append({self.scalar()})",
                f"items.insert(0, items.pop() * {self.scalar()})",
                "items.reverse()",
            )
        )

    def add_at(self):
        length = self.random.randint(2, N)
        where = self.fancy(length)
        self.emit(
            f"np.add.at({self.pick('a', 'b', 'c')}, {where}, {self.vector(length)})"
        )

    def rebind(self):
        self.emit(f"c = {self.vector(N)}")

    def copyto(self):
        self.emit(f"np.copyto({self.view(4)}, {self.vector(4)})")

    def matrix(self):
        self.emit(
            self.pick(
                f"m[1:] = m[:-1] * {self.scalar()}", f"m.T[{self.pick('0', '3')}] = a",
                "m.reshape(-1)[3:8] = b", f"m[:, 1] += {self.scalar()}",
                "m[[0, 0, 2]] = m[[1, 2, 1]] * 0.5", "m[::2, ::-2] *= 0.5",
            )
        )  # fmt: skip

    def block(self):
        self.depth += 1
        for _ in range(self.random.randint(1, 3)):
            self.statement()
        self.depth -= 1

    def branch(self):
        if self.depth > 3:
            return self.write()
        self.emit(f"if note({self.scalar()} > {self.pick('0.1', '-0.2', 't')}):")
        self.block()
        if self.random.random() < 0.5:
            self.emit("else:")
            self.block()
        return None

    def loop(self):
        if self.depth > 2 or self.loops:
            return self.write()
        self.emit(f"for i in range({self.pick('1, 4', '2', '3')}):")
        self.loops += 1
        self.block()
        if self.random.random() < 0.3:
            self.emit(f"    if note({self.scalar()} > 0.4): break")
        self.loops -= 1
        return None

    def guarded(self):
        if self.depth > 2:
            return self.write()
        self.emit("try:")
        self.block()
        self.emit(f"    if note({self.scalar()} > 0.3): raise ValueError")
        self.emit("except ValueError:")
        self.block()
        return None

    def text(self):
        for _ in range(self.random.randint(3, 8)):
            self.statement()
        self.emit("return s + t * 0.5 + c @ c + items[-1], m, c * 1.0, items")
        return HEADER + "\n".join(self.lines) + "\n"


def program(seed):
    """The program of a seed and its text."""
    text = Writer(seed).text()
    name = f"<program {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace = {"np": np, "note": note, "scale_into": scale_into, "SCRATCH": SCRATCH}
    exec(compile(text, name, "exec"), namespace)
    return namespace["program"], text


def arguments(seed):
    """Arguments of moderate size for a program."""
    rng = np.random.default_rng(seed)
    return (
        rng.uniform(-0.8, 0.8, N),
        rng.uniform(-0.8, 0.8, N),
        rng.uniform(-0.8, 0.8, (N, N)),
    )
