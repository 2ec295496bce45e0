"""Ufuncs: functions that go entry by entry."""

from . import arithmetic, comparison, emath, formulas, special

__all__ = ["arithmetic", "comparison", "emath", "formulas", "special"]
