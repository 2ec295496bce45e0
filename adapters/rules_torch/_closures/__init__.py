"""Pullbacks as plans and tensors: what they capture, taken apart and rebuilt."""
