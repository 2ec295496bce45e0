"""The choice between generated code and the tape."""
