"""What lifted code calls in place of each operation; one file per kind of operation."""
