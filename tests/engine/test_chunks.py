"""`chunk_size`: columns of a Jacobian in several passes, a few in each."""

import itertools
import tracemalloc

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, hessian, jacfwd, jacrev, jvp

X = np.array([0.3, -1.2, 2.0, 0.7, 1.1])
SIZES = (1, 2, 3, 5, 7, None)


def vector(x):
    return np.sin(x) * np.cumsum(x)


def nested(p):
    return {"a": p["w"] * p["b"], "c": [np.sum(p["w"]), p["b"] ** 2]}


def two(x, y):
    return x * y[0] + np.sum(y)


def cubic(x):
    return np.sum(x**3) * x[0]


@pytest.mark.parametrize("size", SIZES)
def test_chunks_are_the_jacobian(size):
    assert np.allclose(jacfwd(vector, chunk_size=size)(X), jacrev(vector)(X))
    found = jacfwd(nested, chunk_size=size)({"w": X, "b": 2.0})
    whole = jacrev(nested)({"w": X, "b": 2.0})
    for a, c in itertools.product(("a", "c"), ("w", "b")):
        parts = ([x] if a == "a" else x for x in (found[a], whole[a]))
        assert all(np.allclose(p[c], q[c]) for p, q in zip(*parts, strict=True))


@pytest.mark.parametrize("argnums", [(0, 1), (1, 0), 1, -2])
@pytest.mark.parametrize("size", [1, 2, 4])
def test_chunks_of_several_arguments(argnums, size):
    found = jacfwd(two, argnums, chunk_size=size)(X, X[:2])
    whole = jacrev(two, argnums)(X, X[:2])
    parts = (
        zip(found, whole, strict=True) if type(argnums) is tuple else [(found, whole)]
    )
    assert all(np.allclose(p, q) for p, q in parts)


@pytest.mark.parametrize("size", SIZES)
def test_hessians_in_chunks(size):
    assert np.allclose(hessian(cubic, chunk_size=size)(X), jacrev(jacrev(cubic))(X))
    value, aux = hessian(lambda x: (cubic(x), "aux"), has_aux=True, chunk_size=size)(X)
    assert aux == "aux"
    assert np.allclose(value, hessian(cubic)(X))


def test_chunks_nest():
    """The derivative of a Jacobian in chunks."""

    def f(x):
        return np.sum(jacfwd(vector, chunk_size=2)(x) ** 2)

    h = 1e-6 * np.cos(np.arange(5.0))
    difference = (f(X + h) - f(X - h)) / 2.0
    assert np.isclose(jvp(f, (X,), (h,))[1], difference, rtol=1e-5)


def test_memory_is_bounded():
    """A pass of one tangent needs less than a pass of two hundred."""
    x = np.ones(200)

    def f(x):
        wide = np.ones(20_000)
        for _ in range(4):
            wide = wide * np.sum(x)
        return np.sum(wide)

    def peak(size):
        jacfwd(f, chunk_size=size)(x[:2])
        tracemalloc.start()
        jacfwd(f, chunk_size=size)(x)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(4) < peak(None) / 10


def writing(x):
    x[0] = x[1] * 2.0
    return np.sum(x * x)


def test_what_is_written_to_an_argument_is_not_seen_by_the_next_pass():
    given = X.copy()
    found = jacfwd(writing, chunk_size=2)(given)
    assert np.allclose(found, jacrev(writing)(X.copy()))
    assert np.array_equal(given, X)


STATE = [1.0]


def counting(x):
    STATE[0] += 1.0
    return np.sum(x) * STATE[0]


def drawing(x):
    return np.sum(x) * np.random.random()  # noqa: NPY002  (has a state of its own)


@pytest.mark.parametrize("f", [counting, drawing])
def test_what_is_not_the_same_each_time_is_refused(f):
    with pytest.raises(UnsupportedProgram, match=f"{f.__name__} gave another"):
        jacfwd(f, chunk_size=2)(X)
    assert jacfwd(f, chunk_size=5)(X).shape == X.shape


@pytest.mark.parametrize("size", [0, -1, 2.0, "2", True])
def test_sizes_are_whole_numbers(size):
    with pytest.raises(ValueError, match="chunk_size must be a whole number"):
        jacfwd(vector, chunk_size=size)
