"""Python text from blocks."""
