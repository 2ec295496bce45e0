"""Programs that read an array again which SciPy or NumPy may have overwritten."""

import inspect
import warnings

import numpy as np
import pytest
import scipy.fft
import scipy.fftpack
import scipy.linalg as sl
import scipy.signal

import rules_core as rc
from rules_autodiff import grad, jvp, value_and_grad

A = np.array([[3.0, 1.0, 0.5], [1.0, 2.0, 0.2], [0.5, 0.2, 4.0]])
B = np.array([1.0, 2.0, -0.5])
BANDS = np.array([[0.0, 0.1, 0.2], [4.0, 5.0, 6.0]])
FACTOR, LU = sl.cho_factor(A), sl.lu_factor(A)
GIVEN = {
    "solve": (A, B),
    "solve_triangular": (A, B),
    "cho_solve": (FACTOR, B),
    "lu_solve": (LU, B),
    "solve_banded": ((0, 1), BANDS, B),
    "solveh_banded": (BANDS, B),
    "cholesky_banded": (BANDS,),
    "eig_banded": (BANDS,),
    "eigvals_banded": (BANDS,),
    "lstsq": (A, B),
    "detrend": (B,),
    "median": (B,),
    "nanmedian": (B,),
    "percentile": (B, 30.0),
    "quantile": (B, 0.3),
    "nanpercentile": (B, 30.0),
    "nanquantile": (B, 0.3),
    "cho_solve_banded": ((sl.cholesky_banded(BANDS), False), B),
    "qr_multiply": (A, B),
    "qz": (A, A.T),
    "ordqz": (A, A.T),
}
MODULES = {"linalg": sl, "fft": scipy.fft, "fftpack": scipy.fftpack}
FUNCTIONS = {
    f"{module}.{name}": f
    for module, owner in MODULES.items()
    for name, f in sorted(vars(owner).items())
    if callable(f) and not name.startswith("_") and not isinstance(f, type)
} | {
    "signal.detrend": scipy.signal.detrend,
    **{
        f"numpy.{name}": getattr(np, name)
        for name in ("median", "nanmedian", "percentile", "quantile", "nanpercentile")
    },
}


def options_of(f):
    try:
        parameters = inspect.signature(f).parameters
    except ValueError:
        return []
    return [n for n in parameters if n.startswith("overwrite")]


CASES = [
    (label, flag, order)
    for label, f in FUNCTIONS.items()
    for flag in options_of(f)
    for order in "CF"
]
NO_RULE = (rc.RulesCoreError, NotImplementedError)


def overwritten(f, flag, given):
    """The place of the argument that the option is about."""
    names, owner = list(inspect.signature(f).parameters), flag.split("_", 1)[1]
    place = names.index(owner) if owner in names else 0
    arrays = [i for i, x in enumerate(given) if isinstance(x, np.ndarray)]
    return place if place in arrays else arrays[0]


def program(label, flag, order, *, reads):
    f = FUNCTIONS[label]
    given = GIVEN.get(label.split(".")[1], (A,))
    place = overwritten(f, flag, given)

    def run(t):
        x = np.array(given[place] * 1.0, order=order) * t
        own = [x if i == place else g for i, g in enumerate(given)]
        y = f(*own, **{flag: True})
        y = y[0] if isinstance(y, tuple) else y
        total = (abs(np.asarray(y)) ** 2).sum()
        return total + (x * x).sum() if reads else total

    return run


def slope(f, t):
    h = 1e-5
    return (f(t + h) - f(t - h)) / (2 * h)


@pytest.mark.parametrize(("label", "flag", "order"), CASES)
@pytest.mark.covering(every=2)
def test_what_is_read_is_the_programs_or_an_error(label, flag, order):
    f = program(label, flag, order, reads=True)
    alone = program(label, flag, order, reads=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            plain = f(1.1)
            expected = slope(f, 1.1)
        except (ValueError, TypeError):
            return  # not with these arguments
        try:
            found = grad(alone)(1.1)
        except NO_RULE:
            return  # without a derivative in any case
        assert np.isclose(found, slope(alone, 1.1), rtol=1e-5, atol=1e-6)
        try:
            y, found = value_and_grad(f)(1.1)
        except rc.UnsupportedError as error:
            assert flag in str(error)  # noqa: PT017
            y, found = jvp(f, (1.1,), (1.0,))
            assert np.isnan(y)
            assert np.isnan(found)
            return
        assert np.isclose(y, plain)
        assert np.isclose(found, expected, rtol=1e-5, atol=1e-6)
        assert np.isclose(jvp(f, (1.1,), (1.0,))[1], expected, rtol=1e-5, atol=1e-6)


def test_the_error_names_the_function_and_the_option():
    def f(t):
        a = np.asfortranarray(A * t)
        return sl.eigvalsh(a, overwrite_a=True).sum() + a.sum()

    with pytest.raises(rc.UnsupportedError, match=r"eigvalsh was called with overwr"):
        grad(f)(1.1)


def test_a_constant_that_the_result_overwrites():
    def f(t):
        b = B.copy()
        x = sl.solve(A * t, b, overwrite_b=True)
        return x.sum() + b.sum()

    assert np.isclose(f(2.0), 2 * sl.solve(2 * A, B).sum())
    assert np.isclose(grad(f)(2.0), slope(f, 2.0))
    assert np.isclose(jvp(f, (2.0,), (1.0,))[1], slope(f, 2.0))


def test_a_result_in_the_memory_of_an_argument_is_written_with_it():
    def f(t):
        a = np.asfortranarray(A * t)
        inverse = sl.inv(a, overwrite_a=True)
        a[...] = t * t
        return inverse.sum() + a.sum()

    assert np.isclose(grad(f)(1.1), slope(f, 1.1), rtol=1e-5)
    assert np.isclose(jvp(f, (1.1,), (1.0,))[1], slope(f, 1.1), rtol=1e-5)


def test_second_derivatives_of_what_does_not_read_it():
    def f(t):
        return sl.det(np.asfortranarray(A * t), overwrite_a=True)

    assert np.isclose(grad(grad(f))(1.1), 6 * 1.1 * np.linalg.det(A))


SORTED = [
    lambda a: np.median(a, overwrite_input=True),
    lambda a: np.percentile(a, 30, overwrite_input=True),
    lambda a: np.nanquantile(a, [0.2, 0.7], overwrite_input=True).sum(),
    lambda a: np.median(a.reshape(4, 3), axis=0, overwrite_input=True).sum(),
]


@pytest.mark.parametrize("f", SORTED, ids=range(len(SORTED)))
def test_numbers_that_a_median_leaves_in_another_order(f):
    x = np.random.default_rng(3).permutation(12) * 1.1 - 4.0

    def read(x):
        a = x * 1.0
        return f(a) * np.sum(a * np.arange(12.0))

    value, found = value_and_grad(read)(x)
    assert value == read(x)
    for i, unit in enumerate(np.eye(12)):
        expected = slope(lambda t, unit=unit: read(x + t * unit), 0.0)
        assert np.isclose(found[i], expected, rtol=1e-7)
        assert np.isclose(jvp(read, (x,), (unit,))[1], expected, rtol=1e-7)


def test_equal_numbers_in_another_order_are_not_told_apart():
    def f(x):
        a = x * 1.0
        np.median(a, overwrite_input=True)
        return a @ np.arange(5.0)

    with pytest.raises(rc.UnsupportedError, match="median was called with overwrite"):
        grad(f)(np.array([3.0, 1.0, 3.0, -1.0, 0.0]))
