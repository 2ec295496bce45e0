"""Calculus, transforms, statistics."""

from . import (
    calculus,
    fourier,
    histograms,
    joint_histograms,
    polynomials,
    selections,
    signals,
    statistics,
)

__all__ = [
    "calculus",
    "fourier",
    "histograms",
    "joint_histograms",
    "polynomials",
    "selections",
    "signals",
    "statistics",
]
