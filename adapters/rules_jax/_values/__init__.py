"""JAX's values: leaves, types, tangents, callables."""
