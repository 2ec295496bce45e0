"""Coverage of `scipy.stats`; `python -m rules_scipy.stats.coverage` prints its page."""

from __future__ import annotations

import sys

import scipy.stats

from rules_scipy._module_coverage import ModuleCoverage

from ._continuous import DISTRIBUTIONS
from ._declare import DECLARED

__all__ = ["COVERAGE"]

_HEAD = """# The SciPy pack: statistics

<!-- Made by `python -m rules_scipy.stats.coverage`; do not edit. -->

Of the {total} public functions and distributions of `scipy.stats`, {covered} have
derivatives, {constant} have none, and {missing} have no rule, for the reasons below:
each raises an error where its derivative is asked for. `rules_scipy.stats` contains
them for NumPy, JAX and PyTorch; SciPy's own work in NumPy programs. So do the classes
`gaussian_kde`, `Normal`, `Uniform`, `Logistic` and `Binomial`.
[](../how-to/distributions.md) shows how to use them, and [](scipy-distributions.md)
how each method of a distribution is reached.

## With derivatives
"""

_WHOLE = "its parameters are whole numbers"
_DENSITY = "its density has no formula in functions of this pack"
_RANDOM = "draws random numbers: draw them before, and compute with them"
_TEST = "is a test: compute its statistic from the functions above"
_PLOT = "prepares a plot"
_SEARCH = "searches by values: minimise the logarithm of the likelihood"
_OBJECT = "returns an object of counts"

_GROUPS = {
    _WHOLE: "hypergeom ksone kstwo nhypergeom randint multivariate_hypergeom irwinhall",
    _DENSITY: "landau levy_stable studentized_range",
    "sum its mass over the support, of probabilities that you compute": (
        "nchypergeom_fisher nchypergeom_wallenius poisson_binom zipfian"
    ),
    _RANDOM: (
        "bootstrap monte_carlo_test permutation_test ortho_group special_ortho_group "
        "unitary_group random_correlation random_table uniform_direction "
        "goodness_of_fit dunnett tukey_hsd multiscale_graphcorr sobol_indices power"
    ),
    _TEST: (
        "alexandergovern anderson anderson_ksamp barnard_exact bartlett binomtest "
        "boschloo_exact bws_test chi2_contingency combine_pvalues cramervonmises "
        "epps_singleton_2samp false_discovery_control fisher_exact fligner "
        "jarque_bera ks_1samp kstest kurtosistest levene normaltest "
        "poisson_means_test quantile_test shapiro skewtest logrank"
    ),
    _PLOT: (
        "boxcox_normplot ppcc_max ppcc_plot probplot yeojohnson_normplot relfreq "
        "cumfreq"
    ),
    _SEARCH: "boxcox_normmax yeojohnson_normmax fit expectile",
    _OBJECT: "binned_statistic binned_statistic_2d binned_statistic_dd ecdf",
    "is a choice of numbers: take them by their indices": (
        "mode sigmaclip trim1 trimboth"
    ),
    "are medians of slopes: take numpy.median of them": "siegelslopes theilslopes",
    "returns several statistics: call them": (
        "describe bayes_mvs mvsdist directional_stats"
    ),
    "take numpy.min or numpy.max of the numbers within": "tmin tmax",
    "take numpy.quantile": "quantile",
    "is one line of NumPy": "obrientransform",
    "is not in later versions of SciPy: use trapezoid": "trapz",
    "is not in later versions of SciPy: use numpy.unique": "find_repeats",
    "is a linear program: call linprog": "wasserstein_distance_nd",
    "makes a random variable: move and scale those of this pack": (
        "abs exp log order_statistic truncate"
    ),
    "makes a class without derivative: call that of rules_scipy.stats": (
        "make_distribution"
    ),
    "has no rule yet: write its density with array_namespace": "matrix_t",
    "has no rule yet: interpolate the sorted sample": "estimated_cdf",
}
MISSING = {name: why for why, names in _GROUPS.items() for name in names.split()}


COVERAGE = ModuleCoverage(
    scipy.stats,
    DECLARED | {made.scipy: "covered" for made in DISTRIBUTIONS.values()},
    MISSING,
    _HEAD,
    "What depends on ranks and counts alone.",
)


if __name__ == "__main__":
    sys.stdout.write(COVERAGE.page())
