"""The engine's own rules: operators on numbers and arrays."""
