"""Objects of `scipy.stats` in programs are of SciPy's kinds, and have what it has."""

import numpy as np
import pytest
import scipy.stats as st

import rules_core as rc
from rules_autodiff import grad, value_and_grad

DATA, LINE = np.array([0.3, 1.2, 2.0, 4.5]), np.arange(4.0)
SCALE = np.array([[2.0, 0.3], [0.3, 1.0]])
MAKE = {
    "continuous": lambda t: st.gamma(t, scale=2.0),
    "discrete": lambda t: st.poisson(t),
    "normal": lambda t: st.multivariate_normal([t, 0.0], SCALE * t),
    "student": lambda t: st.multivariate_t([t, 0.0], SCALE * t, df=3.0),
    "dirichlet": lambda t: st.dirichlet([t, 1.0]),
    "multinomial": lambda t: st.multinomial(3, [t / 4, 1 - t / 4]),
    "wishart": lambda t: st.wishart(3, SCALE * t),
    "invwishart": lambda t: st.invwishart(5, SCALE * t),
    "tables": lambda t: st.matrix_normal(SCALE * t, SCALE, SCALE),
    "directions": lambda t: st.vonmises_fisher([1.0, 0.0], t),
    "mixed": lambda t: st.dirichlet_multinomial([t, 1.0], 3),
    "estimate": lambda t: st.gaussian_kde(DATA * t),
}
if hasattr(st, "Binomial"):
    MAKE |= {
        "variable": lambda t: st.Normal(mu=t, sigma=t),
        "interval": lambda t: st.Uniform(a=0.1 * t, b=3.0),
        "trials": lambda t: st.Binomial(n=4, p=t / 3),
    }
NAMES = [
    (kind, name)
    for kind, make in MAKE.items()
    for name in sorted({*dir(make(1.3)), "pdf", "pmf"})
    if not name.startswith("_")
]


def numbers(x):
    """Whether it is a number or an array."""
    return isinstance(x, float | int | np.ndarray | np.generic)


@pytest.mark.parametrize("kind", MAKE)
def test_it_is_an_instance_of_scipys_class(kind):
    make, theirs = MAKE[kind], type(MAKE[kind](1.3))

    def f(t):
        made = make(t)
        return t * isinstance(made, theirs) * len(type(made).__name__)

    expected = len(theirs.__name__)
    if kind == "variable":
        assert grad(lambda t: t * isinstance(make(t), st.Normal))(1.3) == 1.0
    assert grad(f)(1.3) == expected


@pytest.mark.parametrize(("kind", "name"), NAMES)
@pytest.mark.covering(every=3)
def test_each_public_attribute_is_scipys_or_refused(kind, name):
    make = MAKE[kind]
    theirs = getattr(make(1.3), name, None)

    def has(t):
        return t * (2.0 if hasattr(make(t), name) else 5.0)

    def value(t):
        found = getattr(make(t), name)
        return (np.sum(found) if numbers(found) else 0.0) + 0 * t

    try:
        assert grad(has)(1.3) == has(1.3) / 1.3
        if not hasattr(make(1.3), name):
            return
        y, slope = value_and_grad(value)(1.3)
    except rc.UnsupportedError as error:
        assert name in str(error)  # noqa: PT017  either is right
        return
    if numbers(theirs):
        assert np.isclose(y, np.sum(theirs))
    if numbers(theirs) and np.isfinite(y):
        expected = (value(1.3 + 1e-5) - value(1.3 - 1e-5)) / 2e-5
        assert np.isclose(slope, expected, atol=1e-8)


CALLS = {
    "moment": lambda t: st.gamma(t).moment(2),
    "stats": lambda t: sum(st.gamma(t).stats()),
    "a": lambda t: st.gamma(t).a + t,
    "inverse": lambda t: st.gaussian_kde(DATA * t).inv_cov[0, 0],
    "factors": lambda t: t * st.gaussian_kde(DATA * t).scotts_factor(),
}
if hasattr(st, "Binomial"):
    CALLS |= {
        "mirrored": lambda t: (st.Normal(mu=t, sigma=t) * -2 + 1).cdf(0.3),
        "subtracted": lambda t: (1 - st.Uniform(a=t, b=3.0) * t).cdf(-1.6),
        "negative": lambda t: (-st.Uniform(a=t, b=3.0)).mean(),
    }


@pytest.mark.parametrize("name", CALLS)
def test_values_of_what_it_has(name):
    f = CALLS[name]
    y, slope = value_and_grad(f)(1.3)
    assert np.isclose(y, f(1.3))
    assert np.isclose(slope, (f(1.3 + 1e-5) - f(1.3 - 1e-5)) / 2e-5, rtol=1e-6)


REFUSED = {
    "moment": lambda t: st.gamma(t).moment(3),
    "stats": lambda t: st.gamma(t).stats("s"),
    "expect": lambda t: st.gamma(t).expect(lambda x: x),
    "numargs": lambda t: t * st.gamma(t).dist.numargs,
    "mode": lambda t: st.wishart(3, SCALE * t).mode()[0, 0],
    "rvs": lambda t: st.multivariate_normal.rvs(t),
    "resample": lambda t: st.gaussian_kde(DATA * t).resample(3)[0, 0],
    "intercept_stderr": lambda t: st.linregress(LINE, DATA * t).intercept_stderr,
    "confidence_interval": lambda t: st.pearsonr(LINE, DATA * t).confidence_interval()[
        0
    ],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_formula_is_refused_by_its_name(name):
    with pytest.raises(rc.UnsupportedError, match=name):
        grad(REFUSED[name])(1.3)
