"""Options of NumPy's ufuncs: supported, or refused in words."""

import numpy as np
import pytest
import scipy.special

import rules_core as rc
from rules_autodiff import grad, jacfwd, jvp
from rules_scipy import special

X = np.array([0.3, 0.7])
SUPPORTED = {"order": "F", "subok": True, "casting": "same_kind", "dtype": float}


@pytest.mark.parametrize("option", SUPPORTED)
@pytest.mark.parametrize("f", [scipy.special.j0, special.j0], ids=["scipy", "ours"])
def test_options_without_part_in_the_derivative(f, option):
    options = {option: SUPPORTED[option]}
    slope = grad(lambda x: np.sum(f(x, **options)))(X)
    np.testing.assert_allclose(slope, -scipy.special.j1(X))


def test_single_precision():
    slope = grad(lambda x: np.sum(special.j0(x, dtype=np.float32)))(X)
    np.testing.assert_allclose(slope, -scipy.special.j1(X), rtol=1e-6)


def test_a_choice_of_entries_is_refused():
    with pytest.raises(rc.UnsupportedError, match="j0 must be taken without where="):
        grad(lambda x: np.sum(special.j0(x, where=X > 0.5, out=None)))(X)


def test_a_result_by_argument():
    slope = grad(lambda x: np.sum(special.j0(x, out=X.copy())))(X)
    np.testing.assert_allclose(slope, -scipy.special.j1(X))


def written(x, q, by_name):
    """zeta(x + 2, q), in an array that is given."""
    y = np.zeros(2)
    if by_name:
        scipy.special.zeta(x + 2, q, out=y)
    else:
        scipy.special.zeta(x + 2, q, y)
    return np.sum(y)


@pytest.mark.parametrize("transform", [grad, jacfwd])
def test_zeta_of_two_arguments_writes_to_an_array_by_name(transform):
    slope = transform(lambda x: written(x, 2.0, by_name=True))(X)
    expected = transform(lambda x: np.sum(scipy.special.zeta(x + 2, 2.0)))(X)
    np.testing.assert_allclose(slope, expected)
    with pytest.raises(rc.UnsupportedError, match="Pass it by name, as out="):
        transform(lambda x: written(x, 2.0, by_name=False))(X)


@pytest.mark.parametrize("n", [0, 0.5, -1, X], ids=str)
def test_diric_of_no_whole_number_is_not_implemented(n):
    """The value is NaN there; it stays one, and only its derivative is refused."""
    assert grad(lambda x: np.nansum(scipy.special.diric(X, n)) + np.sum(x))(X).all()
    with pytest.raises(rc.DerivativeNotImplemented, match="positive int"):
        grad(lambda x: np.sum(scipy.special.diric(x, n)))(X)


@pytest.mark.parametrize("d", [0, -1])
def test_an_empty_product_of_gammas_is_constant(d):
    """One number, for arrays too."""
    f = scipy.special.multigammaln
    slope = grad(lambda x: f(x + 1, d) + 0.0 * np.sum(x))(X)
    np.testing.assert_array_equal(slope, np.zeros(2))
    assert jvp(lambda x: f(x + 1, d), (X,), (X,)) == (f(X + 1, d), 0.0)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int16, np.int64])
@pytest.mark.parametrize("f", [scipy.special.xlog1py, scipy.special.xlogy])
def test_partials_of_short_integers_are_in_full_precision(f, dtype):
    """NumPy's logarithm of booleans has three digits."""
    y = np.array([1, 1], dtype)
    slope = grad(lambda x: np.sum(f(x, y)))(X)
    np.testing.assert_allclose(slope, f(1.0, 1.0), rtol=1e-15)


@pytest.mark.parametrize("f", ["xlog1py", "xlogy", "boxcox1p"])
def test_so_are_those_of_pythons_booleans(f):
    """As `x > 0.5` is, of a float."""
    f = getattr(scipy.special, f)
    wanted = grad(lambda x: f(x, 1.0))(0.75)
    np.testing.assert_allclose(grad(lambda x: f(x, x > 0.5))(0.75), wanted, rtol=1e-15)
    wanted = grad(lambda x: f(1.0, x))(0.75)
    np.testing.assert_allclose(grad(lambda x: f(x > 0.5, x))(0.75), wanted, rtol=1e-15)
