"""Every operator between operands of every two kinds: as the plain program, or refused.

Value, class of the result and exception are those of Python and NumPy; derivatives are
compared with finite differences.
"""

import itertools

import numpy as np
import pytest

from rules_autodiff import EngineError, jvp, value_and_grad, vjp
from rules_autodiff.straight._tier import signatures
from rules_core import DerivativeNotImplemented, UnsupportedError
from tests.engine.operands import DIRECTION, HERE, OPERANDS, OPERATORS, program

pytestmark = pytest.mark.filterwarnings("ignore")
REFUSED = (EngineError, UnsupportedError, DerivativeNotImplemented)
CASES = list(
    itertools.product(OPERATORS, OPERANDS, OPERANDS, ("left", "right", "both"))
)


def pulled(f):
    y, pullback = vjp(f, HERE)
    return y, pullback(1.0)[0] @ DIRECTION


def pushed(f):
    return jvp(f, (HERE,), (DIRECTION,))


def straight(f):
    y, gradient = value_and_grad(f)(HERE)
    return y, gradient @ DIRECTION


def difference(f, case):
    single = "float32" in case
    step = 2.0**-7 if single else 1e-6
    rise = f(HERE + step * DIRECTION) - f(HERE - step * DIRECTION)
    return rise / (2 * step), 5e-3 if single else 1e-3


def outcome(f):
    """The value of a call, or its exception."""
    try:
        return f()
    except Exception as error:
        return error


def wrong(case):
    """In words what is wrong about a program in one of the modes; None for nothing."""
    f = program(*case)
    want = outcome(lambda: float(f(HERE)))
    for mode in (pulled, pushed, straight):
        found = outcome(lambda mode=mode: mode(f))
        if isinstance(want, Exception):
            if not isinstance(found, Exception):
                return f"{mode.__name__}: {found!r}, but the program {want!r}"
            if mode is pulled:
                return None  # what raises needs no second mode
        elif isinstance(found, Exception):
            if not isinstance(found, REFUSED):
                return f"{mode.__name__}: {found!r}, but the program {want}"
        elif (fault := differs(f, case, want, found)) is not None:
            return f"{mode.__name__}: {fault}"
    return None


def differs(f, case, want, found):
    value, slope = map(float, found)
    if not np.isclose(value, want, rtol=1e-6, equal_nan=True):
        return f"value {value}, but the program {want}"
    expected, within = difference(f, case)
    if np.isfinite(expected) and not np.isclose(slope, expected, within, within):
        return f"derivative {slope}, but differences {expected}"
    return None


def check(cases):
    with np.errstate(all="ignore"):
        faults = [(*case, fault) for case in cases if (fault := wrong(case))]
    assert not faults, "\n".join(map(str, faults[:20])) + f"\n{len(faults)} in all"


@pytest.fixture(autouse=True)
def at_first(monkeypatch):
    """Code is written at the first call."""
    monkeypatch.setattr(signatures, "AFTER", 0)


@pytest.mark.covering(every=2)
@pytest.mark.parametrize("first", range(5))
def test_sample(first):
    """One in forty of all, 37 being no divisor of a count of operands."""
    check(CASES[first * 37 :: 5 * 37])


@pytest.mark.nightly
@pytest.mark.parametrize("name", OPERATORS)
def test_all(name):
    check([case for case in CASES if case[0] == name])
