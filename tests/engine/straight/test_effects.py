"""Programs that write: nobody else sees what written code does.

The tape does them, or the written code writes into memory of its own.
"""

import numpy as np
import pytest

from rules_autodiff import grad

X = np.array([0.5, -1.0, 2.0])
GLOBAL = np.array([1.0, 2.0, 3.0])
LISTED, TABLE, COUNT = [1.0], {"a": 1.0}, 0


class Holder:
    value = 1.0


def argument(x):
    x[0] = 5.0
    return np.sum(x * x)


def other_name(x):
    y = x
    y += 1.0
    return np.sum(x * y)


def sliced(x):
    y = x[1:]
    y[0] = 4.0
    return np.sum(x * x)


def transposed(x):
    y = x.T
    y *= 2.0
    return np.sum(x * x)


def reshaped(x):
    y = x.reshape(-1)
    y *= 2.0
    return np.sum(x * x)


def out(x):
    np.add(x, 1.0, out=x)
    return np.sum(x * x)


def sorted_in_place(x):
    x.sort()
    return np.sum(x * x)


def filled(x):
    x.fill(2.0)
    return np.sum(x)


def global_array(x):
    GLOBAL[0] = x[0]
    return np.sum(GLOBAL * x)


def helper(y):
    y[0] = 7.0
    return np.sum(y)


def by_helper(x):
    return helper(x)


def list_outside(x):
    LISTED.append(x[0])
    return np.sum(x)


def global_number(x):
    global COUNT  # noqa: PLW0603  to be refused
    COUNT += 1
    return np.sum(x * x)


def dict_outside(x):
    TABLE["a"] = x[0]
    return np.sum(x)


def attribute_of_a_class(x):
    Holder.value = x[0]
    return np.sum(x)


def add_at(x):
    np.add.at(x, [0], 1.0)
    return np.sum(x * x)


def random(x):
    return np.sum(x * np.random.rand(3))  # noqa: NPY002  seeded by the test


def global_in_place(x):
    y = GLOBAL
    y *= 2.0
    return np.sum(y * x)


def loop_over_both(x):
    for r in (GLOBAL, x):
        r += 1.0  # noqa: PLW2901  which writes into both
    return np.sum(x * GLOBAL)


def one_or_the_other(x):
    y = GLOBAL if x[0] > 0 else x.copy()
    y[0] = 3.0
    return np.sum(y * x)


def raveled(x):
    y = x.ravel()
    y[1] = 0.0
    return np.sum(x)


def as_array(x):
    y = np.asarray(x)
    y[1] = 0.0
    return np.sum(x)


def copied(x):
    y = x.copy()
    y[1] = 0.0
    return np.sum(x * y)


def np_transposed(x):
    y = np.transpose(x)
    y[1] = 0.0
    return np.sum(x)


def new_axis(x):
    y = x[None, :]
    y[0, 1] = 0.0
    return np.sum(x)


def unpacked(x):
    a, b = (x, GLOBAL)
    b[0] = a[1]
    return np.sum(b * a)


def of_broadcast(x):
    y = np.broadcast_to(x, (2, 3))
    z = y.copy()
    z[0, 0] = 1.0
    return np.sum(z * y)


def swapped_axes(x):
    y = x.swapaxes(0, 0)
    y[0] = 1.0
    return np.sum(x)


def copied_to(x):
    np.copyto(x, 1.0)
    return np.sum(x)


def flipped(x):
    y = np.flip(x)
    y[0] = 1.0
    return np.sum(x)


def inner_function(x):

    def inner():
        x[0] = 2.0
        return 1.0

    return inner() * np.sum(x)


def expanded(x):
    y = np.expand_dims(x, 0)
    y[0, 0] = 1.0
    return np.sum(x)


def backwards(x):
    y = x[::-1]
    y -= 1.0
    return np.sum(x * x)


def sometimes_itself(x):
    y = x if x[0] < 0 else x * 1.0
    y[0] = 9.0
    return np.sum(y)


def made_again(x):
    y = np.array(x)
    y[0] = 9.0
    return np.sum(y * x)


def copy_of_global(x):
    y = GLOBAL.copy()
    y[0] = x[0]
    return np.sum(y * x)


def view_of_global(x):
    y = GLOBAL[:]
    y[0] = x[0]
    return np.sum(y * x)


OWN = [f for f in list(globals().values()) if getattr(f, "__module__", "") == __name__]
PROGRAMS = [f for f in OWN if f not in (Holder, helper)]


def state():
    return GLOBAL.tolist(), list(LISTED), dict(TABLE), Holder.value, COUNT


def after(f, tier):
    """What a gradient gives, its argument then, and what it has changed outside."""
    np.random.seed(0)  # noqa: NPY002  drawn by one of the programs
    x = X.copy()
    try:
        found = grad(f, tier=tier)(x).tolist()
    except NotImplementedError as error:
        found = type(error)
    return found, x.tolist(), state()


@pytest.mark.covering(every=3)
@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_effects(f, monkeypatch):
    before = state()
    expected = after(f, "tape")
    monkeypatch.setitem(globals(), "COUNT", before[-1])
    for _ in range(2):
        assert after(f, "auto") == expected
        monkeypatch.setitem(globals(), "COUNT", before[-1])
    assert state() == before
