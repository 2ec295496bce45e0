"""Programs that depend on the strides of an argument: copies have the same."""

import numpy as np
import pytest

from rules_autodiff import grad, hessian, hvp, jacfwd, jacrev, jvp, linearize

BASE = np.arange(8.0) / 10 + 0.1
LAYOUTS = {
    "column": lambda: BASE.copy().reshape(4, 2)[:, 0],
    "block": lambda: BASE.copy().reshape(2, 4)[:, 1:3],
    "reversed": lambda: BASE.copy()[::-1],
    "fortran": lambda: np.asfortranarray(BASE.copy().reshape(2, 4)),
    "whole": BASE.copy,
}


def raveled(x):
    y = x.ravel()  # a view or a copy
    y *= 2.0
    return np.sum(x * x)


def first_entry(x):
    x.reshape(-1)[0] = 5.0
    return np.sum(x * x)


def in_c_order(x):
    y = np.asarray(x, order="C")
    y += 1.0
    return np.sum(x * x)


def by_flags(x):
    return np.sum(x) if x.flags.c_contiguous else np.sum(x * x)


def by_strides(x):
    return np.sum(x) if x.strides[-1] == x.itemsize else np.sum(x * x)


PROGRAMS = [raveled, first_entry, in_c_order, by_flags, by_strides]


def at(layout, values):
    x = LAYOUTS[layout]()
    x[...] = values
    return x


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_mode(f, layout):
    """By differences of the program at arrays of this layout."""
    x = LAYOUTS[layout]()
    one = np.ones(x.shape)

    def value(t):
        return f(at(layout, x + t))

    first = (value(1e-5) - value(-1e-5)) / 2e-5
    second = (value(1e-3) - 2 * value(0.0) + value(-1e-3)) / 1e-6
    found = {
        "jvp": lambda: jvp(f, (at(layout, x),), (one,))[1],
        "jacfwd": lambda: np.sum(jacfwd(f)(at(layout, x))),
        "chunks": lambda: np.sum(jacfwd(f, chunk_size=1)(at(layout, x))),
        "jacrev": lambda: np.sum(jacrev(f)(at(layout, x))),
        "grad": lambda: np.sum(grad(f)(at(layout, x))),
        "linearize": lambda: linearize(f, at(layout, x))[1](one),
    }
    for name, run in found.items():
        np.testing.assert_allclose(run(), first, atol=1e-8, err_msg=name)
    hessians = [
        np.sum(hessian(f)(at(layout, x))),
        np.sum(hvp(f, (at(layout, x),), (one,))),
    ]
    np.testing.assert_allclose(hessians, second, rtol=1e-6, atol=1e-6)
