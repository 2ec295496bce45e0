"""Where numba's numbers are not Python's: the plain tier answers there."""

import math
import warnings

import numpy as np
import pytest

from rules_autodiff import grad, value_and_grad
from rules_autodiff.straight._tier import compiling, signatures
from tests.engine.straight.compiled import assert_agree, served

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def _compiled_at_once(monkeypatch):
    monkeypatch.setattr(signatures, "AFTER", 0)
    monkeypatch.setattr(compiling, "WORTH", 0)
    monkeypatch.setattr(compiling, "FAILURES", 10**9)
    monkeypatch.setattr(signatures, "FAILURES", 10**9)


def corners(x, w, k, n):
    """One case of each by `k`, in a loop; compiled once for all."""
    s = x
    for i in range(n):
        if k == 0:
            s = s * x + w[i]
        elif k == 1:
            s = s / (s - 2.0)
        elif k == 2:
            s = s + x / (i - 1)
        elif k == 3:
            s = s + x * (7 // (i - 1)) + x * (7 % (i - 1))
        elif k == 4:
            s = s + math.sqrt(s - 3.0)
        elif k == 5:
            s = s + math.log(s - 2.0)
        elif k == 6:
            s = s + math.exp(400.0 * s)
        elif k == 7:
            s = s + (s - 3.0) ** 0.5
        elif k == 8:
            s = s + (s - 2.0) ** -1
        elif k == 9:
            s = s + w[i + 2] * x
        elif k == 10:
            s = s + w[-1 - i] * x
        elif k == 11:
            if x > 1.0:
                raise KeyError(x)
            s = s * x
        elif k == 12:
            s = s + (-x - i) % 0.7 + (-x - i) // 0.7 + (x + i) % -0.7
        elif k == 13:
            s = s + int(-x * 1.7) * x + math.floor(-x * 1.7) * s
        elif k == 14:
            s = s + (-7 - i) // 2 * x + (-7 - i) % 3 * s + (7 + i) // -2 * x
        elif k == 15:
            s = s * 1e-200
        elif k == 16:
            s = s * 1e200
        elif k == 17:
            assert x < 1.0
            s = s * x
        elif k == 18:
            s = s + x**2 + x**3 + x**4 + x**0 + x**1 + x**-2
        elif k == 19:
            s = s + 3 / (i + 1) * x
        elif k == 20:
            s = s + min(x, w[i], s) * max(x, w[i])
        elif k == 21:
            s = s + abs(w[i] - x) * abs(x - 5.0)
        elif k == 22:
            s = s + math.atan2(x, s) + math.hypot(x, s)
        elif k == 23:
            s = s + math.asin(s)
        elif k == 24:
            s = s + math.sin(s) * math.tanh(x) + math.log1p(x) + math.expm1(x)
        elif k == 25:
            s = s + x**s
        else:
            s = s + (x if w[i] > 0.5 else s * x)
    return s


W = np.array([0.25, 1.0, -0.5])


@pytest.mark.parametrize("k", range(27))
def test_every_corner(k):
    with np.errstate(all="ignore"):
        assert_agree(corners, 2.0, W, k, 3, by=(0, 1), rtol=4e-16 if k > 21 else 0.0)


@pytest.mark.parametrize("k", [0, 10, 12, 13, 14, 18, 19, 20, 21, 22, 24, 25, 26])
def test_these_are_compiled(k):
    assert not isinstance(served(corners, 2.0, W, k, 3, by=(0, 1)), str)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 16, 17, 23])
def test_these_are_not_served(k):
    found = served(corners, 2.0, W, k, 3, by=(0, 1))
    assert "compiled code does not serve this call" in found


def scaled(x, w, n):
    s = x
    for i in range(n):
        s = s * x + w[i]
    return s


@pytest.mark.full
def test_classes_of_arguments():
    """A scalar of NumPy's, a whole number, a strided, a locked and an empty array."""
    locked = W.copy()
    locked.flags.writeable = False
    assert_agree(scaled, 2.0, W, 3, by=(0, 1))
    assert_agree(scaled, 2.0, np.repeat(W, 2)[::2], 3, by=(0, 1))
    assert_agree(scaled, 2.0, locked, 3, by=(0, 1))
    assert_agree(scaled, 2.0, np.zeros(0), 0, by=(0, 1))
    assert_agree(scaled, np.float64(2.0), W, np.int64(3), by=(0, 1))
    assert_agree(scaled, 2.0, W, True, by=(0, 1))
    assert_agree(scaled, 2.0, W, -(2**70), by=(0, 1))
    assert_agree(scaled, 2.0, W.astype(np.float32), 3, by=(0,))
    assert_agree(scaled, 2.0, W.astype(">f8"), 3, by=(0,))


