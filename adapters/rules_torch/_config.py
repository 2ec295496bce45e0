"""PyTorch as the AD system that a rule may call back into."""

from __future__ import annotations

from typing import Any, final

import rules_core as rc

__all__ = ["CONFIG", "TorchConfig"]


@final
class TorchConfig(rc.RuleConfig, rc.HasReverseMode, rc.HasForwardsMode):
    """The configuration that rules receive when PyTorch differentiates."""


CONFIG = TorchConfig()
