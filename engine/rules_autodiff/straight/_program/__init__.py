"""The terms of programs: kinds, values, blocks, calls."""
