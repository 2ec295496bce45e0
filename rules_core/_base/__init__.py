"""Errors, array types, and the public home of names."""
