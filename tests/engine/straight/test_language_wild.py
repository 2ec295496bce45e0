"""What programs from outside need most: `try`, dtypes, writes into arguments."""

import copy
import math

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, grad, value_and_grad, vjp
from tests.engine.straight.programs import check_refused, check_written

X, Y = np.array([0.5, -1.0, 2.0]), np.array([1.5, 0.25, -0.75])
MATRIX = np.array([[2.0, 0.3], [0.3, 1.0]])
NUMBERS = np.array([3, 1, 2])
KEPT = np.array([1.0, 2.0, 3.0])
KIND = float


# expressions that are not used


def dropped(x):
    x.sum()
    np.dot(x, x)
    math.sin(x[1])
    return np.sum(x * x)


def dropped_call(x):
    square(x[0])
    return np.sum(square(x))


def square(x):
    return x * x


def dropped_in_a_loop(x):
    total = 0.0
    for v in x:
        v * 2.0
        total = total + v * v
    return total


# try


def tried(x):
    try:
        y = np.log(x * x)
    except FloatingPointError:
        y = x
    return np.sum(y)


def tried_in_full(x):
    try:
        y = np.linalg.solve(MATRIX, x[:2])
    except (ValueError, np.linalg.LinAlgError) as error:
        raise RuntimeError from error
    else:
        y = y * 2.0
    finally:
        z = np.sum(x)
    return np.sum(y) * z


def tried_and_returned(x):
    try:
        return math.log(x)
    except ValueError:
        return 2.0 * x


def tried_in_a_loop(x):
    total = 0.0
    for i in range(3):
        try:
            total = total + math.sqrt(x + i)
        except ValueError:
            continue
    return total


# dtypes


def dtypes(x):
    y = np.zeros(3, dtype=float)
    z = np.empty(3, np.float64)
    for i in range(3):
        y[i] = x[i] * 2.0
        z[i] = x[i] ** 2
    return np.sum(y * z)


def dtype_of_an_array(x):
    y = np.ones(x.shape, x.dtype)
    y[1:] = x[:-1]
    return np.sum(y * x)


def converted(x):
    y = np.asarray(x, dtype=float)
    z = x.astype(np.float64)
    w = np.array([x[0], 1.0], dtype=float)
    return np.sum(y * z) + np.sum(w * w)


def shapes(x, y):
    assert x.shape == (3,)
    if x.shape != y.shape or y.shape == (2, 2):
        return np.sum(x)
    return np.sum(x * y)


# writes into arguments


def written(x):
    x[0] = x[1] * x[2]
    return np.sum(x * x)


def written_in_place(x):
    x += 1.0
    x *= x[0]
    return np.sum(x * x)


def written_both(x, y):
    x[1] = y[0] * y[2]
    y += 1.0
    return np.sum(x * y)


def written_to_a_constant(x, n):
    n[0] = 5
    return np.sum(x * n)


def seidel(x, y):
    for _ in range(3):
        for i in range(1, 2):
            x[i] = (x[i - 1] + x[i] + x[i + 1] + y[i]) / 3.0
    return np.sum(x**2)


def written_through_a_view(x):
    y = x[1:]
    return np.sum(y * y) + np.sum(x)


def written_sometimes(x):
    for i in range(2):
        if x[i] > 0.0:
            x[1] = x[0] * x[2]
    return np.sum(x * x)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (dropped, (X,)), (dropped_call, (X,)), (dropped_in_a_loop, (X,)), (tried, (X,)),
        (tried_in_full, (X,)), (tried_and_returned, (1.5,)), (tried_in_a_loop, (0.5,)),
        (dtypes, (X,)), (dtype_of_an_array, (X,)), (converted, (X,)),
        (shapes, (X, Y)), (written, (X,)), (written_in_place, (X,)),
        (written_both, (X, Y)), (written_to_a_constant, (X, NUMBERS)), (seidel, (X, Y)),
        (written_through_a_view, (X,)), (written_sometimes, (X,)),
    ],
    ids=lambda case: getattr(case, "__name__", ""),
)  # fmt: skip
def test_written(f, args):
    check_written(f, *args)


@pytest.mark.parametrize("f", [tried_and_returned, tried_in_a_loop])
def test_what_is_caught_is_the_tapes(f, after_one):
    for x in (1.5, 2.0, 0.5, -1.5, -0.5, 2.5, -0.5):
        step = 1e-6
        slope = (f(x + step) - f(x - step)) / (2.0 * step)
        value, found = value_and_grad(f)(x)
        assert (value, found) == (f(x), pytest.approx(slope, rel=1e-6))


