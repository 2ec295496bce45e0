"""The language at its corners: special methods that Python asks on its own."""

# Programs use all of the language, also what one would not write.
# ruff: noqa: FURB171, UP031, UP032

import bisect
import contextlib
import heapq
import io
import itertools
import math
import operator
from collections import deque

import numpy as np


class Ordered:
    """Each comparison changes what is compared."""

    def __init__(self, v):
        self.v = v

    def __lt__(self, other):
        self.v = self.v * 1.5
        return self.v < other.v

    def __gt__(self, other):
        self.v = self.v * 1.25
        return self.v > other.v


def some(x):
    return [Ordered(x), Ordered(2.0), Ordered(x * 3)]


def weighted(items):
    return sum((i + 1) * item.v for i, item in enumerate(items))


def sorting(x):
    a = some(x)
    a.sort()
    return weighted(a) + weighted(sorted(some(x), reverse=True))


def sorting_pairs(x):
    pairs = sorted((1, item) for item in some(x))
    by_key = sorted(some(x), key=lambda item: (0, item))
    return weighted([item for _, item in pairs]) + weighted(by_key)


def extremes(x):
    a, b = some(x), some(x)
    return min(a).v * 2 + weighted(a) + max(b).v + weighted(b)


def heaps(x):
    heap = []
    for item in some(x):
        heapq.heappush(heap, item)
    first = heapq.heappop(heap)
    heapq.heapify(heap)
    best = heapq.nlargest(2, some(x)) + heapq.nsmallest(1, some(x))
    merged = heapq.merge(some(x)[:1], some(x)[1:2])
    return first.v + weighted(heap) + weighted(best) + weighted(merged)


def searching(x):
    a = [Ordered(1.0), Ordered(5.0)]
    bisect.insort(a, Ordered(x))
    place = bisect.bisect_left(a, Ordered(2.0))
    return weighted(a) * (place + 1) + bisect.bisect([1.0, 3.0], -x, key=operator.neg)


class Equal:
    def __init__(self, v):
        self.v = self.n = v

    def __eq__(self, other):
        self.n = self.n * self.v
        return self.v == other.v

    __hash__ = None  # type: ignore[assignment]  # what Python takes for "no hash"


def finding(x):
    a = [Equal(x), Equal(2.0), Equal(3.0)]
    place = a.index(Equal(3.0)) + a.count(Equal(2.0)) + operator.countOf(a, Equal(3.0))
    kept = a[0]
    a.remove(Equal(2.0))
    d = deque(a)
    d.remove(Equal(3.0))
    return kept.n * place + len(a) + len(d) * (Equal(x) in a) * kept.n


def comparing_lists(x):
    a, b = [Equal(x)], [Equal(x)]
    same = (a == b) + ((1, Equal(x)) != (1, a[0])) + ([*a, 1] == b)
    return a[0].n * same + (Equal(x) in (a[0],)) * a[0].n


class Asked:
    """Its truth, length and index change it."""

    def __init__(self, v):
        self.v = v

    def __bool__(self):
        self.v = self.v * self.v
        return True

    def __index__(self):
        self.v = self.v * 1.5
        return 1


def tests(x):
    b = Asked(x)
    while not b:
        pass
    assert b
    y = b.v if b else 0.0
    c = Asked(x) and 1.5
    d = not b
    if b and (d or c):
        y += b.v
    match y:
        case _ if b:
            y += b.v
    return y + b.v + c + sum(b.v for _ in range(2) if b)


def tests_in_calls(x):
    b = Asked(x)
    found = any([b]) + all([b, b]) + len(list(filter(None, [b]))) + bool(b)
    kept = list(itertools.takewhile(lambda _: b, [1, 2]))
    return b.v * found * len(kept) + operator.truth(b) + operator.not_(b) + b.v


def values_of_tests(x):
    empty, full = [], [x, x * x]
    total = sum(v for v in (empty or full)) + sum(v for v in (full and [x]) if v or x)
    return total * (x and x) + (empty or None or x) + (0.0 or x * x) * (full and 2.0)


class Length:
    def __init__(self, v):
        self.v, self.made = v, None

    def __len__(self):
        if self.made is None:
            self.made = [self.v * k for k in range(4)]
        return len(self.made)

    def __getitem__(self, i):
        return self.made[i]


def lengths(x):
    a, b, c = Length(x), Length(x * 2), Length(x * 3)
    if a:
        list(c)
        return a.made[-1] + len(b) * b.made[2] * a[1] + c.made[2]
    return x


def as_arrays(x):
    return (
        np.sum(np.array(Length(x)) ** 2) + np.sum(Length(x)) * np.asarray(Length(x))[3]
    )


def indices(x):
    i = Asked(x)
    a = [1.0, x, 3.0]
    a[i] = a[i] * 2
    y = a[i] + sum(a[i:]) + sum(2.0 for _ in range(i)) + operator.index(i)
    del a[i]
    return (y + len(a)) * i.v


