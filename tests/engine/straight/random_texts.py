"""Random expressions in the language of the straight-line tier.

Numbers, vectors of 4 entries, of 3 and matrices of 3 by 4, mixed.
"""

import random

SCALARS = (
    "np.tanh({})",
    "np.sin({})",
    "math.cos({})",
    "np.exp(0.3 * {})",
    "abs({})",
    "np.log(2.5 + np.tanh({}))",
    "math.sqrt(1.5 + math.sin({}))",
    "(-{})",
    "float({})",
    "(1.5 + np.cos({})) ** 2",
    "1.0 / (2.0 + math.tanh({}))",
)
ARRAYS = (
    "np.tanh({})",
    "np.sin({})",
    "np.exp(0.3 * {})",
    "abs({})",
    "(-{})",
    "np.log(2.5 + np.tanh({}))",
    "np.sqrt(1.5 + np.cos({}))",
    "(np.cos({}) ** 2)",
    "(1.0 / (2.0 + np.sin({})))",
    "{}.copy()",
)
VECTOR, COLUMN, MATRIX = "vector", "column", "matrix"


class Expressions:
    """Writes expressions from a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.depth, self.loops, self.made = 2, 0, 0
        self.numbers = ["x", "y"]
        self.whole = ["n"]
        self.arrays = {VECTOR: ["a", "b"], COLUMN: [], MATRIX: ["m"]}
        self.mutable = {VECTOR: [], MATRIX: []}

    # choices

    def pick(self, *options):
        return self.random.choice(options)

    def chance(self, p):
        return self.random.random() < p

    def emit(self, text):
        self.lines.append("    " * self.depth + text)

    def new(self, stem):
        self.made += 1
        return f"{stem}{self.made}"

    # expressions

    def index(self, size=4):
        inner = [f"({w} % {size})" for w in self.whole]
        return self.pick(*map(str, range(size)), "-1", str(-size), *inner)

    def literal(self):
        return self.pick("0.5", "-0.7", "1.25", "2", "-1", "RATE", "bias")

    def test(self, d=1):
        """A condition."""
        sign = self.pick("<", ">", "<=", ">")
        one = f"{self.number(d)} {sign} {self.number(0)}"
        other = self.pick(
            f"{self.number(0)} < 0.3",
            f"{self.pick(*self.whole)} > 1",
            f"not {self.number(0)} > 0.2",
            f"len(a) > {self.pick('3', '4')}",
        )
        text = self.pick(one, one, f"{one} and {other}", f"{one} or {other}", other)
        return f"TEST({text})"

    def number(self, d):
        """The text of a number."""
        if d <= 0:
            entry = f"{self.pick(*self.arrays[VECTOR])}[{self.index()}]"
            return self.pick(
                self.pick(*self.numbers),
                self.pick(*self.numbers),
                entry,
                self.literal(),
            )
        number, vector = self.number, self.array
        return self.pick(
            lambda: f"({number(d - 1)} {self.pick('+', '-', '*')} {number(d - 1)})",
            lambda: f"({number(d - 1)} {self.pick('+', '-', '*')} {number(d - 1)})",
            lambda: f"{number(d - 1)} / (2.0 + abs({number(0)}))",
            lambda: self.pick(*SCALARS).format(number(d - 1)),
            lambda: f"np.sum({vector(VECTOR, d - 1)})",
            lambda: (
                f"{self.named(self.pick(VECTOR, MATRIX))}.{self.pick('sum', 'mean')}()"
            ),
            lambda: f"({vector(VECTOR, d - 1)} @ {vector(VECTOR, 0)})",
            lambda: f"np.dot({vector(VECTOR, d - 1)}, {vector(VECTOR, 0)})",
            lambda: f"{self.named(MATRIX)}[{self.index(3)}, {self.index()}]",
            lambda: f"{vector(VECTOR, d - 1)}[{self.index()}]",
            lambda: (
                f"({number(d - 1)} if {self.test(0)} else "
                f"{self.pick(number(0), '0', '1')})"
            ),
            lambda: f"scaled({number(d - 1)}, {number(0)})",
            lambda: f"scaled({number(0)}, by={number(d - 1)})",
            lambda: f"scaled({number(d - 1)})",
            lambda: f"early({number(d - 1)}, {vector(VECTOR, 0)})",
            lambda: f"folded({vector(VECTOR, d - 1)}, {self.pick('2', '3')})",
            lambda: self.comprehension(),
            lambda: f"np.maximum({number(d - 1)}, {number(0)})",
            lambda: f"max({number(0)}, {number(d - 1)})",
            lambda: f"({self.pick(*self.whole)} * {number(d - 1)})",
            lambda: f"np.linalg.norm({vector(VECTOR, d - 1)} + 3.0)",
        )()

    def comprehension(self):
        v = self.pick("p", "q")
        over = self.pick(self.named(VECTOR), "WEIGHTS", "range(3)")
        text = self.pick(f"{v} * {self.number(0)}", f"np.tanh({v} * {self.number(0)})")
        guard = f" if TEST({v} < 1)" if self.chance(0.3) else ""
        return f"sum({text} for {v} in {over}{guard})"

    def named(self, shape):
        return (
            self.pick(*self.arrays[shape])
            if self.arrays[shape]
            else self.array(shape, 0)
        )

    def array(self, shape, d):
        """The text of an array of a shape."""
        name = self.named(shape) if self.arrays[shape] else "m[:, 1]"
        if d <= 0:
            fixed = {
                VECTOR: ("WEIGHTS", "m[1]"),
                COLUMN: ("m[:, 0]",),
                MATRIX: ("grid",),
            }
            return self.pick(name, name, *fixed[shape])
        part = self.array(shape, d - 1)
        return self.pick(
            lambda: f"({part} {self.pick('+', '-', '*')} {self.array(shape, d - 1)})",
            lambda: f"({part} {self.pick('+', '*')} {self.number(d - 1)})",
            lambda: f"({self.number(0)} {self.pick('-', '*')} {part})",
            lambda: f"({part} / (2.0 + abs({self.pick(name, self.number(0))})))",
            lambda: self.pick(*ARRAYS).format(part),
            lambda: getattr(self, f"own_{shape}")(d, part),
            lambda: getattr(self, f"own_{shape}")(d, part),
            lambda: (
                f"np.where(TEST({name} > {self.literal()}), {part}, "
                f"{self.array(shape, 0)})"
            ),
            lambda: (
                f"{self.pick('np.maximum', 'np.minimum')}({part}, {self.number(0)})"
            ),
            lambda: f"softened({part})",
            lambda: f"(same({part}) * 0.5)",
        )()

    def own_vector(self, d, part):
        matrix = self.array(MATRIX, d - 1)
        return self.pick(
            f"{part}[::-1]",
            f"{part}[KEYS]",
            f"(np.cumsum({part}) * 0.5)",
            f"{matrix}[{self.index(3)}]",
            f"np.sum({matrix}, axis=0)",
            f"{matrix}.mean(axis=0)",
            f"{matrix}.max(axis=0)",
            f"np.concatenate(({part}[:2], {part}[2:]))",
            f"({self.array(COLUMN, 0)} @ {matrix})",
            f"({matrix}.T @ {self.array(COLUMN, 0)})",
            f"np.concatenate(({part}[-1:], {part}[:-1]))",
            f"np.array([{self.number(0)}, {self.number(d - 1)}, 0.5, x])",
            f"{matrix}.reshape(-1)[{self.pick('2:6', '::3', '8:4:-1', '-4:')}]",
            f"np.roll({part}, 1)",
        )

    def own_column(self, d, part):
        matrix = self.array(MATRIX, d - 1)
        return self.pick(
            f"{matrix}[:, {self.index()}]",
            f"({matrix} @ {self.array(VECTOR, 0)})",
            f"np.sum({matrix}, axis=1)",
            f"({matrix}.sum(axis=-1) / 3)",
            f"{part}[::-1]",
            f"{self.named(VECTOR)}[{self.pick('1:', ':-1', 'TRIPLE', 'MASK')}]",
        )

    def own_matrix(self, d, part):
        column, vector = self.array(COLUMN, d - 1), self.array(VECTOR, d - 1)
        return self.pick(
            f"({part} * {vector})",
            f"({part} + {column}[:, None])",
            f"np.outer({column}, {vector})",
            f"({column}[:, None] * {vector}[None, :])",
            f"{part}[::-1]",
            f"{part}[:, ::-1]",
            f"{part}[TRIPLE]",
            f"{part}.T.copy().T",
            f"np.stack(({vector}, {vector}, {self.array(VECTOR, 0)}))",
            f"({part} - {part}.mean(axis=1, keepdims=True))",
            f"({part} - np.sum({part}, axis=0))",
            f"({part} / (3.0 + {part}.max(axis=0, keepdims=True) ** 2))",
        )
