"""A spec of a call with functions: what these read must be what they read at the call.

A rule's pullback may call a function that is an argument, as a solver's, again, and
under `jax.jit` even the value is computed after the program has been traced. By then
the program may have changed what the function reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

from rules_core.extend import Reads, reads_of
from rules_jax import _compat

__all__ = ["as_at_call"]


def as_at_call(spec: Any, leaves: Sequence[Any]) -> Any:
    """The spec, watched if functions are arguments of the call or of its rules."""
    reads = reads_of(_values(spec, leaves))
    return spec if reads is None else WatchedSpec(spec, reads)


def _values(spec: Any, leaves: Sequence[Any]) -> tuple[Any, ...]:
    """What may be, or hold, a function of the program."""
    if all(template.is_data() for template in (*spec.args, spec.kwargs)):
        return spec.primitive.helpers
    args, kwargs = spec.fill(leaves)
    return *spec.primitive.helpers, *args, *kwargs.values()


@_compat.held_weakly
@final
class WatchedSpec:
    """`inner`, whose every run finds what its functions read as it was at the call.

    Args:
        inner: The spec.
        reads: What the functions read.

    Attributes:
        subject: As `inner`: which call this is.
    """

    def __init__(self, inner: Any, reads: Reads) -> None:
        self.subject, self.reads = inner, reads

    def __getattr__(self, name: str) -> Any:
        return getattr(self.subject, name)

    def outs(self, leaves: Sequence[Any]) -> Any:
        """Types of the results."""
        with self.reads.held(self.subject.name):
            return self.subject.outs(leaves)

    def primal(self, *leaves: Any) -> Any:
        """Results of the function itself."""
        with self.reads.held(self.subject.name):
            return self.subject.primal(*leaves)

    def push(
        self, wanted: Sequence[bool], leaves: Sequence[Any], tangents: Sequence[Any]
    ) -> Any:
        """Results and their tangents by the frule."""
        with self.reads.held(self.subject.name):
            return self.subject.push(wanted, leaves, tangents)

    def save(self, wanted: Sequence[bool], leaves: Sequence[Any]) -> Any:
        """Results by the rrule, and its pullback."""
        with self.reads.held(self.subject.name):
            return self.subject.save(wanted, leaves)

    def load(self, saved: Any, cotangents: Sequence[Any]) -> Any:
        """Cotangents of the leaves."""
        with self.reads.held(self.subject.name):
            return self.subject.load(saved, cotangents)
