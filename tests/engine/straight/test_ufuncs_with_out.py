"""Ufuncs that are given their `out` by position: no rule is called in their place."""

import numpy as np
import pytest
import scipy.special

from rules_autodiff import grad
from rules_core import scalar_rule
from rules_core.testing import isolated_rules
from tests.engine.oracle_lifted import program_of

UFUNCS = [
    name
    for name, f in sorted(vars(np).items())
    if isinstance(f, np.ufunc) and not f.signature and "d" * f.nin + "->d" in f.types
]


def slopes(f, x, y):
    """The gradient by x of the sum of what `f` returns, by central differences."""
    steps = 1e-6 * np.eye(x.size)
    rises = [np.sum(f(x + h, y.copy())) - np.sum(f(x - h, y.copy())) for h in steps]
    return np.array(rises) / 2e-6


@pytest.mark.covering(strength=1)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("out", ["x", "y"])
@pytest.mark.parametrize("name", UFUNCS)
def test_numpys(name, out, at_once):
    given = "x, y" if getattr(np, name).nin == 2 else "x"
    f = program_of(f"np.sum(np.{name}({given}, {out}))", alone=True)
    check(f, np.array([0.3, 0.7]), np.array([0.45, 0.52]))


def test_one_with_a_rule_for_any_number_of_arguments(at_once):
    with isolated_rules():
        scalar_rule(
            scipy.special._ufuncs._igam_fac,
            lambda _z, *args: tuple(0.0 * x for x in args),
        )
        f = program_of("np.sum(scipy.special._ufuncs._igam_fac(x, y, x))", alone=True)
        x, y = np.array([0.3, 0.7]), np.array([0.45, 0.52])
        for _ in range(3):
            assert np.array_equal(grad(f)(x, y), np.zeros(2))
            assert np.array_equal(x, [0.3, 0.7])


def check(f, x, y):
    """The gradient at three calls, which leave their arguments as they are."""
    expected = slopes(f, x, y)
    for _ in range(3):
        a, b = x.copy(), y.copy()
        assert np.allclose(grad(f)(a, b), expected, 1e-5, 1e-6, equal_nan=True)
        assert np.array_equal(a, x)
        assert np.array_equal(b, y)
