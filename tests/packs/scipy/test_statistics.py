"""Statistics of samples: values are SciPy's, derivatives those of differences."""

import numpy as np
import pytest
import scipy.stats

import rules_core as rc
from rules_autodiff import grad, jvp
from rules_scipy import stats

from .frameworks import HOSTS

RNG = np.random.default_rng(5)
X, Y = RNG.uniform(0.5, 3.0, 12), RNG.uniform(0.5, 3.0, 12)
TABLE, W = RNG.uniform(0.5, 3.0, (3, 8)), RNG.uniform(0.2, 1.0, 12)
SHORT = RNG.uniform(0.5, 3.0, 7)
# The name, the samples, and options.
CASES = [
    ("gmean", (X,), {}), ("gmean", (X,), {"weights": W}),
    ("gmean", (TABLE,), {"axis": 1}),
    ("hmean", (X,), {}), ("hmean", (TABLE,), {"axis": None}),
    ("pmean", (X, 2.5), {}), ("pmean", (X, 0), {}),
    ("pmean", (X, -1.5), {"weights": W}),
    ("trim_mean", (X, 0.2), {}), ("trim_mean", (TABLE, 0.2), {"axis": 1}),
    ("zscore", (X,), {}), ("zscore", (TABLE,), {"axis": 1, "ddof": 1}),
    ("zscore", (TABLE,), {"axis": None}), ("gzscore", (X,), {}), ("zmap", (X, Y), {}),
    ("gstd", (X,), {}), ("variation", (X,), {"ddof": 1}), ("sem", (TABLE,), {}),
    ("moment", (X, 3), {}), ("moment", (X, 2), {"center": 1.5}), ("skew", (X,), {}),
    ("skew", (TABLE,), {"bias": False, "axis": 1, "keepdims": True}),
    ("kurtosis", (X,), {}), ("kurtosis", (X,), {"bias": False, "fisher": False}),
    ("kstat", (X,), {"n": 3}), ("kstat", (X,), {"n": 4}), ("kstatvar", (X,), {}),
    ("kstatvar", (X,), {"n": 1}), ("tmean", (X,), {"limits": (0.9, 2.5)}),
    ("tvar", (X,), {}), ("tstd", (X,), {"limits": (None, 2.5)}),
    ("tsem", (TABLE,), {"limits": (0.6, None), "axis": 1}),
    ("iqr", (X,), {}), ("iqr", (TABLE,), {"axis": 1, "scale": "normal"}),
    ("median_abs_deviation", (X,), {}), ("scoreatpercentile", (X, 30), {}),
    ("lmoment", (X,), {}), ("lmoment", (X,), {"order": 3, "standardize": False}),
    ("differential_entropy", (X,), {}), ("differential_entropy", (SHORT,), {"base": 2}),
    ("differential_entropy", (X,), {"method": "vasicek", "window_length": 2}),
    ("circmean", (X,), {}), ("circvar", (TABLE,), {"axis": 1, "high": 5.0}),
    ("circstd", (X,), {}), ("circstd", (X,), {"high": 4, "low": 1, "normalize": True}),
    ("pearsonr", (X, Y), {}), ("pearsonr", (X, Y), {"alternative": "less"}),
    ("pointbiserialr", (X, Y), {}), ("linregress", (X, Y), {}),
    ("ttest_1samp", (X, 1.2), {}), ("ttest_rel", (X, Y), {"alternative": "greater"}),
    ("ttest_ind", (X, SHORT), {}), ("ttest_ind", (X, SHORT), {"equal_var": False}),
    ("ttest_ind_from_stats", (1.0, 0.4, 9, 1.3, 0.7, 12), {"equal_var": False}),
    ("f_oneway", (X, Y, SHORT), {}), ("chisquare", (X,), {}),
    ("chisquare", (X, Y * X.sum() / Y.sum()), {"sum_check": False}),
    ("power_divergence", (X,), {"lambda_": "log-likelihood"}),
    ("power_divergence", (X,), {"lambda_": "cressie-read"}),
    ("power_divergence", (X,), {"lambda_": -1}),
    ("wasserstein_distance", (X, SHORT), {}),
    ("wasserstein_distance", (X, Y), {"u_weights": W}),
    ("energy_distance", (X, SHORT), {}), ("energy_distance", (X, Y, W, W**2), {}),
    ("entropy", (X,), {}), ("entropy", (X, Y), {"base": 2}),
    ("entropy", (TABLE,), {"axis": 1}), ("boxcox", (X, 0.4), {}),
    ("boxcox", (X, 0.0), {}), ("yeojohnson", (X - 1.5, 0.4), {}),
    ("boxcox_llf", (0.4, X), {}), ("yeojohnson_llf", (1.3, X - 1.5), {}),
]  # fmt: skip
# An option that SciPy has lately.
CASES = [c for c in CASES if hasattr(scipy.stats, c[0])]
IDS = [f"{i}-{name}" for i, (name, _, _) in enumerate(CASES)]
cases = pytest.mark.parametrize(("name", "args", "options"), CASES, ids=IDS)


def parts(y):
    return list(y) if isinstance(y, tuple) else [y]


def floating(args):
    """Places of the arguments that are differentiated."""
    return [i for i, x in enumerate(args) if not isinstance(x, int)]


