"""Short and degenerate samples: values are SciPy's or NaN, derivatives then NaN too."""

import warnings

import numpy as np
import pytest
import scipy.stats

from rules_autodiff import grad, jacfwd, jvp
from rules_scipy import stats

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
X = np.array([0.4, 1.0, 2.2, 3.7, 1.3, 5.0, 0.2, 0.9, 1.1])
Y = np.array([0.3, 1.9, 0.2, 0.7, 2.0, 0.5, 2.0, 7.0, 8.0])
ONE = (
    "gmean hmean gstd variation sem moment skew kurtosis tmean tvar tstd tsem iqr "
    "median_abs_deviation lmoment differential_entropy circmean circvar circstd "
    "entropy kstat kstatvar zscore"
).split()
TWO = (
    "pearsonr pointbiserialr linregress ttest_rel ttest_ind f_oneway entropy "
    "wasserstein_distance energy_distance"
).split()
WINDOWS = [
    ("differential_entropy", (), {"method": m, "window_length": w})
    for m in ("vasicek", "van es", "ebrahimi", "correa")
    for w in (1, 2, 4)
]
OTHERS = [
    *[("kstat", (n,), {}) for n in (1, 2, 3, 4)], *WINDOWS,
    ("kstatvar", (1,), {}), ("trim_mean", (0.1,), {}), ("trim_mean", (0.5,), {}),
    ("scoreatpercentile", (50,), {}), ("scoreatpercentile", ([20, 50],), {}),
    ("moment", ([2, 3],), {}), ("ttest_1samp", (0.5,), {}),
    ("ttest_ind", (Y,), {}), ("ttest_ind", (Y,), {"equal_var": False}),
    ("f_oneway", (Y, X), {}), ("f_oneway", (Y[:1],), {}),
    ("wasserstein_distance", (Y,), {}),
]  # fmt: skip
CALLS = [
    *[(name, (), {}) for name in ONE],
    *[(name, None, {}) for name in TWO],
    *OTHERS,
]
# What SciPy's sums give there is their rounding, over zero.
ROUNDING = {"kstat", "kstatvar", "lmoment"}


