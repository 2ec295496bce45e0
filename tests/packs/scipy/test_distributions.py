"""Distributions: values are SciPy's, derivatives are those of differences."""

from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from rules_autodiff import grad, vjp
from rules_scipy import stats

from . import distribution_cases as cases

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of SciPy
ROOT = Path(__file__).parents[3]
PINS = (ROOT / "constraints.txt").read_text(encoding="utf-8")
NEAR = {"rtol": 3e-6, "atol": 2e-9}

distributions = pytest.mark.parametrize(("name", "shapes"), cases.ALL, ids=str)
counting = pytest.mark.parametrize(("name", "shapes"), cases.COUNTS, ids=str)


def test_every_distribution_is_here():
    from rules_scipy.stats._continuous import DISTRIBUTIONS

    assert set(DISTRIBUTIONS) == {*cases.CONTINUOUS, *cases.DISCRETE}
    assert all(getattr(stats, n) is made for n, made in DISTRIBUTIONS.items())


@pytest.mark.skipif(
    f"\nscipy=={scipy.__version__}\n" not in PINS, reason="other distributions"
)
def test_the_page_is_up_to_date():
    from rules_scipy.stats.distributions import page

    path = ROOT / "docs" / "reference" / "scipy-distributions.md"
    assert path.read_text(encoding="utf-8") == page()


@distributions
@pytest.mark.covering(every=10)
def test_values_are_scipys(name, shapes):
    own = getattr(stats, name)
    close = 1e-7 if name in cases.INEXACT else 1e-10
    for method in (*cases.AT_POINTS, *cases.QUANTILES):
        if (name, method) in {("norminvgauss", q) for q in cases.QUANTILES}:
            continue  # SciPy's own raises
        args = cases.arguments(name, shapes, method)
        y, found = cases.of_scipy(name, method)(*args), getattr(own, method)(*args)
        np.testing.assert_allclose(found, y, rtol=close, atol=1e-13, err_msg=method)


@distributions
@pytest.mark.covering(every=16, start=2)
def test_numbers_are_scipys(name, shapes):
    own, theirs = getattr(stats, name), getattr(scipy.stats, name)
    for method in cases.NUMBERS:
        if ("var" if method == "std" else method) in own.standard.formulas:
            y = getattr(theirs, method)(*shapes, loc=0.3, scale=1.7)
            found = getattr(own, method)(*shapes, loc=0.3, scale=1.7)
            np.testing.assert_allclose(found, y, rtol=1e-9, err_msg=method)


@distributions
@pytest.mark.parametrize("method", [*cases.AT_POINTS, *cases.QUANTILES])
@pytest.mark.covering(every=70)
def test_derivatives_are_those_of_differences(name, shapes, method):
    if name == "norminvgauss" and method in cases.QUANTILES:
        return  # SciPy's own raises
    args = cases.arguments(name, shapes, method)
    y, pullback = vjp(getattr(getattr(stats, name), method), *args)
    cotangents = pullback(np.ones_like(y))
    assert len(cotangents) == len(args)
    near = {"rtol": 1e-4, "atol": 1e-6} if name in cases.INEXACT else NEAR
    widths = cases.widths(args, method, cases.of_scipy(name, "pdf"))
    for i, found in enumerate(cotangents):
        f = cases.of_scipy(name, method)
        expected = cases.difference(f, args, i, widths[i])
        np.testing.assert_allclose(found, expected, **near, err_msg=f"{method} {i}")


@distributions
@pytest.mark.covering(every=17)
def test_numbers_have_derivatives(name, shapes):
    own, theirs = getattr(stats, name), getattr(scipy.stats, name)
    given = (*shapes, 0.3, 1.7)
    for method in cases.NUMBERS:
        if ("var" if method == "std" else method) not in own.standard.formulas:
            continue
        value = getattr(theirs, method)(*given)
        if not np.isfinite(value):
            continue
        # SciPy's own numbers of this one are integrals of a second each.
        for i in range(1 if name == "recipinvgauss" else len(given)):
            expected = cases.difference(getattr(theirs, method), given, i, 1e-3)
            found = grad(getattr(own, method), i)(*given)
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


# discrete ones


def tables(name):
    found = getattr(stats, name).standard.formulas
    tails = {"cdf", "sf", "logcdf", "logsf"}
    return ("logpmf", "pmf", *sorted(tails if tails & set(found) else ()))


K = np.array([-40.0, -3, -1, 0, 1, 2, 3, 4, 5, 6, 8, 18, 2.5])
# Of SciPy: 1 - cdf, which loses digits, and a point between whole numbers.
LOSES = {("zipf", "logsf"), ("boltzmann", "logsf"), ("dlaplace", "logsf")}


@counting
@pytest.mark.covering(every=5)
def test_masses_are_scipys(name, shapes):
    own, theirs = getattr(stats, name), getattr(scipy.stats, name)
    points = K[:-1] if name == "yulesimon" else K
    for method in tables(name):
        close = 1e-5 if (name, method) in LOSES else 1e-10
        y = getattr(theirs, method)(points, *shapes, loc=1)
        found = getattr(own, method)(points, *shapes, loc=1)
        np.testing.assert_allclose(found, y, rtol=close, atol=1e-14, err_msg=method)
    for method in cases.NUMBERS:
        if method in own.standard.formulas:
            y = getattr(theirs, method)(*shapes, loc=1)
            np.testing.assert_allclose(getattr(own, method)(*shapes, loc=1), y)


def along(f, shapes, i):
    """A method as a function of one shape."""
    return lambda t: f(K[:10], *shapes[:i], t, *shapes[i + 1 :])


@counting
@pytest.mark.covering(every=5, start=1)
def test_masses_have_derivatives(name, shapes):
    own, theirs = getattr(stats, name), getattr(scipy.stats, name)
    for method in tables(name):
        for i, x in enumerate(shapes):
            if isinstance(x, int):
                continue
            at = np.full(10, x)
            y, pullback = vjp(along(getattr(own, method), shapes, i), at)
            (found,) = pullback(np.ones_like(y))
            f = along(getattr(theirs, method), shapes, i)
            expected = cases.difference(f, [at], 0, 1e-3)
            expected = np.where(np.isfinite(expected), expected, 0.0)
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-8)
