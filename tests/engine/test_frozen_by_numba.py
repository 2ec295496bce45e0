"""Functions that numba compiled: value and derivative are of one function.

Numba does not read global and captured variables again. Where they have changed since,
the engine raises an error, and `recompile` is the remedy that it names.
"""

import math
import subprocess
import sys
import types
from typing import Any

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, grad, jvp, value_and_grad, vjp
from rules_autodiff._python import frozen

numba = pytest.importorskip("numba")
CHANGED = "numba compiled .* when "

SCALE, PAIR, FLAG = 2.0, (1.0, (2, "three")), True
TABLE = np.array([1.0, 2.0, 3.0])
TABLES = np.array([1.0, 2.0, 3.0]), 0.5
OUTSIDE: Any = types.ModuleType("outside_of_numba")
OUTSIDE.scale = 3.0
OUTSIDE.inner = types.ModuleType("outside_of_numba.inner")
OUTSIDE.inner.shift = 4.0


@numba.njit
def scaled(x):
    return SCALE * x * x


@numba.njit
def paired(x):
    return PAIR[0] * x * PAIR[1][0]


@numba.njit
def summed(x):
    s = 0.0
    for i in range(3):
        s += TABLE[i] * x
    return s


@numba.njit
def branched(x):
    return x * x if FLAG else x


@numba.njit
def read_from_module(x):
    return x * OUTSIDE.scale * math.pi + OUTSIDE.inner.shift


@numba.njit
def calling(x):
    return scaled(x) + 1.0


@numba.njit(inline="always")
def inlined(x):
    return SCALE * x


@numba.njit
def around_inlined(x):
    return inlined(x) * x


@numba.njit
def constant(x):
    return x * math.sin(np.float64(2.0)) * np.pi


def with_cell(scale):
    @numba.njit
    def own(x):
        return scale * x

    return own, lambda value: setattr(
        own.py_func.__closure__[0], "cell_contents", value
    )


@pytest.fixture(autouse=True)
def _as_at_first(monkeypatch):
    monkeypatch.setitem(sys.modules, "outside_of_numba", OUTSIDE)
    yield
    TABLE[:] = [1.0, 2.0, 3.0]


