"""Linear functions: what depends on what, transposition, and refusals."""
