"""What has no rule but is followed by the reference engine, as the page says."""

from __future__ import annotations

import numpy as np
import pytest

import rules_autodiff as ad
import rules_core as rc
from rules_numpy.coverage import FOLLOWED, MISSING

V = np.linspace(1.0, 2.0, 6)
WEIGHTS = np.arange(6.0)


def written(write):
    """A program that has `write` change a copy of its argument."""

    def f(x):
        y = x * 1.0
        write(y, x)
        return np.sum(y * WEIGHTS)

    return f


def diagonal(x):
    y = np.ones((3, 3)) * x[0]
    np.fill_diagonal(y, x[1] * x[2])
    return np.sum(y * y)


def along_axes(x):
    y = np.ones((3, 2)) * x[0]
    np.put_along_axis(y, np.array([[0], [1], [1]]), x[1] * x[2], 1)
    np.put_along_axis(y, np.array([[1, 1]]), x[3:5] ** 2, axis=0)
    np.put_along_axis(y, np.array([-1, 2]), x[4:] * 3.0, None)
    return np.sum(y * y * WEIGHTS.reshape(3, 2))


PROGRAMS = {
    "apply_along_axis": lambda x: np.sum(np.apply_along_axis(lambda r: r * r, 0, x)),
    "apply_over_axes": lambda x: np.sum(
        np.apply_over_axes(np.sum, np.reshape(x, (2, 3)), [0]) ** 2
    ),
    "copyto": written(lambda y, x: np.copyto(y, x * x, where=x > 1.5)),
    "fill_diagonal": diagonal,
    "fromfunction": lambda x: np.sum(np.fromfunction(lambda i: x * i, (6,))),
    "fromiter": lambda x: np.sum(np.fromiter((t * t for t in x), float)),
    "piecewise": lambda x: np.sum(
        np.piecewise(x, [x < 1.5, x >= 1.5], [lambda t: t * t, lambda t: 3.0 * t])
    ),
    "place": written(lambda y, x: np.place(y, y > 1.5, x * x)),
    "put": written(lambda y, x: np.put(y, [0, 2], x[:2] ** 2)),
    "put_along_axis": along_axes,
    "putmask": written(lambda y, x: np.putmask(y, y > 1.5, x * x)),
}


def test_every_one_has_a_program():
    assert sorted(PROGRAMS) == sorted(FOLLOWED)


@pytest.mark.parametrize("name", PROGRAMS)
def test_followed(name):
    f, h = PROGRAMS[name], 1e-6
    exact = [(f(V + h * e) - f(V - h * e)) / (2 * h) for e in np.eye(6)]
    np.testing.assert_allclose(ad.grad(f)(V), exact, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(ad.jacfwd(f)(V), exact, rtol=1e-6, atol=1e-7)


REFUSED = {
    "numpy.asmatrix": lambda x: np.sum(np.asarray(np.asmatrix(x))),
    "numpy.bmat": lambda x: np.sum(np.asarray(np.bmat([[x[None], x[None]]]))),
    "numpy.frompyfunc": lambda x: np.sum(np.frompyfunc(lambda t: t * t, 1, 1)(x)),
    "numpy.nested_iters": lambda x: sum(
        t for i in np.nested_iters(x, [[0], []])[:1] for t in i
    ),
    "numpy.ix_": lambda x: np.sum(np.ix_(x * x, x)[0] * 2.0),
    "numpy.from_dlpack": lambda x: np.sum(np.from_dlpack(x) ** 2),
}


def test_every_missing_one_has_a_program():
    assert sorted(REFUSED) == sorted(MISSING)


@pytest.mark.parametrize("mode", [ad.grad, ad.jacfwd])
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_missing_is_refused(name, mode):
    """By an error; no derivative is lost in silence."""
    with pytest.raises(rc.RulesCoreError, match="must"):
        mode(REFUSED[name])(V)
