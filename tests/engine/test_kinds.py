"""Arrays of other dtypes and classes, and objects that stand for numbers."""

import ctypes
import math
import warnings

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, grad, jvp
from rules_autodiff.testing import check_program
from rules_core import UnsupportedError
from tests.engine.refusing import assert_refused

X = np.array([0.3, -1.2, 2.0, 0.7])
PAIR = [("p", float), ("q", int)]


def array_of_integers(x):
    return np.array([x[0]], dtype=int)[0] + x[1]


def full_of_integers(x):
    return np.full(2, x[0], dtype=int)[0] + x[1]


def joined_as_integers(x):
    return np.concatenate([x, x], dtype=int, casting="unsafe").sum()


def truth_values(x):
    return np.array([x[0]], dtype=bool)[0] * x[1]


def total_of_integers(x):
    return np.sum(x, dtype=int) + x[0]


TRUNCATED = [array_of_integers, full_of_integers, joined_as_integers, truth_values,
             total_of_integers]  # fmt: skip


@pytest.mark.parametrize("f", TRUNCATED, ids=lambda f: f.__name__)
def test_truncating_dtypes(f):
    assert_refused(f, X, "would cut it off")


def array_of_objects(x):
    return np.array([x[0] * 2, x[1]], dtype=object).sum()


def array_as_objects(x):
    return np.asarray(x, dtype=object)[0]


def astype_object(x):
    return x.astype(object)[0] * 3


def full_of_objects(x):
    return np.full(2, x[0], dtype=object)[0]


def like_objects(x):
    return np.full_like(np.zeros(2, object), x[0])[0]


def stacked_objects(x):
    return np.stack([x, x], dtype=object).sum()


def joined_objects(x):
    return np.concatenate([x, np.array([None, None])])[0]


def slice_of_objects(x):
    a = np.empty(4, object)
    a[:] = x
    return a[0]


def filled_objects(x):
    a = np.empty(2, object)
    a.fill(x[0])
    return a[0]


def list_among_objects(x):
    a = np.empty(1, object)
    a[0] = [x[0]]
    return a[0][0]


OBJECTS = [
    array_of_objects, array_as_objects, astype_object, full_of_objects, like_objects,
    stacked_objects, joined_objects, slice_of_objects, filled_objects,
    list_among_objects,
]  # fmt: skip


@pytest.mark.parametrize("f", OBJECTS, ids=lambda f: f.__name__)
def test_arrays_of_objects(f):
    assert_refused(f, X, "array of objects")


def total_of_objects(x):
    return np.sum(x, dtype=object) * 2


def test_a_number_of_no_array_class_is_followed():
    check_program(total_of_objects, X)


def test_ufuncs_that_make_objects():
    def product(x):
        return np.multiply(x, x, dtype=object)[0]

    for run in (lambda: grad(product)(X), lambda: jvp(product, (X,), (X,))):
        with pytest.raises(UnsupportedError, match="objects|numbers"):
            run()


def whole_numbers(x):
    n = (x * 10 + 0.5).astype(int)
    flags = np.zeros(4, bool)
    flags[n > 0] = True
    counts = np.zeros(4, int)
    counts[...] = n
    return (counts * x)[flags].sum() + int(x[0]) * x[1]


def indices(x):
    table = np.array([None, 1.0], object)
    order = np.array([3, 1], dtype=np.intp)
    return x[order].sum() * table[1] + np.argsort(x, kind="stable")[0] * x[0]


@pytest.mark.parametrize("f", [whole_numbers, indices])
def test_whole_numbers_are_constants(f):
    check_program(f, X, second=True)


# structured arrays


def record_write(x):
    a = np.zeros(2, PAIR)
    a[0] = (x[0], 3)
    return a["p"][0]


def record_field_write(x):
    a = np.zeros(2, PAIR)
    a["p"] = x[:2]
    a[1]["p"] = x[1]
    return a["p"].sum()


def records_of_numbers(x):
    return np.array((x[0], 1), PAIR)["p"]


@pytest.mark.parametrize("f", [record_write, record_field_write])
def test_records(f):
    assert_refused(f, X, "structured array|object of class void")


def fields(x):
    a = np.zeros(4, PAIR)
    a["p"] = x * x
    a["p"][1:] *= a["p"][:-1]
    a["q"][0] = 3
    return a["p"] @ x * a["q"][0]


def test_fields():
    check_program(fields, X, second=True)


# classes of arrays


class Plain(np.ndarray):
    pass


class Tagged(np.ndarray):
    def __array_finalize__(self, other):
        self.tag = getattr(other, "tag", None)


