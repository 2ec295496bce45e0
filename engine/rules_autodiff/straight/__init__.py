"""The straight-line tier: a program and its derivative as plain code, without tape.

A function of numbers and float64 arrays is read once for the kinds of its arguments and
generated twice: a forward function that also saves residuals, and a backward function,
the adjoint of each block of steps. Everything that the tier does not support falls back
to the tape, which supports everything that the engine does.
"""

from . import _operations  # noqa: F401  (they fill the table of operations)
