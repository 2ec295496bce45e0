"""Texts, bytes and files hold no derivative: written freely, not read back."""

# ruff: noqa: UP031  as users write

import ast
import copy
import decimal
import fractions
import io
import json
import operator
import pickle
import string
import struct
import tempfile
from collections import ChainMap

import numpy as np
import pytest

from rules_autodiff import grad, stop_gradient
from rules_autodiff.testing import check_program
from tests.engine.refusing import assert_refused

X = np.array([0.5, -1.0, 2.0])


def by_str(x):
    return float(str(x * 2))


def by_repr(x):
    return float(repr(x))


def by_f_string(x):
    return float(f"{x:.12f}")


def by_debug_f_string(x):
    return float(f"{x=}".split("=")[1])


def by_nested_f_string(x):
    return float(f"{f'{x!r:>30}'}".strip())


def by_format(x):
    return float(format(x, ".12g"))


def by_format_method(x):
    return float("{:.12g}".format(x))  # noqa: UP032  as it is


def by_special_method(x):
    return float(x.__repr__())


def by_percent(x):
    return float("%.12g" % x)


def by_percent_of_a_tuple(x):
    return float("%s: %.12g".split(":")[1] % (x,))


def by_join(x):
    return float("".join([str(x)]))


def by_bytes(x):
    return float(str(x).encode())


def by_hex(x):
    return float.fromhex(x.hex())


def by_complex(x):
    return complex(str(x)).real


def by_scalar_class(x):
    return np.float64(str(x))


def by_literal(x):
    return ast.literal_eval(repr(x))


def by_decimal(x):
    return float(decimal.Decimal(str(x)))


def by_fraction(x):
    return float(fractions.Fraction(str(x)))


def by_print(x):
    stream = io.StringIO()
    print(x, file=stream)
    return float(stream.getvalue())


def by_exception(x):
    return float(str(ValueError(x)))


def by_json_of_a_text(x):
    return json.loads(f"[{x}, 2.0]")[0]


def by_array_of_texts(x):
    return np.array([str(x)]).astype(float)[0]


def by_fromstring(x):
    return np.fromstring(str(x), sep=" ")[0]


NUMBERS = [
    by_str, by_repr, by_f_string, by_debug_f_string, by_nested_f_string, by_format,
    by_format_method, by_special_method, by_percent, by_percent_of_a_tuple, by_join,
    by_bytes, by_hex, by_complex, by_scalar_class, by_literal, by_decimal, by_fraction,
    by_print, by_exception, by_json_of_a_text, by_array_of_texts, by_fromstring,
]  # fmt: skip


@pytest.mark.parametrize("f", NUMBERS, ids=lambda f: f.__name__)
def test_a_number_is_not_read_back(f):
    assert_refused(f, 1.5, "a text holds no derivative")


def by_tobytes(x):
    return np.frombuffer((x * 2).tobytes()).sum()


def by_text_of_an_array(x):
    return np.fromstring(str(x)[1:-1], sep=" ").sum()


def by_array2string(x):
    return np.fromstring(np.array2string(x)[1:-1], sep=" ").sum()


def by_texts_of_numpy(x):
    return x.astype(str).astype(float).sum()


def by_bytes_of_numpy(x):
    return x.astype("S30").astype(float).sum()


def by_save(x):
    stream = io.BytesIO()
    np.save(stream, x)
    stream.seek(0)
    return np.load(stream).sum()


def by_savez(x):
    stream = io.BytesIO()
    np.savez(stream, x=x)
    stream.seek(0)
    return np.load(stream)["x"].sum()


def by_savetxt(x):
    stream = io.StringIO()
    np.savetxt(stream, x)
    stream.seek(0)
    return np.loadtxt(stream).sum()


def by_tofile(x):
    with tempfile.TemporaryFile() as stream:
        x.tofile(stream)
        stream.seek(0)
        return np.fromfile(stream).sum()


def by_dumps(x):
    return pickle.loads(x.dumps()).sum()


ARRAYS = [
    by_tobytes, by_text_of_an_array, by_array2string, by_texts_of_numpy,
    by_bytes_of_numpy, by_save, by_savez, by_savetxt, by_tofile,
]  # fmt: skip


