"""The temperature of a flame from the sodium lines of its light."""
