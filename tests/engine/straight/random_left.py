"""Random programs with parts that the straight-line tier leaves to the tape.

Branches with statements outside of its language, which are rarely taken, and calls of
functions outside of it, which a tape of their own runs.
"""

import numpy as np

from tests.engine.straight.random_programs import MARK, Writer, made, note
from tests.engine.straight.random_texts import VECTOR

RATE = 0.75
TABLE = {"low": 0.5, "high": 1.5}


def noted_in_a_dict(v, w):
    """Fills a dict by names that it computes."""
    found = {}
    for place, name in enumerate(("low", "high")):
        found[name.upper()] = TABLE[name] * v + np.sum(w) * place
    return found["LOW"] * found["HIGH"]


def named(v, how="tanh"):
    """Chooses by a text."""
    return getattr(np, f"{how}")(v) * RATE


def ordered(w):
    """Sorts by a key, and writes into an array of its own."""
    out = np.zeros(len(w))
    for place, value in enumerate(sorted(w, key=lambda v: -v)):
        out[place] = value * (place + 1)
    return out


def nested(v, w):
    """A tuple in a tuple, with a whole number."""
    total = sum(value * v for value in w)
    return total, (w * v, len({*range(3)}))


def handed_back(w):
    """Its argument, or a part of it."""
    values = {"whole": w, "part": w[1:]}
    return values["whole"], values["part"]


def several(*parts, **named_parts):
    """Star parameters."""
    return sum(parts) * sum(named_parts.values())


STATEMENTS = (
    "{s} = {{**{{'k': {v}}}}}['k'] * 2.0",
    "{s} = f'{{x}}' and {v}",
    "{s} = sum({{v for v in (1, 2)}}) * {v}",
    "{s} = [*map(np.sin, ({v}, y))][0]",
    "{s} = np.median({w})",
    "global FREE; FREE = {s} = {v}",
    "{s} = next(iter([{v}]))",
)
CALLS = (
    "{s} = noted_in_a_dict({v}, {w})",
    "{s} = named({v}) + named({v}, how='sin')",
    "{s} = np.sum(ordered({w}))",
    "{s}, ({t}, k) = nested({v}, {w}); {s} = {s} * np.sum({t}) * k",
    "{s}, {t} = handed_back({w}); {s} = np.sum({s} * 0.5) * {t}[0]",
    "{s} = several({v}, y, p={v}, q=0.5)",
    "{s} = named(2) * {v}",
)


class LeftWriter(Writer):
    """Writes one program from a seed."""

    def statement(self):
        self.pick(
            super().statement, super().statement, self.left_branch, self.left_call
        )()

    def left_branch(self):
        """A branch outside of the language, with the same names as the other."""
        s = self.new("s")
        self.emit(f"if {self.test()} and TEST({self.number(0)} > 0.4):")
        text = self.pick(*STATEMENTS)
        if self.loops and self.chance(0.2):
            self.emit(f"    if {self.test()}: break")
        if "FREE" not in text or "FREE" not in "".join(self.lines):
            self.emit("    " + self.filled(text, s))
        if self.chance(0.2):
            self.emit(f"    return {self.number(1)} * 1.0")
        else:
            self.emit(f"    {s} = {self.number(1)}")
        self.emit("else:")
        self.emit(f"    {s} = {self.number(1)}")
        self.numbers.append(s)

    def left_call(self):
        if self.loops:
            return self.change()
        s = self.new("s")
        self.emit(self.filled(self.pick(*CALLS), s))
        self.emit(f"{s} = np.tanh({s})")
        self.numbers.append(s)
        return None

    def filled(self, text, s):
        v, w = self.number(1), self.array(VECTOR, 1)
        return text.format(s=s, t=self.new("t"), v=v, w=w)


def left_program(seed):
    """The program of a seed, one that records its tests, and the text."""
    text = LeftWriter(seed).text()
    own = {f.__name__: f for f in HELPERS}
    plain = made(MARK.sub("(", text), f"<left {seed}>", own)
    noted = made(text, f"<left, noted {seed}>", {**own, "TEST": note})
    return plain, noted, MARK.sub("(", text)


HELPERS = (noted_in_a_dict, named, ordered, nested, handed_back, several)
