"""Two pictures of one head, laid on each other: image registration."""
