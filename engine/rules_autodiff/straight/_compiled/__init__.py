"""Compiled code: generated code of numbers and small arrays, by numba."""
