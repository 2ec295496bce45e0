"""Results of solvers have the fields that SciPy's have, in NumPy and in frameworks."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate
import scipy.optimize
import scipy.stats
import torch

import rules_core as rc
from rules_autodiff import grad, jacfwd
from rules_scipy import integrate, optimize, stats

X = np.array([0.3, 1.0, 2.5, 0.7, 1.9, 0.2])
Y = np.array([1.0, 0.2, 2.0, 1.1, 1.7, 0.9])
BOUNDS = [(0.0, 3.0)] * 2
TABLE = np.arange(9.0).reshape(3, 3)


def bowl(x, a):
    return ((x - a) ** 2).sum()


def cubic(x, a):
    return x**3 - a


def minimum(method):
    return lambda m, c: m.minimize(bowl, c(np.zeros(2)), (c(1.0),), method=method)


def system(method):
    return lambda m, c: m.root(cubic, c(np.ones(2)), (c(2.0),), method=method)


# One call of each, of a module and of what makes arrays.
OPTIMIZE = {
    **{f"minimize {k}": minimum(k) for k in ("BFGS", "Nelder-Mead", "SLSQP", "CG")},
    **{f"root {k}": system(k) for k in ("hybr", "lm", "krylov", "df-sane")},
    "minimize_scalar": lambda m, c: m.minimize_scalar(bowl_of_one, args=(c(1.0),)),
    "root_scalar": lambda m, c: m.root_scalar(cubic, (c(2.0),), bracket=(0.0, 2.0)),
    "least_squares": lambda m, c: m.least_squares(
        lambda x, a: x - a, c(np.zeros(2)), args=(c(1.0),)
    ),
    "lsq_linear": lambda m, c: m.lsq_linear(c(np.eye(2) + 0.1), c(np.ones(2))),
    "linprog": lambda m, c: m.linprog(c(X[:2]), c(-np.ones((1, 2))), c(-np.ones(1))),
    "milp": lambda m, c: m.milp(
        c(X[:2]), integrality=[1, 1], bounds=scipy.optimize.Bounds(0.5, 3.0)
    ),
    "isotonic_regression": lambda m, c: m.isotonic_regression(c(Y), weights=c(X)),
    "quadratic_assignment": lambda m, c: m.quadratic_assignment(
        c(TABLE), c(TABLE.T), options={"rng": np.random.default_rng(0)}
    ),
    "differential_evolution": lambda m, c: m.differential_evolution(
        bowl, BOUNDS, (c(1.0),), rng=0, maxiter=3
    ),
    "dual_annealing": lambda m, c: m.dual_annealing(
        bowl, BOUNDS, (c(1.0),), rng=0, maxiter=3
    ),
    "shgo": lambda m, c: m.shgo(bowl, BOUNDS, (c(1.0),)),
    "direct": lambda m, c: m.direct(bowl, BOUNDS, args=(c(1.0),)),
    "basinhopping": lambda m, c: m.basinhopping(
        bowl, c(np.zeros(2)), minimizer_kwargs={"args": (c(1.0),)}, niter=2, rng=0
    ),
    "find_root": lambda m, c: m.elementwise.find_root(
        cubic, (0.0, 2.0), args=(c(2.0),)
    ),
    "find_minimum": lambda m, c: m.elementwise.find_minimum(
        lambda x, a: (x - a) ** 2, (0.0, 0.5, 2.0), args=(c(1.0),)
    ),
}
INTEGRATE = {
    "tanhsinh": lambda m, c: m.tanhsinh(product, 0.0, 1.0, args=(c(2.0),)),
    "nsum": lambda m, c: m.nsum(lambda x, a: a / x**2, 1.0, np.inf, args=(c(2.0),)),
    "cubature": lambda m, c: m.cubature(
        lambda x, a: (a * x).sum(-1), np.zeros(2), np.ones(2), args=(c(2.0),)
    ),
    "quad_vec": lambda m, c: m.quad_vec(product, 0.0, 1.0, args=(c(np.ones(2)),)),
}
STATS = {
    "linregress": lambda m, c: m.linregress(c(X), c(Y)),
    "pearsonr": lambda m, c: m.pearsonr(c(X), c(Y)),
    "pointbiserialr": lambda m, c: m.pointbiserialr(c(1.0 * (X > 1)), c(Y)),
    "ttest_ind_from_stats": lambda m, c: m.ttest_ind_from_stats(
        c(1.0), c(1.5), 5, c(2.0), c(1.0), 6
    ),
    "ttest_1samp": lambda m, c: m.ttest_1samp(c(X), 1.0),
    "ttest_ind": lambda m, c: m.ttest_ind(c(X), c(Y)),
    "ttest_rel": lambda m, c: m.ttest_rel(c(X), c(Y)),
    "f_oneway": lambda m, c: m.f_oneway(c(X), c(Y)),
    "power_divergence": lambda m, c: m.power_divergence(c(X)),
}
CALLS = {
    **{k: (f, optimize, scipy.optimize) for k, f in OPTIMIZE.items()},
    **{k: (f, integrate, scipy.integrate) for k, f in INTEGRATE.items()},
    **{k: (f, stats, scipy.stats) for k, f in STATS.items()},
}


def bowl_of_one(x, a):
    return (x - a) ** 2


def product(x, a):
    return a * x


def fields(result):
    """Names of the public fields, with those of results in results."""
    if isinstance(result, dict):
        pairs = [(k, x) for k, x in result.items() if not k.startswith("_")]
    elif hasattr(result, "_fields"):  # and attributes that are no entries
        return {k for k in dir(result) if not k.startswith("_")}
    elif isinstance(result, tuple):
        pairs = list(enumerate(result))
    else:
        return set()
    inner = {f"{k}.{name}" for k, x in pairs for name in fields(x)}
    return {str(k) for k, _ in pairs} | inner


@pytest.mark.parametrize("name", CALLS)
def test_in_numpy(name):
    call, own, other = CALLS[name]
    assert fields(call(own, np.asarray)) == fields(call(other, np.asarray))


@pytest.mark.parametrize("name", ["pearsonr", "pointbiserialr"])
def test_a_correlation_has_two_names(name):
    call = STATS[name]

    def f(y):
        return call(scipy.stats, lambda x: y if x is Y else x).correlation

    def statistic(y):
        return call(scipy.stats, lambda x: y if x is Y else x).statistic

    np.testing.assert_allclose(grad(f)(Y), grad(statistic)(Y))
    found = call(stats, jnp.asarray).correlation
    np.testing.assert_allclose(found, f(Y), rtol=1e-5)


@pytest.mark.parametrize("name", ["ttest_ind", "f_oneway", "linregress", "pearsonr"])
def test_what_has_no_formula_is_an_error_where_scipy_has_it(name):
    call = STATS[name]
    known, result = call(scipy.stats, np.asarray), call(stats, np.asarray)
    for other in ("df", "confidence_interval", "intercept_stderr"):
        if hasattr(known, other):
            with pytest.raises(rc.UnsupportedError, match=f"{other} of this result"):
                getattr(result, other)
        else:
            assert not hasattr(result, other)


# What SciPy tells in texts, or in a size that only it knows; and the work of a method.
ABSENT = {
    *("message method status nit njev nhev nlfev nlhev nljev".split()),
    *("hess_inv final_simplex fjac qtf r cov_x ipvt optimality jac maxcv".split()),
    *("multipliers unbounded_sol slack con crossover_nit lower upper".split()),
    *("mip_dual_bound mip_gap mip_node_count residual marginals".split()),
    *("population population_energies funl xl bracket f_bracket".split()),
    *("lowest_optimization_result minimization_failures".split()),
}
COMPLETE = {"milp": {"message"}, "isotonic_regression": set(),
            "quadratic_assignment": set(), "root_scalar": set()}  # fmt: skip


def in_torch(x):
    return torch.tensor(np.array(x, order="C"), dtype=torch.float64)


@pytest.mark.parametrize("host", ["JAX", "PyTorch"])
@pytest.mark.parametrize("name", CALLS)
def test_in_frameworks(name, host):
    call, own, other = CALLS[name]
    with jax.enable_x64(True):
        result = call(own, jnp.asarray if host == "JAX" else in_torch)
    missing = fields(call(other, np.asarray)) - fields(result)
    outer = {k.partition(".")[0] for k in missing if k.split(".")[-1] not in ABSENT}
    assert outer <= ABSENT, outer
    if name in COMPLETE:
        assert missing == COMPLETE[name]
    if isinstance(result, dict) and missing:
        first = next(k for k in missing if "." not in k)
        with pytest.raises(AttributeError, match=f"^{first}: in JAX and PyTorch"):
            getattr(result, first)


def test_fields_of_milp_have_no_silent_derivative():
    def gap(c, name="mip_dual_bound"):
        return optimize.milp(c, bounds=scipy.optimize.Bounds(0.5, 3.0))[name]

    c = torch.tensor(X[:2])
    with pytest.raises(rc.DerivativeNotImplemented, match="mip_dual_bound is fun"):
        torch.func.grad(gap)(c)
    assert torch.isnan(torch.func.jacfwd(gap)(c)).all()
    with pytest.raises(rc.DerivativeNotImplemented, match="mip_dual_bound is fun"):
        jax.grad(gap)(jnp.asarray(X[:2]))
    assert jnp.isnan(jax.jit(jax.grad(gap))(jnp.asarray(X[:2]))).all()


# Programs of a keyword-only argument of SciPy's own functions

KEYWORDS = {
    "weights": lambda s: scipy.optimize.isotonic_regression(Y, weights=s * X + 1).x @ X,
    "weights of blocks": lambda s: scipy.optimize.isotonic_regression(
        Y, weights=s * X + 1
    ).weights @ [1.0, 2.0],
    "tanhsinh": lambda s: scipy.integrate.tanhsinh(
        product, 0, 1, args=(s**2,)
    ).integral,
    "quad_vec": lambda s: scipy.integrate.quad_vec(product, 0, 1, args=(s * X,))[0] @ Y,
    "nsum": lambda s: scipy.integrate.nsum(
        lambda x, a: a / x**2, 1, np.inf, args=(s**2,)
    ).sum,
    "cubature": lambda s: scipy.integrate.cubature(
        lambda x, a: (a * x).sum(-1), np.zeros(2), np.ones(2), args=(s**2,)
    ).estimate,
    "find_root": lambda s: scipy.optimize.elementwise.find_root(
        cubic, (0.0, 2.0), args=(s**2,)
    ).x,
    "find_minimum": lambda s: scipy.optimize.elementwise.find_minimum(
        lambda x, a: bowl_of_one(x, a) + a, (0.0, 0.5, 2.0), args=(s**2,)
    ).f_x,
}  # fmt: skip


@pytest.mark.parametrize("derivative", [grad, jacfwd])
@pytest.mark.parametrize("name", KEYWORDS)
def test_keyword_only_arguments_in_the_engine(name, derivative):
    f, s, h = KEYWORDS[name], 0.9, 1e-5
    known = (f(s + h) - f(s - h)) / (2 * h)
    for _ in range(2):  # the second call is that of written code, where there is some
        np.testing.assert_allclose(derivative(f)(s), known, rtol=1e-6)


MOVING = {
    "limit of nsum": lambda s: (
        scipy.integrate.nsum(lambda x: 1 / x**2, s, np.inf, args=()).sum
    ),
    "step of nsum": lambda s: (
        scipy.integrate.nsum(lambda x: 1 / x**2, 1.0, np.inf, step=s).sum
    ),
}


@pytest.mark.parametrize("name", MOVING)
def test_keywords_without_a_derivative_are_errors(name):
    for derivative in (grad, jacfwd):
        with pytest.raises((rc.UnsupportedError, rc.DerivativeNotImplemented)):
            derivative(MOVING[name])(1.0)
