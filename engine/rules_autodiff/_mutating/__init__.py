"""Rules for functions that write to their arguments."""
