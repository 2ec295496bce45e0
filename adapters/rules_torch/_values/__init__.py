"""Tensors: leaves, layouts, tangents, and NumPy arrays to and fro."""
