"""Caches that outlive a call, and other ways in which one call reaches the next."""

import collections
import functools
from typing import Any

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, grad, jvp
from tests.engine.refusing import assert_refused

X = np.array([0.5, -1.0, 2.0])
TABLE: dict[Any, Any] = {}


def by_item(x):
    if x not in TABLE:
        TABLE[x] = x * x
    return TABLE[x]


def by_get(x):
    found = TABLE.get(x)
    if found is None:
        found = TABLE[x] = x * x
    return found


def by_setdefault(x):
    return TABLE.setdefault(x, x * x * x)


def by_tuple(x):
    try:
        return TABLE[x, 1]
    except KeyError:
        TABLE[x, 1] = x**3
        return TABLE[x, 1]


def by_text(x):
    key = f"at {x}"
    if key not in TABLE:
        TABLE[key] = x * x
    return TABLE[key]


def by_hash(x):
    key = hash(x)
    if key not in TABLE:
        TABLE[key] = x * x
    return TABLE[key]


def by_list(x):
    return [TABLE.setdefault((x, i), [x * i])[0] for i in range(2)][1]


class Memo:
    def __init__(self, f):
        self.f, self.known = f, {}

    def __call__(self, x):
        if x not in self.known:
            self.known[x] = self.f(x)
        return self.known[x]


@Memo
def cube(x):
    return x**3


def by_class(x):
    return cube(x) + cube(x * 2)


NUMBERS = [by_item, by_get, by_setdefault, by_tuple, by_text, by_hash, by_list]


@pytest.mark.parametrize("f", NUMBERS, ids=lambda f: f.__name__)
def test_a_filled_cache_is_refused(f):
    TABLE.clear()
    f(1.5)
    assert_refused(f, 1.5, "a constant of another call")
    TABLE.clear()


def test_a_filled_cache_of_a_class():
    by_class(1.5)
    with pytest.raises(NotImplementedError, match="a constant of another call"):
        grad(by_class)(1.5)
    assert grad(by_class)(2.5) == pytest.approx(27 * 2.5**2)


@pytest.mark.parametrize("f", NUMBERS, ids=lambda f: f.__name__)
def test_an_empty_cache_is_right(f):
    TABLE.clear()
    step = 1e-6
    slope = (f(1.5 + step) - f(1.5 - step)) / (2 * step)
    TABLE.clear()
    assert grad(f)(1.5) == pytest.approx(slope, rel=1e-6)
    assert not TABLE, "the reverse pass takes the entries back"
    assert jvp(f, (1.5,), (1.0,))[1] == pytest.approx(slope, rel=1e-6)
    TABLE.clear()


def by_bytes(x):
    key = x.tobytes()
    if key not in TABLE:
        TABLE[key] = (x * x).sum()
    return TABLE[key]


def by_hash_of_bytes(x):
    key = hash(x.tobytes())
    if key not in TABLE:
        TABLE[key] = (x * x).sum()
    return TABLE[key]


def by_entries(x):
    key = tuple(x.tolist())
    if key not in TABLE:
        TABLE[key] = (x * x).sum()
    return TABLE[key]


@pytest.mark.parametrize("f", [by_bytes, by_hash_of_bytes, by_entries])
def test_a_filled_cache_of_arrays(f):
    TABLE.clear()
    np.testing.assert_allclose(grad(f)(X), 2 * X)
    f(X)
    assert_refused(f, X, "a constant of another call")
    TABLE.clear()


@functools.lru_cache
def square(x):
    return x * x


def test_functools_caches_are_the_runs_own():
    assert square(1.5) == 2.25
    assert grad(square)(1.5) == 3.0
    assert grad(lambda x: square(x) * square(1.5))(1.5) == 6.75
    assert jvp(square, (1.5,), (1.0,)) == (2.25, 3.0)


def test_constants_of_this_call_may_be_cached():
    """The recursion's first entries are constants that the run stored itself."""

    def fibonacci(n, x):
        known = {}

        def term(n):
            key = n, x
            if key not in known:
                known[key] = 1.0 if n < 2 else term(n - 1) * x + term(n - 2)
            return known[key]

        return term(n)

    step = 1e-6
    slope = (fibonacci(6, 0.7 + step) - fibonacci(6, 0.7 - step)) / (2 * step)
    assert grad(fibonacci, 1)(6, 0.7) == pytest.approx(slope)


def test_tables_of_labels_and_constants():
    names, weights = {1.5: "a"}, {"a": 2.0, 3: 4.0}

    def f(x):
        return weights[names[x]] * x + weights[3] * x

    assert grad(f)(1.5) == 6.0


# state of the program's own that a call leaves for the next


STATE = {"last": 0.0}


def remembers(x):
    y = x * 2 + STATE["last"]
    STATE["last"] = x * x
    return y


def test_state_of_an_earlier_call_is_a_constant():
    STATE["last"] = 5.0
    assert grad(remembers)(3.0) == 2.0
    assert STATE["last"] == 5.0
    assert jvp(remembers, (3.0,), (1.0,)) == (11.0, 2.0)
    assert STATE["last"] == 9.0
    assert grad(remembers)(1.0) == 2.0, "what forward mode left is a plain number"
    STATE["last"] = 0.0


def counter():
    total = 0.0
    while True:
        given = yield total
        total = total + given * given


def test_generators_that_outlive_a_call():
    """What a suspended generator holds is a constant of the next call."""
    kept = []

    def f(x):
        steps = counter()
        next(steps)
        kept.append(steps)
        return steps.send(x) * steps.send(2 * x)

    step = 1e-6
    slope = (f(1.5 + step) - f(1.5 - step)) / (2 * step)
    assert grad(f)(1.5) == pytest.approx(slope)
    assert jvp(f, (1.5,), (1.0,))[1] == pytest.approx(slope)


BUFFER = np.zeros(3)


def doubled():
    for v in BUFFER:
        yield v * 2


def sends(x):
    return PLAIN[0].send(x[0])


def reads(x):
    plain = DOUBLED.pop()
    BUFFER[:] = x
    return next(plain)


def loops(x):
    plain = DOUBLED.pop()
    BUFFER[:] = x
    return sum(v for v in plain)


PLAIN = [counter()]
next(PLAIN[0])
DOUBLED = [doubled() for _ in range(4)]


@pytest.mark.parametrize("f", [sends, reads, loops], ids=lambda f: f.__name__)
def test_generators_of_outside_must_work_on_constants(f):
    assert_refused(f, X, "A generator that was started outside")


def batches():
    while True:
        yield 2.0


def test_constants_from_generators_of_outside():
    source = batches()

    def f(x):
        total = x * next(source) + x * source.send(None) + x * source.__next__()
        return total + sum(b * x for b, _ in zip(source, range(3), strict=False))

    assert grad(f)(1.0) == 12.0


def by_default(table):
    def f(x):
        row = table[x]
        if "value" not in row:
            row["value"] = x * x
        return row["value"]

    return f


def by_setting_default(table):
    def f(x):
        row = table.setdefault(x, {})
        if "value" not in row:
            row["value"] = x * x
        return row["value"]

    return f


def in_rows(table):
    def f(x):
        if x not in table:
            table[x] = {"value": x * x}
        return table[x]["value"]

    return f


@pytest.mark.parametrize("make", [by_default, by_setting_default, in_rows])
def test_rows_of_an_earlier_call_are_refused(make):
    f = make(collections.defaultdict(dict))
    assert grad(f)(2.0) == 4.0
    f(3.0)
    for _ in range(3):
        with pytest.raises(UnsupportedProgram, match="stored in the same call"):
            grad(f)(3.0)
