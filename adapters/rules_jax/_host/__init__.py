"""Functions that need NumPy."""
