"""Shapes of distributions, and points between their tails."""

from typing import Any

import numpy as np
import scipy.stats

# One or several lists of shapes for each continuous distribution.
CONTINUOUS: dict[str, list[Any]] = {
    "alpha": [(3.57,)], "anglit": [()], "arcsine": [()], "argus": [(1.0,)],
    "beta": [(2.31, 0.627), (0.4, 3.0)], "betaprime": [(5.0, 6.0)],
    "bradford": [(0.3,)], "burr": [(10.5, 4.3)], "burr12": [(10.0, 4.0)],
    "cauchy": [()], "chi": [(7.8,)], "chi2": [(5.5,), (0.7,)], "cosine": [()],
    "crystalball": [(2.0, 3.0)], "dgamma": [(1.1,)],
    "dpareto_lognorm": [(3.0, 1.2, 1.5, 2.0)], "dweibull": [(2.07,)],
    "erlang": [(10.0,)], "expon": [()], "exponnorm": [(1.5,)], "exponpow": [(2.7,)],
    "exponweib": [(2.9, 1.95)], "f": [(29.0, 18.0)], "fatiguelife": [(2.9,)],
    "fisk": [(3.09,)], "foldcauchy": [(4.72,)], "foldnorm": [(1.95,)],
    "gamma": [(1.99,), (0.3,)], "gausshyper": [(13.8, 3.12, 2.51, 5.18)],
    "genexpon": [(9.1, 16.2, 3.28)], "genextreme": [(-0.1,), (0.3,)],
    "gengamma": [(4.4, 3.1), (4.4, -3.1)], "genhalflogistic": [(0.77,)],
    "genhyperbolic": [(0.5, 1.5, -0.5)], "geninvgauss": [(2.3, 1.5)],
    "genlogistic": [(0.41,)], "gennorm": [(1.3,)], "genpareto": [(0.1,), (-0.4,)],
    "gibrat": [()], "gompertz": [(0.95,)], "gumbel_l": [()], "gumbel_r": [()],
    "halfcauchy": [()], "halfgennorm": [(0.67,)], "halflogistic": [()],
    "halfnorm": [()], "hypsecant": [()], "invgamma": [(4.07,)],
    "invgauss": [(0.145,)], "invweibull": [(10.6,)], "jf_skew_t": [(8.0, 4.0)],
    "johnsonsb": [(4.3, 3.2)], "johnsonsu": [(2.55, 2.25)], "kappa3": [(1.3,)],
    "kappa4": [(-0.1, 0.1), (0.2, -0.3)], "kstwobign": [()], "laplace": [()],
    "laplace_asymmetric": [(1.9,)], "levy": [()], "levy_l": [()],
    "loggamma": [(0.41,)], "logistic": [()], "loglaplace": [(3.25,)],
    "lognorm": [(0.95,)], "loguniform": [(0.1, 1.25)], "lomax": [(1.88,)],
    "maxwell": [()], "mielke": [(10.4, 4.6)], "moyal": [()], "nakagami": [(4.97,)],
    "ncf": [(27.0, 27.0, 0.416)], "nct": [(14.0, 0.24)], "ncx2": [(21.0, 1.06)],
    "norm": [()], "norminvgauss": [(1.25, 0.5)], "pareto": [(2.62,)],
    "pearson3": [(0.1,), (-2.1,)], "powerlaw": [(1.66,)],
    "powerlognorm": [(2.14, 0.446)], "powernorm": [(4.45,)], "rayleigh": [()],
    "rdist": [(1.6,)], "recipinvgauss": [(0.63,)], "reciprocal": [(0.1, 1.25)],
    "rel_breitwigner": [(3.65,)], "rice": [(0.775,)], "semicircular": [()],
    "skewcauchy": [(0.5,)], "skewnorm": [(4.0,)], "t": [(2.74,)],
    "trapezoid": [(0.2, 0.8)], "triang": [(0.158,)], "truncexpon": [(4.69,)],
    "truncnorm": [(-1.1, 2.73), (0.1, 2.0)], "truncpareto": [(1.8, 5.3), (-2.0, 5.0)],
    "truncweibull_min": [(2.5, 0.25, 1.75)], "tukeylambda": [(3.13,), (-0.4,)],
    "uniform": [()], "vonmises": [(3.99,)], "vonmises_line": [(3.99,)],
    "wald": [()], "weibull_max": [(2.87,)], "weibull_min": [(1.79,)],
    "wrapcauchy": [(0.31,)],
}  # fmt: skip
DISCRETE: dict[str, list[Any]] = {
    "bernoulli": [(0.3,)], "betabinom": [(5, 2.3, 0.63)],
    "betanbinom": [(5, 9.3, 1.0)], "binom": [(5, 0.4)], "boltzmann": [(1.4, 19)],
    "dlaplace": [(0.8,)], "geom": [(0.5,)], "logser": [(0.6,)],
    "nbinom": [(0.4, 0.4), (5.0, 0.5)], "planck": [(0.51,)], "poisson": [(0.6,)],
    "skellam": [(15.0, 8.0)], "yulesimon": [(11.0,)], "zipf": [(6.6,)],
}  # fmt: skip
LOC, SCALE = 0.3, 1.7
PROBABILITIES = np.array([0.02, 0.2, 0.45, 0.77, 0.97])
AT_POINTS = ("logpdf", "pdf", "cdf", "sf", "logcdf", "logsf")
QUANTILES = ("ppf", "isf")
NUMBERS = ("mean", "var", "std", "entropy")
ALL = [(name, shapes) for name, every in CONTINUOUS.items() for shapes in every]
COUNTS = [(name, shapes) for name, every in DISCRETE.items() for shapes in every]
# SciPy's own code errs for arrays.
POINTS = {"norminvgauss": np.array([-0.9, 0.2, 0.7, 1.4, 3.0])}
INEXACT = {"kstwobign", "gausshyper"}  # SciPy's value is wrong in the eighth digit


def arguments(name, shapes, method):
    """The first argument, and the parameters, as arrays of one shape."""
    points = POINTS.get(name)
    if points is None:
        dist = getattr(scipy.stats, name)
        points = dist.ppf(PROBABILITIES, *shapes, loc=LOC, scale=SCALE)
    first = PROBABILITIES if method in QUANTILES else points
    return [first, *[np.full_like(first, x) for x in (*shapes, LOC, SCALE)]]


def of_scipy(name, method):
    """SciPy's method, called for one number after the other where it errs."""
    f = getattr(getattr(scipy.stats, name), method)
    return np.vectorize(f) if name in POINTS else f


def widths(args, method, pdf):
    """Steps for differences in each argument, shorter than the way to the end."""
    first, *shapes, loc, scale = args
    if method in QUANTILES:
        steps = [2e-3 * np.minimum(first, 1 - first), *[1e-3 + 0 * x for x in args[1:]]]
        return [*steps[:1], *[1e-3 * np.maximum(x, 0.1) for x in shapes], *steps[-2:]]
    gap = 0.02 * np.minimum(PROBABILITIES, 1 - PROBABILITIES) / pdf(*args)
    near = np.minimum(1e-3, gap)
    by_scale = near / np.maximum(1, np.abs(first - loc) / scale)
    return [near, *[1e-3 * np.maximum(np.abs(x), 0.1) for x in shapes], near, by_scale]


def difference(f, args, i, width):
    """The derivative in one argument by differences of order eight."""

    def at(k):
        return f(*[x + k * width if j == i else x for j, x in enumerate(args)])

    weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    pairs = [w * (at(k) - at(-k)) for k, w in enumerate(weights, 1)]
    return sum(pairs) / width
