"""When generated code is compiled, and what it then computes."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import (
    UnsupportedProgram,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    show,
    tiers,
    vjp,
)
from rules_autodiff.straight._compiled import files
from rules_autodiff.straight._tier import compiling, signatures

numba = pytest.importorskip("numba")


@pytest.fixture
def _soon(monkeypatch):
    """Compiled after a hundred records."""
    monkeypatch.setattr(signatures, "AFTER", 0)
    monkeypatch.setattr(compiling, "WORTH", 100)


def spiral(x, y, n):
    for _ in range(n):
        r = math.sqrt(1.0 + x * x + y * y)
        x, y = x - 0.1 * y / r, y + 0.1 * x / r
    return x * y


def products(x):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = y[i - 1] * x[i] + math.sin(x[i])
    return y


POINT = np.array([0.5, 1.5, -0.25, 2.0])


@pytest.mark.usefixtures("_soon")
def test_compiled_after_some_work():
    def own(x, n):
        for _ in range(n):
            x = x * 1.01
        return x

    slope = grad(own)
    found = [slope(1.0, 40) for _ in range(5)]
    assert "compiled by numba in" in str(tiers(own))
    assert "2 calls since" in str(tiers(own))
    assert len(set(found)) == 1


@pytest.mark.full
@pytest.mark.usefixtures("_soon")
def test_large_arrays_are_not_compiled():
    def smoothed(u, n):
        u = u.copy()
        for _ in range(n):
            u[1:-1] = 0.5 * (u[2:] + u[:-2])
        return np.sum(u * u)

    for _ in range(4):
        grad(smoothed)(np.ones(2000), 60)
    assert "its arrays are large" in str(tiers(smoothed))


@pytest.mark.full
@pytest.mark.usefixtures("_soon")
def test_entries_of_large_arrays_are():
    def total(u, n):
        s = 0.0
        for i in range(n):
            s += u[i] * u[i]
        return s

    for _ in range(4):
        grad(total)(np.ones(2000), 60)
    assert "compiled by numba in" in str(tiers(total))


@pytest.mark.full
@pytest.mark.usefixtures("_soon")
def test_given_up_after_eight_calls_that_it_does_not_serve():
    def clipped(x, n):
        for _ in range(n):
            x = x * 1.01
        if x > 100.0:
            raise ValueError
        return x

    for _ in range(4):
        grad(clipped)(1.0, 60)
    assert "compiled by numba" in str(tiers(clipped))
    for _ in range(8):
        with pytest.raises(ValueError, match=r"^$"):
            grad(clipped)(1000.0, 60)
    assert "not compiled: compiled code did not serve: it raised ValueError" in str(
        tiers(clipped)
    ) or "tape" in str(tiers(clipped))


def test_without_numba(monkeypatch):
    def own(x, n):
        for _ in range(n):
            x = x * 1.5
        return x

    monkeypatch.setattr(compiling, "is_installed", lambda: False)
    monkeypatch.setattr(compiling, "WORTH", 0)
    assert grad(own)(1.0, 2) == grad(own)(1.0, 2) == grad(own)(1.0, 2) == 2.25
    assert "not compiled: numba is not installed" in str(tiers(own))
    with pytest.raises(UnsupportedProgram, match="numba is not installed"):
        grad(own, tier="compiled")(1.0, 2)


def test_why_a_program_is_not_compiled():
    def listed(x, n):
        found = [x * i for i in range(n)]
        return sum(found)

    with pytest.raises(UnsupportedProgram, match="it is not compiled: "):
        grad(listed, tier="compiled")(1.0, 3)
    assert grad(listed)(1.0, 3) == 3.0


@pytest.mark.full
def test_every_transformation():
    """Against the tape and finite differences."""
    args, dots = (0.5, 1.5, 7), (1.0, -2.0, None)
    by = {"tier": "compiled"}
    y, dy = jvp(spiral, args, dots, **by)
    assert (y, dy) == pytest.approx(jvp(spiral, args, dots, tier="tape"), rel=1e-14)
    h = 1e-6
    ends = spiral(0.5 + h, 1.5 - 2 * h, 7), spiral(0.5 - h, 1.5 + 2 * h, 7)
    assert dy == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-8)

    def rest(x, y):
        return spiral(x, y, 7)

    two = args[:2]
    product = hvp(rest, two, (1.0, -2.0), **by)
    assert product == pytest.approx(hvp(rest, two, (1.0, -2.0), tier="tape"))
    curvature = hessian(rest, (0, 1), **by)(*two)
    assert np.array(curvature) == pytest.approx(
        np.array(hessian(rest, (0, 1), tier="tape")(*two))
    )
    rows = jacrev(products, **by)(POINT)
    np.testing.assert_allclose(rows, jacfwd(products, **by)(POINT), rtol=1e-14)
    np.testing.assert_allclose(rows, jacrev(products, tier="tape")(POINT), rtol=1e-14)


@pytest.mark.full
def test_pullbacks_again_and_in_any_order():
    y, pullback = vjp(products, POINT, tier="compiled")
    np.testing.assert_array_equal(y, products(POINT))
    one, other = np.eye(4)[3], np.eye(4)[1]
    first, second, third = pullback(one), pullback(other), pullback(one)
    np.testing.assert_array_equal(first, third)
    by_tape = vjp(products, POINT, tier="tape")[1]
    np.testing.assert_allclose(second, by_tape(other), rtol=1e-15)
    y[:] = 0.0  # the caller's
    np.testing.assert_array_equal(pullback(one), first)


@pytest.mark.full
def test_structures_of_arguments():
    def cost(state, rates, n):
        x, y = state
        for _ in range(n):
            x, y = x + rates["a"] * y, y - rates["b"] * x
        return x * y

    args = (1.0, 2.0), {"a": 0.1, "b": 0.2, "name": "unused"}, 5
    found = grad(cost, (0, 1), tier="compiled")(*args)
    expected = grad(cost, (0, 1), tier="tape")(*args)
    assert found[0] == pytest.approx(expected[0])
    assert found[1]["a"] == pytest.approx(expected[1]["a"])
    assert type(found[1]) is dict


# functions that numba has compiled


@numba.njit
def jitted_part(x, y):
    return x * math.sin(y)


@numba.njit
def jitted(x, y, n):
    for _ in range(n):
        x = jitted_part(x, y) + 0.5
    return x


def around(x, y):
    return jitted(x, y, 3) + jitted_part(y, x)


def test_jitted_functions_are_differentiated_by_their_source():
    def plain(x, y):
        def part(x, y):
            return x * math.sin(y)

        z = x
        for _ in range(3):
            z = part(z, y) + 0.5
        return z + part(y, x)

    expected = grad(plain, (0, 1), tier="tape")(0.5, 1.5)
    for tier in ("tape", "auto", "auto", "straight"):
        found = grad(around, (0, 1), tier=tier)(0.5, 1.5)
        assert found == pytest.approx(expected, rel=1e-14)
    assert around(0.5, 1.5) == pytest.approx(plain(0.5, 1.5))
    _, dy = jvp(around, (0.5, 1.5), (1.0, 0.0), tier="tape")
    assert dy == pytest.approx(expected[0])
    assert "sin" in str(show(jitted_part))


@pytest.mark.full
def test_a_jitted_function_stays_compiled():
    for _ in range(3):
        found = grad(jitted, (0, 1))(0.5, 1.5, 4)
    assert "compiled by numba" in str(tiers(jitted))
    assert found == pytest.approx(
        grad(jitted.py_func, (0, 1), tier="tape")(0.5, 1.5, 4)
    )


def test_a_rule_for_a_jitted_function():
    @numba.njit
    def own(x):
        return x * x

    def twice(x):
        return own(x) + own(x)

    assert [grad(twice)(3.0) for _ in range(3)] == [12.0] * 3

    @rc.rrule.define(own)
    def own_rrule(x):
        return own(x), lambda dy: (rc.NoTangent(), 100.0 * dy)

    assert [grad(twice)(3.0) for _ in range(3)] == [200.0] * 3
    assert [grad(own)(3.0) for _ in range(3)] == [100.0] * 3


# the cache

PROGRAM = """
import sys
from rules_autodiff import grad, tiers