@pytest.mark.parametrize("f", ARRAYS, ids=lambda f: f.__name__)
def test_an_array_is_not_read_back(f):
    assert_refused(f, X, "a text holds no derivative")


def test_bytes_are_not_unpickled():
    assert_refused(by_dumps, X, "pickle.loads .* must have a rule")


def by_json(x):
    return json.loads(json.dumps([x]))[0]


def by_struct(x):
    return struct.unpack("d", struct.pack("d", x))[0]


def by_pickle(x):
    return pickle.loads(pickle.dumps([x, 1.0]))[0]


def by_template(x):
    return float(string.Template("$x").substitute(x=x))


@pytest.mark.parametrize("f", [by_json, by_struct, by_pickle, by_template])
def test_functions_that_write_bytes_need_a_rule(f):
    assert_refused(f, 1.5, "must have a rule")


def by_digits(x):
    up, down = x.as_integer_ratio()
    return up / down


def test_digits():
    assert_refused(by_digits, 1.5, "as_integer_ratio")


# what is right: texts for people, constants from texts, objects that are copied


class Loud:
    def __init__(self, v):
        self.v = v

    def __format__(self, spec):
        self.v = self.v * 2
        return format(self.v, spec)

    def __repr__(self):
        return f"Loud({self.v})"


def written(x):
    loud = Loud(x)
    label = f"{x:.3f} {[x, x * 2]!r:>20} {x!s:{12}} {loud!r}" + "%g" % x
    print(label, x, file=io.StringIO())
    table = {label: x * x, str(x): x}
    return table[label] * table[str(x)] + len(label) * 0.0


def constants_from_texts(x):
    note = f"x is {x}"
    c = float("2.5") + json.loads("[4.5]")[0] + np.fromstring("7 8", sep=" ")[1]
    return c * x * float("1e3") * (note != "")


def whole_numbers_from_texts(x):
    return int("7") * x + round(x, 3) * 0.0 + int(str(x)[0]) * x


def stopped(x):
    return float(str(stop_gradient(x))) * x


def copied(x):
    parts = copy.deepcopy([x, [x * 2]])
    return copy.copy(parts[1][0]) * parts[0]


RIGHT = [written, constants_from_texts, whole_numbers_from_texts, stopped, copied]


@pytest.mark.parametrize("f", RIGHT[:3] + RIGHT[4:], ids=lambda f: f.__name__)
def test_texts_that_stay_texts(f):
    check_program(f, 1.25, second=True)


def test_stopped_numbers_may_be_read():
    assert grad(stopped)(3.0) == 3.0


def test_formatting_is_followed():
    """A `__format__` in Python is code of the program: it may change an object."""

    def f(x):
        loud = Loud(x)
        _ = f"{loud:.2f}"
        return loud.v * x

    assert grad(f)(3.0) == 12.0


WRITTEN = [
    lambda x: "loss %.4f" % x[0],
    lambda x: "%s" % x,
    lambda x: "%r of %%" % x.sum(),
    lambda x: "%d" % x[0],
    lambda x: operator.mod("%s", x),
    lambda x: b"%.3f" % x[0],
    lambda x: "%s %s" % (x[0], x),
    lambda x: "%(a)s" % {"a": x},
]


@pytest.mark.parametrize("place", range(len(WRITTEN)))
def test_texts_by_percent_are_written_freely(place):
    def f(x):
        text = WRITTEN[place](x)
        return (x * x).sum() if isinstance(text, str | bytes) and text else 0.0

    check_program(f, X)


def test_lengths_and_counts_are_not_read_back():
    def f(x):
        text = f"{x[0]:.1f} {x}"
        size = float(len("abc")) * float(True) * float(np.int64(2)) * float(text != "")
        return x * size

    check_program(f, np.array([3.0, 6.0, 2.0]))


@pytest.mark.parametrize("read", [float, complex, np.float64, ast.literal_eval])
def test_numbers_are(read):
    assert_refused(lambda x: read(str(x)) * x, 3.0, "must not be read back")


def test_chained_mappings():
    def f(x):
        both = ChainMap({"a": x[0]}, {"b": x[1], "a": x[2]})
        first, second = list(both.values())
        keys = {"c"}.union(both.maps[0]) & set().union(*both.maps)
        return first * second + len(both) * both["a"] + len(keys) * dict(both)["b"]

    check_program(f, X)
