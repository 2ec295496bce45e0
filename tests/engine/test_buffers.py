"""Memory that is reached by other ways than arrays: refused where it matters."""

import ctypes
from typing import Any

import numpy as np
import pytest

from rules_autodiff import grad
from rules_autodiff.testing import check_program
from tests.engine.refusing import assert_refused

X = np.array([0.3, -1.2, 2.0, 0.7])
BUFFER: Any = np.zeros(4)
VIEW = memoryview(BUFFER)


class Holder:
    def __init__(self, interface):
        self.__array_interface__ = interface


def read(x):
    return memoryview(x * 2)[0]


def read_as_list(x):
    return sum(memoryview(x).tolist())


def made_before(x):
    y = np.zeros(4)
    m = memoryview(y)
    y[0] = x[0]
    return m[0]


def made_outside(x):
    BUFFER[:] = x
    return VIEW[0]


def iterated_outside(x):
    BUFFER[:] = x
    return sum(VIEW)


def array_over_a_buffer(x):
    y = np.zeros(4)
    z = np.asarray(memoryview(y))
    y[0] = x[0]
    return z[0]


def array_over_an_outer_buffer(x):
    BUFFER[:] = x
    return np.asarray(VIEW).sum()


def two_arrays_over_bytes(x):
    memory = bytearray(32)
    y, z = np.frombuffer(memory), np.frombuffer(memory)
    y[:] = x
    return z.sum()


def written_through_the_other(x):
    memory = bytearray(32)
    y, z = np.frombuffer(memory), np.frombuffer(memory)
    y[:] = x
    z[0] = 1.0
    return y.sum()


def data(x):
    return (x * 2).data[0]


def data_before(x):
    y = np.zeros(4)
    d = y.data
    y[0] = x[0]
    return d[0]


def address(x):
    y = x * 2
    return ctypes.cast(y.ctypes.data, ctypes.POINTER(ctypes.c_double))[0]


def pointer(x):
    y = x * 2
    return y.ctypes.data_as(ctypes.POINTER(ctypes.c_double))[0]


def c_array(x):
    y = np.zeros(4)
    c = np.ctypeslib.as_ctypes(y)
    y[:] = x
    return c[0]


def interface(x):
    y = x * 2
    return np.array(Holder(y.__array_interface__)).sum()


def dlpack(x):
    return np.from_dlpack(x * 2).sum()


def dlpack_before(x):
    y = np.zeros(4)
    z = np.from_dlpack(y)
    y[:] = x
    return z.sum()


def nditer(x):
    total = 0.0
    for v in np.nditer(x):
        total = total + v * v
    return total


def nditer_writes(x):
    y = np.zeros(4)
    flags = [["readwrite"], ["readonly"]]
    with np.nditer([y, x], op_flags=flags) as it:
        for a, b in it:
            a[...] = b * b
    return y.sum()


def nditer_before(x):
    y = np.zeros(4)
    it = np.nditer(y)
    y[:] = x
    return sum(float(v) for v in it)


def nested_iters(x):
    outer, inner = np.nested_iters(x.reshape(2, 2), [[0], [1]])
    return sum(float(v) for _ in outer for v in inner)


def broadcast(x):
    return sum(u * v for u, v in np.broadcast(x, np.ones((2, 1))))


REFUSED = [
    read, read_as_list, made_before, made_outside, iterated_outside,
    array_over_a_buffer, array_over_an_outer_buffer, two_arrays_over_bytes,
    written_through_the_other, data, data_before, address, pointer, c_array, interface,
    dlpack, dlpack_before, nditer, nditer_writes, nditer_before, nested_iters,
    broadcast,
]  # fmt: skip


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_refused(f):
    assert_refused(f, X, "reached by arrays alone")
    BUFFER[:] = 0.0


def one_array_over_bytes(x):
    y = np.frombuffer(bytearray(32))
    y[:] = x * x
    y[1:] += y[:-1]
    return y @ x


def frombuffer_of_an_array(x):
    y = np.zeros(4)
    z = np.frombuffer(y)
    y[:] = x * 2
    z[0] *= 3.0
    return y @ z


def complex_view(x):
    return (x.view(complex) * (1 + 1j)).imag.sum()


def constants_in_buffers(x):
    y = np.array([1.0, 2.0])
    m, c = memoryview(y), y.ctypes.data
    return m[1] * x[0] + sum(m.tolist()) * x[1] + sum(m) * x[2] + 0.0 * c


def constants_in_iterators(x):
    total = 0.0
    for v in np.nditer(np.array([1.0, 2.0])):
        total += float(v) * x[0] * x[1]
    return total


FOLLOWED = [
    one_array_over_bytes, frombuffer_of_an_array, complex_view, constants_in_buffers,
    constants_in_iterators,
]  # fmt: skip


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("f", FOLLOWED, ids=lambda f: f.__name__)
def test_followed(f):
    check_program(f, X, second=True)


def test_memory_maps(tmp_path):
    def f(table, x):
        table[:] = x * table
        return table @ x

    table = np.memmap(tmp_path / "table", float, "w+", shape=4)
    table[:] = X
    expected = 2 * X * X
    np.testing.assert_allclose(grad(f, 1)(table, X), expected)
    np.testing.assert_allclose(table, X)


def test_memory_given_from_outside():
    """Memory that another library owns, and arrays given as buffers."""
    memory = np.from_dlpack(X.copy())
    np.testing.assert_allclose(grad(lambda x: (x * x).sum())(memory), 2 * X)
    np.testing.assert_allclose(grad(lambda x: (x * memory).sum())(X), X)
