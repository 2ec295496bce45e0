"""Functions that lifted code calls in place of operations, by kind of operation."""
