"""rules_core's rules inside PyTorch."""

from ._adapter import adapter
from ._config import TorchConfig

__all__ = ["TorchConfig", "adapter"]
