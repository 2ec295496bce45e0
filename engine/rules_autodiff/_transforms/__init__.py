"""Functions that the engine returns and that may run inside another run."""
