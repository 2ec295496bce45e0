"""A digital filter for sound levels, designed by the gradient of its response."""
