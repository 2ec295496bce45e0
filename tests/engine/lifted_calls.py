"""Calls of everything in NumPy that the packs or the engine know, found by walking."""

import warnings
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np
import scipy.special

import rules_scipy.special
from rules_autodiff._python.handlers import HANDLERS
from rules_autodiff.straight._operations.table import FUNCTIONS, METHODS
from rules_numpy._declare.derivative import DECLARED
from rules_numpy.coverage import public_functions

__all__ = ["GIVEN", "INSIDE", "SCOPE", "WORLDS", "calls", "sample", "walked"]

SCOPE = {"np": np, "scipy": scipy}

# What reads or writes files, prints, changes NumPy itself, or leaves memory as it is.
LEFT_OUT = frozenset("""
    empty empty_like fromfile fromregex fromstring genfromtxt get_include
    getbufsize geterr geterrcall get_printoptions info load loadtxt printoptions save
    savetxt savez savez_compressed set_printoptions setbufsize seterr seterrcall
    show_config show_runtime dump dumps tofile nested_iters ctypes data
""".split())  # fmt: skip

SPECIAL = ("__copy__", "__pos__", "__neg__", "__abs__", "__getitem__")
ATTRIBUTES = ("x.T", "x.mT", "x.real", "x.imag", "x[...]", "x[()]", "x[0]", "x[::-1]")
OPERATORS = (
    "+x", "-x", "abs(x)", "x + y", "x - y", "x * y", "x / y", "x @ y", "x ** 2",
    "x ** 1", "x * 2.0", "2.0 * x", "x + 0", "x % y", "x // y", "x < y", "x += 1.0",
)[:-1]  # fmt: skip

# The arguments of a call: `x` and `y` are arrays.
FORMS = (
    "x", "x, y", "x, y, x", "(x, y)", "[x, y]", "x, 0", "x, 1", "x, -1", "x, 2.0",
    "x, 0, 1", "x, 1, 0", "x, x.shape", "x, None", "x, [0, 1]", "x, (0, 1)",
    "x, float", "x, float, copy=False", "x, copy=False", "x, copy=None", "x, copy=True",
    "x, dtype=float", "x, dtype=np.float32", "x, np.float32, copy=False",
    "x, float, order='F', copy=False", "x, order='F'", "x, order='A'", "x, order='K'",
    "x, 'F'", "x, 'K'", "x, keepdims=True", "x, axis=0", "x, axis=-1",
    "x, axis=0, keepdims=True", "x, axis=None", "x, y, axis=0", "x, n=0", "x, n=1",
    "x, 1, axis=0", "x > 0.5", "x > 0.5, x", "x > 0.5, x, y", "x, x > 0.5", "x, 0.5",
    "x, x > 0.5, 0.5", "x, 0.2, 0.7", "x, x.shape[::-1]", "x, subok=True",
    "'ij->ji', x", "'ii->i', x", "'i->i', x", "...", "x, ...", "x, -1, order='F'",
    "x, ndmin=1", "x, ndmin=3", "x, y, x > 0.5", "x, out=y", "x, x, out=y",
    "x, y, sparse=True", "x, y, copy=False", "x, k=1", "",
)  # fmt: skip

WORLDS = {
    "matrix": (
        np.array([[0.75, 0.125, 0.1875], [0.25, 0.875, 0.25], [0.0625, 0.375, 0.625]]),
        np.array([[0.5, 0.25, 0.375], [0.125, 0.9375, 0.4375], [0.875, 0.1875, 0.75]]),
    ),
    "vector": (
        np.array([0.625, 0.125, 0.875, 0.3125]),
        np.array([0.25, 0.75, 0.5625, 0.9375]),
    ),
    "box": (
        np.arange(1.0, 13.0).reshape(2, 3, 2) / 16.0,
        np.arange(12.0, 0.0, -1.0).reshape(2, 3, 2) / 16.0,
    ),
}  # fmt: skip


def locked(x: Any) -> Any:
    own = x.copy()
    own.flags.writeable = False
    return own


