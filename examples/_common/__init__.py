"""What the demonstrations share: minimisers, finite differences and a table."""
