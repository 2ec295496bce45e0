"""The public transformations."""
