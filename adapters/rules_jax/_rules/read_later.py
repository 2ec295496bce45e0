"""A spec of a call with functions: what these read must be what they read at the call.

A rule's pullback may call a function that is an argument, as a solver's, again, a
derived rule calls the host function itself, and under `jax.jit` even the value is
computed after the program has been traced. By then the program may have changed what
the function reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, final

import numpy as np

import rules_core as rc
from rules_core.extend import Reads, reads_of, reads_of_rule
from rules_jax import _compat
from rules_jax._host.call import run_later
from rules_jax._values.leaves import Fixed, is_traced

__all__ = ["as_at_call"]


def as_at_call(spec: Any, leaves: Sequence[Any]) -> Any:
    """The spec, watched if functions are called later, or objects are arguments."""
    again = _called_later(spec)
    objects = tuple(_objects(spec))
    rules = [*_own_code(spec)]
    functions = (*spec.primitive.helpers, *again, *(x.function for x in rules))
    without = () if again or not rules else rules[0].without
    values = (*functions, *_values(spec, leaves), *objects)
    reads = reads_of(values, objects=objects, own=bool(again), without=without)
    return spec if reads is None else WatchedSpec(spec, reads)


def _called_later(spec: Any) -> tuple[Any, ...]:
    """The host function itself, by a derived rule or by callback, and adjoints."""
    rules = (x for x in (spec.frule, spec.rrule) if x is not None)
    again = tuple(f for rule in rules for f in rule.again)
    own = spec.primitive.host and rc.Foreign.of(spec.primitive) is None
    return (spec.primitive.fun, *again) if own else again


def _own_code(spec: Any) -> Iterator[Any]:
    """What the code of the rules reads that a program may change."""
    for rule in (spec.frule, spec.rrule):
        reads = None if rule is None else reads_of_rule(rule)
        if reads is not None:
            yield reads


def _values(spec: Any, leaves: Sequence[Any]) -> tuple[Any, ...]:
    """What may be, or hold, a function of the program."""
    if all(template.is_data() for template in (*spec.args, spec.kwargs)):
        return ()
    args, kwargs = spec.fill(leaves)
    return *args, *kwargs.values()


def _objects(spec: Any) -> Iterator[Any]:
    """What JAX takes for constants of the call."""
    for template in (*spec.args, spec.kwargs):
        if not template.is_data():
            yield from (x.value for x in template.leaves if isinstance(x, Fixed))


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
        with self._held():
            return self.subject.outs(leaves)

    def primal(self, *leaves: Any) -> Any:
        """Results of the function itself."""
        with self._held():
            return self.subject.primal(*leaves)

    def push(
        self, wanted: Sequence[bool], leaves: Sequence[Any], tangents: Sequence[Any]
    ) -> Any:
        """Results and their tangents by the frule."""
        with self._held():
            return self.subject.push(wanted, leaves, tangents)

    def save(self, wanted: Sequence[bool], leaves: Sequence[Any]) -> Any:
        """Results by the rrule, and its pullback."""
        with self._held():
            results, saved = self.subject.save(wanted, leaves)
        values = list(map(_underneath, results)) if self.reads.own else []
        if not any(map(is_traced, values)):
            self.reads.note(map(np.asarray, values))
        return results, saved

    def load(self, saved: Any, cotangents: Sequence[Any]) -> Any:
        """Cotangents of the leaves."""
        with self._held():
            return self.subject.load(saved, cotangents)

    def _held(self) -> AbstractContextManager[None]:
        """Now, and where a callback that is traced now runs later."""
        return run_later(self.reads, self.subject.name)


def _underneath(x: Any) -> Any:
    """The value that a derivative of a derivative carries along."""
    while is_traced(x) and hasattr(x, "primal"):
        x = x.primal
    return x
