"""Strong zeros as a property: finite partials give the plain product."""

import math

import numpy as np
from hypothesis import given, strategies as st

from rules_core import NoTangent, ZeroTangent
from rules_core._primitives.strong_zero import conj, strong_product, total

numbers = st.floats(-1e6, 1e6)
partials = st.floats(allow_nan=True, allow_infinity=True)


@given(p=numbers, dx=numbers)
def test_finite_partials_give_the_product(p, dx):
    assert strong_product(p, dx) == p * dx
    assert strong_product(np.asarray(p), np.asarray(dx)) == p * dx


@given(p=partials)
def test_zero_wins_over_everything(p):
    assert strong_product(p, 0.0) == 0
    assert strong_product(np.asarray(p), np.zeros(2)).tolist() == [0, 0]
    assert strong_product(p, np.zeros(2)).tolist() == [0, 0]
    assert strong_product(np.asarray([p]), 0.0).tolist() == [0]


@given(dx=numbers.filter(bool))
def test_infinite_partials_stay(dx):
    assert strong_product(math.inf, dx) == math.copysign(math.inf, dx)
    assert math.isnan(strong_product(np.asarray(math.nan), np.asarray(dx)))


def test_complex():
    assert strong_product(complex(math.inf, 0), 0j) == 0
    assert strong_product(1j * np.ones(1), np.ones(1)).dtype == np.complex128
    assert strong_product(complex(math.inf, 0), np.zeros(1)).tolist() == [0]
    assert conj(1j) == -1j
    assert conj(np.asarray([1j]))[0] == -1j
    assert conj(2.0) == 2.0


def test_tangents_without_numbers():
    assert strong_product(ZeroTangent(), 1.0) == ZeroTangent()
    assert strong_product(math.inf, NoTangent()) == NoTangent()
    assert total([1.0, ZeroTangent(), 2.0]) == 3.0
