"""Views whose entries share memory: sliding windows and broadcasts, at every order."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from rules_autodiff.testing import check_program

X = np.array([0.3, -1.2, 2.0, 0.7, 1.1, -0.4])
Z = X + 1j * X[::-1]


def imaginary_windows(z):
    c = sliding_window_view(z, 2).imag
    return c**2


def real_windows(z):
    c = sliding_window_view(z, 2).real
    return c**2, c[1] * c[0], c[2, 1] * c[1]


def windows_of_parts(z):
    y = z * z
    c = sliding_window_view(y.imag, 3)
    d = sliding_window_view(y, 3).T.imag
    return c[1] * c[0], d[1] * d[0], d[..., ::2] ** 2


def parts_of_broadcasts(z):
    c = np.broadcast_to(z.imag, (3, 6))
    return c[0] * c[1] * c[2], c.T[1] * c[:, 2]


def entries_of_windows(x):
    y = x.copy()
    c = sliding_window_view(y, 2)
    part = c[1:3]
    return c[0] * c[1], part[0, 1] * part[1], c.sum(0), c[:, 0] * c[:, 1]


def entries_of_broadcasts(x):
    y, z = np.broadcast_to(x, (3, 6)), np.broadcast_to(x[0], (2, 2))
    rows = sum(v * v for row in z for v in row)
    return y[0] * y[1], y[:, 2] * y[2, 1], z[0] * z[1, 0], rows, y[[0, 2], [1, 1]]


def strides_of_a_matrix(x):
    y = np.asfortranarray(np.outer(x, x))
    w = as_strided(y, (5, 2), (8, 8))
    return w[1:] * w[:-1]


def writes_beside_windows(x):
    y = x.copy()
    c = sliding_window_view(y, 2)
    y[2] = c[0] @ c[1]
    y[1:3] *= c[3]
    return c * 1.0


def spread_and_used_whole(x):
    """The shadow of `y` is first an array of two axes, then asked for a window."""
    y = np.outer(x, x)
    c = np.broadcast_to(y, (2, 6, 6))
    return c * c[0] + y


PROGRAMS = [
    (spread_and_used_whole, X),
    (imaginary_windows, Z),
    (real_windows, Z),
    (windows_of_parts, Z),
    (parts_of_broadcasts, Z),
    (entries_of_windows, X),
    (entries_of_broadcasts, X),
    (strides_of_a_matrix, X),
    (writes_beside_windows, X),
]


@pytest.mark.covering(every=3)
@pytest.mark.parametrize(("f", "x"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_windows(f, x):
    check_program(f, x, second=True)


def test_adding_into_entries_that_share_memory():
    """`np.add.at` adds one after the other, whatever lies where."""

    def f(x):
        y = np.zeros(6)
        np.add.at(sliding_window_view(y, 3, writeable=True), [0, 2, 0], x[:3] * x[0])
        return y**2

    check_program(f, X, second=True)
