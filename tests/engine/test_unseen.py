"""Code that nobody lifts: what it would read or change is refused, never lost."""

import array
import ctypes
import functools
import io
import struct
import threading
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg.blas

from tests.engine.refusing import assert_refused

X = np.array([0.5, -1.2, 2.0])
PARAMETERS: dict[str, Any] = {}


def by_global(t):
    return PARAMETERS["k"] * t


def by_helper(t):
    return by_global(t) + 1.0


class Settings:
    k = 1.0


def by_class(t):
    return Settings.k * t


class Integrand:
    def __call__(self, t):
        return by_global(t)


def quad_global(x):
    PARAMETERS["k"] = x
    return scipy.integrate.quad(by_global, 0, 1)[0]


def quad_helper(x):
    PARAMETERS["k"] = x
    return scipy.integrate.quad(by_helper, 0, 1)[0]


def quad_class(x):
    Settings.k = x
    return scipy.integrate.quad(by_class, 0, 1)[0]


def quad_object(x):
    PARAMETERS["k"] = x
    return scipy.integrate.quad(Integrand(), 0, 1)[0]


def quad_partial(x):
    PARAMETERS["k"] = x
    return scipy.integrate.quad(functools.partial(by_helper), 0, 1)[0]


def quad_nested(x):
    PARAMETERS["k"] = x

    def integrand(t):
        return by_global(t)

    return scipy.integrate.quad(integrand, 0, 1)[0]


def quad_default(x):
    return scipy.integrate.quad(lambda t, k=x: k * t, 0, 1)[0]


def thread(x):
    PARAMETERS["k"] = x
    threading.Thread(target=by_global, args=(1.0,)).start()
    return x


class Hashed:
    def __init__(self, v):
        self.v = self.n = v

    def __hash__(self):
        self.count()
        return 0

    def __eq__(self, other):
        return self.v == other.v

    def count(self):
        self.n = self.n * 2


def hashed_in_a_display(x):
    h = Hashed(x)
    return h.n * len({h: 1.0})


def hashed_when_stored(x):
    h, d = Hashed(x), {}
    d[h] = 1.0
    return h.n


def hashed_when_asked(x):
    h = Hashed(x)
    return h.n if h in PARAMETERS else h.n * 2


class Finalized:
    def __init__(self, v, box):
        self.v, self.box = v, box

    def __del__(self):
        self.box[0] = self.box[0] * self.v


def finalizer(x):
    box = [x]
    Finalized(x, box)
    return box[0]


def foreign_memory(x):
    a = array.array("d", [0.0, 0.0])
    np.frombuffer(a)[:] = x
    return a[1]


def pointer(x):
    a = np.zeros(2)
    p = a.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    p[0] = x
    return a[0]


def record_of_numbers(x):
    return np.array([(x, 1.0)], dtype=[("p", float), ("q", float)])["p"][0]


def packed_into(x):
    a = np.ones(2) * x
    struct.pack_into("d", a, 0, 1.0)
    return a[0]


def packed_from(x):
    a = np.zeros(2)
    struct.pack_into("d", a, 0, x)
    return a[0]


def read_into(x):
    a = np.ones(1) * x
    io.BytesIO(bytes(8)).readinto(a)
    return a[0]


def moved(x):
    a, b = np.zeros(1), np.ones(1) * x
    ctypes.memmove(a.ctypes.data, b.ctypes.data, 8)
    return a[0]


def by_blas(x):
    a = np.zeros(2)
    scipy.linalg.blas.daxpy(np.ones(2) * x, a)
    return a[0]


def by_field(x):
    a = np.zeros(2)
    a.setfield(np.ones(2) * x, float)
    return a[0]


def swapped_in_place(x):
    a = np.ones(2) * x
    a.byteswap(inplace=True)
    return a[0]


# C code that writes into arrays and has no rule
WRITERS = [
    (packed_into, "pack_into .* must have a rule"),
    (packed_from, "pack_into .* must have a rule"),
    (read_into, "readinto .* must have a rule"),
    (moved, r"reached by arrays alone.*ctypes"),
    (by_blas, "daxpy .* must have a rule"),
    (by_field, "setfield .* must have a rule"),
    (swapped_in_place, "byteswap .* must have a rule"),
]


class Reflected:
    def __rmul__(self, other):
        return other * 2.0


def array_of_objects(x):
    return np.sum(np.array([x, 1.0]) * Reflected())


def array_of_fractions(x):
    return np.sum(np.array([x, 1.0]) * Fraction(1, 3))


REFUSED = [
    *WRITERS,
    (array_of_objects, "but one is a Reflected"),
    (array_of_fractions, "but one is a Fraction"),
    *[
        (f, "A function that a rule calls must capture what it reads")
        for f in (
            quad_global, quad_helper, quad_class, quad_object, quad_partial,
            quad_nested, quad_default,
        )
    ],
    (thread, r"threading\.Thread .* must have a rule"),
    (hashed_in_a_display, r"Hashed\.__hash__ may change something"),
    (hashed_when_stored, r"Hashed\.__hash__ may change something"),
    (hashed_when_asked, r"Hashed\.__hash__ may change something"),
    (finalizer, r"Finalized\.__del__ may"),
    (foreign_memory, r"reached by arrays alone.*\(array\)"),
    (pointer, r"put into an object of class LP_c_double"),
    (record_of_numbers, "the record itself is used"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "text"), REFUSED, ids=[f.__name__ for f, _ in REFUSED])
def test_refused(f, text):
    assert_refused(f, 1.3, text)


def test_callbacks_of_constants_are_run():
    """What a function reads may be anything but a value with a derivative."""
    from rules_autodiff import grad, jvp

    def f(x):
        PARAMETERS["k"] = 2.0
        Settings.k = 3.0
        area = scipy.integrate.quad(by_helper, 0, 1)[0]
        return x * area * scipy.integrate.quad(by_class, 0, 1)[0]

    assert grad(f)(1.0) == pytest.approx(3.0)
    assert jvp(f, (1.0,), (1.0,))[1] == pytest.approx(3.0)
