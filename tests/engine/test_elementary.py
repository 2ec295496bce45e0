"""NumPy functions that call a function of the user's: every entry is followed."""

import numpy as np
import pytest

from rules_autodiff import grad, jvp
from rules_autodiff.testing import check_program
from tests.engine.refusing import assert_refused

X = np.array([0.3, -1.2, 2.0, 0.7])


@np.vectorize
def scaled(a, b):
    return a * a * b


def vectorized(x):
    return np.vectorize(lambda v: v * v if v > 0 else 3 * v)(x).sum()


def vectorized_broadcast(x):
    return (np.vectorize(lambda a, b: a * b)(x[:, None], x[:3]) ** 2).sum()


def vectorized_decorator(x):
    return scaled(x, 2.0) @ scaled(x[::-1], x)


def vectorized_rows(x):
    dot = np.vectorize(lambda a, b: a @ b, signature="(n),(n)->()")
    flip = np.vectorize(lambda a: a * a[::-1], signature="(n)->(n)")
    m = x.reshape(2, 2)
    return (dot(m, x[:2]) * flip(m)[0]).sum()


def vectorized_outputs(x):
    a, b = np.vectorize(lambda v: (v * v, 3 * v))(x)
    return a @ b


def vectorized_options(x):
    first = np.vectorize(lambda v, w: v * w[0], excluded=[1], otypes=[float])
    named = np.vectorize(lambda v, w=None: v * w[1], excluded=["w"], cache=True)
    keyword = np.vectorize(lambda v, k=2.0: v * k)
    return (first(x, x) * named(x, w=x) + keyword(x, k=x)).sum()


def vectorized_closure(x):
    seen = []
    out = np.vectorize(lambda i: seen.append(x[i]) or x[i] ** 2)(np.arange(4))
    return out.sum() * seen[1]


def vectorized_scalar(x):
    return float(np.vectorize(lambda v: v * v)(x[0])) + x[1]


def vectorized_nothing(x):
    return np.vectorize(lambda v: v * 2, otypes=[float])(x[:0]).sum() + x[0]


def along_axis(x):
    m = x.reshape(2, 2)
    rows = np.apply_along_axis(lambda r: r * r.sum(), 1, m)
    columns = np.apply_along_axis(lambda r, c: (r * r).sum() * c, 0, m, 3.0)
    tables = np.apply_along_axis(lambda r: np.outer(r, r), -1, m)
    middle = np.apply_along_axis(lambda r: r[::-1] * r, 1, x.reshape(2, 2, 1))
    weights = np.arange(8.0).reshape(2, 2, 2)
    return rows.sum() + columns @ x[:2] + (tables * weights).sum() + middle[0, 1, 0]


def along_axis_of_constants(x):
    return np.apply_along_axis(lambda r: r * x[0], 0, np.ones((2, 2))).sum()


def over_axes(x):
    m = (x * x).reshape(2, 2)
    kept = np.apply_over_axes(np.sum, m, [0, 1])
    dropped = np.apply_over_axes(lambda a, axis: (a * a).sum(axis), m, (0,))
    return kept.sum() * dropped[0, 1]


def from_iterator(x):
    whole = np.fromiter((v * v for v in x), float)
    part = np.fromiter((v * v for v in x), dtype=np.float64, count=3)
    return whole @ x + part.sum() + np.fromiter(x, float) @ x


def from_function(x):
    table = np.fromfunction(lambda i, j: x[0] * i + x[1] * j * j, (2, 3))
    chosen = np.fromfunction(lambda i: x[i] ** 2, (3,), dtype=int)
    return table.sum() * chosen.sum()


def pieces(x):
    y = np.piecewise(x, [x < 0, x >= 0], [lambda v: -v * v, lambda v: v**3])
    z = np.piecewise(x, [x < 0], [lambda v, k: v * k, 5.0], x[0])
    w = np.piecewise(
        x,
        [x < 0, x > 1],
        [lambda v, k=1.0: v * k, x[1], lambda v, k=1.0: v * v * k],
        k=x[0],
    )
    return y @ z + w.sum()


def pieces_of_a_number(x):
    v = x[0] * 2
    return float(np.piecewise(v, [v < 0, v >= 0], [lambda v: -v, lambda v: v**3]))


def pieces_of_constants(x):
    masks = [[True, False]]
    table = np.array([0.5, -1.0])
    return np.piecewise(table, masks, [lambda v: v * x[0], lambda v: v * x[1]]).sum()


def selected(x):
    first = np.select([x < 0, x > 1], [x * x, 3 * x], x[0])
    return (
        first @ np.select([x < 0, x > 1], [x * x, 3 * x])
        + np.choose([0, 1, 0, 1], [x, x * x]).sum()
    )


FOLLOWED = [
    vectorized, vectorized_broadcast, vectorized_decorator, vectorized_rows,
    vectorized_outputs, vectorized_options, vectorized_closure, vectorized_scalar,
    vectorized_nothing, along_axis, along_axis_of_constants, over_axes, from_iterator,
    from_function, pieces, pieces_of_a_number, pieces_of_constants, selected,
]  # fmt: skip


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("f", FOLLOWED, ids=lambda f: f.__name__)
def test_followed(f):
    check_program(f, X, second=True)


def vectorized_integers(x):
    return np.vectorize(lambda v: v * v, otypes=[int])(x).sum()


def integers_from_an_iterator(x):
    return np.fromiter((v for v in x), dtype=int).sum()


@pytest.mark.parametrize("f", [vectorized_integers, integers_from_an_iterator])
def test_truncating_dtypes(f):
    assert_refused(f, X, "would cut it off")


def objects(x):
    return np.frompyfunc(lambda v: v * v, 1, 1)(x).astype(float).sum()


def objects_of_a_closure(x):
    return np.frompyfunc(lambda i: x[i], 1, 1)(np.arange(4)).sum()


@pytest.mark.parametrize("f", [objects, objects_of_a_closure])
def test_frompyfunc_gives_arrays_of_objects(f):
    assert_refused(f, X, "must have a rule")


def test_constants():
    table = np.vectorize(lambda n: n * 2)(np.arange(3))
    assert table.dtype.kind == "i"

    def f(x):
        counts = np.vectorize(lambda n: n * 2)(np.arange(3))
        grid = np.fromfunction(lambda i, j: i + j, (2, 2), dtype=int)
        whole = np.fromiter((n for n in range(3)), int)
        pieces = np.piecewise(np.arange(3.0), [[True, False, True]], [1.0, 2.0])
        return x * (counts.sum() + grid.sum() + whole.sum() + pieces.sum())

    assert grad(f)(1.0) == 6 + 4 + 3 + 4


def parts(x):
    fraction, whole = np.modf(x)
    return np.sum(fraction**3 + whole)


def test_zeros_beside_arrays_at_second_order():
    """Of several outputs one may have no cotangent: a zero stands beside an array."""
    x = np.array([0.5, -1.2, 2.25])
    want = 6 * np.modf(x)[0]
    np.testing.assert_allclose(jvp(grad(parts), (x,), (np.ones(3),))[1], want)
    np.testing.assert_allclose(grad(lambda x: np.sum(grad(parts)(x)))(x), want)
