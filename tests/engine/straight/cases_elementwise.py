"""Operators and functions entry by entry, with operands of every form."""

import math
from typing import Any

import numpy as np

from tests.engine.straight.written import Case, Literal, method, of, operator

__all__ = ["CASES", "PAIRS", "arrays"]

L = Literal


def some(*shape: int, low: float = 0.15) -> Any:
    """Numbers between `low` and `low + 0.7`, of which no two are equal."""
    count = math.prod(shape)
    entries = np.random.default_rng(count).permutation(count)
    return low + 0.7 * (entries.reshape(shape) + 0.5) / max(count, 1)


def arrays(low: float = 0.15) -> list[Any]:
    """Arrays of every layout."""
    return [
        some(4, low=low), some(3, 2, low=low), some(2, 3, low=low).T,
        some(8, low=low)[::-2], some(2, 1, 3, low=low), some(0, low=low),
        some(2, 0, low=low),
    ]  # fmt: skip


def numbers(low: float = 0.15) -> list[Any]:
    return [low + 0.3, np.float64(low + 0.4)]


def pairs() -> list[Any]:
    """Two operands, one of floats at least, of all shapes that are broadcast."""
    x = some(3, 4)
    return [
        (0.3, 0.4), (np.float64(0.3), 0.4), (0.3, 2), (True, 0.4),
        (x, 0.3), (0.3, x), (np.float64(0.3), x), (x, 2), (2, x), (x, np.int64(2)),
        (x, x[[1, 2, 0]]), (some(4, 3).T, x), (some(4), some(8)[::2]),
        (x, some(4)), (some(4), x), (some(3, 1), some(1, 4)), (some(3, 1), some(4)),
        (some(4), some(3, 1)), (x, some(3, 1)), (some(1, 4), x), (some(1), some(4)),
        (some(4), some(1)), (some(1, 1), x), (some(2, 3, 4), some(3, 1)),
        (some(2, 1, 4), some(3, 4)), (some(0), some(1)), (some(0, 3), some(3)),
        (x, np.arange(1, 5)), (np.arange(1, 5), x), (some(1, 1), some(1)),
        (some(1, 4), some(1, 1)), (some(1, 1), some(4)), (some(3, 1), some(3, 1)),
    ]  # fmt: skip


PAIRS = pairs()
CURVES = {
    0.15: (
        np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p, np.sqrt,
        np.cbrt, np.sin, np.cos, np.tan, np.sinh, np.cosh, np.tanh, np.arcsin,
        np.arccos, np.arctan, np.arcsinh, np.arctanh, np.degrees, np.radians,
        np.rad2deg, np.deg2rad, np.square, np.reciprocal, np.negative, np.positive,
        np.absolute, np.fabs, np.sign, np.floor, np.ceil, np.trunc, np.rint,
    ),
    1.15: (np.arccosh,),
}  # fmt: skip
NAMES = (
    "exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan sinh cosh tanh asin "
    "acos atan asinh atanh erf erfc degrees radians fabs floor ceil trunc"
)
OF_NUMBERS = [getattr(math, name) for name in NAMES.split() if hasattr(math, name)]


def unary_cases() -> list[Case]:
    found = [
        of(f, x) for low, fs in CURVES.items() for f in fs
        for x in (*arrays(low), *numbers(low))
    ]  # fmt: skip
    found += [
        of(f, x) for f in (*OF_NUMBERS, abs, float, np.float64) for x in numbers()
    ]
    found += [of(math.acosh, x) for x in numbers(1.15)]
    found += [operator(name, x) for name in ("neg", "pos", "abs")
              for x in (*arrays(), *numbers())]  # fmt: skip
    signed = np.array([-0.5, 0.25, 1.5])
    for f in (np.absolute, np.fabs, np.sign, np.sin, np.square, abs):
        found += [of(f, signed), of(f, -0.5)]
    return found


def whole_cases() -> list[Case]:
    """Whole numbers, which have no derivative."""
    row = np.arange(1, 4)
    found = [of(f, x) for f in (np.exp, np.sqrt, np.tanh) for x in (2, row)]
    found += [of(f, x) for f in (np.square, np.absolute, np.negative, np.sign, abs)
              for x in (2, np.int64(-3), row)]  # fmt: skip
    found += [
        of(f, 2) for f in (math.exp, math.sqrt, math.floor, float, int, round, bool)
    ]
    found += [of(f, x) for f in (int, bool) for x in (2, -1.5, True)]
    found += [of(round, 1.25), of(round, 1.25, L(1)), of(round, 7, ndigits=-1)]
    found += [operator(name, x) for name in ("neg", "pos", "abs") for x in (2, row)]
    found += [operator("invert", x) for x in (2, row, row > 2)]
    return found


REMAINDERS = (np.remainder, np.fmod)
BINARY = ("add", "sub", "mul", "truediv", "floordiv")
UFUNCS = (
    np.add, np.subtract, np.multiply, np.divide, np.floor_divide,
    np.arctan2, np.hypot, np.maximum, np.minimum, np.fmax, np.fmin,
)  # fmt: skip
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
COMPARED = (
    np.less,
    np.less_equal,
    np.greater,
    np.greater_equal,
    np.equal,
    np.not_equal,
)


