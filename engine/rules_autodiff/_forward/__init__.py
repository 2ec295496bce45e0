"""Forward mode: the hooks that carry tangents along."""
