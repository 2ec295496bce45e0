"""The vocabulary of written programs: kinds, values, blocks, written calls."""
