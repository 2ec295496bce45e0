"""The tangents of an owner of memory."""

import weakref
from typing import Any, Self

from .memory import CALLBACK, Memory

__all__ = ["Flow"]


class Flow(weakref.ref[Any]):
    """The tangents of an owner of memory, one buffer per lane.

    It is itself the weak reference to the owner.
    """

    __slots__ = ("lanes",)

    def __new__(cls, owner: Any, _width: int, forget: Any) -> Self:
        return super().__new__(cls, owner, forget)

    def __init__(self, owner: Any, width: int, _forget: Any):
        self.lanes = [Memory(owner, CALLBACK) for _ in range(width)]
        for lane in self.lanes:
            lane.own()

    def window(self, a: Any, lane: int) -> Any:
        """The tangent of a view of the owner: the same window of the buffer."""
        memory = self.lanes[lane]
        return memory.data if self() is a else memory.window(a)
