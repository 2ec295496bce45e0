"""Every operator between operands of every two kinds: as the plain program, or refused.

Value, class of the result and exception are those of Python and NumPy; derivatives are
compared with finite differences.
"""

import itertools
import operator

import numpy as np
import pytest

from rules_autodiff import EngineError, jvp, value_and_grad, vjp
from rules_autodiff.straight._tier import signatures
from rules_autodiff.testing import check_program
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
    ends = f(HERE + step * DIRECTION), f(HERE - step * DIRECTION)
    rounding = 2.0**-23 * abs(ends[0]) / step if single else 0.0
    return (ends[0] - ends[1]) / (2 * step), (5e-3 if single else 1e-3) + rounding


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


@pytest.mark.covering(every=5)
@pytest.mark.parametrize("first", range(5))
def test_sample(first):
    """One in forty of all, 37 being no divisor of a count of operands."""
    check(CASES[first * 37 :: 5 * 37])


@pytest.mark.nightly
@pytest.mark.parametrize("name", OPERATORS)
def test_all(name):
    check([case for case in CASES if case[0] == name])


# Objects with reflected operators alone: floats have no `|`, their class has one


class Reflected:
    """Each reflected operator is `3 v + other`, or without a number `3 v`."""

    def __init__(self, v):
        self.v = v

    def of_number(self, other):
        return 3.0 * self.v + other

    def of_another(self, _other):
        return 3.0 * self.v

    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = of_number
    __rpow__ = __rmatmul__ = __rlshift__ = __rrshift__ = of_number
    __rand__ = __ror__ = __rxor__ = of_number
    __rmod__ = of_another


REFLECTED = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv,
    operator.pow, operator.matmul, operator.lshift, operator.rshift, operator.and_,
    operator.or_, operator.xor, operator.mod,
]  # fmt: skip


@pytest.mark.parametrize("number", [float, np.float64])
@pytest.mark.parametrize("op", REFLECTED, ids=lambda op: op.__name__)
def test_reflected_operators_of_objects(op, number):
    for f in (
        lambda x: op(x, Reflected(x)) * 1.0,
        lambda x: op(2.5, Reflected(x)) * 1.0,
        lambda x: op(True, Reflected(x)) * x,
    ):
        check_program(f, number(1.5))


@pytest.mark.parametrize("left", [[1.0], (1.0,), {1.0}, {1: 2.0}], ids=repr)
def test_a_reflected_remainder_beside_other_objects(left):
    check_program(lambda x: (left % Reflected(x)) * 1.0, 1.5)


class Percent(str):
    """A text that knows what stands before it."""

    __slots__ = ()

    def __rmod__(self, other):
        return len(other)


@pytest.mark.parametrize("left", ["%d", b"%d", bytearray(b"%d")], ids=repr)
def test_a_format_takes_any_object(left):
    """Without asking the object, unless that is a text as well."""

    def caught(x):
        try:
            return (left % Reflected(x)) * 1.0
        except TypeError:
            return 5.0 * x

    check_program(caught, 1.5)
    check_program(lambda x: operator.mod("%d", Percent("a")) * x, 1.5)
    check_program(lambda x: len(operator.mod("%s", Reflected(2))) * 0.0 + x, 1.5)
