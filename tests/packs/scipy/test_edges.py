"""Edges and poles, where derivatives follow limits, and beyond the domain: NaN."""

import numpy as np
import pytest
from scipy.special import beta, exp1

from rules_scipy import special

from .hosts import HOSTS

INF, NAN = np.inf, np.nan

# function, arguments, argument to differentiate in, derivatives of order 1, 2, …
EDGES = [
    ("gamma", (0.0,), 0, [-INF]),
    ("gamma", (-1.0,), 0, [NAN, NAN]),
    ("gamma", (180.0,), 0, [INF]),
    ("gammaln", (0.0,), 0, [-INF, INF, -INF]),
    ("gammaln", (-1.0,), 0, [NAN]),
    ("digamma", (0.0,), 0, [INF, -INF]),
    ("polygamma", (1, 0.0), 1, [-INF, INF]),
    ("beta", (0.0, 1.0), 0, [-INF]),
    ("betaln", (0.0, 1.0), 0, [-INF]),
    ("betaln", (0.0, 1.0), 1, [0.0]),
    ("erf", (INF,), 0, [0.0]),
    ("erfc", (-30.0,), 0, [0.0, 0.0, 0.0]),
    ("erfinv", (1.0,), 0, [INF, INF]),
    ("erfinv", (-1.0,), 0, [INF, -INF]),
    ("erfinv", (1.5,), 0, [NAN, NAN, NAN]),
    ("expit", (800.0,), 0, [0.0, 0.0, 0.0]),
    ("expit", (-INF,), 0, [0.0]),
    ("logit", (0.0,), 0, [INF, -INF]),
    ("logit", (1.0,), 0, [INF, INF]),
    ("logit", (1.5,), 0, [NAN, NAN]),
    ("xlogy", (0.0, 0.0), 0, [-INF]),
    ("xlogy", (0.0, 0.0), 1, [0.0]),
    ("xlogy", (0.0, 2.0), 1, [0.0, 0.0, 0.0]),
    ("xlogy", (1.0, 0.0), 1, [INF]),
    ("xlogy", (1.0, -1.0), 0, [NAN]),
    ("xlogy", (1.0, -1.0), 1, [NAN, NAN]),
    ("xlog1py", (0.0, -1.0), 1, [0.0]),
    ("zeta", (2.0, 0.0), 1, [-INF, INF]),
    ("zeta", (2.5, -1.5), 1, [NAN]),
    ("jv", (0, 0.0), 1, [0.0, -0.5, 0.0]),
    ("jv", (1, 0.0), 1, [0.5, 0.0, -0.375]),
    ("jv", (3, 0.0), 1, [0.0, 0.0, 0.125]),
    ("jv", (0.5, 0.0), 1, [INF]),
    ("jv", (1.5, 0.0), 1, [0.0, INF]),
    ("jv", (0.5, -1.0), 1, [NAN, NAN]),
    ("yv", (0, 0.0), 1, [INF, -INF, INF]),
    ("yv", (1.5, 0.0), 1, [INF, -INF]),
    ("yv", (1, -1.0), 1, [NAN]),
    ("iv", (0, 0.0), 1, [0.0, 0.5, 0.0]),
    ("iv", (2, 0.0), 1, [0.0, 0.25, 0.0]),
    ("iv", (0.5, 0.0), 1, [INF]),
    ("iv", (0.5, -1.0), 1, [NAN]),
    ("iv", (1, 800.0), 1, [INF]),
    ("kv", (0, 0.0), 1, [-INF, INF, -INF]),
    ("kv", (2.5, 0.0), 1, [-INF, INF, -INF]),
    ("kv", (1, -1.0), 1, [NAN, NAN]),
    ("kv", (1, 1e4), 1, [0.0, 0.0]),
    ("ive", (0, 0.0), 1, [0.0]),  # a kink: zero, by the convention of the project
    ("ive", (1, 0.0), 1, [0.5]),
    ("ive", (0.5, -1.0), 1, [NAN]),
    ("kve", (0, 0.0), 1, [-INF, INF]),
    ("kve", (1, 0.0), 1, [-INF, INF]),
    ("kve", (1, -1.0), 1, [NAN]),
    ("gammainc", (0.5, 0.0), 1, [INF, -INF]),
    ("gammainc", (1.0, 0.0), 1, [1.0, -1.0, 1.0]),
    ("gammainc", (2.0, 0.0), 1, [0.0, 1.0, -2.0]),
    ("gammaincc", (3.0, 0.0), 1, [0.0, 0.0, -1.0]),
    ("gammainc", (2.0, INF), 1, [0.0, 0.0]),
    ("gammainc", (2.0, -1.0), 1, [NAN]),
    ("gammainc", (2.0, -1.0), 0, [NAN]),
    ("gammainc", (2.0, 0.0), 0, [0.0]),
    ("gammainc", (2.0, INF), 0, [0.0]),
    ("gammaincc", (0.0, 1.0), 0, [float(exp1(1))]),
    ("gammainc", (-1.0, 1.0), 0, [NAN]),
    ("betainc", (0.5, 2.0, 0.0), 2, [INF, -INF]),
    ("betainc", (1.0, 3.0, 0.0), 2, [3.0, -6.0, 6.0]),
    ("betainc", (2.0, 1.7, 0.0), 2, [0.0, float(1 / beta(2, 1.7))]),
    ("betainc", (2.0, 0.5, 1.0), 2, [INF, INF]),
    ("betainc", (3.0, 1.0, 1.0), 2, [3.0, 6.0, 6.0]),
    ("betainc", (2.0, 3.0, 0.0), 0, [0.0]),
    ("betainc", (2.0, 3.0, 0.0), 1, [0.0]),
    ("betainc", (2.0, 3.0, 1.0), 0, [0.0]),
    ("betainc", (2.0, 3.0, 1.0), 1, [0.0]),
    ("betainc", (2.0, 3.0, 1.2), 2, [NAN, NAN]),
    ("betainc", (2.0, 3.0, 1.2), 0, [NAN]),
    ("betainc", (-2.0, 3.0, 0.5), 0, [NAN]),
]


def name_of(edge):
    name, args, argnum, _ = edge
    return f"{name}{args}-{argnum}".replace(" ", "")


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("mode", ["f", "r"])
@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
@pytest.mark.parametrize("edge", EDGES, ids=name_of)
def test_edge(edge, host, mode):
    name, args, argnum, expected = edge
    for order, limit in enumerate(expected, start=1):
        if mode * order in host.modes:
            f = getattr(special, name)
            got = host.derivative(
                f, list(map(np.atleast_1d, args)), argnum, mode * order
            )
            assert np.allclose(got, limit, rtol=1e-12, atol=0, equal_nan=True), order
