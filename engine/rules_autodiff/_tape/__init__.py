"""Reverse mode: the hooks that write the tape, and the sweep back along it."""
