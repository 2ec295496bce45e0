"""The straight-line tier: a program and its derivative as plain code, without a tape.

A function of numbers and arrays of float64 is read once for the kinds of its arguments
and written out twice: forward, as it stands, with notes of what the way back needs; and
backward, the adjoint of each block of steps. What the tier does not know is left to the
tape, which knows everything that the engine does.
"""

from . import _operations  # noqa: F401  (they fill the table of operations)
