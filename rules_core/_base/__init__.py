"""Errors, what counts as an array, and how public names are shown."""
