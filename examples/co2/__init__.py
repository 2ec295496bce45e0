"""Gaussian-process regression on the Mauna Loa CO2 record, in JAX and in PyTorch."""
