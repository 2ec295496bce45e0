"""Rules that call back into the engine."""
