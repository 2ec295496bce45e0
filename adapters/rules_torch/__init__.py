"""PyTorch runs rules_core's rules: in eager code, torch.func, compiled and exported.

The adapter is found by `rules_core` as soon as a primitive meets a tensor; importing
this package is needed only for the names below.
"""

# Before all else: it tells the core what an array is.
from rules_core.extend import name_extra as _name_extra

try:
    from . import _framework as _framework
except ModuleNotFoundError as missing:
    _name_extra(missing, "rules_torch")
    raise

# isort: split
from ._adapter import adapter
from ._config import TorchConfig
from ._errors import (
    CotangentError,
    FunctionalizeError,
    HiddenTensorsError,
    HostRuleError,
    KeywordDerivativeError,
    LostDerivativeError,
    NotGenericError,
    NotLinearError,
    OutsideTensorError,
    ResultShapeError,
    SecondDerivativeError,
    SelfTransposeError,
    UnconvertibleClosureError,
    UntraceableError,
)
from ._from_torch import from_torch
from ._to_torch import to_torch

__all__ = [
    "CotangentError",
    "FunctionalizeError",
    "HiddenTensorsError",
    "HostRuleError",
    "KeywordDerivativeError",
    "LostDerivativeError",
    "NotGenericError",
    "NotLinearError",
    "OutsideTensorError",
    "ResultShapeError",
    "SecondDerivativeError",
    "SelfTransposeError",
    "TorchConfig",
    "UnconvertibleClosureError",
    "UntraceableError",
    "adapter",
    "from_torch",
    "to_torch",
]
