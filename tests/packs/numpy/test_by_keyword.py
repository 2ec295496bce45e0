"""Keyword-only arguments that move, which rules have no cotangent for.

Both modes of the reference engine, against finite differences.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rules_autodiff as ad
from rules_autodiff._replacements.active_keywords import widths_of

V = np.linspace(1.0, 2.0, 6)
W = np.arange(6.0) + 0.5
TABLE = np.cos(np.arange(63.0)).reshape(7, 9)
WIDTHS = ((1, 3), (2, 3))
HOLE = np.where(np.arange(6) == 2, np.nan, 0.0)
MASK = np.arange(18).reshape(3, 6) % 4 > 0


def table(x):
    return np.stack([x, x[::-1] ** 2, np.sin(3.0 * x) + 1.5])


def small(x):
    return table(x)[:, :4] * 1.0


def square_into(border, widths, axis, options):
    border[: widths[0]] = border[widths[0]] ** 2 * options["scale"]
    border[-widths[1] :] = np.sum(border)


pad: Any = np.pad  # whose stubs know neither of these calls


def different_ends(x):
    return (x[0], x[1]), (2.0, x[2])


def about(x):
    return x[:3].reshape(3, 1)


PROGRAMS = {
    "var": lambda x: np.var(np.sin(7.0 * x), mean=x[:1]),
    "var of columns": lambda x: np.sum(np.var(table(x), axis=1, mean=about(x)) * W[:3]),
    "var of some": lambda x: np.sum(
        np.var(table(x), axis=1, mean=about(x), where=MASK, ddof=1) * W[:3]
    ),
    "var, complex": lambda x: np.sum(
        np.var(table(x) * (1 + 2j), axis=1, mean=about(x), keepdims=True)
    ),
    "var about the mean": lambda x: np.var(x**2, mean=np.mean(x**2, keepdims=True)),
    "var of an array": lambda x: (x**2).var(mean=x[:1], ddof=1),
    "std": lambda x: np.std(np.sin(7.0 * x), mean=x[:1], ddof=1),
    "std of an array": lambda x: (x**2).std(mean=x[:1]),
    "nanvar": lambda x: np.nanvar(x**2 + HOLE, mean=x[:1]),
    "nanstd": lambda x: np.nanstd(x**2 + HOLE, mean=x[:1], ddof=1),
    "constants": lambda x: np.sum(W[:5] * np.pad(x[:3], 1, constant_values=x[3])),
    "constants of each side": lambda x: np.sum(
        TABLE * np.pad(small(x), WIDTHS, constant_values=((x[0], x[1]), (2.0, x[2])))
    ),
    "ends": lambda x: np.sum(
        TABLE[0] * np.pad(x[:4], ((2, 3),), "linear_ramp", end_values=x[4:])
    ),
    "ends of each side": lambda x: np.sum(
        TABLE * pad(small(x), WIDTHS, "linear_ramp", end_values=different_ends(x))
    ),
    "a function": lambda x: np.sum(
        TABLE * pad(small(x), WIDTHS, square_into, scale=x[5])
    ),
}


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    f, h = PROGRAMS[name], 1e-6
    exact = [(f(V + h * e) - f(V - h * e)) / (2 * h) for e in np.eye(6)]
    np.testing.assert_allclose(ad.grad(f)(V), exact, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ad.jacfwd(f)(V), exact, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["var of columns", "constants", "ends of each side"])
def test_second_order(name):
    f, h = PROGRAMS[name], 1e-5
    gradient = ad.grad(f)
    exact = [(gradient(V + h * e) - gradient(V - h * e)) / (2 * h) for e in np.eye(6)]
    np.testing.assert_allclose(ad.hessian(f)(V), exact, rtol=1e-5, atol=1e-6)


def test_widths_by_axis():
    """As newer releases of NumPy take them."""
    assert widths_of({1: (2, 3), -3: 4}, 3) == [[4, 4], [2, 3], [0, 0]]
    assert widths_of(1, 2) == widths_of(((1, 1),), 2) == [[1, 1], [1, 1]]


@pytest.mark.parametrize("f", [np.std, np.nanstd])
def test_deviations_that_are_all_zero_are_a_symmetric_kink(f):
    found = ad.grad(lambda m: f(np.ones(3), mean=m))(np.ones(1))
    np.testing.assert_array_equal(found, [0.0])


def test_what_is_not_written_out_is_refused():
    with pytest.raises(ad.UnsupportedProgram, match="'mean' of numpy.var"):
        ad.grad(lambda x: np.var(x, dtype=np.float64, mean=x[:1]))(V)
    with pytest.raises(ad.UnsupportedProgram, match="'weights' of numpy.quantile"):
        ad.grad(lambda x: np.quantile(W, 0.3, method="inverted_cdf", weights=x))(V)
