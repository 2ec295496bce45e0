"""Host functions called from compiled code without Python: the loops of ufuncs."""
