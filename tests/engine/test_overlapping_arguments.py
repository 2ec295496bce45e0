"""Arguments in one array: views that do not overlap are variables of their own."""

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, grad, hessian, jvp, linearize, vjp

P = np.array([0.5, -1.0, 2.0, 0.25, 1.5, -0.75])
APART = {
    "halves": lambda p: (p[:3], p[3:]),
    "other way round": lambda p: (p[3:], p[:3]),
    "even and odd": lambda p: (p[::2], p[1::2]),
    "backwards": lambda p: (p[2::-1], p[:2:-1]),
    "rows": lambda p: tuple(p.reshape(2, 3)),
    "columns": lambda p: (p.reshape(3, 2)[:, 0], p.reshape(3, 2)[:, 1]),
}
TOGETHER = {
    "shifted": lambda p: (p[:3], p[2:5]),
    "even and all": lambda p: (p[::2], p[:3]),
    "one": lambda p: (p[:3], p[:3]),
}


def writes_first(x, y):
    x[0] = y[1] * 2.0
    x *= y
    return np.sum(x * y)


def writes_second(x, y):
    y[1:] += x[0] * x[1:]
    return np.sum(x * y * y)


def writes_both(x, y):
    x[1] = y[2]
    y[0] = x[1] * x[2]
    return np.sum(x * y)


def writes_nothing(x, y):
    return np.sum(x * y * y)


WRITING = [writes_first, writes_second, writes_both]


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("views", APART)
@pytest.mark.parametrize("f", [*WRITING, writes_nothing])
@pytest.mark.parametrize("argnums", [(0, 1), 0, 1, (1, 0)], ids=str)
def test_views_apart(f, views, argnums):
    """As with arguments in arrays of their own, by every transform."""
    p = P.copy()
    given = APART[views](p)
    own = tuple(x.copy() for x in APART[views](P))
    for _ in range(3):
        found, expected = grad(f, argnums)(*given), grad(f, argnums)(*own)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(p, P)
    if argnums == (0, 1):
        pulled = vjp(f, *given)[1](1.0)
        np.testing.assert_array_equal(pulled, expected)
        pushed = linearize(f, *given)[1](*own)
        assert pushed == pytest.approx(
            sum(np.sum(a * b) for a, b in zip(expected, own, strict=True))
        )
        np.testing.assert_array_equal(
            hessian(f, 0)(*APART[views](P.copy())), hessian(f, 0)(*own)
        )
        p = P.copy()
        slope = jvp(f, APART[views](p), own)[1]
        assert slope == pytest.approx(pushed)
        q = P.copy()
        f(*APART[views](q))
        np.testing.assert_array_equal(p, q)


@pytest.mark.parametrize("views", TOGETHER)
@pytest.mark.parametrize("f", WRITING)
@pytest.mark.parametrize("argnums", [(0, 1), 0, 1], ids=str)
def test_views_that_overlap(f, views, argnums):
    p = P.copy()
    for transform in (
        grad(f, argnums),
        lambda x, y: jvp(f, (x, y), (x * 1.0, y * 1.0)),
    ):
        with pytest.raises(UnsupportedProgram, match="must not share memory"):
            transform(*TOGETHER[views](p))
    assert grad(writes_nothing, argnums)(*TOGETHER[views](P)) is not None


def test_captured_views_are_another_way():
    p = P.copy()

    def f(x):
        x[0] = p[4]
        return np.sum(x * x)

    with pytest.raises(UnsupportedProgram, match="must not share memory"):
        grad(f)(p[:3])
