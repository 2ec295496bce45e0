"""What numba makes of calls of NumPy's functions: values and derivatives of the tape.

`test_compiled_words.py` runs the text for numba by Python, for all calls. Here numba
compiles a program of several calls, one of each function, at a time.
"""

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, value_and_grad
from rules_autodiff.straight._compiled import kernels
from tests.engine.straight.constructs import ARGS, body_of, calls, module_of

pytest.importorskip("numba")

ACTIVE = (0, 3, 4)
PARTS = 24  # programs, of neighbours in the list of calls


def given():
    """The arguments, anew: a call may write to them."""
    return [x.copy() if isinstance(x, np.ndarray) else x for x in ARGS]


class Read(BaseException):
    """A program was read as a whole; numba would compile it now."""


def is_read(f):
    """Whether a program has a text for numba, which gives a value."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "compiled", raise_read)
        try:
            value_and_grad(f, ACTIVE, tier="compiled")(*given())
        except Read:
            value, _ = value_and_grad(f, ACTIVE, tier="tape")(*given())
            return bool(np.isfinite(value))
        except UnsupportedProgram:
            return False


def raise_read(_text):
    raise Read


def joined(bodies):
    """The body of one program of several calls, each in a loop."""
    lines = ["s = x", "for i in range(n):"]
    for number, body in enumerate(bodies):
        _, _, call, use, _ = body.splitlines()
        use = use.replace("r * r", f"r{number} * r{number}")
        use = use.replace("* r", f"* r{number}").replace("if r ", f"if r{number} ")
        use = use.replace(f"r{number}{number}", f"r{number}")
        lines += [call.replace("r = ", f"r{number} = ", 1), use]
    return "\n".join([*lines, "return s"])


def chosen(part, path):
    """One call of each function in a part of the list that can be compiled."""
    everything = calls()
    size = len(everything) // PARTS
    found = {}
    own = everything[part * size : (part + 1) * size]
    bodies = {f"f{i}": body_of(call) for i, call in enumerate(own)}
    module = module_of({k: b for k, b in bodies.items() if b}, path)
    for (name, body), call in zip(bodies.items(), own, strict=True):
        function = call.partition("(")[0] if not call.startswith("(") else call
        if body and function not in found and is_read(getattr(module, name)):
            found[function] = body
    return list(found.values())


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("part", range(PARTS))
def test_calls(part, tmp_path):
    bodies = chosen(part, tmp_path / f"calls_of_part_{part}.py")
    f = module_of({"f": joined(bodies)}, tmp_path / f"program_of_part_{part}.py").f
    value, slopes = value_and_grad(f, ACTIVE, tier="compiled")(*given())
    expected, others = value_and_grad(f, ACTIVE, tier="tape")(*given())
    assert type(value) is type(expected)
    np.testing.assert_allclose(value, expected, rtol=1e-13)
    for one, other in zip(slopes, others, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)


@pytest.mark.nightly
def test_reductions(tmp_path):
    """Of the functions that were refused though their operators were not."""
    body = "\n".join([
        "s = np.dot(v, v) + np.max(v) * abs(n) + max(x, 0)",
        "for i in range(n):",
        "    s = s + np.sum(np.maximum(v, x)) + np.min(m, axis=0)[1] + np.mean(m)",
        "    s = s + np.sum(np.where(v > y, v, 0.0)) + np.var(np.add(v, w))",
        "return s",
    ])  # fmt: skip
    f = module_of({"f": body}, tmp_path / "reductions_of_arrays.py").f
    value, slopes = value_and_grad(f, ACTIVE, tier="compiled")(*given())
    expected, others = value_and_grad(f, ACTIVE, tier="tape")(*given())
    np.testing.assert_allclose(value, expected, rtol=1e-14)
    for one, other in zip(slopes, others, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)
