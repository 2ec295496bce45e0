"""Pullbacks that JAX traces: one jaxpr, in it one answer per pattern of zeros.

A closure that cannot be taken apart is traced while its rule runs, when it is not known
yet which cotangents will be zero. The pullback of a rule with `symbolic_zeros=True` is
therefore traced once for each pattern that may come; the backward pass cuts away what
the actual pattern does not use. All patterns are traced in one jaxpr, so a closure that
memoises shares its values between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress, product
from typing import Any, final

import jax

import rules_core as rc
from rules_jax import _compat
from rules_jax._values.leaves import expand, has_tangent
from rules_jax._values.project import RuleOutputError

__all__ = ["Traced", "trace_pullback"]

Pattern = tuple[bool, ...]  # per differentiable result: whether a cotangent is there

# Of more results than this only two kinds of pattern are traced: all, and each alone.
_EVERY_PATTERN = 3


def trace_pullback(
    pull: Any, pullback: Callable[..., Any]
) -> tuple[Sequence[Any], Traced]:
    """The captured values of a closure, and its backward half."""
    avals = pull.outs.avals
    smooth = [_compat.cotangent_aval(a) for a in avals if has_tangent(a)]
    answers: dict[Pattern, _Answer | str | rc.DerivativeNotImplemented] = {}

    def flat(*given: Any) -> list[Any]:
        out: list[Any] = []
        for pattern in _patterns(len(smooth), symbolic=pull.symbolic):
            masked = [
                ct if there else None for ct, there in zip(given, pattern, strict=True)
            ]
            try:
                found = pull(pullback, expand(avals, masked))
            except rc.DerivativeNotImplemented as error:
                # There may be a formula if some cotangents are zero.
                answers[pattern] = _without_frames(error)
                continue
            except Exception as error:
                if all(pattern):
                    raise
                answers[pattern] = _refusal(pull, pattern, error)
                continue
            answers[pattern] = _Answer(len(out), [x is not None for x in found])
            out += [x for x in found if x is not None]
        if not any(isinstance(answer, _Answer) for answer in answers.values()):
            _raise_first(answers.values())
        return out

    closed = jax.make_jaxpr(flat)(*smooth)
    return closed.consts, Traced(pull, _compat.without_consts(closed), answers)


def _without_frames(
    error: rc.DerivativeNotImplemented,
) -> rc.DerivativeNotImplemented:
    """The error without its frames, which would keep alive what they hold."""
    error.__context__ = error.__cause__ = None
    return error.with_traceback(None)


def _raise_first(answers: Iterable[Any]) -> None:
    for answer in answers:
        if isinstance(answer, Exception):
            raise answer


def _patterns(count: int, *, symbolic: bool) -> list[Pattern]:
    """Patterns of zeros to be traced, the pattern without a zero first."""
    full = (True,) * count
    if not symbolic or not count:
        return [full]
    if count <= _EVERY_PATTERN:
        return list(product((True, False), repeat=count))[:-1]
    return [full, *_singles(full)]


def _singles(pattern: Pattern) -> Iterator[Pattern]:
    """The patterns of one cotangent each that make this one up."""
    for i in compress(range(len(pattern)), pattern):
        yield tuple(i == j for j in range(len(pattern)))


def _refusal(pull: Any, pattern: Pattern, error: Exception) -> str:
    """The text of an error; the exception would keep alive what its frames hold."""
    rule = pull.spec.rrule
    smooth = [i for i, aval in enumerate(pull.outs.avals) if has_tangent(aval)]
    zeros = ", ".join(str(i) for i, b in zip(smooth, pattern, strict=True) if not b)
    return (
        f"rrule {rule.name} for {rule.target} at {rule.location}: the pullback must "
        "take ZeroTangent for any cotangent (symbolic_zeros=True), but with it for "
        f"result {zeros} it raised {type(error).__name__}: {error}. Ask for the type "
        "of a cotangent before computing with it, or drop symbolic_zeros=True."
    )


@final
class _Answer:
    """Places of the cotangents of one pattern among the outputs of a jaxpr."""

    def __init__(self, start: int, present: Sequence[bool]) -> None:
        self.present = present
        self.part = range(start, start + sum(present))


@final
class Traced:
    """A traced closure: a jaxpr whose leading inputs are the residuals."""

    def __init__(self, pull: Any, jaxpr: Any, answers: dict[Pattern, Any]) -> None:
        self.pull, self.jaxpr, self.answers = pull, jaxpr, answers

    def zeros(self) -> list[Any]:
        """The answer to zero cotangents."""
        return [None] * len(self.pull.avals)

    def __call__(self, arrays: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """Cotangents of the leaves."""
        smooth = map(has_tangent, self.pull.outs.avals)
        given = list(compress(cotangents, smooth))
        pattern = tuple(ct is not None for ct in given)
        inputs = [*arrays, *given]
        first, *rest = [self._answer(p, inputs) for p in self._parts(pattern)]
        for found in rest:  # a pullback is linear
            first = [_sum(x, y) for x, y in zip(first, found, strict=True)]
        return first

    def _parts(self, pattern: Pattern) -> list[Pattern]:
        """Patterns that were traced and together make up this one."""
        if pattern in self.answers:
            return [pattern]
        if self.pull.symbolic:
            return list(_singles(pattern))
        return [(True,) * len(pattern)]

    def _answer(self, pattern: Pattern, inputs: Sequence[Any]) -> list[Any]:
        answer = self.answers[pattern]
        if isinstance(answer, str):
            raise RuleOutputError(answer)
        if isinstance(answer, rc.DerivativeNotImplemented):
            raise answer
        used = [i in answer.part for i in range(len(self.jaxpr.outvars))]
        jaxpr, needed = _compat.pruned(self.jaxpr, used)
        given = [
            _compat.zeros_of(place.aval) if x is None else x
            for x, place in zip(compress(inputs, needed), jaxpr.invars, strict=True)
        ]
        found = iter(jax.core.eval_jaxpr(jaxpr, (), *given))
        return [next(found) if there else None for there in answer.present]


def _sum(x: Any, y: Any) -> Any:
    if x is None or y is None:
        return y if x is None else x
    return x + y