# How arrays lie that a program is given ...
GIVEN = {
    "C": lambda x: x.copy(),
    "Fortran": lambda x: x.copy(order="F"),
    "transposed": lambda x: x.T.copy().T,
    "permuted": lambda x: np.moveaxis(np.moveaxis(x, 0, -1).copy(), -1, 0),
    "strided": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "negative": lambda x: x[::-1].copy()[::-1],
    "broadcast": lambda x: np.broadcast_to(x[:1], x.shape),
    "0-d": lambda x: np.array(x.flat[0]),
    "number": lambda x: x.flat[0],
    "float": lambda x: float(x.flat[0]),
    "empty": lambda x: x[:0].copy(),
    "read-only": locked,
    "float32": lambda x: x.astype(np.float32),
    "complex": lambda x: x * (1.0 + 0.5j),
}
# ... and those that it makes itself.
INSIDE = {
    "temporary": lambda x: x * 1.0,
    "view of a temporary": lambda x: (x * 1.0)[...],
    "Fortran temporary": lambda x: x.T * 1.0,
    "transposed temporary": lambda x: (x.T * 1.0).T,
    "reversed temporary": lambda x: (x * 1.0)[::-1],
    "item": lambda x: (x * 1.0)[(0,) * x.ndim],
    "sum": lambda x: np.sum(x * 1.0),
    "0-d temporary": lambda x: np.asarray(np.sum(x * 1.0)),
}


# What crashes NumPy itself, for an `out` that does not fit, or reads other memory.
UNSAFE = ("np.cumulative_", "np.einsum('ii->i'", "np.resize", "x.resize")


def walked() -> list[str]:
    """Everything that is called, functions and methods, as programs write it."""
    names = [
        name.replace("numpy", "np", 1)
        for name, f in public_functions().items()
        if name.rpartition(".")[2] not in LEFT_OUT and is_known(f)
    ]
    public = {name for name in dir(np.ndarray) if not name.startswith("_")}
    methods = [
        f"x.{name}"
        for name in sorted({*public, *SPECIAL} - LEFT_OUT)
        if callable(own := getattr(np.ndarray, name))
        and (is_known(own) or name in METHODS)
    ]
    return [
        *names, *methods,
        "np.lib.stride_tricks.sliding_window_view",
        *(f"np.add.{name}" for name in ("reduce", "accumulate", "outer")),
        *(f"scipy.special.{name}" for name in rules_scipy.special.__all__),
    ]  # fmt: skip


def is_known(f: Any) -> bool:
    """Whether a pack, the engine or its straight-line tier know a function."""
    return f in DECLARED or f in HANDLERS or f in FUNCTIONS


def texts_of(callee: str) -> list[str]:
    """Calls of one callable; a method has its first argument before it."""
    if not callee.startswith("x."):
        return [f"{callee}({form})" for form in FORMS]
    own = [form[1:].lstrip(", ") for form in FORMS if form.split(",")[0] == "x"]
    return [f"{callee}({form})" for form in dict.fromkeys((*own, "(x, y)", "..."))]


@cache
def calls(world: str) -> dict[str, bool]:
    """Calls that work in C order, and whether what they give is of an argument."""
    found = {}
    for text in possible():
        if text.startswith(UNSAFE):
            continue
        x, y = (a.copy() for a in WORLDS[world])
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                result = eval(text, {**SCOPE, "x": x, "y": y})
            except Exception:
                continue
        found[text] = any(is_of(part, (x, y)) for part in parts_of(result))
    return found


def possible() -> list[str]:
    """All calls, whether they work or not."""
    called = [text for callee in walked() for text in texts_of(callee)]
    return [*ATTRIBUTES, *OPERATORS, *called]


def parts_of(x: Any) -> list[Any]:
    rows = isinstance(x, tuple | list)
    return [part for row in x for part in parts_of(row)] if rows else [x]


def is_of(part: Any, known: Any) -> bool:
    """Whether a result shares memory with an argument."""
    is_array = isinstance(part, np.ndarray)
    return is_array and any(np.shares_memory(part, a) for a in known)


def sample(world: str, one_in: int) -> list[str]:
    """Some of the calls, ones that give what is of an argument four times as often."""
    return [
        text
        for text, of_argument in calls(world).items()
        if crc32(f"{world} {text}".encode()) % one_in < (4 if of_argument else 1)
    ]