def outcome(f, *args, **options):
    """The numbers, or that there is an error of a value."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y = f(*args, **options)
    except ValueError:
        return None
    parts = y if isinstance(y, tuple) else (y,)
    return np.concatenate([np.ravel(np.asarray(part)) for part in parts])


@pytest.mark.parametrize("size", [0, 1, 2, 3, 5, 9])
def test_values_are_scipys_or_nan(size):
    for name, rest, options in CALLS:
        if not hasattr(scipy.stats, name):  # an older SciPy
            continue
        args = (X[:size], *((Y[:size],) if rest is None else rest))
        expected, found = (
            outcome(getattr(m, name), *args, **options) for m in (scipy.stats, stats)
        )
        if expected is None or found is None:
            assert expected is found, (name, size)
            continue
        if name in ROUNDING:
            found = np.where(np.isinf(expected), expected, found)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-14, err_msg=name)


def total(name, rest, options):
    """A number of all that the function returns."""

    def of_sample(x):
        own = (Y[: x.shape[0]],) if rest is None else rest
        y = getattr(stats, name)(x, *own, **options)
        parts = y if isinstance(y, tuple) else (y,)
        return sum(part.sum() for part in parts)

    return of_sample


@pytest.mark.parametrize("host", ["engine", "jax", "torch"])
@pytest.mark.covering(every=2)
def test_without_a_value_no_derivative_is_finite(host):
    for size in (1, 2):
        for name, rest, options in CALLS if host == "engine" else CALLS[3::5]:
            if not hasattr(stats, name) or name == "zscore":
                continue
            f = total(name, rest, options)
            y = outcome(f, X[:size])
            if y is not None and np.isnan(y).all():
                for slope in slopes(host, f, X[:size]):
                    assert np.isnan(np.asarray(slope)).any(), (name, size)


def slopes(host, f, x):
    if host == "engine":
        return grad(f)(x), jacfwd(f)(x)
    if host == "jax":
        jax = pytest.importorskip("jax")
        return jax.grad(f)(x), jax.jacfwd(f)(x)
    torch = pytest.importorskip("torch")
    x = torch.as_tensor(x)
    return torch.func.grad(f)(x), torch.func.jacfwd(f)(x)


EQUAL = np.full(3, 0.1)  # whose mean is rounded


QUOTIENTS = [
        scipy.stats.skew, scipy.stats.kurtosis, lambda x: scipy.stats.zscore(x)[0],
        lambda x: scipy.stats.pearsonr(x, X[:3])[0],
        lambda x: scipy.stats.pearsonr(X[:3], x)[1],
        lambda x: scipy.stats.linregress(X[:3], x).rvalue,
        lambda x: scipy.stats.lmoment(np.append(x, x))[2],
    ]  # fmt: skip


@pytest.mark.parametrize("f", QUOTIENTS, ids=[str(i) for i in range(len(QUOTIENTS))])
def test_of_equal_numbers_quotients_by_their_spread_are_nan(f):
    assert not np.isfinite(grad(f)(EQUAL)).all()
    value, slope = jvp(f, (EQUAL,), (np.array([1.0, -0.3, 0.2]),))
    assert np.isnan(value)
    assert not np.isfinite(slope)


FLAT = [
    (lambda x: scipy.stats.ttest_1samp(x, 0.5).pvalue, np.ones(3)),
    (lambda x: scipy.stats.ttest_ind(x, [2.0, 2.0]).pvalue, np.ones(3)),
    (lambda x: scipy.stats.f_oneway(x, [2.0, 2.0]).pvalue, np.ones(3)),
    (lambda x: scipy.stats.pearsonr(x, [1.0, 2.0])[1], np.array([0.4, 1.0])),
    (lambda x: scipy.stats.linregress(x, [1.0, 2.0])[3], np.array([0.4, 1.0])),
    (lambda x: scipy.stats.linregress(x, [1.0, 2.0])[4], np.array([0.4, 1.0])),
]


@pytest.mark.parametrize(("f", "x"), FLAT, ids=[str(i) for i in range(len(FLAT))])
def test_of_no_spread_about_them_probabilities_are_flat(f, x):
    move = np.arange(1.0, 1 + len(x))
    value, slope = jvp(f, (x,), (move,))
    assert value == f(x)
    assert slope == grad(f)(x) @ move == 0.0
    assert abs(f(x + 1e-6 * move) - value) < 1e-9  # a minimum, or constant


def test_weights_and_sums_that_scipy_does_not_take_are_errors():
    for f in (
        lambda w: scipy.stats.wasserstein_distance([1.0, 2.0], [3.0], -w),
        lambda w: scipy.stats.energy_distance([1.0, 2.0, 3.0], [3.0], w),
        lambda w: scipy.stats.energy_distance([1.0, 2.0], [3.0], 0 * w),
        lambda w: scipy.stats.chisquare(w, 2 * w).statistic,
        lambda w: scipy.stats.power_divergence(w, 2 * w).statistic,
    ):
        for derivative in (grad(f), lambda w, f=f: jvp(f, (w,), (w,))):
            with pytest.raises(ValueError, match=r"eight|sum"):
                derivative(np.array([1.0, 2.0]))


def sides(f, x, i, h=1e-6):
    """The mean of the derivatives from both sides."""
    step = h * (np.arange(len(x)) == i)
    return (f(x + step) - f(x - step)) / (2 * h)


@pytest.mark.parametrize("name", ["wasserstein_distance", "energy_distance"])
@pytest.mark.parametrize("first", [True, False])
def test_ties_between_samples_have_the_mean_of_both_sides(name, first):
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    at, other = np.array([1.0, 3.0, 4.0]), np.array([1.0, 2.0, 4.0])

    def of(module):
        distance = getattr(module, name)
        if first:
            return lambda u: distance(u, other)
        return lambda u: distance(other, u)

    f, own = of(scipy.stats), of(stats)
    expected = [sides(f, at, i) for i in range(3)]
    found = [grad(f)(at), jacfwd(f)(at), jax.grad(own)(at)]
    for slope in (*found, torch.func.grad(own)(torch.as_tensor(at))):
        np.testing.assert_allclose(np.asarray(slope), expected, rtol=1e-5)
