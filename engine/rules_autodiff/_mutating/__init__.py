"""Rules for functions that write into their arguments."""
