"""`scipy.signal.windows`: those with a continuous parameter."""

from ._windows import (
    chebwin,
    exponential,
    gaussian,
    general_cosine,
    general_gaussian,
    general_hamming,
    get_window,
    kaiser,
    kaiser_bessel_derived,
    taylor,
    tukey,
)

__all__ = [
    "chebwin",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_gaussian",
    "general_hamming",
    "get_window",
    "kaiser",
    "kaiser_bessel_derived",
    "taylor",
    "tukey",
]
