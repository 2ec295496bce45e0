"""The engine's configuration for rules that call back into it."""

from typing import Any

from rules_autodiff._hooks.run import Run
from rules_core import HasForwardsMode, HasReverseMode, RuleConfig, SupportsMutation

from .via_ad import frule_via_engine, rrule_via_engine

__all__ = ["EngineConfig"]


class EngineConfig(RuleConfig, HasReverseMode, HasForwardsMode, SupportsMutation):
    """The `RuleConfig` of the engine: both modes, and mutation.

    `rrule_via_ad(config, f, *args)` and `frule_via_ad(config, tangents, f, *args)`
    differentiate `f` by the engine, nested in the derivative that runs the rule.

    >>> from rules_autodiff import EngineConfig
    >>> from rules_core import rrule_via_ad
    >>> y, pullback = rrule_via_ad(EngineConfig(), lambda x: x * x, 3.0)
    >>> y, pullback(1.0)[1]
    (9.0, 6.0)
    """

    def rrule_via_ad(self, f: Any, *args: Any, **kw: Any) -> Any:
        """`(y, pullback)` of any function, `pullback(dy) = (df, dx1, …)`."""
        return rrule_via_engine(f, args, kw, by_rule=True)

    def frule_via_ad(self, tangents: Any, f: Any, *args: Any, **kw: Any) -> Any:
        """`(y, dy)` of any function for the tangents `(df, dx1, …)`."""
        return frule_via_engine(tangents, f, args, kw, by_rule=True)


Run.config = EngineConfig()  # stateless
