"""From blocks to Python text."""
