"""A function of a function, whose rules ask the engine for derivatives."""

from collections.abc import Iterator
from contextlib import contextmanager

import rules_core as rc
from rules_core import (
    HasForwardsMode,
    HasReverseMode,
    NoTangent,
    RuleConfig,
    frule_via_ad,
    rrule_via_ad,
)
from rules_core.testing import isolated_rules

__all__ = ["applied", "rules_of_applied"]


def applied(f, x):
    """`f(x)`."""
    return f(x)


@contextmanager
def rules_of_applied() -> Iterator[None]:
    """Both rules of `applied`, until the end of the block."""
    with isolated_rules():

        @rc.rrule.define(applied, config=RuleConfig[HasReverseMode])
        def applied_rrule(config, f, x):
            y, pullback = rrule_via_ad(config, f, x)

            def applied_pullback(dy):
                return NoTangent(), *pullback(dy)

            return y, applied_pullback

        @rc.frule.define(applied, config=RuleConfig[HasForwardsMode])
        def applied_frule(config, tangents, f, x):
            return frule_via_ad(config, tangents[1:], f, x)

        yield
