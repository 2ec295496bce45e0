"""The bytes of numbers that carry a derivative are not theirs to compute with.

A change of an entry changes its bytes, and what is computed from them as from whole
numbers has no derivative that a rule could tell: it is an error, and never zero.
"""

import numpy as np
import pytest

from rules_autodiff import grad, jvp
from rules_autodiff.testing import check_program
from rules_core import UnsupportedError

PAIR = [("number", "f8"), ("place", "i8")]
PAIRS = [("number", "f8"), ("weight", "f8")]


def records(x, dtype):
    made = np.zeros(x.shape, dtype)
    made["number"] = x
    return made


def root_by_bits(x):
    """The inverse square root of a famous game."""
    y = (0x5FE6EB50C7B537A9 - (x.view(np.int64) >> 1)).view(np.float64)
    return np.sum(y * (1.5 - 0.5 * x * y * y))


def written_elsewhere(x):
    whole = np.zeros(x.shape, np.int64)
    whole.view(np.float64)[...] = x
    return np.sum(np.bitwise_xor(whole, 1).view(np.float64))


def result_elsewhere(x):
    whole = np.zeros(x.shape, np.int64)
    np.sin(x, out=whole.view(np.float64))
    return np.sum(whole >> 50)


BYTES = {
    "inverse square root": root_by_bits,
    "product": lambda x: np.sum(x.view(np.int64) * 1e-18),
    "exponent": lambda x: np.sum((x.view(np.int64) >> 52).astype(float)),
    "comparison": lambda x: np.sum(np.where(x.view(np.int64) > 3, x, 2.0 * x)),
    "turned bit": lambda x: (x.view(np.int64) ^ np.int64(1)).view(np.float64).sum(),
    "one byte": lambda x: np.sum(x.view("u1") >> 3) * 1.0,
    "halves": lambda x: np.sum(x.view(np.float32)),
    "method": lambda x: np.sum(np.ndarray.view(x, "i8") >> 2) * 1.0,
    "column": lambda x: np.sum(x[:, None].view("u1") >> 3) * 1.0,
    "complex": lambda x: np.sum(x.astype(complex).view("i8") >> 50) * 1.0,
    "truth": lambda x: np.sum(x.view(bool)) * 1.0,
    "records": lambda x: np.sum(records(x, PAIR).view("i8") >> 50) * 1.0,
    "field": lambda x: np.sum(records(x, PAIR)["number"].view("i8") >> 50) * 1.0,
    "getfield": lambda x: np.sum(x.getfield(np.int32, 4) >> 20) * 1.0,
    "byteswap": lambda x: np.sum(x.byteswap().view(np.int64) >> 3) * 1.0,
    "written elsewhere": written_elsewhere,
    "result elsewhere": result_elsewhere,
}


WAYS = {
    "written": grad,
    "tape": lambda f: grad(f, tier="tape"),
    "forward": lambda f: lambda x: jvp(f, (x,), (np.ones(2),)),
}


@pytest.mark.parametrize("name", BYTES)
@pytest.mark.parametrize("way", WAYS)
def test_an_error(name, way):
    f, x = BYTES[name], np.array([2.0, 3.0])
    assert np.isfinite(f(x))
    derivative = WAYS[way](f)
    with pytest.raises(UnsupportedError):
        derivative(x)


NUMBERS = {
    "itself": lambda x: np.sum(x.view(np.float64) ** 2),
    "complex": lambda x: np.sum((x.view(complex) * (1 + 2j)).imag),
    "fields": lambda x: records(x, PAIRS).view("f8") @ np.arange(2.0 * x.size),
    "beside whole": lambda x: np.sum((records(x, PAIR)["place"] + 3) * x),
    "whole field": lambda x: np.sum(records(x, PAIR)["place"].view("u8") + x * x),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_other_views_of_numbers(name):
    check_program(NUMBERS[name], np.array([2.0, 3.0]))
