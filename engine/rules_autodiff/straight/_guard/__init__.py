"""Guards: the facts that generated code assumes."""
