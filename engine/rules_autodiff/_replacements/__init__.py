"""What is done in place of calling a builtin or a NumPy function."""
