"""Special functions of `scipy.special` as primitives with rules.

gamma family      gamma, gammaln, digamma (psi), polygamma, beta, betaln
zeta              zeta
error functions   erf, erfc, erfinv
Bessel            jv, yv, iv, kv, ive, kve
incomplete        gammainc, gammaincc, betainc, and their derivatives in the parameters
                  gammainc_da, betainc_da, betainc_db
logarithms        logsumexp, xlogy, xlog1py, logit, expit
"""

from ._bessel import iv, ive, jv, kv, kve, yv
from ._error_functions import erf, erfc, erfinv
from ._gamma import (
    beta,
    betaln,
    digamma,
    gamma,
    gammaln,
    polygamma,
    psi,
)
from ._incomplete_beta import betainc, betainc_da, betainc_db
from ._incomplete_gamma import gammainc, gammainc_da, gammaincc
from ._logarithms import expit, logit, xlog1py, xlogy
from ._logsumexp import logsumexp
from ._zeta import zeta

__all__ = [
    "beta",
    "betainc",
    "betainc_da",
    "betainc_db",
    "betaln",
    "digamma",
    "erf",
    "erfc",
    "erfinv",
    "expit",
    "gamma",
    "gammainc",
    "gammainc_da",
    "gammaincc",
    "gammaln",
    "iv",
    "ive",
    "jv",
    "kv",
    "kve",
    "logit",
    "logsumexp",
    "polygamma",
    "psi",
    "xlog1py",
    "xlogy",
    "yv",
    "zeta",
]