def whole(x, n, m):
    p = 1
    for _ in range(n):
        p = p * m
    for _ in range(2):
        x = x * 1.0
    return x * (p % 1000) + x * (p // 10**15)


@pytest.mark.full
@pytest.mark.parametrize("n", [3, 30, 62, 63, 70])
def test_whole_numbers_have_no_limit(n):
    assert_agree(whole, 1.5, n, 2, by=(0,))
    assert_agree(whole, 1.5, n, -3, by=(0,))


def halves(x, n, m):
    s = x
    for i in range(n):
        s = s + (m + i) / 3 + (1.0 if m + i < 9007199254740993.0 * x else x)
    return s


@pytest.mark.full
@pytest.mark.parametrize("m", [5, 2**53 + 1, 2**60 + 1])
def test_large_whole_numbers_beside_floats(m):
    assert_agree(halves, 1.0, 2, m, by=(0,))


SCALE = 3.0
TABLE = np.array([1.0, 2.0])


def captured(x, n):
    s = x
    for i in range(n):
        s = s * SCALE + TABLE[i]
    return s


def test_what_is_captured_may_change(monkeypatch):
    """Numba's own functions keep the globals of their first compilation."""
    assert grad(captured)(2.0, 2) == 9.0
    assert not isinstance(served(captured, 2.0, 2, by=(0,)), str)
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert_agree(captured, 2.0, 2, by=(0,))
    assert grad(captured)(2.0, 2) == 25.0
    TABLE[1] += 1.0
    assert_agree(captured, 2.0, 2, by=(0,))
    TABLE[1] -= 1.0
    monkeypatch.setitem(globals(), "SCALE", np.float64(2.0))
    assert_agree(captured, 2.0, 2, by=(0,))
    monkeypatch.setitem(globals(), "SCALE", 2)
    assert_agree(captured, 2.0, 2, by=(0,))


def helped(x, n):
    s = x
    for _ in range(n):
        s = doubled(s)
    return s


def doubled(x):
    return x * 2.0


def tripled(x):
    return x * 3.0


@pytest.mark.full
def test_a_function_may_be_another(monkeypatch):
    assert grad(helped)(2.0, 3) == 8.0
    monkeypatch.setitem(globals(), "doubled", tripled)
    assert grad(helped)(2.0, 3) == 27.0


def writes(x, y, n):
    for i in range(1, n):
        x[i] = x[i - 1] * x[i] + y[i]
    x[1:] += 0.5 * x[:-1]
    x[:] = 2.0 * x[::-1]
    return x[0] * x[-1] + x[1]


@pytest.mark.full
def test_arguments_that_are_written_to():
    x, y = np.array([1.0, 2.0, 0.5]), np.array([0.1, 0.2, 0.3])
    given = x.copy()
    expected = grad(writes, (0, 1), tier="tape")(x, y, 3)
    found = grad(writes, (0, 1), tier="compiled")(x, y, 3)
    np.testing.assert_array_equal(x, given)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-15)


@pytest.mark.full
def test_arguments_that_share_memory():
    x = np.array([1.0, 2.0, 0.5])
    assert "does not serve" in served(writes, x, x, 3, by=(1,))
    long = np.array([1.0, 2.0, 0.5, 4.0])
    assert "does not serve" in served(writes, long[1:], long[:-1], 3, by=(0,))


def unused(x, n):
    for _ in range(n):
        _found = math.sqrt(n - 3.0)
        x = x * 1.0
    return x


@pytest.mark.full
def test_an_error_of_what_is_not_used():
    assert "is not used" in served(unused, 2.0, 2, by=(0,))
    assert_agree(unused, 2.0, 2, by=(0,))


def paired(x, a, b):
    s = 0.0
    for u, v in zip(a, b, strict=True):
        s += u * v * x
    return s


@pytest.mark.full
def test_arrays_of_several_lengths_in_a_strict_loop():
    assert_agree(paired, 2.0, W, W, by=(0, 1))
    assert not isinstance(served(paired, 2.0, W, W, by=(0, 1)), str)
    for other in (W[:2], np.ones(4)):
        assert_agree(paired, 2.0, W, other, by=(0, 1))
        assert "raised ValueError" in served(paired, 2.0, W, other, by=(0, 1))


def kinds(x, n):
    total = 0
    for i in range(n):
        total += x[i]
    return total


def test_the_class_of_a_value():
    """A sum of nothing is the integer 0."""
    assert_agree(kinds, np.array([1.0, 2.0]), 2, by=(0,))
    assert_agree(kinds, np.array([1.0, 2.0]), 0, by=(0,))
    assert "its value is a whole number" in served(kinds, np.ones(2), 0, by=(0,))


@pytest.mark.full
def test_infinite_derivatives_and_strong_zeros():
    with np.errstate(all="ignore"):
        assert_agree(roots, np.array([0.0, 1.0, 4.0]), 2, by=(0,))


def roots(x, n):
    s = 0.0
    for i in range(n):
        s = s + math.sqrt(x[i]) * 0.0 + math.sqrt(x[i + 1])
    return s


def test_underflow_that_the_caller_wants_to_see():
    assert not isinstance(served(corners, 2.0, W, 15, 3, by=(0, 1)), str)
    with np.errstate(under="raise"), warnings.catch_warnings():
        assert "too small" in served(corners, 2.0, W, 15, 3, by=(0, 1))
        assert_agree(corners, 2.0, W, 15, 3, by=(0, 1))


@pytest.mark.full
def test_nothing_is_reordered():
    """Sums in the order of the program: no fastmath."""

    def summed(x, n):
        s = 0.0
        for i in range(n):
            s = s + x[i]
        return s - 1e16

    x = np.array([1e16, 1.0, 1.0, 1.0, 1.0, -3.0])
    assert value_and_grad(summed, tier="compiled")(x, 6)[0] == summed(x, 6)