# arrays with a second name


def of_two(x, y):
    x[0] = 7.0
    return np.sum(x * y)


def of_a_list(x, ys):
    x[0] = 7.0
    return np.sum(x * ys[0])


def of_a_global(x):
    x[0] = 7.0
    return np.sum(x * KEPT)


def of_a_helper(x):
    x[0] = 7.0
    return kept_times(x)


def kept_times(x):
    return np.sum(x * KEPT)


ALIASES = {
    "twice": (of_two, lambda x: (x, x)),
    "view": (of_two, lambda x: (x, x[::-1])),
    "of one array": (of_two, lambda x: (x[:3], x)),
    "list": (of_a_list, lambda x: (x, [x])),
    "global": (of_a_global, lambda _: (KEPT,)),
    "global of a helper": (of_a_helper, lambda _: (KEPT[:],)),
}


@pytest.mark.parametrize(("f", "make"), ALIASES.values(), ids=ALIASES)
def test_a_second_name(f, make, after_one):
    """Written code, which would copy one of the two, leaves the call to the tape."""
    settled = np.array([0.1, 0.2, 0.3])
    for _ in range(3):
        value_and_grad(f)(settled.copy(), *copy.deepcopy(make(settled)[1:]))
    for tier in ("tape", "auto", "auto"):
        args, kept = make(X.copy()), KEPT.copy()
        with pytest.raises(UnsupportedProgram, match="must not share memory"):
            value_and_grad(f, tier=tier)(*args)
        assert np.array_equal(KEPT, kept)


# calls in which the caller sees the write


def by_a_helper(x):
    changes(x)
    return np.sum(x * x)


def changes(y):
    y[0] = 7.0
    return y


def recursive(x, n):
    x[n] = x[n] * 2.0
    if n > 0:
        recursive(x, n - 1)
    return np.sum(x * x)


def left_in_a_branch(x):
    y = x
    try:
        if x > 1.0:
            return y
        y = 2.0 * x
    finally:
        y = y + 1.0
    return y


def overridden(x):
    try:
        x = 2.0 * x
    finally:
        return 3.0 * x  # noqa: B012  what is asked


def left_by_continue(x):
    y = x
    for _ in range(2):
        try:
            if x > 1.0:
                continue
        finally:
            y = y * x
    return y


@pytest.mark.parametrize(
    ("f", "args", "reason"),
    [
        (left_in_a_branch, (1.5,), "finally is left early"),
        (overridden, (1.5,), "finally is left early"),
        (left_by_continue, (1.5,), "finally is left early"),
        (by_a_helper, (X,), "may be seen by another way"),
        (recursive, (X, 2), "writes into its arguments"),
    ],
)
def test_left_to_the_tape(f, args, reason):
    check_refused(f, *args, reason=reason)
    for _ in range(3):
        expected = value_and_grad(f, tier="tape")(*args)
        found = value_and_grad(f)(*args)
        assert found[0] == expected[0]
        np.testing.assert_array_equal(found[1], expected[1])


LAYOUTS = {
    "C": lambda a: a,
    "Fortran": np.asfortranarray,
    "transposed": lambda a: a.T.copy().T,
    "strided": lambda a: np.repeat(a, 2, 1)[:, ::2],
    "negative": lambda a: a[::-1].copy()[::-1],
    "read-only": lambda a: np.broadcast_to(a, a.shape),
}


def rows(a):
    a[0] = a[1] * 2.0
    return np.sum(a * a, axis=0)


@pytest.mark.parametrize("make", LAYOUTS.values(), ids=LAYOUTS)
def test_layouts(make):
    a = np.array([[0.5, 1.0, 2.0], [1.5, -0.5, 0.25]])
    given = make(a)
    found = []
    value_and_grad(lambda b: np.sum(rows(b)))(a.copy())
    for tier in ("tape", "auto" if make is LAYOUTS["read-only"] else "straight"):
        try:
            y, pullback = vjp(rows, given, tier=tier)
            found.append((y.tolist(), pullback(np.ones(3))[0].tolist()))
        except ValueError as error:
            found.append(str(error))
    assert found[0] == found[1]
    assert np.array_equal(given, a)


def test_a_name_for_another_dtype(monkeypatch):
    def f(x):
        return np.sum(x.astype(KIND) * x)

    for kind, slope in ((float, 2.0 * X), (float, 2.0 * X), (int, np.trunc(X))):
        monkeypatch.setattr(f"{__name__}.KIND", kind)
        np.testing.assert_allclose(grad(f)(X), slope)
