"""Why a program is not compiled, in the words of the program; and what is, is right.

Programs of all kinds are read for numba, and their text is run by Python, which takes
milliseconds. Tests of what numba makes of such texts are in `test_compiled_calls.py`.
"""

import re
import types

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, jvp, value_and_grad
from rules_autodiff.straight._compiled import kernels
from rules_autodiff.straight._tier import compiling
from tests.engine.straight.constructs import (
    ARGS,
    NAMES,
    body_of,
    calls,
    constructs,
    module_of,
)

ACTIVE = (0, 1, 3, 4)
# What a message about a program must not have, besides the line that it quotes.
INTERNAL = re.compile(
    r"__|_bars?\b|_dots?\b|\b0x[0-9a-f]|<(function|built-in|class|ufunc|module)|undefined\)"
    r"|[Nn]umba\.|Traceback|_derivative\b|_partials\b|_adjoint\b|_reduce\b|\bast\b"
)
NJIT = "njit = lambda *a, **k: a[0] if a and callable(a[0]) else lambda f: f"
MESSAGE = re.compile(
    r"(?P<name>\S+) \((?P<file>.*), line (?P<first>\d+)\) must be a program (?P<must>"
    r"that numba can compile, but it is not compiled"
    r"|for which the straight-line tier can write code, but is left to the tape"
    r"): (?P<reason>.*)\. (?P<cure>(Use|Call) .*tier='auto'.*)",
    re.DOTALL,
)
PLACE = re.compile(r"(?P<what>.*) \((?P<f>\w+), line (?P<line>\d+)(: (?P<text>.*))?\)")
# Reasons that are not about a place: what is given to the program, and its value.
ABOUT_VALUES = (
    "its result is",
    "a derivative is not finite",
    "its argument",
    "it writes into its arguments",
    "compiled code does not serve this call",
)
LISTED = "q = []\nfor i in range(n):\n    q.append(x)\nreturn sum(q)"


def by_python(text):
    """The module of a text, without numba."""
    known = {"__name__": "by_python", "CACHE": False}
    exec(text.replace("from numba import njit", NJIT), known)
    return types.SimpleNamespace(**known)


@pytest.fixture
def _by_python(monkeypatch):
    monkeypatch.setattr(kernels, "compiled", by_python)
    monkeypatch.setattr(kernels, "flags", lambda: (lambda: None, lambda: 0))
    monkeypatch.setattr(compiling, "is_installed", lambda: True)


def check_message(text, name, lines):
    """The function, the place, the reason and the cure, without internal names."""
    parts = MESSAGE.fullmatch(text)
    assert parts, text
    assert parts["name"].endswith(name), text
    place = PLACE.fullmatch(parts["reason"])
    if place is None:
        about_values = parts["reason"].startswith(ABOUT_VALUES)
        assert about_values or f"(in {name}" in parts["reason"] or "(in fact" in text
        assert not INTERNAL.search(parts["reason"]), text
        return
    assert not INTERNAL.search(place["what"]), text
    assert lines[int(place["line"]) - 1].strip() == place["text"], text


def check_close(found, expected, call):
    assert type(found) is type(expected), call
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13, err_msg=call)


def direction(i, x):
    return np.cos(np.arange(x.size)).reshape(x.shape) if i > 2 else 0.7


def outcome(f, call, lines, by):
    """Whether a program is compiled: then it is right, else the message is."""
    args = [x.copy() if isinstance(x, np.ndarray) else x for x in ARGS]
    try:
        y, dx = value_and_grad(f, by, tier="compiled")(*args)
    except UnsupportedProgram as error:
        check_message(str(error), f.__name__, lines)
        return False
    value, slopes = value_and_grad(f, by, tier="tape")(*args)
    check_close(y, value, call)
    for one, other in zip(dx, slopes, strict=True):
        check_close(one, other, call)
    dots = [direction(i, x) if i in by else None for i, x in enumerate(args)]
    try:
        _, dy = jvp(f, args, dots, tier="compiled")
    except UnsupportedProgram as error:
        check_message(str(error), f.__name__, lines)
    else:
        check_close(dy, jvp(f, args, dots, tier="tape")[1], call)
    return True


def check_all(bodies, path, by):
    """The outcomes of all programs; how many are compiled."""
    module = module_of(bodies, path)
    lines = path.read_text(encoding="utf-8").splitlines()
    each = [(getattr(module, name), body) for name, body in bodies.items()]
    return sum(outcome(f, body, lines, by) for f, body in each)


def some_calls(start, step):
    bodies = {f"f{i}": body_of(call) for i, call in enumerate(calls()[start::step])}
    return {name: body for name, body in bodies.items() if body}


@pytest.mark.usefixtures("_by_python")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_constructs(tmp_path):
    bodies = {f"c_{name}": body for name, body in constructs().items()}
    found = check_all(bodies, tmp_path / "constructs_of_python.py", ACTIVE)
    assert found >= 185


@pytest.mark.usefixtures("_by_python")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_some_calls(tmp_path):
    """With arguments of every kind."""
    bodies = some_calls(7, 61)
    assert check_all(bodies, tmp_path / "some_calls.py", (0, 1, 3, 4, 5, 6)) > 8


@pytest.mark.full
@pytest.mark.usefixtures("_by_python")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("start", range(8))
def test_all_calls(start, tmp_path):
    path = tmp_path / f"calls_{start}.py"
    assert check_all(some_calls(start, 8), path, (0, 1, 3, 4, 5, 6)) > 60


@pytest.mark.usefixtures("_by_python")
@pytest.mark.parametrize(
    ("body", "reason", "place"),
    [
        (LISTED, "a list", "q = []"),
        ("return np.linalg.det(m)", r"numpy.linalg.det(an array of floats with 2 axes)",
         "return np.linalg.det(m)"),
        ("t = {1, 2}\nreturn x", "a set is not in its language", "t = {1, 2}"),
        ("a = x\nfor r in m:\n    a = a + np.sum(r[r > x])\nreturn a",
         "an index that is an array of truth values with 1 axis",
         "a = a + np.sum(r[r > x])"),
        ("return np.sum(np.tril(m))", "numpy.tril(an array of floats with 2 axes)",
         "return np.sum(np.tril(m))"),
        ("return x + np.ptp(v)",
         "numpy.ptp is called by its rule, and what numpy.ptp returns is not known yet",
         "return x + np.ptp(v)"),
    ],
)  # fmt: skip
def test_a_message(body, reason, place, tmp_path):
    path = tmp_path / "one_message.py"
    f = module_of({"f": body}, path).f
    with pytest.raises(UnsupportedProgram) as caught:
        value_and_grad(f, ACTIVE, tier="compiled")(*ARGS)
    text = str(caught.value)
    check_message(text, "f", path.read_text(encoding="utf-8").splitlines())
    assert f": {reason} (f, line " in text
    assert f": {place}). " in text


def test_the_names_of_arguments():
    """The programs of these tests have the arguments that they assume."""
    assert [NAMES[i] for i in ACTIVE] == ["x", "y", "v", "m"]
