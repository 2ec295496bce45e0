"""Who let what into the river? A spill found by derivatives of a NumPy simulation."""