def binary_cases() -> list[Case]:
    found = [operator(name, *pair) for name in BINARY for pair in PAIRS]
    found += [of(f, *pair) for f in UFUNCS for pair in PAIRS if pair[0] is not True]
    found += [of(np.logaddexp, *pair) for pair in PAIRS if pair[0] is not True]
    for x, y in PAIRS:  # no number is a multiple of the other one's
        a = x * 1.0123 if np.asarray(x).dtype.kind == "f" else x
        found += [
            operator("mod", a, y),
            *[of(f, a, y) for f in REMAINDERS if x is not True],
        ]
    real = [pair for pair in PAIRS if pair[0] is not True]
    found += [operator("pow", *pair) for pair in real]
    found += [of(np.power, *pair) for pair in real]
    found += [operator(name, *pair) for name in COMPARISONS for pair in PAIRS]
    found += [of(f, *pair) for f in COMPARED for pair in PAIRS]
    mask = some(3, 4) > 0.5
    found += [operator("mul", mask, x) for x in (some(3, 4), some(4), 0.3)]
    found += [operator("sub", some(3, 1), mask)]
    return found


def integer_cases() -> list[Case]:
    """Whole numbers and masks among themselves."""
    row, mask = np.arange(1, 4), np.array([True, False, True])
    pairs = [(5, 3), (5, np.int64(3)), (np.int64(5), 3), (row, 2), (5, row), (row, row)]
    names = ("add", "sub", "mul", "truediv", "mod", "floordiv", *COMPARISONS)
    found = [operator(name, *pair) for name in names for pair in pairs]
    found += [operator(name, 2, mask) for name in ("add", "mul", "sub")]
    found += [operator(name, row, mask) for name in ("add", "mul")]
    found += [operator("pow", 5, L(2)), operator("pow", np.int64(5), L(0))]
    signs = ("and", "or", "xor")
    bits = (np.bitwise_and, np.bitwise_or, np.bitwise_xor)
    for pair in ((mask, mask[::-1]), (row, 2), (5, 3), (mask, mask[:1])):
        found += [operator(name, *pair) for name in signs]
        found += [of(f, *pair) for f in bits]
    found += [operator("and", True, False), operator("or", True, mask)]
    found += [of(f, mask, mask[::-1])
              for f in (np.logical_and, np.logical_or, np.logical_xor)]  # fmt: skip
    found += [
        of(np.logical_not, mask),
        of(np.invert, mask),
        of(max, 2, 3),
        of(min, 2, 3),
    ]
    return found


def power_cases() -> list[Case]:
    literal = (0, 1, 2, 3, 4, 7, -1, -2, -3, 0.5, 1.5, -0.5, 2.0)
    values = (some(4), some(2, 3).T, some(0), 0.3, np.float64(0.4))
    found = [operator("pow", x, L(p)) for p in literal for x in values]
    found += [of(f, x, L(p)) for f in (np.power,) for p in literal for x in values]
    found += [of(pow, x, L(p)) for p in literal for x in values]
    below = np.array([-0.5, -1.5, 2.0])
    found += [operator("pow", below, L(p)) for p in (1, 2, 3, -1, -2)]
    found += [operator("pow", -0.5, L(p)) for p in (1, 2, 3, -1, -2)]
    found += [
        operator("pow", -0.5, 3),
        operator("pow", below, 3),
        operator("pow", 2, 0.5),
    ]
    found += [of(math.pow, 0.3, 0.4), of(math.pow, 2, 0.4), of(math.pow, 0.3, 2)]
    found += [operator("pow", 0.0, L(2)), operator("pow", np.zeros(2), L(3))]
    return found


def choice_cases() -> list[Case]:
    mask, x, y = some(3, 4) > 0.5, some(3, 4), some(4)
    found = [
        of(np.where, m, a, b)
        for m in (mask, mask[:, :1], True)
        for a, b in ((x, x[::-1]), (x, y), (y, x), (x, 0.3), (0.3, x), (x, 0), (1, y))
    ]
    found += [of(np.where, mask[0], 0.3, 0.4), of(np.where, mask, some(3, 1), 2)]
    found += [of(np.where, np.arange(3), some(3), 0.5)]
    bounds = ((0.3, 0.6), (L(0.3), L(0.6)), (L(None), 0.6), (0.3, L(None)),
              (some(4) - 0.1, some(4) + 0.1), (0.3, some(3, 1) + 0.1), (0, 1),
              (0.6, 0.3), (L(0.3), some(2, 1, 1) + 0.2))  # fmt: skip
    found += [of(np.clip, x, *pair) for pair in bounds]
    found += [of(np.clip, number, *pair) for number in (0.1, 0.5, 0.8, np.float64(0.5))
              for pair in bounds[:4]]  # fmt: skip
    found += [method("clip", x, *pair) for pair in bounds]
    found += [of(np.clip, a, 1, 3) for a in (np.arange(5), 7)]
    found += [of(np.clip, x, L(low), L(high)) for low, high in ((0, 0.5), (0.6, 0.3))]
    found += [of(f, 0.3, 0.5) for f in (max, min)]
    found += [of(f, 0.3, 2, 0.1, 0.9) for f in (max, min)]
    found += [of(math.hypot, *row) for row in ((0.3,), (0.3, 0.4), (0.3, 2, -0.5))]
    found += [of(math.atan2, 0.3, -0.4), of(math.log, 0.3, 3), of(math.log, 0.3, 0.7)]
    found += [of(f, *row) for f in (math.fmod, math.remainder)
              for row in ((0.7, 0.3), (-0.7, 2), (2, 0.7))]  # fmt: skip
    found += [of(math.log, 3, 0.7), of(math.atan2, 2, 0.3)]
    return found


CASES = [
    *unary_cases(), *whole_cases(), *binary_cases(), *integer_cases(), *power_cases(),
    *choice_cases(),
]  # fmt: skip
