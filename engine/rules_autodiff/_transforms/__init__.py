"""Functions that the engine returns and that may run in another run."""