def own(x, n):
    for _ in range(n):
        x = x * 1.25 + 0.5
    return x

assert grad(own, tier="compiled")(1.0, 4) == 1.25**4
print(tiers(own))
"""


@pytest.mark.full
def test_the_cache(tmp_path):
    """A second process compiles nothing."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    place = tmp_path / "cache"

    def written():
        subprocess.run(
            [sys.executable, program],
            check=True,
            env={**os.environ, files.FOLDER: str(place)},
        )
        return {path: path.stat().st_mtime_ns for path in place.rglob("*.*")}

    first = written()
    assert len([*place.glob("*.py")]) == 2  # and that of the processor's marks
    assert [*place.rglob("*.nbc")]
    assert written() == first


@pytest.mark.full
def test_no_cache(monkeypatch, tmp_path):
    monkeypatch.setenv(files.FOLDER, "off")
    assert files.folder() is None
    monkeypatch.setenv(files.FOLDER, str(tmp_path / "one"))
    assert files.written("m", "x = 1") == tmp_path / "one" / "m.py"
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv(files.FOLDER, str(tmp_path / "file" / "below"))
    assert files.written("m", "x = 1") is None
    (tmp_path / "one" / "m.py").write_text("x = 2", encoding="utf-8")
    monkeypatch.setenv(files.FOLDER, str(tmp_path / "one"))
    assert files.written("m", "x = 1") is None  # what somebody else wrote
