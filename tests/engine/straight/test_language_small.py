"""Small things of the language: each alone in a program."""

# Programs as users write them.

import math
from math import pi

import numpy as np
import pytest
from numpy import sin as sine

from rules_autodiff import grad
from tests.engine.straight.programs import check_refused, check_written

X = np.array([0.5, -1.0, 2.0])
PAIR = (1.0, 2.0)
DATA = [0.1 * i for i in range(80)]


def imports_inside(x):
    import math as m

    from numpy import tanh

    return m.sin(x) * tanh(x)


def imported_by_name(x):
    return sine(x) * pi


def walrus(x):
    if (y := x * x) > 1.0:
        return y * x
    return y


def walrus_in_a_loop(x):
    total = 0.0
    for factor in PAIR:
        if (y := x * factor) > 1.0:
            total += y * factor
    for i in range(3):
        if (z := x * i) > 1.0:
            total += z * y
    return total


def deleted(x):
    y = x * x
    z = y * 2.0
    del y
    return z


def chained(x):
    return x * 2.0 if 0.0 < x < 10.0 else x


def annotated(x):
    """With a text."""
    y: float = x * x
    z: float
    z = y * 2.0
    return z


def keyword_only(x):
    def f(a, *, b=2.0):
        return a * b

    return f(x) + f(x, b=x) + f(a=x, b=3.0)


def numbers(x):
    q, r = divmod(7, 3)
    y = abs(x) * min(x, 3.0) * max(x, -1.0, x * x)
    return y * int(3.7) * float(2) * round(2.6) * q + pow(x, 3) * r * float(x)


def truths(x):
    return x if bool(x > 1.0) and not x > 100.0 else 2.0 * x


def quiet(x):
    with np.errstate(divide="ignore"):
        y = x * x
        if y > 1.0:
            return y * x
    return y


def forever(x):
    n = 0
    while True:
        x = x * 1.5
        n += 1
        if n > 3:
            break
    return x


def loop_with_else(x):
    for _ in range(3):
        x = x * 1.1
        if x > 100.0:
            break
    else:
        x = x * 2.0
    return x


def checked(x):
    assert x > 0.0, f"{x} is not positive"
    if x > 100.0:
        message = "too large"
        raise ValueError(message)
    return x * x


def of_a_class(x):
    if isinstance(x, float) and not isinstance(PAIR, list | np.ndarray):
        return x * 2.0
    return x


def with_modes(x, mode="a", scale=None):
    if mode == "a":
        x = x * 2.0
    if scale is not None:
        x = x * scale
    return x


def known_numbers(x):
    total = 0.0
    for i, factor in enumerate(PAIR):
        if i == 0:
            total += factor * x
        else:
            total += factor * x * PAIR[i - 1]
    return total


def numbered(x):
    d = {0: x, 1: x * x}
    return d[0] + d[1]


def of_data(x):
    total = 0.0
    for v in DATA:
        total += (x - v) ** 2
    return total * DATA[3] + np.sum(np.array(DATA)) * len(DATA) * x


def tuples_of(x):
    parts = [x, 2.0]
    a, b = tuple(parts)
    back = list(parts)
    return a * b * back[0]


NUMBERS = [
    imports_inside, imported_by_name, walrus, walrus_in_a_loop, deleted, chained,
    annotated, keyword_only,
    numbers, truths, quiet, forever, loop_with_else, checked, of_a_class, with_modes,
    known_numbers, numbered, of_data, tuples_of,
]  # fmt: skip


@pytest.mark.parametrize("f", NUMBERS)
@pytest.mark.parametrize("x", [0.7, 1.5])
def test_numbers(f, x):
    check_written(f, x)


def sizes(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] ** 2
    return s * x.size * len(x)


def new_axes(x):
    return np.sum(x[:, np.newaxis] * x[np.newaxis, :] ** 2 * x[:, None])


def two_fors(x):
    return sum(v * w for v in x for w in x if v > w)


def unpacked(x):
    a, b, c = x
    first, *rest = (a, b, c)
    return first * rest[0] * rest[1]


def changed_in_place(x):
    y = np.zeros(3)
    y += x
    y *= 2.0
    y /= x * x + 1.0
    y -= 0.5 * x
    return np.sum(y * x)


def optional(x, b=None):
    y = np.tanh(x)
    if b is not None:
        y = y + b
    return np.sum(y)


@pytest.mark.parametrize(
    "f", [sizes, new_axes, two_fors, unpacked, changed_in_place, optional]
)
def test_arrays(f):
    check_written(f, X)


def test_an_optional_array():
    check_written(optional, X, X + 1.0)


def reads_first(x):
    y = x
    if y + (y := 2.0 * x) > 0.0:
        return y
    return x


def on_one_way(x):
    if x > 0.0 and (y := x * x) > 1.0:
        return y
    return x


def again_and_again(x):
    while (y := x * x) < 10.0:
        x = x * 2.0
    return y


def deleted_sometimes(x):
    y = x
    if x > 0.0:
        y = 2.0 * x
        del y
        y = x
    return y


def left_early(x):
    try:
        return math.log(x)
    finally:
        x = 0.0


def printed(x):
    print(x)
    return x


def either(x):
    y = x or 1.0
    return y * x


def shared(x):
    a = [x]
    b = a
    b += [x]
    return a[-1] * len(a)


def wrong_count(x):
    a, b = np.array([x, x, x])
    return a + b


def part(x):
    s = slice(1, None)
    return np.array([x, x])[s][0]


@pytest.mark.parametrize(
    ("f", "reason"),
    [
        (reads_first, "assigns what it has read"),
        (on_one_way, "one of several ways"),
        (again_and_again, "assigns a variable"),
        (deleted_sometimes, "not always"),
        (left_early, "finally is left early"),
        (printed, r"no rule answers the call print\(a number\) here"),
        (either, "other than truth values"),
        (shared, "a second name for a list"),
        (part, "slice is not written out"),
    ],
)
def test_what_is_refused(f, reason):
    check_refused(f, 1.5, reason=reason)


def test_the_programs_own_errors():
    from rules_autodiff import grad

    for _ in range(3):
        with pytest.raises(ValueError, match="too many values to unpack"):
            grad(wrong_count)(1.5)
        with pytest.raises(AssertionError, match="not positive"):
            grad(checked)(-1.5)


@pytest.mark.parametrize("x", [np.linspace(0.1, 1.0, 4), 2.0])
def test_the_number_of_axes_decides_a_branch(x):
    """The other branch may be outside of the language."""

    def program(x):
        if np.ndim(x) == 0:
            assert np.isscalar(x)
            return x * x if np.ndim(x) < 1 else x.nothing
        if np.isscalar(x):
            return x.nothing
        return np.sum(np.asanyarray(x) ** 2) * np.ndim(x)

    found = grad(program, tier="straight")(x)
    assert np.array_equal(found, grad(program, tier="tape")(x))
