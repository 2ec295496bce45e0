"""Functions of compiled code, as text: what NumPy and Python do, for a few kinds.

Each is compiled with the program that calls it. They raise errors where Python would,
or where its whole numbers would be larger than 64 bits hold: the program then runs
again as generated Python code.
"""

import re

from .array_library import ARRAY_TEXTS

__all__ = ["TEXTS", "needed", "renamed"]

TEXTS: dict[str, str] = {
    **ARRAY_TEXTS,
    "bound": """
def bound(known, x):
    if not known:
        raise UnboundLocalError
    return x
""",
    "add_int": """
def add_int(a, b):
    if not (-LARGE < a < LARGE and -LARGE < b < LARGE):
        raise OverflowError
    return a + b
""",
    "sub_int": """
def sub_int(a, b):
    if not (-LARGE < a < LARGE and -LARGE < b < LARGE):
        raise OverflowError
    return a - b
""",
    "mul_int": """
def mul_int(a, b):
    if not (-HALF < a < HALF and -HALF < b < HALF):
        raise OverflowError
    return a * b
""",
    "div_int": """
def div_int(a, b):
    if b == 0:
        raise ZeroDivisionError
    return neg_int(a) if b == -1 else a // b
""",
    "mod_int": """
def mod_int(a, b):
    if b == 0:
        raise ZeroDivisionError
    return 0 if b == -1 else a % b
""",
    "neg_int": """
def neg_int(a):
    if not -LARGE < a < LARGE:
        raise OverflowError
    return -a
""",
    "abs_int": """
def abs_int(a):
    return neg_int(a) if a < 0 else a
""",
    # Of a range, whose number of steps is a whole number of 64 bits too.
    "end_of": """
def end_of(a):
    if not -END < a < END:
        raise OverflowError
    return a
""",
    "whole": """
def whole(x):
    if not -FULL < x < FULL:
        raise OverflowError
    return int(x)
""",
    "exact": """
def exact(a):
    if not -EXACT < a < EXACT:
        raise OverflowError
    return float(a)
""",
    "digits": """
def digits(x):
    if not -EXACT < x < EXACT:
        raise OverflowError
    return x
""",
    "unequal": """
def unequal(n, m):
    if n != m:
        raise ValueError
""",
    "with_fraction": """
def with_fraction(x):
    if not abs(x) < FRACTION:
        raise OverflowError
    return x
""",
    # What Python's functions do not give, but for arguments that are not finite.
    # LLVM leaves out a function whose value has no effect, but not this test of it.
    "finite": """
def finite(z):
    if not z - z == 0.0:
        raise ValueError
    return z
""",
    "distance": """
def distance(x, y):
    return finite(math.hypot(x, y))
""",
    "power": """
def power(x, p):
    return finite(math.pow(float(x), float(p)))
""",
    "larger_of": """
def larger_of(a, b):
    return b if b > a else a
""",
    "smaller_of": """
def smaller_of(a, b):
    return b if b < a else a
""",
    "sign": """
def sign(x):
    return 1.0 if x > 0 else -1.0 if x < 0 else x * 0.0
""",
    "log_or_zero": """
def log_or_zero(x):
    return math.log(x) if x != 0.0 else 0.0
""",
    "power_slope": """
def power_slope(x, p):
    return p * math.pow(x, p - 1) if p != 0.0 else 0.0
""",
    # LLVM computes a root or logarithm also where a branch around it is not taken,
    # which leaves a mark; not behind a branch that ends the call.
    "root": """
def root(x):
    if not x >= 0.0:
        raise ValueError
    return math.sqrt(x)
""",
    "logarithm": """
def logarithm(x):
    if not x > 0.0:
        raise ValueError
    return math.log(x)
""",
    "share": """
def share(more, less, a, b):
    if more:
        return 1.0
    if less:
        return 0.0
    if a != b:
        raise ValueError
    return 0.5
""",
    "part_of": """
def part_of(x, z, ties):
    if z != z:
        raise ValueError
    return 1.0 / ties if x == z else 0.0
""",
    "part_alone": """
def part_alone(x, z, ties):
    if ties != 1.0:
        raise ValueError
    return 1.0 if x == z else 0.0
""",
    "known_larger": """
def known_larger(a, b):
    if a != a or b != b:
        raise ValueError
    return a if a > b else b
""",
    "known_smaller": """
def known_smaller(a, b):
    if a != a or b != b:
        raise ValueError
    return a if a < b else b
""",
    "inverse_part": """
def inverse_part(x, y):
    square = x * x + y * y
    if not 1e-250 < square < 1e250:
        raise ValueError
    return x / square
""",
    "joined": """
def joined(a, b):
    if a.size == 0:
        return b.copy()
    return a + b
""",
    # Numba's own assignment compiles for long, because of its texts of errors.
    "set_1_1": """
def set_1_1(y, v):
    if v.shape[0] != y.shape[0]:
        unequal(v.shape[0], 1)
    for i in range(y.shape[0]):
        y[i] = v[i if v.shape[0] == y.shape[0] else 0]
""",
    "set_2_1": """
def set_2_1(y, v):
    for i in range(y.shape[0]):
        set_1_1(y[i], v)
""",
    "set_2_2": """
def set_2_2(y, v):
    if v.shape[0] != y.shape[0]:
        unequal(v.shape[0], 1)
    for i in range(y.shape[0]):
        set_1_1(y[i], v[i if v.shape[0] == y.shape[0] else 0])
""",
    "set_3_3": """
def set_3_3(y, v):
    unequal(v.shape[0], y.shape[0])
    for i in range(y.shape[0]):
        set_2_2(y[i], v[i])
""",
    # NumPy's order of addition, so that the last places agree.
    "pairs": """
def pairs(x, start, n):
    if n < 8:
        s = -0.0
        for i in range(start, start + n):
            s += x[i]
        return s
    if n <= 128:
        return eights(x, start, n)
    starts, sizes = np.empty(64, np.int64), np.empty(64, np.int64)
    states, lefts = np.zeros(64, np.int64), np.empty(64)
    starts[0], sizes[0] = start, n
    top, found = 0, 0.0
    while top >= 0:
        half = sizes[top] // 2
        half -= half % 8
        if sizes[top] <= 128:
            found = eights(x, starts[top], sizes[top])
            top -= 1
        elif states[top] == 2:
            found = lefts[top] + found
            top -= 1
        else:
            second = states[top] == 1
            if second:
                lefts[top] = found
            states[top] += 1
            starts[top + 1] = starts[top] + (half if second else 0)
            sizes[top + 1] = sizes[top] - half if second else half
            states[top + 1] = 0
            top += 1
    return found
""",
    "eights": """
def eights(x, start, n):
    r0, r1, r2, r3 = x[start], x[start + 1], x[start + 2], x[start + 3]
    r4, r5, r6, r7 = x[start + 4], x[start + 5], x[start + 6], x[start + 7]
    end = start + n - n % 8
    for i in range(start + 8, end, 8):
        r0 += x[i]
        r1 += x[i + 1]
        r2 += x[i + 2]
        r3 += x[i + 3]
        r4 += x[i + 4]
        r5 += x[i + 5]
        r6 += x[i + 6]
        r7 += x[i + 7]
    s = ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))
    for i in range(end, start + n):
        s += x[i]
    return s
""",
    "fit_1_1": """
def fit_1_1(d, shape):
    if d.shape[0] == shape[0]:
        return d
    unequal(shape[0], 1)
    made = np.zeros(shape)
    for i in range(d.shape[0]):
        made[0] += d[i]
    return made
""",
    "fit_2_1": """
def fit_2_1(d, shape):
    made = np.zeros(shape)
    m = shape[0]
    if m != d.shape[1]:
        unequal(m, 1)
    for i in range(d.shape[0]):
        for j in range(d.shape[1]):
            made[j if m == d.shape[1] else 0] += d[i, j]
    return made
""",
    "fit_2_2": """
def fit_2_2(d, shape):
    n, m = shape
    if n == d.shape[0] and m == d.shape[1]:
        return d
    if n != d.shape[0]:
        unequal(n, 1)
    if m != d.shape[1]:
        unequal(m, 1)
    made = np.zeros(shape)
    for i in range(d.shape[0]):
        for j in range(d.shape[1]):
            made[i if n == d.shape[0] else 0, j if m == d.shape[1] else 0] += d[i, j]
    return made
""",
    "spread": """
def spread(d, shape):
    return np.full(shape, d)
""",
    "vdot": """
def vdot(d, x):
    return dot_1_1(d, x) if d.size == x.size else sum_1(d * x)
""",
    "spread_1_1": """
def spread_1_1(d, shape):
    made = np.empty(shape)
    set_1_1(made, d)
    return made
""",
    "spread_1_2": """
def spread_1_2(d, shape):
    made = np.empty(shape)
    set_2_1(made, d)
    return made
""",
    "spread_2_2": """
def spread_2_2(d, shape):
    made = np.empty(shape)
    set_2_2(made, d)
    return made
""",
    "dot_1_1": """
def dot_1_1(x, y):
    unequal(x.size, y.size)
    s = 0.0
    for i in range(x.size):
        s += x[i] * y[i]
    return s
""",
    "dot_2_1": """
def dot_2_1(x, y):
    unequal(x.shape[1], y.size)
    made = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        for j in range(y.size):
            made[i] += x[i, j] * y[j]
    return made
""",
    "dot_1_2": """
def dot_1_2(x, y):
    unequal(x.size, y.shape[0])
    made = np.zeros(y.shape[1])
    for i in range(x.size):
        for j in range(y.shape[1]):
            made[j] += x[i] * y[i, j]
    return made
""",
    "dot_2_2": """
def dot_2_2(x, y):
    unequal(x.shape[1], y.shape[0])
    made = np.zeros((x.shape[0], y.shape[1]))
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            for j in range(y.shape[1]):
                made[i, j] += x[i, k] * y[k, j]
    return made
""",
}  # fmt: skip

NAME = re.compile(r"(?<![\w.])[a-z]\w*(?=\()")


def needed(text: str) -> list[str]:
    """The functions that a text calls, and those that they call, innermost first."""
    found: dict[str, None] = {}

    def visit(part: str, own: str = "") -> None:
        for name in NAME.findall(part):
            if name in TEXTS and name != own and name not in found:
                visit(TEXTS[name], name)
                found[name] = None

    visit(text)
    return list(found)


def renamed(text: str) -> str:
    """A text with names for these functions that no variable of a program has."""
    return NAME.sub(lambda m: f"{m[0]}__own" if m[0] in TEXTS else m[0], text)
