"""How arguments enter a run, and how derivatives leave it."""
