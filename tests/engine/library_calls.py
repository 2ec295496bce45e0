"""Calls of the standard library's numeric modules, and of SciPy, found by walking."""

import importlib
import inspect
import itertools
from collections.abc import Iterable
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np

__all__ = ["GIVEN", "MODULES", "SCOPE", "possible", "sample", "walked"]

MODULES = (
    "builtins", "math", "cmath", "statistics", "operator", "itertools", "functools",
    "random", "fractions", "decimal", "numbers", "array", "bisect", "heapq", "colorsys",
    "copy", "collections", "struct",
)  # fmt: skip
# Of SciPy there are rules for `special` alone: all else is the same or refused.
SCIPY = (
    "scipy.special", "scipy.linalg", "scipy.fft", "scipy.integrate", "scipy.optimize",
    "scipy.interpolate", "scipy.signal",
)  # fmt: skip
# What has effects outside, waits, changes the process, or looks at the frame.
LEFT_OUT = frozenset("""
    breakpoint compile copyright credits delattr dir eval exec exit globals help input
    license locals memoryview object open print property quit setattr staticmethod super
    vars classmethod __import__ __build_class__ id type
    seed setstate getstate SystemRandom setcontext localcontext getcontext
    WRAPPER_ASSIGNMENTS singledispatch singledispatchmethod RLock cached_property wraps
    update_wrapper total_ordering namedtuple tee methodcaller
    test show_options buffer_info
""".split())  # fmt: skip

# One object of each class, whose methods are walked; `v` is a list of the numbers.
OBJECTS = {
    "float": "x",
    "complex": "complex(0.5, 0.25)",
    "int": "7",
    "list": "list(v)",
    "tuple": "tuple(v)",
    "dict": "dict(enumerate(v))",
    "range": "range(1, 7, 2)",
    "slice": "slice(1, 3)",
    "collections.deque": "collections.deque(v, 5)",
    "collections.OrderedDict": "collections.OrderedDict(enumerate(v))",
    "collections.defaultdict": "collections.defaultdict(float, enumerate(v))",
    "collections.Counter": "collections.Counter(dict(enumerate(v)))",
    "collections.ChainMap": "collections.ChainMap(dict(enumerate(v)), {9: 1.0})",
    "collections.UserList": "collections.UserList(v)",
    "array.array": "array.array('d', [0.5, 0.25])",
    "fractions.Fraction": "fractions.Fraction(3, 7)",
    "decimal.Decimal": "decimal.Decimal('0.75')",
    "random.Random": "random.Random(3)",
    "statistics.NormalDist": "statistics.NormalDist(0.5, 2.0)",
}

# The arguments of a call.
FORMS = (
    "", "x", "x, y", "x, y, x", "x, 2", "2, x", "x, 2.0", "2.0, x", "x, True",
    "x, None", "x, 0", "0, x", "1, x", "x, 1, 3", "0.25, x, 2.0", "-0.0, x", "x, x",
    "7, 3", "3", "v", "v, x", "x, v", "v, v", "v, w", "v, 1", "1, v", "v, 0, x",
    "v, slice(0, 2)", "v, slice(0, 2), w", "v, 1, 3", "v, x, 0, 2", "(x, y)",
    "v, (2.0, 1, 3, 4)", "[v, w]", "iter(v)", "reversed(v)", "tuple(v)",
    "collections.deque(v)", "range(4)", "v, range(4)", "v, 2, 1", "*v", "*v, *w",
    "x, *v", "dict(enumerate(v))", "{'a': x, 'b': y}, 'b'", "{'a': x}, 'a', y",
    "'d', v", "'f', v", "'d', x", "float, v", "list, v", "operator.add, v",
    "operator.mul, v, x", "operator.neg, v", "lambda a, b: a * b, v",
    "lambda a: a * x, v", "lambda a: a > 0.5, v", "lambda a, b: a * b, zip(v, w)",
    "lambda a, b: a - b, v, w", "v, lambda a: -a", "v, lambda a, b: a * b",
    "v, key=lambda a: -a", "v, reverse=True", "x, y, key=lambda a: -a", "2, v",
    "2, v, lambda a: -a", "v, x, key=lambda a: 2 * a", "v, default=x",
    "[], default=x", "v, start=x", "v, initial=x", "v, weights=w", "v, k=2",
    "w, weights=v, k=2", "v, strict=True", "v, fillvalue=x", "x, repeat=2",
    "v, repeat=2", "v, n=2", "x, 3", "[1, 2], v", "None, v", "v, [1, 0, 1, 1]",
    "x, rel_tol=0.5", "x, y, abs_tol=y", "v, mu=x", "v, xbar=x", "v, w, v",
    "fractions.Fraction(1, 3), x", "x, fractions.Fraction(1, 3)",
    "decimal.Decimal(2), x", "'0.5'", "'ab', v", "lambda: x", "lambda a: a, x",
    "lambda *a: sum(a), x, y", "operator.itemgetter(1), v", "v, 'x'", "x, ndigits=1",
)  # fmt: skip
SCIPY_FORMS = (
    "v", "v, w", "a", "a, b", "a, v", "x", "x, y", "2, x", "2, v", "x, y, 0.5",
    "v, w, v", "lambda a: a * x, 0.0, 1.0", "lambda a: a * a - x, 0.1, 2.0",
    "lambda t, q: -x * q, (0.0, 1.0), [1.0]", "v, 2", "a, 2", "v, 0.5", "v, axis=0",
    "v, n=3", "lambda q: (q[0] - x) ** 2, [0.1]",
)  # fmt: skip


