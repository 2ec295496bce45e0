"""When written code is used, and when the tape."""
