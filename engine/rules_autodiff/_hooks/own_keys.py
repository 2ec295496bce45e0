"""Keys that say which active value is meant: texts, digests and rounded numbers."""

import re
from typing import Any

import numpy as np

from rules_autodiff._python.values import INERT

from .interface import Hooks

__all__ = ["NUMBER", "TEXTS", "is_own_key"]

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
TEXTS = frozenset({str, bytes, int})
ROUNDED = frozenset({float, np.float64})


def is_own_key(run: Hooks, key: Any) -> bool:
    """Whether a key says which value with a derivative is meant."""
    if type(key) is str and run.texts and key not in run.keys:
        return any(float(part) in run.texts for part in NUMBER.findall(key))
    if type(key) in TEXTS or (type(key) in ROUNDED and key in run.keys):
        return key in run.keys
    if type(key) is tuple:
        return any(is_own_key(run, part) for part in key)
    return type(key) not in INERT and run.is_active(key)
