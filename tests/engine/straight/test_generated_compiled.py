"""Generated programs of numbers and small arrays, by the text that numba compiles.

Compiling one takes a second or more. So most texts are run by Python, with `njit` left
out, which shows whether the text is right; some are compiled, which shows whether numba
means by it what Python does.
"""

import warnings
from collections import Counter

import numpy as np
import pytest

from rules_autodiff import vjp
from rules_autodiff.straight._compiled import files, kernels
from rules_autodiff.straight._compiled.terms import Uncompiled
from rules_autodiff.straight._program.kinds import kind_of
from rules_autodiff.straight._program.refused import Refused
from rules_autodiff.straight._unit.unit import write
from tests.engine.straight.random_numbers import arguments, number_program

pytest.importorskip("numba")
ACTIVE = (0, 1, 2), (0, 2), (1,), (2,)  # by turns
PLAIN = "def njit(*_args, **_options):\n    return lambda f: f\n"


def by_python(text):
    """The module with a text, run by Python."""
    return files.in_memory("by_python", text.replace("from numba import njit", PLAIN))


@pytest.fixture
def _in_python(monkeypatch):
    monkeypatch.setattr(kernels, "module_of", by_python)


def check(seed):
    """Check one program; what became of it."""
    plain, text = number_program(seed)
    args, active = arguments(seed), ACTIVE[seed % len(ACTIVE)]
    message = f"program {seed}\n{text}"
    value = plain(*copied(args))
    if not isinstance(value, float) or not abs(value) < 1e6:
        return "large"
    try:
        unit = write(plain, tuple(map(kind_of, args)), active)
    except Refused as refused:
        return f"refused: {refused.reason}"
    caps = unit.guard(plain)
    try:
        kernel = kernels.kernel_of(unit, args, caps, None, active, required=True)
    except Uncompiled as error:
        return f"uncompiled: {error}"
    given = copied(args)
    try:
        own, found = kernel.back(args, caps, 1.0)
    except kernels.Unused as error:
        return f"unused: {error}"
    except ValueError:  # on a way that was left out: Python takes over
        return "left"
    for x, before in zip(args, given, strict=True):
        assert np.array_equal(x, before), f"an argument is written to in {message}"
    assert type(own) is type(value), f"the value is a {type(own)} in {message}"
    _, kept = unit.forward(*args, caps)
    close(own, value, message)
    for one, other in zip(found, unit.reverse(kept, 1.0), strict=True):
        close(one, other + np.zeros(np.shape(one)), message)
    by_tape = vjp(plain, *args, tier="tape")[1](type(value)(1.0))
    for place, one in zip(active, found, strict=True):
        close(one, by_tape[place], message, rtol=1e-8)
    return "checked"


def copied(args):
    return tuple(x.copy() if isinstance(x, np.ndarray) else x for x in args)


def close(one, other, message, rtol=1e-12):
    np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol, err_msg=message)


def run_programs(seeds, least=0.6):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        counts = Counter(check(seed) for seed in seeds)
    assert counts["checked"] > least * len(seeds), counts.most_common(20)


@pytest.mark.usefixtures("_in_python")
def test_texts_by_python():
    """30 programs."""
    run_programs(range(30), least=0.4)


@pytest.mark.full
@pytest.mark.usefixtures("_in_python")
def test_more_texts_by_python():
    """300 programs."""
    run_programs(range(30, 330), least=0.5)


@pytest.mark.nightly
@pytest.mark.usefixtures("_in_python")
@pytest.mark.parametrize("first", range(1000, 3500, 250))
def test_texts_by_python_nightly(first):
    """2,500 programs."""
    run_programs(range(first, first + 250), least=0.5)


@pytest.mark.full
def test_by_numba():
    """20 programs."""
    run_programs(range(100, 120), least=0.1)


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(20000, 20400, 40))
def test_by_numba_nightly(first, monkeypatch):
    """100 programs: numba compiles each for two seconds."""
    monkeypatch.setenv(files.FOLDER, "off")
    run_programs(range(first, first + 10), least=0.15)
