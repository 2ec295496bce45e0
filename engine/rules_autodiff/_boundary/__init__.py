"""Arguments that enter a run, and derivatives that leave it."""
