"""Arrays that programs make read-only or writeable, which the reverse pass undoes."""

import numpy as np
import pytest

from rules_autodiff import grad, jacrev, jvp, linearize, vjp
from rules_autodiff.testing import check_program

X = np.array([[0.3, -1.2, 2.0], [0.7, 1.1, -0.4], [0.1, 0.9, 1.6]])


def filled(x):
    a = np.zeros((3, 3))
    a[:] = x
    return a


def locked_by_method(x):
    a = filled(x)
    a.setflags(write=False)
    return a * a


def locked_by_position(x):
    a = filled(x)
    a.setflags(0)
    return a * a


def locked_by_attribute(x):
    a = filled(x)
    a[0] = a[1] * a[2]
    a.flags.writeable = False
    return a * a


def locked_by_item(x):
    a = filled(x)
    a[0] *= a[1]
    a.flags["WRITEABLE"] = False
    return a * a


def locked_by_setattr(x):
    a = filled(x)
    name = "write" + "able"
    setattr(a.flags, name, False)
    return a * a


def unlocked(x):
    a = x * 1.0
    a.setflags(write=False)
    try:
        a[0] = 1.0
    except ValueError:
        a.setflags(write=True)
        a[0] = a[1] * 2.0
    return a * a


def unlocked_for_a_while(x):
    a = filled(x)
    flags = a.flags
    flags.writeable = False
    total = a[0] * a[1]
    flags.writeable = True
    a[1] = total
    flags.writeable = False
    return a * a


def locked_view(x):
    a = filled(x)
    part = a[1:]
    part *= 2.0
    part.flags.writeable = False
    a[2] = part[0] * a[0]
    return a * part[1]


def diagonal(x):
    d = np.diagonal(x * 1.0)
    d.flags.writeable = True
    d[0] = 3.0 * d[1]
    return d * d


def broadcast(x):
    a = x * 1.0
    b = np.broadcast_to(a, (2, 3, 3))
    a[0] = a[1] * 2.0
    a.flags.writeable = False
    return b * a


PROGRAMS = [
    locked_by_method, locked_by_position, locked_by_attribute, locked_by_item,
    locked_by_setattr, unlocked, unlocked_for_a_while, locked_view, diagonal, broadcast,
]  # fmt: skip
IDS = [f.__name__ for f in PROGRAMS]


@pytest.mark.parametrize("f", PROGRAMS, ids=IDS)
def test_locks(f):
    check_program(f, X)


@pytest.mark.parametrize("f", PROGRAMS, ids=IDS)
def test_again_and_again(f):
    """Each call of a pullback writes again what the last one took back."""
    value, pullback = vjp(f, X)
    linear = linearize(f, X)[1]
    jacobian = jacrev(f)(X)
    for seed in (
        np.ones_like(value),
        np.cos(np.arange(value.size)).reshape(value.shape),
    ):
        np.testing.assert_allclose(
            pullback(seed)[0], np.tensordot(seed, jacobian, seed.ndim), atol=1e-12
        )
        np.testing.assert_allclose(linear(X), jvp(f, (X,), (X,))[1])


def test_an_argument_is_writeable_again():
    def f(x):
        x[0] = x[1] * 2.0
        x.setflags(write=False)
        return np.sum(x * x)

    x = X.copy()
    np.testing.assert_array_equal(grad(f)(x)[0], [0.0, 0.0, 0.0])
    np.testing.assert_array_equal(x, X)
    x[0] = 1.0


def test_a_read_only_argument_stays_read_only():
    def f(x):
        x[0] = 1.0
        return np.sum(x)

    x = X.copy()
    x.setflags(write=False)
    for transform in (grad(f), grad(grad(f)), lambda x: jvp(f, (x,), (x,))):
        with pytest.raises(ValueError, match="read-only"):
            transform(x)
    assert not jvp(lambda x: x.flags.writeable, (x,), (x,))[0]
