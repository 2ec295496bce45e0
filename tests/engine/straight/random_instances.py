"""Random programs that make instances, change them and give them second names."""

import numpy as np

from tests.engine.straight.random_programs import MARK, Writer, made, note
from tests.engine.straight.random_texts import VECTOR


class Pair:
    """A number and an array."""

    rate = 0.5

    def __init__(self, v, w, by=0.25):
        self.v = v
        self.w = w * by
        if by > 1.0:
            self.v = v * by

    def value(self, k=1.0):
        return np.tanh(self.v * k) * np.sum(self.w) * self.rate

    @property
    def half(self):
        return self.v * 0.5 + self.w[0]

    def grow(self, k):
        self.v = np.tanh(self.v + k)
        self.w = self.w * 0.5 + k
        return self.v * k

    def again(self, k):
        for _ in range(2):
            self.grow(k)
        return self

    def other(self, k):
        return Pair(self.v * k, self.w, by=2.0)


class Triple(Pair):
    """With one attribute more."""

    rate = -0.75

    def __init__(self, v, w, u):
        super().__init__(v, w)
        self.u = u

    def value(self, k=1.0):
        return super().value(k) + self.u * k

    def grow(self, k):
        found = super().grow(k)
        self.u += found
        return found


def kept(pair):
    """Its argument itself."""
    return pair


def measured(one, other):
    """Reads two instances."""
    return one.value() - other.half


class InstanceWriter(Writer):
    """Writes one program from a seed."""

    def __init__(self, seed):
        super().__init__(seed)
        self.instances = []

    def statement(self):
        self.pick(super().statement, self.make, self.use, self.alter, self.alter)()

    def block(self, count=3):
        held = [*self.instances]
        super().block(count)
        self.instances = held

    def make(self):
        name, w = self.new("o"), self.array(VECTOR, 1)
        text = self.pick(
            f"Pair({self.number(1)}, {w})",
            f"Pair(v={self.number(1)}, w={w}, by={self.pick('0.5', '1.5', 'x')})",
            f"Triple({self.number(1)}, {w}, {self.number(0)})",
        )
        self.emit(f"{name} = {text}")
        self.instances.append(name)

    def instance(self):
        if not self.instances:
            self.make()
        return self.pick(*self.instances)

    def use(self):
        s, o = self.new("s"), self.instance()
        text = self.pick(
            f"{o}.value()", f"{o}.value(k={self.number(0)})", f"{o}.half", f"{o}.v",
            f"np.sum({o}.w)", f"{o}.rate * {o}.v", f"measured({o}, {self.instance()})",
            f"{o}.other({self.number(0)}).value()",
            f"(lambda: {o}.v * 2.0)()",
        )  # fmt: skip
        self.emit(f"{s} = np.tanh({text})")
        self.numbers.append(s)

    def alter(self):
        o = self.instance()
        text = self.pick(
            f"{o}.v = {self.number(1)}",
            f"{o}.v = np.tanh({o}.v * {self.number(0)})",
            f"{o}.v += {self.number(0)}",
            f"{o}.w = {self.array(VECTOR, 1)}",
            f"{o}.grow({self.number(0)})",
            f"{o}.again({self.number(0)})",
            "",
        )
        if text:
            self.emit(text)
            return
        name = self.new("o")
        text = self.pick(
            o, f"kept({o})", f"{o}.other({self.number(0)})", f"({o}, 1.0)[0]",
            f"{o} if {self.test()} else {self.instance()}",
        )  # fmt: skip
        self.emit(f"{name} = {text}")
        self.instances.append(name)


def instance_program(seed):
    """The program of a seed, one that records its tests, and the text."""
    text = InstanceWriter(seed).text()
    own = {"Pair": Pair, "Triple": Triple, "kept": kept, "measured": measured}
    plain = made(MARK.sub("(", text), f"<instances {seed}>", own)
    noted = made(text, f"<instances, noted {seed}>", {**own, "TEST": note})
    return plain, noted, MARK.sub("(", text)