def indices_of_floats(x):
    """An index inside a slice or a tuple is asked as well, also where it writes."""
    i, a = Asked(x), np.ones((2, 2)) * x
    y = a[i, 0] + np.sum(a[:, i]) + np.sum(a[i:2]) + np.sum(a[:i, 0]) + a[::i][1, 1]
    a[0, i] = i.v
    a[i:, 0] *= i.v
    a[i, :] = a[0, :] * i.v
    return y * i.v + np.sum(a)


class Worded:
    def __init__(self, v):
        self.v = v

    def __format__(self, spec):
        self.v = self.v * 2
        return "a" + spec

    def __str__(self):
        self.v = self.v * 3
        return "b"

    def __repr__(self):
        self.v = self.v + 1
        return "c"


def texts(x):
    w = Worded(x)
    s = f"{w:x}{w!r}" + str(w) + "%s %r" % (w, w) + "{0} {0:>3} {0.v:.2f}".format(w)
    print(w, file=io.StringIO())
    held = f"{[w]} {(w,)!r}" + str([[w]]) + "%s" % ({1: w},) + "{}".format([w])
    return w.v * len(s.replace(str(w.v)[:3], "")) + w.v * len(held)


class Kind(type):
    def __instancecheck__(cls, x):
        x.v = x.v * 2
        return True

    def __getattr__(cls, name):
        return cls.base * len(name)

    @property
    def squared(cls):
        return cls.base**2


class Kinds(metaclass=Kind):
    base = 1.0


def metaclasses(x):
    w = Worded(x)
    Kinds.base = x
    known = isinstance(w, Kinds) + isinstance(w, (int, Kinds))
    return w.v * known * Kinds.abc * Kinds.squared


class Counted(type):
    def __call__(cls, *args):
        made = super().__call__(*args)
        made.extra = args[0] * 2
        return made


class Point(metaclass=Counted):
    def __init__(self, v):
        self.v = v


def instances_by_metaclass(x):
    return Point(x).v * Point(x * x).extra + type.__call__(Point, x).v


class Lazy:
    def __init__(self, v):
        self.v = v

    @property
    def ready(self):
        self.made = self.v**2
        return True

    def __getattr__(self, name):
        if name == "late":
            self.late = self.v**3
            return self.late
        raise AttributeError(name)


def asked_for_attributes(x):
    o = Lazy(x)
    if hasattr(o, "ready") and hasattr(o, "late") and not hasattr(o, "never"):
        return o.made * o.__dict__["late"]
    return x


class Once:
    """Each question makes it; what was made is read afterwards."""

    def __init__(self, v):
        self.v, self.made = v, 0.0

    def make(self):
        self.made = self.v**2
        return self.made

    def __lt__(self, other):
        return self.make() < other.v**2

    def __eq__(self, other):
        return self.make() == other.v**2

    def __bool__(self):
        return self.make() > 0

    def __index__(self):
        return int(self.make())

    def __dir__(self):
        return [str(self.make())]

    __hash__ = None  # type: ignore[assignment]  # what Python takes for "no hash"


QUESTIONS = [
    lambda a, b: b > a, lambda a, b: a != b, lambda a, b: max(b, a),
    lambda a, b: [k for k, _ in itertools.groupby([a, b])],
    lambda a, b: [*itertools.compress([1], [a])], lambda a, b: {1: a} == {1: b},
    lambda a, b: {1: a} != {2: b} or a, lambda a, b: np.arange(9.0)[a],
    lambda a, b: [1] * a, lambda a, b: "x" * a, lambda a, b: (1, a) < (1, b),
    lambda a, b: dir(a), lambda a, b: bin(a) + chr(a) + hex(a),
    lambda a, b: [*itertools.filterfalse(None, [a])],
]  # fmt: skip


def every_question(x):
    total = x
    for number, ask in enumerate(QUESTIONS, 1):
        a, b = Once(x), Once(2 * x)
        with contextlib.suppress(ValueError):  # the truth of an array
            ask(a, b)
        total += number * a.made + b.made
    return total


class Rounded:
    def __init__(self, v):
        self.v = v

    def __float__(self):
        return self.v

    def __floor__(self):
        return self.v * 2

    def __ceil__(self):
        return self.v * 3

    def __trunc__(self):
        return self.v * 4


def rounding(x):
    r = Rounded(x)
    return math.floor(r) + math.ceil(r) * math.trunc(r) + math.sin(r) + float(r)


class Finalized:
    """What changes nothing at its end may hold a derivative."""

    def __init__(self, v):
        self.v = v

    def __del__(self):
        with contextlib.suppress(AttributeError):
            len(str(self.v))


def finalizers(x):
    return Finalized(x).v ** 2


PROGRAMS = [
    (f, (1.3,))
    for f in (
        sorting, sorting_pairs, extremes, heaps, searching, finding, comparing_lists,
        tests, tests_in_calls, values_of_tests, lengths, as_arrays, indices,
        indices_of_floats, texts,
        metaclasses, instances_by_metaclass, asked_for_attributes, every_question,
        rounding, finalizers,
    )
]  # fmt: skip
