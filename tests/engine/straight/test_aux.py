"""`has_aux` in straight-line code: equal to the tape's, in every class and entry."""

import warnings

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, grad, jacrev, value_and_grad
from tests.engine.straight.random_programs import arguments, program
from tests.engine.straight.test_generated_straight import ACTIVE

X = np.linspace(0.1, 1.0, 4)
SETTINGS = {"rate": 2.0}


def array(x):
    return np.sum(x * x), x * 2.0


def several(x):
    return np.sum(x * x), (x * 2.0, (np.sum(x), 3))


def named(x):
    y = x * 2.0
    return np.sum(y * y), {"y": y, "count": len(x), "name": "s", "none": None, 1: y}


def listed(x):
    return np.sum(x * x), [x, [2.0 * x, True]]


def mask(x):
    return np.sum(x * x), x > 0.5


def nothing(x):
    return np.sum(x * x), None


def argument(x):
    return np.sum(x * x), x


def view(x):
    return np.sum(x * x), x[1:]


def written_after(x):
    y = x.copy()
    y[0] = y[1] * y[2]
    z = np.sum(y * y)
    y[1] = 5.0
    return z, y


def written_argument(x):
    x[0] = x[1] * x[2]
    return np.sum(x * x), (x, x[0])


def counted(x):
    total, count = 0.0, 0
    for v in x:
        if v > 0.5:
            total, count = total + v * v, count + 1
    return total, (count, total)


def by_branch(x):
    if x[0] > 0.5:
        return x[0], (1.0, x)
    return x[1] * x[2], (x[0], x * x)


def infinite_beside(x):
    return np.sum(x * x), np.log(np.abs(x - x[0]))


def of_global(x):
    return np.sum(x * x), (SETTINGS, SETTINGS["rate"] * x)


PROGRAMS = (
    array, several, named, listed, mask, nothing, argument, view, written_after,
    written_argument, counted, by_branch, of_global,
)  # fmt: skip


def same(one, other):
    """Whether two values are equal, in classes and dtypes too."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, dict):
        return [*one] == [*other] and all(same(one[k], other[k]) for k in one)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("derive", [grad, value_and_grad, jacrev])
def test_pairs_are_the_tapes(f, derive):
    found = derive(f, has_aux=True, tier="straight")(X.copy())
    assert same(found, derive(f, has_aux=True, tier="tape")(X.copy()))


def test_of_an_array_the_jacobian():
    def f(x):
        return x * x[::-1], {"sum": np.sum(x)}

    found = jacrev(f, has_aux=True, tier="straight")(X)
    assert same(found, jacrev(f, has_aux=True, tier="tape")(X))


def test_aux_is_not_changed_by_the_reverse_pass_nor_by_later_calls():
    derived = grad(written_after, has_aux=True, tier="straight")
    _, first = derived(X)
    kept = first.copy()
    derived(X + 1.0)
    assert np.array_equal(first, kept)
    assert np.array_equal(first, written_after(X)[1])


def test_an_aux_that_is_not_finite_has_no_part_in_the_derivative():
    with np.errstate(all="ignore"):
        dx, aux = grad(infinite_beside, has_aux=True)(X)
        dx, aux = grad(infinite_beside, has_aux=True)(X)
    assert np.array_equal(dx, 2.0 * X)
    assert aux[0] == -np.inf


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x * x),
        lambda x: (np.sum(x), x, x),
        lambda x: [np.sum(x), x],
        lambda x: (x, np.sum(x)),
    ],
    ids=["no pair", "three", "list", "array first"],
)
def test_what_is_no_pair_has_the_tapes_error(f):
    for _ in range(3):
        with pytest.raises(TypeError) as told:
            grad(f, has_aux=True)(X)
        with pytest.raises(TypeError) as tapes:
            grad(f, has_aux=True, tier="tape")(X)
        assert str(told.value) == str(tapes.value)
    with pytest.raises(UnsupportedProgram):
        grad(f, has_aux=True, tier="straight")(X)


def paired(f, of_number):
    """A program that returns the value of another one, and much else."""

    def pair(a, b, c, d, e, g):
        y = f(a, b, c, d, e, g)
        return y.sum(), {"y": y, "more": (a, [y, 1], "text")}

    def number_pair(a, b, c, d, e, g):
        y = f(a, b, c, d, e, g)
        return 2.0 * y, {"y": y, "more": (a, [y, 1], "text")}

    made = number_pair if of_number else pair
    made.__code__ = made.__code__.replace()  # code of its own, as other programs have
    return made


def check_pair(seed):
    """Compare one generated program with the tape; what became of it."""
    plain, args = program(seed)[0], arguments(seed)
    given = tuple(np.array(x) if isinstance(x, np.ndarray) else x for x in args)
    active = ACTIVE[seed % len(ACTIVE)]
    with np.errstate(all="ignore"):
        value = plain(*args)
        if not np.all(np.abs(value) < 1e6):
            return "large"
        f = paired(plain, not np.ndim(value))
        try:
            for _ in range(3):  # what rules return is learned
                value_and_grad(f, active, True)(*args)
            found = value_and_grad(f, active, True, "straight")(*args)
        except UnsupportedProgram:
            return "refused"
        tapes = value_and_grad(f, active, True, "tape")(*args)
    text = f"program {seed}\n{program(seed)[2]}"
    assert same(found[0], tapes[0]), text
    for one, other in zip(found[1], tapes[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9, err_msg=text)
    for x, before in zip(args, given, strict=True):
        assert np.array_equal(x, before), text
    return "checked"


def count_of(seeds):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [check_pair(seed) for seed in seeds].count("checked")


def test_generated_pairs():
    assert count_of(range(12)) > 8


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(10))
def test_more_generated_pairs(part):
    assert count_of(range(100 + 100 * part, 200 + 100 * part)) > 70
