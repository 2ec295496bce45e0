"""Rules of host functions, derived from their code, for JAX and PyTorch."""
