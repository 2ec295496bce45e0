"""What Sphinx does for these pages beyond its own extensions."""
