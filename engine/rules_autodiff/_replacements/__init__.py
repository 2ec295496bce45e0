"""Replacements of calls of builtins and NumPy functions."""
