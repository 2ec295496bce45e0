"""A module's function under another's name: `math.sin = math.exp`.

The program means what the name says now. The derivatives of all other functions, whose
formulas were written with the names of before, stay what they are.
"""

import itertools
import linecache
import math

import numpy as np
import pytest

from rules_autodiff import grad, jvp, vjp

NAMES = (
    "sin", "cos", "tan", "exp", "log", "sqrt", "sinh", "cosh", "tanh", "expm1", "log1p",
    "exp2",
)  # fmt: skip
OTHERS = {math: math.atan, np: np.arctan}


def program_of(call, module):
    source = f"def program(x):\n    return {call}\n"
    name = f"<rebound {module.__name__} {call}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope = {"m": module, "np": np, "__name__": __name__}
    exec(compile(source, name, "exec"), scope)
    return scope["program"]


def slopes(program, x):
    """The derivative by each mode and tier."""
    ones = np.ones_like(x) if isinstance(x, np.ndarray) else 1.0
    found = [
        vjp(program, x, tier="tape")[1](1.0)[0],
        *[grad(program)(x) for _ in range(3)],
        grad(lambda x: program(x) * 1.0)(x),
    ]
    return [*[np.sum(g) for g in found], jvp(program, (x,), (ones,))[1]]


def difference(program, x):
    return (program(x + 1e-6) - program(x - 1e-6)) / 2e-6


@pytest.mark.covering(every=4)
@pytest.mark.parametrize(
    ("module", "rebound"),
    list(itertools.product(OTHERS, NAMES)),
    ids=lambda value: getattr(value, "__name__", value),
)
def test_other_derivatives_stay_what_they_are(monkeypatch, module, rebound):
    calls = [f"m.{name}(x)" for name in NAMES] + ["x ** 1.5", "abs(x) / x * x"]
    points = [0.7, *([np.float64(0.7), np.full(2, 0.7)] if module is np else [])]
    programs = [
        (program_of(f"np.sum({call})" if type(x) is np.ndarray else call, module), x)
        for call, x in itertools.product(calls, points)
    ]
    for program, x in programs[::3]:
        slopes(program, x)  # code is written, and functions are known
    monkeypatch.setattr(module, rebound, OTHERS[module])
    for program, x in programs:
        true = difference(program, x)
        assert np.allclose(slopes(program, x), true, rtol=1e-5), (program.__code__, x)
