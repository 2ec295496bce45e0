"""What several files of programs at the language's corners have in common."""

import dataclasses
import typing

import numpy as np

X = np.array([0.3, -1.2, 2.0, 0.7])


@dataclasses.dataclass
class DP:
    x: float
    y: float = 2.0


class TN(typing.NamedTuple):
    a: float
    b: float = 1.0

    def s(self):
        return self.a * self.b


class Prop:
    def __init__(self, v):
        self._v = v

    @property
    def v(self):
        return self._v * 2

    @v.setter
    def v(self, n):
        self._v = n * 3

    @v.deleter
    def v(self):
        self._v = 0.0