class Doubling(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        plain = [np.asarray(x) for x in inputs]
        return 2 * getattr(ufunc, method)(*plain, **kwargs)


class Skewed(np.ndarray):
    def __getitem__(self, key):
        return super().__getitem__(key) * 2


def plain_class(x):
    return (x.view(Plain) * x).sum()


def tagged_class(x):
    y = x.view(Tagged)
    y.tag = x[0]
    return y.sum() * y.tag


@pytest.mark.parametrize("f", [plain_class, tagged_class])
def test_classes_that_change_nothing(f):
    check_program(f, X)


def own_ufuncs(x):
    return (x.view(Doubling) * 3).sum()


def own_items(x):
    return x.view(Skewed)[1]


def masked(x):
    m = np.ma.zeros(4)
    m[:] = x
    return m.sum()


@pytest.mark.parametrize("f", [own_ufuncs, own_items, masked])
def test_classes_with_a_meaning_of_their_own(f):
    assert_refused(f, X, "must be a plain numpy.ndarray")


# objects that stand for numbers and arrays


class Measured:
    def __init__(self, value):
        self.value = value

    def __array__(self, dtype=None, copy=None):
        return self.value * 2


class Number:
    def __init__(self, value):
        self.value = value

    def __float__(self):
        return float(self.value * 2)

    def __complex__(self):
        return complex(self.value * 2j)


class Duck:
    def __init__(self, value):
        self.value = value

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        plain = [x.value if isinstance(x, Duck) else x for x in inputs]
        return Duck(getattr(ufunc, method)(*plain, **kwargs))

    def __array_function__(self, f, types, args, kwargs):
        return Duck(f(*[x.value if isinstance(x, Duck) else x for x in args], **kwargs))


def converted(x):
    a, m = np.zeros(4), Measured(x)
    a[:] = m
    return (np.asarray(m) * np.exp(m) + x * m + (m + x if False else 0.0)).sum() + a @ x


def numbers(x):
    n, a = Number(x[0]), np.zeros(2)
    a[0] = n
    listed = np.array([n, 1.0], dtype=float)
    return float(n) * math.sin(n) + np.float64(n) * a[0] + listed[0] + complex(n).imag


def ducks(x):
    d = Duck(x)
    return (
        np.exp(d).value.sum()
        + np.sum(d).value * np.multiply(x, d).value[0]
        + (x * np.add(d, 1.0).value).sum()
    )


@pytest.mark.parametrize("f", [converted, numbers, ducks], ids=lambda f: f.__name__)
def test_protocols_are_followed(f):
    check_program(f, X, second=True)


class Opaque:
    def __init__(self, value):
        self.value = value


def opaque_operand(x):
    return x + Opaque(x)


def opaque_entry(x):
    a = np.zeros(2)
    a[0] = Opaque(x)
    return a[0]


def test_an_object_without_a_protocol_as_entry():
    assert_refused(opaque_entry, X, "must be numbers and arrays")


def test_an_object_without_a_protocol_as_operand():
    """What the program says itself."""
    for run in (opaque_operand, grad(opaque_operand)):
        with pytest.raises(TypeError, match="unsupported operand"):
            run(X)


# numbers in structures of C, and classes of numbers


def c_number(x):
    c = ctypes.c_double(0.0)
    c.value = x
    return c.value


class Structure(ctypes.Structure):
    _fields_ = [("v", ctypes.c_double)]


def c_field(x):
    s = Structure()
    s.v = x
    return s.v


@pytest.mark.parametrize("f", [c_number, c_field])
def test_attributes_that_copy(f):
    assert_refused(f, 1.5, "keeps a copy")


class Amount(float):
    def __new__(cls, value):
        return super().__new__(cls, value * 2)


class Cost(float):
    def __mul__(self, other):
        return 10.0


def amount(x):
    return Amount(x) * 1.0


def cost(x):
    return Cost(x) * 2.0


def test_classes_of_numbers():
    with pytest.raises(UnsupportedProgram, match="is made a Amount"):
        grad(amount)(1.5)
    assert_refused(cost, 1.5, "must have a rule")


def test_constants_of_such_kinds_are_as_they_are():
    def f(x):
        box = ctypes.c_double(2.0)
        box.value = 3.0
        table = np.array([(1.0, 2)], PAIR)
        table[0] = (4.0, 5)
        return x * box.value * table["p"][0] * Amount(1.0) * (x * Cost(1.0))

    assert grad(f)(1.0) == 48.0


def dtype_by_attribute(x):
    y = x * 1.0
    y.dtype = np.int64
    return y[0] * x[0]


def test_the_dtype_of_an_active_array_stays():
    assert_refused(dtype_by_attribute, X, "must keep its form")


def test_the_form_of_a_constant_may_change():
    def f(x):
        table = np.arange(4.0)
        table.shape = (2, 2)
        return x * table[1, 1]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # from NumPy 2.5 on
        assert grad(f)(1.0) == 3.0
