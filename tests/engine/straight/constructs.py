"""Programs of many kinds, for what the compiled tier takes, and how it refuses.

Python constructs are read from `constructs.txt`. Calls are those of all functions that
generated code knows, with arguments of every kind.
"""

import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import rules_autodiff.straight._operations  # noqa: F401  it fills the tables
from rules_autodiff.straight._operations.table import FUNCTIONS, METHODS

__all__ = ["ARGS", "NAMES", "calls", "constructs", "module_of"]

HEAD = """
import functools, itertools, math
import numpy as np
GLOB, MODE, TUP = 1.0, "a", (2.0, 3.0)
TABLE, IDX = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 2, 1])
COEF, OPTS = [1.0, 2.0, 3.0], {"a": 2.0}
class P:
    a = 2.0
    def scale(self, z):
        return z * self.a
def fact(n):
    return 1.0 if n <= 1 else n * fact(n - 1)
def nansum_like(v):
    return np.nansum(v)
def outer_of(f):
    @functools.wraps(f)
    def g(*a):
        return f(*a)
    return g
@outer_of
def deco(z):
    return z * z
@functools.lru_cache
def cached(z):
    return z * z
"""
VALUES: dict[str, Any] = {
    "x": 0.7, "y": 1.3, "n": 3, "v": np.array([0.5, 1.25, 0.75, 2.0]),
    "m": np.array([
        [4.0, 0.5, 0.1, 0.3], [0.5, 3.0, 0.2, 0.7], [0.1, 0.2, 2.5, 0.2],
        [0.3, 0.7, 0.2, 4.0],
    ]),
    "w": np.array([1.5, 0.25, 1.75, 0.3]),
    "k": np.arange(1.0, 25.0).reshape(2, 3, 4) / 10,
}  # fmt: skip
NAMES, ARGS = [*VALUES], tuple(VALUES.values())
ALONE = ("x", "n", "v", "m", "k", "np.arange(4)", "[x, y]", "(x, 2.0)", "n > 2")
PAIRS = (
    "x, y", "v, x", "x, v", "v, w", "m, v", "v, m", "m, m", "m, x", "v, n", "v, 2",
    "v, 0.5", "n, 2", "x, n", "k, x", "k, v", "np.arange(4), v", "[v, w], 0",
    "[x, y], v",
)  # fmt: skip
OTHERS = (
    "", "[v, w]", "(v, w), axis=1", "v > x, v, w", "v > x, v, 0.0", "v, 0.6, 1.5",
    "x, 0.6, 1.5", "m, x, y", "v, x, axis=0", "v, w, out=v",
)  # fmt: skip
KEYWORDS = (
    "axis=0", "axis=1", "axis=-1", "keepdims=True", "axis=(0, 1)", "dtype=float",
    "axis=0, keepdims=True",
)  # fmt: skip
OWNERS = ("v", "m", "k", "np.arange(4)", "(v > x)")
GIVEN = (
    "", "0", "1", "-1", "axis=0", "axis=1", "keepdims=True", "-1, 2", "v", "m", "x",
    "0.6, 1.5", "2", "(2, 2)", "float", "'float64'", "int",
)  # fmt: skip
ATTRIBUTES = frozenset({"T", "mT", "shape", "size", "ndim"})


def constructs() -> dict[str, str]:
    """By name, the bodies of programs of `x, y, n, v, m, w, k`."""
    text = (Path(__file__).parent / "constructs.txt").read_text(encoding="utf-8")
    parts = [part.partition("\n") for part in text.split("## ")[1:]]
    return {name.strip(): body.strip() for name, _, body in parts}


def spelled(f: Any) -> str:
    """How a program names a function; "" where it does not."""
    name = getattr(f, "__name__", "")
    for home, prefix in ((np, "np."), (np.linalg, "np.linalg."), (math, "math.")):
        if getattr(home, name, None) is f:
            return f"{prefix}{name}"
    return name if getattr(f, "__module__", None) == "builtins" else ""


def calls() -> list[str]:
    """Expressions: calls whose value a program can use."""
    made = [f for f in FUNCTIONS if f not in (np.empty, np.empty_like)]  # no values
    names = [name for name in map(spelled, made) if name]
    ruled = ["np.nansum", "np.nanvar", "np.median", "np.copysign", "np.ptp", "np.cov"]
    given = [*ALONE, *PAIRS, *OTHERS]
    given += [f"{x}, {keyword}" for x in "vmk" for keyword in KEYWORDS]
    found = [f"{name}({args})" for name in [*names, *ruled] for args in given]
    for name in METHODS:
        args = [None] if name in ATTRIBUTES else GIVEN
        tails = [name if a is None else f"{name}({a})" for a in args]
        found += [f"{owner}.{tail}" for owner in OWNERS for tail in tails]
    return found


def used(value: Any) -> str:
    """How a number follows from a value `r`; "" if it does not."""
    if isinstance(value, bool | np.bool_):
        return "(x if r else y)"
    if isinstance(value, int | float | np.integer | np.floating):
        return "x * r"
    if isinstance(value, np.ndarray) and value.dtype.kind in "fib":
        return "np.sum(r * r)" if value.dtype.kind == "f" else "np.sum(x * r)"
    pair = isinstance(value, tuple | list) and value
    return "x * r[0]" if pair and isinstance(value[0], int | float) else ""


def body_of(call: str) -> str:
    """The body of a program with a call in a loop; "" where the call is an error."""
    try:
        with np.errstate(all="ignore"):
            value = eval(call, {"np": np, "math": math, **VALUES})
    except Exception:
        return ""
    use = used(value)
    loop = ["s = x", "for i in range(n):", f"    r = {call}", f"    s = s + {use}"]
    return "\n".join([*loop, "return s"]) if use else ""


def module_of(bodies: dict[str, str], path: Path) -> ModuleType:
    """A module with a function for each body, in a file."""
    lines = [HEAD]
    for name, body in bodies.items():
        lines.append(f"def {name}({', '.join(NAMES)}):")
        lines += [f"    {line}" for line in body.splitlines()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
