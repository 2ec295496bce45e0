"""Functions that written code calls."""
