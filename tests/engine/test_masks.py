"""The mask `where=`: numbers in it count as true and false, never as an index."""

import numpy as np
import pytest

from rules_autodiff import grad, jvp
from rules_autodiff.testing import check_program

X = np.array([1.2, 0.7, 1.5])
MASKS = [
    [1, 0, 1], (1, 0, 1), [2, 0, 1], [True, 0, 1], [1.0, 0.0, 2.0], 1, 0, 2, 1.0,
    np.int64(1), np.True_, [True, False, True], np.array([True, False, True]),
]  # fmt: skip


def one_argument(x, mask):
    b = x.copy()
    np.sqrt(b, out=b, where=mask)
    return b * b


def two_arguments(x, mask):
    b = x.copy()
    return np.multiply(x * x, x[0], out=b, where=mask) * b


def out_by_position(x, mask):
    b = x * 3
    np.add(x, x * x, b, where=mask)
    return b * x


def two_results(x, mask):
    whole, part = x * 3, x * 2
    np.modf(x * 1.6, out=(whole, part), where=mask)
    return whole * x + part


def both_results(x, mask):
    whole, part = x * 3, x * 2
    np.divmod(x * 2.3, x * x, whole, part, where=mask)
    return whole + x * part


def copied(x, mask):
    b = x.copy()
    np.copyto(b, b * 3, where=mask)
    return b * b


def copied_from_a_number(x, mask):
    b = x.copy()
    np.copyto(b, x[0], where=mask)
    return b * b


WRITES = [
    one_argument, two_arguments, out_by_position, two_results, both_results, copied,
    copied_from_a_number,
]  # fmt: skip


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("mask", MASKS, ids=repr)
@pytest.mark.parametrize("f", WRITES, ids=lambda f: f.__name__)
def test_writes_under_a_mask(f, mask):
    check_program(lambda x: f(x, mask), X)


REDUCTIONS = {
    "sum": {}, "prod": {}, "mean": {}, "var": {}, "std": {}, "nansum": {},
    "nanprod": {}, "nanmean": {}, "nanvar": {}, "nanstd": {}, "max": {"initial": 0.0},
    "min": {"initial": 9.0}, "nanmax": {"initial": 0.0}, "nanmin": {"initial": 9.0},
}  # fmt: skip


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("mask", [m for m in MASKS if np.asarray(m).any()], ids=repr)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_under_a_mask(name, mask):
    options = REDUCTIONS[name]
    check_program(lambda x: getattr(np, name)(x * x, where=mask, **options), X)


@pytest.mark.parametrize("mask", [[2, 0, 1], (1, 0, 1), 2, [1.0, 0.0, 2.0]], ids=repr)
@pytest.mark.parametrize("name", ["var", "std", "nanvar", "nanstd"])
def test_spreads_about_a_mean_that_moves(name, mask):
    def f(x):
        mean = np.mean(x[:2], keepdims=True)
        return getattr(np, name)(x * 1.0, where=mask, mean=mean)

    check_program(f, X)


@pytest.mark.parametrize("mask", [[2, 0, 1], 1, (1, 0, 1)], ids=repr)
@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum, np.logaddexp])
def test_reduced_from_a_number_that_moves(ufunc, mask):
    x = np.array([1.25, 0.75, 1.5])  # whose sums are exact in any order
    check_program(lambda x: ufunc.reduce(x * x, where=mask, initial=x[0]), x)


def by_two_rows(x):
    np.sqrt(x, out=x.copy(), where=[[1], [0]])


def copied_by_two_rows(x):
    np.copyto(x.copy(), x, where=[[1], [0]])


def by_integers(x):
    np.sqrt(x, out=x.copy(), where=np.array([1, 0, 1]))


def two_by_integers(x):
    np.modf(x, out=(x.copy(), x.copy()), where=np.array([1, 0, 1]))


def copied_by_integers(x):
    np.copyto(x.copy(), x, where=np.array([1, 0, 1]))


REFUSED = [
    by_two_rows, copied_by_two_rows, by_integers, two_by_integers, copied_by_integers,
]  # fmt: skip


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_what_numpy_refuses_is_refused_in_its_words(f):
    with pytest.raises((TypeError, ValueError)) as plain:
        f(X)
    for run in (lambda: grad(f)(X), lambda: jvp(f, (X,), (X,))):
        with pytest.raises(type(plain.value)) as raised:
            run()
        assert str(raised.value).startswith(str(plain.value))
