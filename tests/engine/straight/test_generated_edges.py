"""Generated programs at the edges of Python's meaning, compiled and by plain Python.

Where compiled code serves a call, plain Python gives the value, in its class, without
an error or a warning, and the tape gives the derivative.
"""

import ast
import warnings
from collections import Counter

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, linearize, vjp
from rules_autodiff.straight._compiled import files, kernels
from rules_autodiff.straight._compiled.terms import Uncompiled
from rules_autodiff.straight._compiled.unbound import names_stored
from rules_autodiff.straight._program.kinds import kind_of
from rules_autodiff.straight._program.refused import Refused
from rules_autodiff.straight._unit.unit import write
from tests.engine.straight.random_edges import edge_arguments, edge_program
from tests.engine.straight.test_generated_compiled import by_python, copied

pytest.importorskip("numba")
ACTIVE = (0, 1, 2)
POINTS = 12  # arguments for each program


def by_python_with_zeros(text):
    """The module with a text, run by Python, where unbound variables are zero."""
    tree = ast.parse(text)
    for node in [n for n in tree.body if isinstance(n, ast.FunctionDef)]:
        given = {arg.arg for arg in node.args.args}
        names = {*names_stored(node)} - given
        node.body[:0] = ast.parse("\n".join(f"{x} = 0.0" for x in sorted(names))).body
    return by_python(ast.unparse(ast.fix_missing_locations(tree)))


@pytest.fixture
def _in_python(monkeypatch):
    monkeypatch.setattr(kernels, "module_of", by_python_with_zeros)


def outcome(run, *args):
    """A result, or the class of an error; a warning is one."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            return run(*args)
        except Exception as error:
            return type(error)


def kernel(plain, args, counts):
    """The compiled code of a program, and the call of its guard."""
    try:
        unit = write(plain, tuple(map(kind_of, args)), ACTIVE)
        caps = unit.guard(plain)
        made = kernels.kernel_of(unit, args, caps, None, ACTIVE, required=True)
    except (Refused, Uncompiled) as error:
        counts[f"{type(error).__name__}: {error}"] += 1
        return None, None
    return made, caps


def check(seed, counts):
    """Check one program for several arguments."""
    plain, text = edge_program(seed)
    made, caps = kernel(plain, edge_arguments(seed), counts)
    if made is None:
        return
    counts["programs"] += 1
    for point in range(POINTS):
        args = edge_arguments(1000 * seed + point)
        if type(args[4]) is int and abs(args[4]) < 2**64:
            counts[check_at(plain, made, args, caps, f"{seed} at {args}\n{text}")] += 1


def check_at(plain, made, args, caps, message):
    expected = outcome(plain, *copied(args))
    given = copied(args)
    found = outcome(made.back, given, caps, 1.0)
    for x, before in zip(given, args, strict=True):
        assert np.array_equal(x, before), f"an argument is written to in {message}"
    if isinstance(found, type):
        return "an error" if isinstance(expected, type) else "left to Python"
    assert not isinstance(expected, type), f"{expected.__name__} is lost in {message}"
    value, cotangents = found
    if not np.isfinite(value):
        return "not finite"
    assert type(value) is type(expected), f"{type(value)} in {message}"
    close(value, expected, message)
    with np.errstate(all="ignore"):
        pulled = outcome(by_tape, plain, args, type(value)(1.0))
    if isinstance(pulled, type):
        return f"the tape raises {pulled.__name__}"
    for one, other in zip(cotangents, pulled, strict=False):
        if not np.all(np.isfinite(one)):
            return "infinite slope"  # left to the tape by the caller
        close(one, other, message, rtol=1e-8)
    return "checked"


def by_tape(plain, args, dy):
    return vjp(plain, *copied(args), tier="tape")[1](dy)


def close(one, other, message, rtol=1e-11):
    scale = max(1.0, float(np.max(np.abs(other), initial=0.0)))
    np.testing.assert_allclose(
        one, other, rtol=rtol, atol=rtol * scale, err_msg=message
    )


def run_programs(seeds, least):
    counts = Counter()
    for seed in seeds:
        check(seed, counts)
    assert counts["programs"] > least * len(seeds), counts.most_common(20)
    assert counts["checked"] > 2 * counts["programs"], counts.most_common(20)
    assert counts["an error"] > counts["programs"] / 2, counts.most_common(20)


@pytest.mark.usefixtures("_in_python")
def test_texts_by_python():
    """20 programs."""
    run_programs(range(20), least=0.4)


@pytest.mark.full
@pytest.mark.usefixtures("_in_python")
def test_more_texts_by_python():
    """300 programs."""
    run_programs(range(20, 320), least=0.4)


@pytest.mark.nightly
@pytest.mark.usefixtures("_in_python")
@pytest.mark.parametrize("first", range(1000, 2250, 250))
def test_texts_by_python_nightly(first):
    """1,250 programs."""
    run_programs(range(first, first + 250), least=0.4)


@pytest.mark.full
def test_by_numba():
    """10 programs."""
    run_programs(range(400, 410), least=0.3)


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(20000, 20400, 40))
def test_by_numba_nightly(first, monkeypatch):
    """100 programs: numba compiles each for two seconds."""
    monkeypatch.setenv(files.FOLDER, "off")
    run_programs(range(first, first + 10), least=0.4)


def check_kept(seed):
    """What is kept between calls does not change with the caller's arrays."""
    plain, text = edge_program(seed)
    args = 0.5, 0.75, np.array([0.25, 1.0, -0.5, 1.5]), 3, 2
    tangents = 1.0, -0.5, np.array([0.5, 1.0, -1.0, 2.0])
    try:
        value, pullback = vjp(plain, *args, tier="compiled")
        _, linear = linearize(plain, *args, tier="compiled")
        first = *pullback(1.0)[:3], linear(*tangents, None, None)
    except UnsupportedProgram:
        return False
    args[2][...] = np.nan
    again = *pullback(1.0)[:3], linear(*tangents, None, None)
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, other, err_msg=text)
    slope = sum(np.sum(d * t) for d, t in zip(first, tangents, strict=False))
    close(first[3], slope, text, rtol=1e-9)
    assert type(first[3]) is type(value), text
    return True


@pytest.mark.full
def test_what_is_kept():
    """10 programs, in reverse and in forward mode."""
    assert sum(map(check_kept, range(500, 510))) > 2


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(21000, 21200, 40))
def test_what_is_kept_nightly(first, monkeypatch):
    """80 programs: numba compiles each for two seconds."""
    monkeypatch.setenv(files.FOLDER, "off")
    assert sum(map(check_kept, range(first, first + 10))) > 2
