"""Primals of several kinds, and what is said about their tangents."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest


class Point(NamedTuple):
    x: Any
    y: Any


@dataclass(frozen=True)
class Frozen:
    scale: float
    name: str = "a"


@dataclass(frozen=True)
class Foo:
    x: object
    y: object = None


class Affine:
    def __init__(self, w, b=0.0):
        self.w, self.b = w, b


class Layer:
    def __init__(self, w, **fields):
        self.w = w
        self.__dict__.update(fields)


def same(a, b):
    """Equal numbers of one type."""
    return type(a) is type(b) and a == b


def never():
    pytest.fail("was forced")
