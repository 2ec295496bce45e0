"""The lift: from a program's source to code that calls hooks."""
