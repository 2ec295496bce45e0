"""Programs that keep results of earlier calls, in all their forms, and honest ones.

The derivative at a fixed state is right or refused; it is never that of the kept
number. Every day each place, test and form is met once; `nightly` all pairs in all
modes, and the whole product.
"""

from collections.abc import Callable
from contextlib import suppress
from itertools import product
from typing import Any

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, grad, hessian, jacfwd, jvp
from tests.engine.cache_programs import ALWAYS_REFUSED, Program, made, pure
from tests.engine.caches_by_comparison import FORMS, PLACES, TESTS, compared, is_seen
from tests.engine.caches_by_key import HOMES, KEYS, LOOKUPS, looked_up
from tests.engine.honest_programs import HONEST

X = np.array([0.5, -1.0, 2.0])
AWAY = X + 3.0
ALL = np.ones(3)


def slopes(f: Callable[[Any], Any], step: float = 1e-5) -> Any:
    """The gradient by central differences."""
    return np.array([
        (f(X + h) - f(X - h)) / (2 * step) for h in step * np.eye(3)
    ])  # fmt: skip


def curvature(f: Callable[[Any], Any]) -> Any:
    """The second derivatives by central differences."""
    step = 1e-3
    rows = step * np.eye(3)
    return np.array([
        [
            (f(X + a + b) - f(X + a - b) - f(X - a + b) + f(X - a - b)) / (4 * step**2)
            for b in rows
        ]
        for a in rows
    ])  # fmt: skip


# What a mode gives for a function whose state `warm` brings about, and what is right.
MODES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "grad": (lambda f, warm: (warm(), grad(f)(X))[1], slopes),
    "second call": (lambda f, warm: second_call(f, warm), slopes),
    "jvp": (
        lambda f, warm: (warm(), jvp(f, (X,), (ALL,))[1])[1],
        lambda f: np.sum(slopes(f)),
    ),
    "jacfwd": (lambda f, warm: (warm(), jacfwd(f)(X))[1], slopes),
    "hessian": (lambda f, warm: (warm(), hessian(f)(X))[1], curvature),
}


def second_call(f: Any, warm: Any) -> Any:
    """The gradient after one by the tape: from then on code is written."""
    warm()
    with suppress(UnsupportedProgram):
        grad(f)(X)
    warm()
    return grad(f)(X)


def is_refused(program: Program, mode: str, start: Any) -> bool:
    """Whether a mode refuses a program that ran at a point before; else it is right."""
    f = made(program)
    derive, wanted = MODES[mode]
    try:
        found = derive(f, lambda: f(start))
    except UnsupportedProgram:
        return True
    expected = wanted(pure(program))
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)
    return False


def diagonal(*parts: Any) -> list[tuple[Any, ...]]:
    """As few rows as meet each value of each part."""
    rows = [list(part) for part in parts]
    count = max(map(len, rows))
    return [tuple(row[i % len(row)] for row in rows) for i in range(count)]


@pytest.mark.parametrize(
    ("place", "test", "form", "mode"), diagonal(PLACES, TESTS, FORMS, MODES)
)
def test_a_comparison_with_the_last_point(place, test, form, mode):
    program = compared(place, test, form)
    if is_seen(place, test, form):
        assert is_refused(program, mode, X)
    if ALWAYS_REFUSED.isdisjoint((place, test)):
        assert not is_refused(program, "grad", AWAY)


@pytest.mark.parametrize(
    ("home", "key", "lookup", "mode"), diagonal(HOMES, KEYS, LOOKUPS, MODES)
)
def test_a_table_of_results(home, key, lookup, mode):
    program = looked_up(home, key, lookup)
    assert is_refused(program, mode, X)
    if lookup not in ALWAYS_REFUSED:
        assert not is_refused(program, "grad", AWAY)


# Two programs whose test holds at this point, nearly, and whose state is honest.
REFUSED = {"weights, and a check of the argument", "momentum reset near the optimum"}


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", HONEST)
def test_state_of_an_earlier_call_is_a_constant(name):
    def after_a_call() -> Any:
        f = made(Program(HONEST[name], ""))
        f(X)
        return f

    f, other = after_a_call(), after_a_call()
    runs = [lambda: grad(f)(X)] * 2 + [lambda: jvp(other, (X,), (ALL,))[1]]
    wanted = slopes(lambda x: after_a_call()(x))
    for run, expected in zip(runs, [wanted, wanted, np.sum(wanted)], strict=True):
        if name in REFUSED:
            with pytest.raises(UnsupportedProgram, match="as a cache does"):
                run()
        else:
            np.testing.assert_allclose(run(), expected, rtol=1e-4, atol=1e-4)


def pairwise(*parts: Any) -> list[tuple[Any, ...]]:
    """Rows with all pairs of values of three parts, of which the first is the least."""
    first, second, third = map(list, parts)
    return [
        (first[(i + j) % len(first)], one, other)
        for i, one in enumerate(second)
        for j, other in enumerate(third)
    ]


@pytest.mark.nightly
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("start", ["warm", "cold"])
def test_all_pairs(mode, start):
    """Each two of place, test and form; those of other points are seldom refused."""
    refused, count = 0, 0
    compared_rows = [r for r in pairwise(PLACES, TESTS, FORMS) if is_seen(*r)]
    rows = [
        *((compared, row) for row in compared_rows),
        *((looked_up, row) for row in pairwise(HOMES, KEYS, LOOKUPS)),
    ]
    cold = start == "cold"
    rows = [r for r in rows if not cold or ALWAYS_REFUSED.isdisjoint(r[1])]
    for program in (make(*row) for make, row in rows):
        refused += is_refused(program, mode, X if start == "warm" else AWAY)
        count += 1
    assert refused == count if start == "warm" else refused < 0.05 * count


# Each two meet in the pairs above, by each mode.


@pytest.mark.nightly
@pytest.mark.parametrize("place", PLACES)
def test_all_comparisons(place):
    first = [*PLACES].index(place) % 2
    for row in [*product([place], TESTS, FORMS)][first::2]:
        assert not is_seen(*row) or is_refused(compared(*row), "grad", X), row


@pytest.mark.nightly
@pytest.mark.parametrize("home", HOMES)
def test_all_tables(home):
    for row in product([home], KEYS, LOOKUPS):
        assert is_refused(looked_up(*row), "grad", X), row
