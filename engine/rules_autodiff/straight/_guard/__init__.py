"""What must be as it was when the code was written."""
