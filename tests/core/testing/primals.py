"""Primals of three kinds, for what the tester says of spaces and of types."""

from dataclasses import dataclass
from typing import Any, NamedTuple


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass(frozen=True)
class Frozen:
    weight: Any
    name: str


@dataclass
class Mutable:
    weight: Any
    count: int
