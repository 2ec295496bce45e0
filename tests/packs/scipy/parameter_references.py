"""Derivatives of incomplete gamma and beta in their parameters, by series in mpmath.

mpmath differentiates numerically, which takes too long on a wide grid. Its arithmetic
is used instead, with DLMF 8.11.4 and 8.17.7 differentiated term by term, at so many
digits that cancellation does not matter.

Run `python -m tests.packs.scipy.parameter_references` from the root of the repository
to write parameter_references.json again (about a minute).
"""

import itertools
import json
import math
from pathlib import Path

import mpmath as mp

TABLE = Path(__file__).with_name("parameter_references.json")
PARAMETERS = (1e-8, 1e-3, 0.1, 0.7, 1, 2.5, 10, 50, 300, 5e3, 1e5)
SPREADS = (-4, -1, 0.7, 3)  # distances from the mean, in standard deviations
SMALLEST = 1e-280


def gammainc_da(a, x):
    """d/da of x^a e^-x sum x^n / Gamma(a + n + 1)."""
    a, x = mp.mpf(a), mp.mpf(x)
    term, slope = mp.mpf(1), mp.log(x) - mp.digamma(a + 1)
    total, n = mp.mpf(0), 0
    while n <= x or n < 20 or term * abs(slope) > mp.eps * abs(total):
        total += term * slope
        n += 1
        slope -= 1 / (a + n)
        term *= x / (a + n)
    return mp.exp(a * mp.log(x) - x - mp.loggamma(a + 1)) * total


def betainc_da(a, b, x):
    """From the side on which the series converges fast."""
    a, b, x = mp.mpf(a), mp.mpf(b), mp.mpf(x)
    return beta_series(a, b, x, 0) if x < 0.5 else -beta_series(b, a, 1 - x, 1)


def beta_series(a, b, x, argnum):
    """Derivative of x^a (1-x)^b / (a B) sum (a+b)_n / (a+1)_n x^n in a or in b."""
    slope = mp.digamma(a + b)
    slope += mp.log(1 - x) - mp.digamma(b) if argnum else mp.log(x) - mp.digamma(a + 1)
    term, total, n = mp.mpf(1), mp.mpf(0), 0
    while (
        n < 5 or (a + b + n) * x >= a + 1 + n or term * abs(slope) > mp.eps * abs(total)
    ):
        total += term * slope
        slope += 1 / (a + b + n) - (0 if argnum else 1 / (a + 1 + n))
        term *= x * (a + b + n) / (a + 1 + n)
        n += 1
    log_beta = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)
    return mp.exp(a * mp.log(x) + b * mp.log(1 - x) - log_beta) / a * total


def gamma_points():
    for a in PARAMETERS[:-1]:
        near = [a + k * math.sqrt(a) for k in SPREADS]
        for x in (*near, 1e-10, 1e-3, 0.3, 0.7, 1.5, 10, 90, 700):
            if x > 0 and abs(x - a) < 40 * math.sqrt(a) + 700:
                yield a, x


def beta_points():
    for a, b in itertools.product(PARAMETERS, PARAMETERS):
        mean = a / (a + b)
        spread = math.sqrt(mean * (1 - mean) / (a + b + 1))
        near = [mean + k * spread for k in SPREADS]
        for x in (*near, 1e-10, 0.05, 0.5, 0.95, 1 - 2**-40):
            if 0 < x < 1 and max(a, b) * min(x, 1 - x) < 2e3:
                yield a, b, x


def table(f, points, cancels):
    """Values above SMALLEST; `cancels` estimates the digits lost, tails lose theirs."""
    rows = []
    for point in points:
        mp.mp.dps = 50 + int(cancels(*point))
        value = f(*point)
        if abs(value) < mp.mpf(10) ** -20:
            mp.mp.dps += 300
            value = f(*point)
        if abs(value) > SMALLEST:
            rows.append([*point, float(value)])
    return rows


def compute():
    return {
        "gammainc_da": table(
            gammainc_da, gamma_points(), lambda a, x: x if x > a else 0
        ),
        "betainc_da": table(
            betainc_da, beta_points(), lambda a, b, x: max(a, b) * min(x, 1 - x) / 2
        ),
    }


def load():
    return json.loads(TABLE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    text = json.dumps(compute())
    TABLE.write_text(text.replace("], [", "],\n["), encoding="utf-8")
