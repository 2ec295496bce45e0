"""The language at its corners: classes and mappings that C code would call unseen."""

import collections
import copy
import dataclasses
import functools
import heapq
import itertools
from fractions import Fraction
from typing import Generic, TypeVar

import numpy as np

T = TypeVar("T")
BOX = [1.0]


class Doubled:
    def __init__(self, x):
        self.x = x * 2

    def __copy__(self):
        return Doubled(self.x * 3)

    def __deepcopy__(self, memo):
        return Doubled(self.x * 5)

    def __class_getitem__(cls, key):
        return key * 7

    def __lt__(self, other):
        return self.x < other.x


class Table:
    def __init__(self, x):
        self.x = x

    def keys(self):
        return ["a", "b"]

    def __getitem__(self, key):
        return self.x * (2 if key == "a" else 3)


class Product:
    def __init__(self, a, b):
        self.v = (a.v if isinstance(a, Product) else a) * b


class FromBox:
    def __init__(self):
        self.v = BOX[0] * 2


@dataclasses.dataclass
class Holder:
    part: FromBox = dataclasses.field(default_factory=FromBox)


class Model(Generic[T]):
    def __init__(self, v):
        self.v = v * 2


def copies(x):
    deep = copy.deepcopy([Doubled(x), {"k": Doubled(x * x)}])
    return copy.copy(Doubled(x)).x * deep[0].x + deep[1]["k"].x


def subscripted_classes(x):
    return Doubled[x] * Model[float](x).v


def mappings(x):
    made, display = dict(Table(x)), {"c": x, **Table(x)}
    updated = {"c": 1.0}
    updated.update(Table(x * x))
    called = Product(**Table(x)).v
    return made["a"] * display["b"] * updated["b"] + called


def classes_as_functions(x):
    keyed = sorted([x, 2 * x], key=Doubled)[1]
    mapped = sum(v.x for v in map(Doubled, [x, 2 * x]))
    starred = sum(v.x for v in itertools.starmap(Doubled, [(x,), (2 * x,)]))
    reduced = functools.reduce(Product, [x, x, 3.0]).v
    steps = list(itertools.accumulate([x, x, 3.0], Product))[-1].v
    partial = functools.partial(Doubled, x)().x
    return keyed * mapped * starred + reduced * steps * partial


def factories(x):
    BOX[0] = x
    table = collections.defaultdict(FromBox)
    total = table["k"].v * Holder().part.v
    BOX[0] = 1.0
    return total


def objects_in_heaps(x):
    heap = [Doubled(3 * x), Doubled(x)]
    heapq.heapify(heap)
    return heapq.heappop(heap).x * sorted([Doubled(3 * x), Doubled(x)])[1].x


def complex_pairs(x):
    (z,) = itertools.starmap(complex, [(x, 2 * x)])
    return (z * z).imag


def fractions_beside_floats(x):
    third, half = Fraction(1, 3), Fraction(1, 2)
    y = third * x + x / half - half / x + x ** Fraction(3, 2) + x % third
    return y * (x > half) + np.float64(x) * third + sum([half, x]) + third**x


def bytes_changed(x):
    buffer = bytearray(b"abc")
    buffer[0] = 2
    buffer.append(3)
    return x * sum(buffer) + x**2 * len(buffer)


PROGRAMS = [
    (f, (0.7,))
    for f in (
        fractions_beside_floats,
        bytes_changed,
        copies,
        subscripted_classes,
        mappings,
        classes_as_functions,
        factories,
        objects_in_heaps,
        complex_pairs,
    )
]