ROWS = (0.625, 0.125, 0.875, 0.3125), (2.5, 0.375, 1.75, 0.1875)


def given(kind: Any, rows: Any = ROWS) -> Any:
    """Two numbers and two lists of them, all of them objects of their own."""
    v, w = ([kind(float(repr(k))) for k in row] for row in rows)
    return kind(0.75), kind(0.25), v, w


def of_rows(kind: Any) -> Any:
    """Two numbers, and two rows that are no lists."""
    x, y, v, w = given(float)
    return x, y, kind(v), kind(w)


def mixed() -> Any:
    """Numbers of several classes in one row."""
    v, w = [0.5, 1, np.float64(2.0), True], [2, 0.125, 1.5, np.float32(0.25)]
    return 0.75, True, v, w


ODD = (-0.0, float("inf"), 0.0, float("nan")), (1.0, 2.0, -1.0, 3.0)
# What a program is given: two numbers and two rows of them.
GIVEN = {
    "float": lambda: given(float),
    "number": lambda: given(np.float64),
    "single": lambda: given(np.float32),
    "complex": lambda: given(lambda k: complex(k, 0.5)),
    "0-d": lambda: given(np.array),
    "array": lambda: given(lambda k: np.array([k, 2.0 * k])),
    "whole": lambda: given(lambda k: int(8 * k)),
    "odd": lambda: given(float, ODD),
    "rows as arrays": lambda: of_rows(np.array),
    "rows as tuples": lambda: of_rows(tuple),
    "mixed": mixed,
}


def taken(r: Any) -> Any:
    """The first entries of an iterator; anything else as it is."""
    if hasattr(r, "__next__"):
        return [*itertools.islice(r, 6)]
    return r


SCOPE: dict[str, Any] = {
    **{name: importlib.import_module(name) for name in (*MODULES, *SCIPY)},
    "taken": taken,
    "np": np,
}
SCOPE = {name: x for name, x in SCOPE.items() if "." not in name}
SCOPE["scipy"] = importlib.import_module("scipy")


@cache
def walked(*, scipy: bool = False) -> list[str]:
    """Every public callable, as programs write it; methods of an object `o`."""
    names = [
        f"{module}.{name}"
        for module in (SCIPY if scipy else MODULES)
        for name in public(importlib.import_module(module))
    ]
    if scipy:
        return names
    methods = [
        f"{cls}:{name}"
        for cls in OBJECTS
        for name in dir(eval(cls, SCOPE))
        if is_asked(name) and callable(getattr(eval(cls, SCOPE), name))
    ]
    return names + methods


SPECIAL = frozenset(
    """
    __add__ __radd__ __mul__ __rmul__ __sub__ __rsub__ __truediv__ __rtruediv__ __pow__
    __rpow__ __mod__ __floordiv__ __divmod__ __neg__ __pos__ __abs__ __round__ __trunc__
    __ceil__ __floor__ __bool__ __float__ __complex__ __int__ __eq__ __lt__ __le__
    __ne__ __getitem__ __setitem__ __delitem__ __contains__ __len__ __iter__
    __reversed__ __iadd__ __imul__ __copy__ __missing__ __or__ __ior__ __hash__
""".split()
)


def is_asked(name: str) -> bool:
    return name in SPECIAL or not (name.startswith("_") or name in LEFT_OUT)


def public(module: Any) -> list[str]:
    """Names of a module's own functions and classes."""
    return [
        name
        for name, f in sorted(vars(module).items())
        if callable(f)
        and not name.startswith("_")
        and name not in LEFT_OUT
        and not (inspect.isclass(f) and issubclass(f, BaseException | type))
    ]


def texts_of(callee: str, forms: Any) -> list[str]:
    """Statements that call one callable and leave what came of it in `r`."""
    if ":" not in callee:
        return [f"r = taken({callee}({form}))" for form in forms]
    cls, name = callee.split(":")
    made = f"o = {OBJECTS[cls]}"
    return [f"{made}; r = taken(o.{name}({form})); r = (r, o)" for form in forms]


def possible(*, scipy: bool = False) -> list[str]:
    """All calls, whether they work or not."""
    forms = SCIPY_FORMS if scipy else FORMS
    return [text for callee in walked(scipy=scipy) for text in texts_of(callee, forms)]


def sample(texts: Iterable[str], one_in: int, part: int = 0) -> list[str]:
    """Some of the calls."""
    return [text for text in texts if crc32(text.encode()) % one_in == part]
