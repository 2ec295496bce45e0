"""A call with its rules."""