def weighted(f, options):
    """One number of all results."""

    def total(*args):
        found = 0.0
        for k, part in enumerate(parts(f(*args, **options)), 1):
            shape = tuple(getattr(part, "shape", ()))
            weights = np.cos(np.arange(1.0, 1 + int(np.prod(shape)))).reshape(shape)
            product = (
                part * weights
                if isinstance(part, np.ndarray | float)
                else (part * type_of(part)(weights))
            )
            found = found + k * product.sum()
        return found

    return total


def type_of(x):
    """How to make an array like `x`."""
    if type(x).__module__.startswith("torch"):
        import torch

        return torch.as_tensor
    return np.asarray


def slope(f, args, moves, h=2e-4):
    """The derivative along a line, by differences of order four."""

    def at(t):
        return f(
            *[x if d is None else x + t * d for x, d in zip(args, moves, strict=True)]
        )

    return (8 * (at(h) - at(-h)) - at(2 * h) + at(-2 * h)) / (12 * h)


def moves_of(args):
    rng = np.random.default_rng(3)
    return [None if isinstance(x, int) else rng.normal(size=np.shape(x)) for x in args]


@cases
@pytest.mark.covering(every=6)
def test_values_are_scipys(name, args, options):
    y, found = (getattr(m, name)(*args, **options) for m in (scipy.stats, stats))
    for own, part in zip(parts(found), parts(y), strict=True):
        np.testing.assert_allclose(own, part, rtol=1e-10)
        assert np.shape(own) == np.shape(part)


@cases
@pytest.mark.covering(every=6, start=1)
def test_scipys_own_have_derivatives_in_programs(name, args, options):
    f, moves = weighted(getattr(scipy.stats, name), options), moves_of(args)
    expected, places = slope(f, args, moves), floating(args)
    gradient = grad(f, tuple(places))(*args)
    along = sum(np.sum(g * moves[i]) for g, i in zip(gradient, places, strict=True))
    np.testing.assert_allclose(along, expected, rtol=1e-7, atol=1e-9)

    def line(t):
        return f(
            *[x if d is None else x + t * d for x, d in zip(args, moves, strict=True)]
        )

    np.testing.assert_allclose(
        jvp(line, (0.0,), (1.0,))[1], expected, rtol=1e-7, atol=1e-9
    )
    bend = (line(1e-3) - 2 * line(0.0) + line(-1e-3)) / 1e-6
    second = jvp(grad(line), (0.0,), (1.0,))[1]
    np.testing.assert_allclose(second, bend, rtol=1e-4, atol=1e-4)


@cases
@pytest.mark.parametrize("framework", ["jax", "torch"])
@pytest.mark.covering(every=60)
def test_frameworks_agree(name, args, options, framework):
    host = HOSTS[framework]()
    places, moves = floating(args), moves_of(args)
    options = {
        k: host.array(v) if isinstance(v, np.ndarray) else v for k, v in options.items()
    }
    f = weighted(getattr(stats, name), options)

    def of_moving(*xs):
        own = dict(zip(places, xs, strict=True))
        return f(*[own.get(i, x) for i, x in enumerate(args)])

    moving = [host.array(np.asarray(args[i])) for i in places]
    directions = [moves[i] for i in places]
    expected = slope(
        weighted(
            getattr(scipy.stats, name),
            {
                k: np.asarray(v) if hasattr(v, "shape") else v
                for k, v in options.items()
            },
        ),
        args,
        moves,
    )
    for mode in (host.forward, host.reverse):
        found = float(mode(of_moving, directions)(*moving))
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


REFUSED = {
    "nan_policy": lambda x: scipy.stats.zscore(X * x, nan_policy="omit").sum(),
    "interpolation": lambda x: scipy.stats.iqr(X * x, interpolation="lower"),
    "lmbda": lambda x: scipy.stats.boxcox(X * x)[0].sum(),
    "theilslopes": lambda x: scipy.stats.theilslopes(X * x, Y)[0],
    "method": lambda x: scipy.stats.pearsonr(
        X * x, Y, method=scipy.stats.PermutationMethod()
    )[0],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_derivative_is_refused_in_words(name):
    with pytest.raises((rc.RulesCoreError, TypeError), match=name):
        grad(REFUSED[name])(1.3)


def test_ranks_are_constant():
    assert grad(lambda x: scipy.stats.kendalltau(X * x, Y)[0] + x)(1.3) == 1.0


def test_wrong_arguments_are_refused():
    with pytest.raises(TypeError, match="each once"):
        stats.skew(X, sideways=True)
    with pytest.raises(TypeError, match="each once"):
        stats.skew()


@cases
def test_derivatives_of_ordinary_samples_are_numbers_in_pytorch(name, args, options):
    torch = pytest.importorskip("torch")
    options = {
        k: torch.as_tensor(v) if isinstance(v, np.ndarray) else v
        for k, v in options.items()
    }
    moving = [
        torch.as_tensor(x).requires_grad_() if i in floating(args) else x
        for i, x in enumerate(args)
    ]
    weighted(getattr(stats, name), options)(*moving).backward()
    found = [moving[i].grad for i in floating(args)]
    assert found[0] is not None
    assert all(bool(dx.isfinite().all()) for dx in found if dx is not None)
