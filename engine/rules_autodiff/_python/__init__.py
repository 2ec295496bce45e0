"""Facts about Python values and programs; no arithmetic."""
