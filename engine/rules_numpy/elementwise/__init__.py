"""Ufuncs: elementwise functions."""

from . import arithmetic, comparison, emath, formulas, special

__all__ = ["arithmetic", "comparison", "emath", "formulas", "special"]
