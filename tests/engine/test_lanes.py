"""Several tangents through one forward pass: rules see one call of the function."""

# The legacy generators are among what is tested.
# ruff: noqa: NPY002

import random

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, jacfwd, jacrev, jvp
from rules_core import frule

X = np.array([0.4, -0.7, 1.3, 0.9])


def shuffled(x):
    y = x * 1.0
    np.random.default_rng(0).shuffle(y)
    return y**2


def twice(x):
    rng = np.random.default_rng(0)
    return rng.permutation(x) * rng.permutation(x) * rng.normal()


def globally(x):
    np.random.seed(3)
    return np.random.permutation(x) ** 2 * np.random.rand()


PROGRAMS = {
    "permutation": lambda x: np.random.default_rng(0).permutation(x) ** 2,
    "choice": lambda x: np.random.default_rng(0).choice(x) ** 2,
    "choices": lambda x: np.random.default_rng(0).choice(x, 3) ** 2,
    "legacy permutation": lambda x: np.random.RandomState(0).permutation(x) ** 2,
    "legacy choice": lambda x: np.random.RandomState(0).choice(x, 3) ** 2,
    "of Python": lambda x: np.array(random.Random(0).sample(list(x), 3)) ** 2,
    "shuffle": shuffled,
    "twice": twice,
    "global": globally,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_all_tangents_see_one_draw(name):
    f = PROGRAMS[name]
    wide = jacfwd(f)(X)
    assert np.array_equal(wide, jacrev(f)(X))
    columns = [jvp(f, (X,), (e,))[1] for e in np.eye(4)]
    assert np.array_equal(wide, np.stack(columns, axis=-1))


def test_the_generator_goes_on_as_in_the_program():
    rng, other = np.random.default_rng(0), np.random.default_rng(0)
    jacfwd(lambda x: rng.permutation(x) ** 2)(X)
    other.permutation(X)
    assert rng.normal() == other.normal()


CALLS = [0]


def counted(x):
    CALLS[0] += 1
    return x * CALLS[0]


@frule.define(counted)
def counted_frule(tangents, x):
    y = counted(x)
    return y, tangents[1] * (y / x)


def test_other_functions_with_a_state_are_refused():
    with pytest.raises(UnsupportedProgram, match="counted must give the same value"):
        jacfwd(counted)(X)
    assert jvp(counted, (2.0,), (1.0,))[1] == float(CALLS[0])


def scaled_in_place(c, a, b):
    c *= b
    c += a
    return np.sum(c * c)


def logged(c, log, b):
    log.append(b)
    return c[0] * b * len(log)


@pytest.mark.parametrize("argnums", [(1, 2), (0, 2), (2, 1, 0), [0, 1, 2]])
def test_several_arguments_of_a_function_that_writes_are_one_pass(argnums):
    c = np.array([1.0, 2.0])
    found = jacfwd(scaled_in_place, argnums)(c, 2.0, 3.0)
    assert (c.tolist() == [1.0, 2.0]) == (0 in argnums)  # else as the function does
    wanted = jacrev(scaled_in_place, argnums)(np.array([1.0, 2.0]), 2.0, 3.0)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)


def test_what_is_no_variable_is_changed_once():
    log = []
    found = jacfwd(logged, (0, 2))(np.array([2.0, 5.0]), log, 3.0)
    assert [x.tolist() for x in found] == [[3.0, 0.0], 2.0]
    assert log == [3.0]


def test_arguments_that_share_memory_are_refused_where_it_is_written():
    c = np.array([1.0, 2.0, 3.0])
    for args in ((c, c), (c[:2], c[1:])):
        with pytest.raises(UnsupportedProgram, match="must not share memory"):
            jacfwd(lambda a, b: scaled_in_place(a, b, 2.0), (0, 1))(*args)
    assert c.tolist() == [1.0, 2.0, 3.0]
