"""The standard library on Python numbers: `math`, `cmath`, builtins."""

from . import (
    builtins,
    cmath,
    math,
)

__all__ = [
    "builtins",
    "cmath",
    "math",
]
