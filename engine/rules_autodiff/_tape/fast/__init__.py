"""Optimisation only: first order on floats and arrays of float64, asked less."""
