"""A calibration curve, its uncertainty, and which standards to measure again."""
