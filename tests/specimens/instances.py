"""A slope and an offset, in each kind of class that holds numbers."""

import dataclasses
from typing import Any, NamedTuple


class Named(NamedTuple):
    slope: Any
    offset: Any


@dataclasses.dataclass(frozen=True)
class Frozen:
    slope: Any
    offset: Any


@dataclasses.dataclass
class Mutable:
    slope: Any
    offset: Any


class Plain:
    def __init__(self, slope, offset):
        self.slope, self.offset = slope, offset