def slope(f):
    """Of the compiled function, by a difference."""
    return (f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6


def agree(f):
    f.recompile()
    for tier in ("tape", "auto", "straight"):
        value, found = value_and_grad(f, tier=tier)(1.5)
        assert value == pytest.approx(f(1.5))
        assert found == pytest.approx(slope(f), rel=1e-8)


def assert_refused(f, text):
    for tier in ("tape", "auto", "straight", "compiled"):
        with pytest.raises(UnsupportedProgram, match=CHANGED + text):
            grad(f, tier=tier)(1.5)
    with pytest.raises(UnsupportedProgram, match=r"Call its recompile\(\)"):
        vjp(f, 1.5)
    with pytest.raises(UnsupportedProgram, match=r"Call its recompile\(\)"):
        jvp(f, (1.5,), (1.0,))


@pytest.mark.parametrize(
    ("f", "name", "value", "text"),
    [
        (scaled, "SCALE", 7.0, r"SCALE was 2\.0, and is 7\.0 now"),
        pytest.param(
            scaled, "SCALE", 2, r"SCALE was 2\.0, and is 2 now", marks=pytest.mark.full
        ),
        pytest.param(
            paired, "PAIR", (1.0, (5, "three")), "PAIR was", marks=pytest.mark.full
        ),
        (branched, "FLAG", False, "FLAG was True, and is False now"),
        (
            summed,
            "TABLE",
            np.array([1.0, 2.0, 4.0]),
            "the value of TABLE may have been",
        ),
        (calling, "scaled", paired, "scaled was another function"),
    ],
    ids=["number", "class", "tuple", "branch", "array", "function"],
)
def test_a_global_variable(f, name, value, text, monkeypatch):
    agree(f)
    monkeypatch.setitem(globals(), name, value)
    assert_refused(f, text)
    agree(f)
    monkeypatch.undo()
    assert_refused(f, "")
    agree(f)


@pytest.mark.full
def test_entries_of_an_array():
    agree(summed)
    TABLE[1] = 9.0
    assert_refused(summed, "the value of TABLE may have been another")
    agree(summed)


@numba.njit
def from_tables(x):
    return TABLES[0][1] * x + TABLES[1]


@pytest.mark.full
def test_entries_of_an_array_in_a_tuple(monkeypatch):
    agree(from_tables)
    TABLES[0][1] = 9.0
    assert_refused(from_tables, "the value of TABLES may have been another")
    agree(from_tables)
    monkeypatch.setitem(globals(), "TABLES", 5.0)
    assert_refused(from_tables, "the value of TABLES|TABLES was")
    monkeypatch.setitem(globals(), "TABLES", scaled)
    assert_refused(from_tables, "TABLES was")


@pytest.mark.full
def test_an_array_with_equal_entries(monkeypatch):
    agree(summed)
    monkeypatch.setitem(globals(), "TABLE", TABLE.copy())
    assert grad(summed)(1.5) == pytest.approx(slope(summed))


@pytest.mark.parametrize(
    ("owner", "name"), [(OUTSIDE, "scale"), (OUTSIDE.inner, "shift")]
)
def test_an_attribute_of_a_module(owner, name, monkeypatch):
    agree(read_from_module)
    monkeypatch.setattr(owner, name, 9.0)
    assert_refused(read_from_module, f"the value of .*{name}.* may have been another")
    agree(read_from_module)


def test_a_captured_variable():
    f, change = with_cell(2.0)
    agree(f)
    change(5.0)
    assert_refused(f, r"scale was 2\.0, and is 5\.0 now")
    agree(f)


def test_what_a_called_function_reads(monkeypatch):
    agree(calling)
    monkeypatch.setitem(globals(), "SCALE", 7.0)
    assert_refused(calling, "SCALE was 2")
    scaled.recompile()
    assert_refused(calling, "scaled was not yet compiled again")
    agree(calling)


@pytest.mark.full
def test_what_an_inlined_function_reads(monkeypatch):
    agree(around_inlined)
    monkeypatch.setitem(globals(), "SCALE", 7.0)
    assert_refused(around_inlined, "the value of SCALE may have been another")
    agree(around_inlined)


def test_a_program_that_calls_it(monkeypatch):
    def program(x):
        return scaled(x) * x

    agree(scaled)
    for tier in ("tape", "straight"):
        assert grad(program, tier=tier)(1.5) == pytest.approx(6.0 * 1.5**2)
    monkeypatch.setitem(globals(), "SCALE", 7.0)
    for tier in ("tape", "straight", "auto"):
        with pytest.raises(UnsupportedProgram, match=CHANGED + "SCALE was"):
            grad(program, tier=tier)(1.5)
    scaled.recompile()
    for tier in ("tape", "straight", "auto"):
        assert grad(program, tier=tier)(1.5) == pytest.approx(21.0 * 1.5**2)


def test_defaults():
    @numba.njit
    def own(x, scale=2.0):
        return x * scale

    assert grad(own)(1.5) == own(1.0) == 2.0
    own.py_func.__defaults__ = (5.0,)
    with pytest.raises(UnsupportedProgram, match=r"its defaults were \(2.0,\)"):
        grad(own)(1.5)


def test_nothing_is_compiled_again_for_constants(monkeypatch):
    monkeypatch.setattr(frozen, "is_same_code", lambda *_: pytest.fail("compiled"))
    for f in (constant, scaled, calling, branched):
        f.recompile()
        f(1.5)
        assert frozen.stale(f) == ""


@pytest.mark.full
def test_code_from_the_cache_of_numba(tmp_path):
    """Of which numba tells only texts."""
    program = tmp_path / "program.py"
    program.write_text(CACHED, encoding="utf-8")
    for _ in range(2):
        subprocess.run([sys.executable, program], check=True, cwd=tmp_path)


CACHED = """
import numpy as np
from numba import njit
from rules_autodiff import UnsupportedProgram, grad
from rules_autodiff._python.frozen import stale

SCALE, TABLE = 2.0, np.ones(3)

@njit(cache=True)
def part(x):
    return x * SCALE

@njit(cache=True)
def whole(x):
    return part(x) + SCALE * x

@njit(cache=True)
def table(x):
    return TABLE[0] * x

assert whole(1.0) == grad(whole)(1.0) == 4.0
table(1.0)
if sum(table.stats.cache_hits.values()):
    assert "the value of TABLE may have been another" in stale(table)
    table.recompile()
assert table(1.0) == grad(table)(1.0) == 1.0
SCALE = 3.0
assert "SCALE was 2.0, and is 3.0 now" in stale(whole)
"""


@pytest.mark.full
def test_a_parallel_function(monkeypatch):
    @numba.njit(parallel=True)
    def own(x):
        s = 0.0
        for i in numba.prange(3):
            s += x * TABLE[i] * SCALE
        return s

    own(1.5)
    assert frozen.stale(own) == ""
    TABLE[0] = 7.0
    assert "the value of TABLE may have been another" in frozen.stale(own)
    TABLE[0] = 1.0
    monkeypatch.setitem(globals(), "SCALE", 7.0)
    assert "SCALE was 2.0" in frozen.stale(own)


FIRST = """
import numba, numpy as np
from rules_autodiff import grad
W, x = np.array([1.0, 2.0]), np.array([0.3, 1.2])

@numba.njit
def first(x):
    return np.sum({body})

first(x)
print(*grad(first)(x).round(9))
W[0] = 10.0
try:
    print(grad(first)(x))
except Exception as error:
    print(type(error).__name__)
"""


@pytest.mark.full
@pytest.mark.parametrize("body", ["W * x", "np.exp(x - x) * W * x", "np.dot(W, x)"])
def test_the_first_function_of_a_process(body, tmp_path):
    """For it numba compiles functions of its own, from which it knows other places."""
    program = tmp_path / "first.py"
    program.write_text(FIRST.format(body=body), encoding="utf-8")
    command = [sys.executable, program]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    assert found.stdout.split("\n")[:2] == ["1.0 2.0", "UnsupportedProgram"]


def test_exceptions_in_code_do_not_count_and_arrays_of_their_size_do():
    lines = [
        r'@.pickled = internal constant [9 x i8] c"\80\04\95 line 1\00"',
        r'@.digest = internal constant [20 x i8] c"one digest of 20 bytes"',
        r'@.array = internal constant [20 x i8] c"numbers of 20 bytes!"',
        "@.about = internal constant { ptr, i32, ptr } { ptr @.pickled, i32 9, ptr "
        "@.digest }",
        "  call void @use(ptr @.about, ptr @.array)",
    ]
    assert frozen.without_messages(lines) == [lines[2], lines[4]]
