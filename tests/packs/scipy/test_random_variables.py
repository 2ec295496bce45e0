"""Random variables of SciPy's newer interface."""

import numpy as np
import pytest
import scipy.stats

import rules_core as rc
from rules_autodiff import grad
from rules_scipy import stats

if not hasattr(scipy.stats, "Binomial"):
    pytest.skip("SciPy has no such class", allow_module_level=True)

CONSTANT = scipy.stats.Normal(mu=0.3, sigma=2.0)
METHODS = "pdf logpdf cdf ccdf logcdf logccdf icdf iccdf".split()
NUMBERS = "mean variance standard_deviation entropy median".split()


def slope(f, x, h=1e-3):
    return (8 * (f(x + h) - f(x - h)) - f(x + 2 * h) + f(x - 2 * h)) / (12 * h)


def variables(m):
    return [
        (lambda t: m.Normal(mu=t, sigma=1.0 + t), 0.4),
        (lambda t: m.Uniform(a=0.1 * t, b=2.0 + t), 0.4),
        (lambda t: 2.0 + t * m.Logistic() / 3.0 - 1.0, 1.4),
        (lambda t: 0.5 * m.make_distribution(m.gamma)(a=t) + t, 0.3),
    ]


@pytest.mark.parametrize("name", [*METHODS, *NUMBERS])
@pytest.mark.covering(every=5)
def test_values_and_derivatives(name):
    for (own, at), (theirs, _) in zip(
        variables(stats), variables(scipy.stats), strict=True
    ):
        x = () if name in NUMBERS else (0.6,)

        def of(make, x=x):
            return lambda t: getattr(make(t), name)(*x)

        assert np.isclose(of(own)(at), of(theirs)(at), rtol=1e-9)
        expected = slope(of(theirs), at)
        assert np.isclose(grad(of(own))(at), expected, rtol=1e-6, atol=1e-9)


PROGRAMS = {
    "parameters": lambda t: scipy.stats.Normal(mu=t, sigma=2.0).logpdf(0.7),
    "moved": lambda t: (scipy.stats.Uniform(a=0.0, b=t) * 2.0 + t).mean(),
    "interval": lambda t: scipy.stats.Normal(mu=0.0, sigma=t).cdf(-0.3, 0.7),
    "logarithm": lambda t: scipy.stats.Normal(mu=t, sigma=t).ilogcdf(-0.3),
    "discrete": lambda t: scipy.stats.Binomial(n=5, p=t).logpmf(2),
    "constant": lambda t: CONSTANT.logccdf(t) + CONSTANT.icdf(t),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.covering(every=2)
def test_scipys_own_in_programs(name):
    f = PROGRAMS[name]
    assert np.isclose(grad(f)(0.4), slope(f, 0.4), rtol=1e-7)


def test_torch_and_samples():
    torch = pytest.importorskip("torch")
    mu = torch.tensor(0.5, requires_grad=True)
    variable = stats.Normal(mu=mu, sigma=2.0)
    assert torch.autograd.grad(variable.logpdf(1.5), mu)[0] == 0.25
    sample = variable.sample(3, rng=0, reparameterised=True)
    assert torch.autograd.grad(sample.sum(), mu)[0] == 3.0
    assert not variable.sample((2, 2), rng=0).requires_grad


def test_what_has_no_formula_is_refused():
    with pytest.raises(rc.UnsupportedError, match="make_distribution"):
        stats.make_distribution(scipy.stats.landau)
    with pytest.raises(rc.UnsupportedError, match="multiplied"):
        stats.Binomial(n=3, p=0.2) * 2.0
    halved = scipy.stats.truncate(CONSTANT, 0.0, 1.0)
    with pytest.raises(rc.RulesCoreError):
        grad(lambda t: halved.cdf(t))(0.5)
