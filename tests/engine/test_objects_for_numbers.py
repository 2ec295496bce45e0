"""Objects that say `__float__`, given to every function of NumPy.

NumPy asks them where the dtype of an array is set; elsewhere it keeps the object, and
its operators answer. So does a lifted program, or it raises.
"""

import numpy as np
import pytest

from rules_autodiff import EngineError, jvp, vjp
from rules_core import DerivativeNotImplemented, UnsupportedError
from tests.engine.oracle_lifted import program_of

pytestmark = pytest.mark.filterwarnings("ignore")
REFUSED = (EngineError, UnsupportedError, DerivativeNotImplemented)
HERE, OTHER = np.array([0.7, 0.4]), np.array([0.3, 0.9, 0.6])


class Floating:
    """A number for `float` alone."""

    def __init__(self, value):
        self.value = value

    def __float__(self):
        return self.value * 1.0


class Tripling(Floating):
    """One whose operators are not those of the number."""

    def __mul__(self, other):
        return 3.0 * self.value * other

    def __add__(self, other):
        return 5.0 * self.value + other

    __rmul__, __radd__ = __mul__, __add__


CALLS = ("{}(x)", "{}(x, y)", "{}(y, x)", "{}([x, x])", "{}(x, float)", "{}(y, 0, x)")
LEFT_OUT = {
    "np.copyto", "np.dtype", "np.empty", "np.empty_like", "np.full_like",
    "np.put_along_axis", "np.save", "np.savetxt", "np.savez", "np.savez_compressed",
    "np.test", "np.linalg.test", "np.fft.test",
}  # fmt: skip


def is_looked_at(name, f):
    """Classes of whole numbers, of texts and of pairs are no way for a derivative."""
    is_other_class = isinstance(f, type) and not issubclass(f, np.floating)
    return callable(f) and name not in LEFT_OUT and not is_other_class


MODULES = {"np": np, "np.linalg": np.linalg, "np.fft": np.fft}
FUNCTIONS = [
    f"{prefix}.{name}"
    for prefix, module in MODULES.items()
    for name in sorted(dir(module))
    if not name.startswith("_")
    and is_looked_at(f"{prefix}.{name}", getattr(module, name))
]


def outcome(f):
    try:
        return f()
    except Exception as error:
        return error


def number(x):
    """What a program returned as one number, if it is one or an array of them."""
    if not isinstance(x, int | float | np.number | np.ndarray):
        return None
    return float(np.sum(np.asarray(x, float)))


def same(found, expected):
    if isinstance(found, Exception) or isinstance(expected, Exception):
        return isinstance(found, Exception) and isinstance(expected, Exception)
    return np.array_equal(outcome(lambda: number(found)), expected, equal_nan=True)


def fault(text, cls):
    """In words what is wrong about a call; None for nothing."""
    call = program_of(text, alone=True)

    def program(v):
        found = call(cls(v[0] + v[1]), OTHER.copy())
        return found if isinstance(found, float | np.ndarray) else 0.0

    expected = outcome(lambda: number(program(HERE)))
    if expected is None:
        return None
    reverse, forward = (
        lambda: vjp(program, HERE),
        lambda: jvp(program, (HERE,), (HERE,)),
    )
    for mode in (lambda: reverse()[0], lambda: forward()[0]):
        found = outcome(mode)
        if not isinstance(found, REFUSED) and not same(found, expected):
            return f"{text}: {found!r}, but the program {expected!r}"
    return None


@pytest.mark.covering(every=12)
@pytest.mark.parametrize("cls", [Floating, Tripling])
@pytest.mark.parametrize("call", CALLS)
def test_functions_of_numpy(call, cls):
    texts = [call.format(f) for f in FUNCTIONS]
    with np.errstate(all="ignore"):
        faults = [f for text in texts if (f := fault(text, cls)) is not None]
    assert not faults, "\n".join(faults)
