"""Each operation in a program that is read and written as any other."""

import linecache
import math
from itertools import islice

import numpy as np
import pytest

from rules_autodiff import grad
from rules_autodiff.straight._operations.table import SPREADING
from tests.engine.straight.test_operations import GROUPS
from tests.engine.straight.written import ATTRIBUTES, Literal

COUNT = 12  # cases of an operation, taken evenly


def function_name(f):
    """How a program names a function."""
    for name, module in (("math", math), ("np.linalg", np.linalg)):
        if getattr(module, f.__name__, None) is f:
            return f"{name}.{f.__name__}"
    # ufuncs of NumPy 2.1 have no module
    builtin = getattr(f, "__module__", None) == "builtins"
    return f.__name__ if builtin else f"np.{f.__name__}"


def call_text(case, names):
    """The call as a program has it."""
    pairs = zip(case.operands, names, strict=True)
    operands = [repr(x.value) if isinstance(x, Literal) else n for x, n in pairs]
    options = [f"{k}={v!r}" for k, v in case.options.items()]
    if case.table == "operator":
        return case.text.format(*[f"({text})" for text in operands])
    if case.table == "method":
        owner, *rest = operands
        called = "" if case.key in ATTRIBUTES else f"({', '.join(rest + options)})"
        return f"{owner}.{case.key}{called}"
    if case.key in SPREADING:
        operands = [f"[{', '.join(operands)}]"]
    return f"{function_name(case.key)}({', '.join(operands + options)})"


def program_of(case):
    """A function of the operands, and weights of the entries of its result."""
    names = [f"x{i}" for i in range(len(case.operands))]
    pairs = list(zip(names, case.operands, strict=True))
    free = {name: x for name, x in pairs if not isinstance(x, Literal)}
    shape = np.shape(case.run(*case.values))
    text = (
        f"def program({', '.join([*free, 'w'])}):\n"
        f"    z = {call_text(case, names)}\n"
        f"    return {'np.sum(z * w)' if shape else 'z * w'}\n"
    )
    name = f"<{case.name} {id(case)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope = {"np": np, "math": math}
    exec(compile(text, name, "exec"), scope)
    weights = np.random.default_rng(3).standard_normal(shape) if shape else 1.5
    return scope["program"], [*free.values()], weights


def chosen(cases):
    """Some of the cases through which a derivative passes."""
    active = [case for case in cases if case.active(case.written)]
    return islice(active, 0, None, max(1, len(active) // COUNT))


@pytest.mark.covering(every=8)
@pytest.mark.parametrize("operation", [o for o in GROUPS if any(chosen(GROUPS[o]))])
def test_programs(operation):
    for case in chosen(GROUPS[operation]):
        program, operands, weights = program_of(case)
        places = [i for i, x in enumerate(operands) if is_active(x)]
        with np.errstate(all="ignore"):
            found = grad(program, tuple(places), tier="straight")(*operands, weights)
            expected = grad(program, tuple(places), tier="tape")(*operands, weights)
        for d, of_tape in zip(found, expected, strict=True):
            np.testing.assert_allclose(d, of_tape, 1e-9, 1e-11, err_msg=case.name)


def is_active(x):
    return type(x) in (float, np.float64) or np.asarray(x).dtype == np.dtype(float)
