"""The language: objects, containers, operators, context managers."""

# Programs use all of the language, also what one would not write.
# ruff: noqa: B905, C417, RUF007, RUF015

import contextlib
import dataclasses
import functools
import itertools
import operator
from collections import deque
from typing import NamedTuple

import numpy as np

from tests.engine.language_flow import branches

X = np.array([0.3, -1.2, 2.0, 0.7])
M = np.array([[1.0, 2.0], [-0.5, 0.3], [0.1, 4.0]])


class Point(NamedTuple):
    x: float
    y: float


@dataclasses.dataclass
class Particle:
    position: float
    velocity: float = 0.5
    history: list = dataclasses.field(default_factory=list)

    def step(self, dt):
        self.position += self.velocity * dt
        self.history.append(self.position)

    @property
    def energy(self):
        return 0.5 * self.velocity**2 + self.position


@dataclasses.dataclass
class Normal:
    mean: float
    scale: float
    inverse: float = dataclasses.field(init=False)

    def __post_init__(self):
        self.inverse = 1.0 / self.scale

    def __call__(self, x):
        return (x - self.mean) * self.inverse


class Vector:
    def __init__(self, *parts):
        self.parts = parts

    def __add__(self, other):
        return Vector(*(a + b for a, b in zip(self.parts, other.parts)))

    def __radd__(self, other):
        return self if other == 0 else NotImplemented

    def __rmul__(self, c):
        return Vector(*[c * a for a in self.parts])

    def __getitem__(self, i):
        return self.parts[i]

    def __iter__(self):
        return iter(self.parts)

    def __len__(self):
        return len(self.parts)

    def __abs__(self):
        return sum(p * p for p in self) ** 0.5

    def __lt__(self, other):
        return abs(self) < abs(other)


class Base:
    factor = 2.0

    def apply(self, x):
        return self.factor * x

    @classmethod
    def make(cls, c):
        made = cls()
        made.c = c
        return made

    @staticmethod
    def square(x):
        return x * x


class Derived(Base):
    def apply(self, x):
        self.__hidden = x * self.c
        return super().apply(x) + self.__hidden

    @property
    def doubled(self):
        return self.c * 2

    @doubled.setter
    def doubled(self, value):
        self.c = value / 2

    @functools.cached_property
    def cubed(self):
        return self.c**3


class Lazy:
    def __init__(self, c):
        self.c = c

    def __getattr__(self, name):
        if name.startswith("times"):
            return self.c * int(name[5:])
        raise AttributeError(name)


class Counter:
    """An iterator with state."""

    def __init__(self, x, n):
        self.x, self.n = x, n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        self.x = self.x * 1.5
        return self.x


class Scope:
    def __init__(self, scale):
        self.scale = scale

    def __enter__(self):
        return self.scale * 3

    def __exit__(self, *error):
        self.scale = self.scale + 1
        return error[0] is ZeroDivisionError


@contextlib.contextmanager
def scaled(x):
    yield x * 2


def decorate(c):
    def decorator(f):
        @functools.wraps(f)
        def wrapper(*args, **kwargs):
            return c * f(*args, **kwargs)

        return wrapper

    return decorator


@decorate(3.0)
def decorated(x, *, power=2):
    return x**power


@functools.cache
def fib(n, x):
    return x if n < 2 else fib(n - 1, x) + fib(n - 2, x) * x


def contexts(x):
    with scaled(x) as a, Scope(a) as b:
        c = a * b
    with contextlib.suppress(ZeroDivisionError):
        c += x
        c / 0
    scope = Scope(x)
    with scope:
        c *= scope.scale
        raise ZeroDivisionError
    return c * scope.scale


def formatted(x):
    text = f"{x:.3f} {x!r}"
    return x * len(text[:3])


def containers(x):
    items = [x[0], x[1]]
    items.append(x[2] * 2)
    items.extend(v * v for v in x)
    items.insert(0, x[3])
    items[1] = items[0] * items[2]
    items += [x[1]]
    items[2:4] = [x[0] * x[1]]
    del items[0]
    last = items.pop()
    items.sort()
    items.reverse()
    table = {"a": x[0], "b": last}
    table["c"] = table["a"] * table["b"]
    table.update(d=x[1])
    table.setdefault("e", x[2])
    table.pop("a")
    queue = deque([x[0]], maxlen=2)
    queue.append(x[1])
    queue.appendleft(x[2])
    return (
        sum(v * i for i, v in enumerate(items)) + sum(table.values()) * queue.popleft()
    )


def attributes(x):
    particle = Particle(x[0], velocity=x[1])
    for dt in (0.1, x[2]):
        particle.step(dt)
    particle.velocity *= 2
    return particle.energy * sum(particle.history)


def dataclasses_and_tuples(x):
    normal = Normal(x[0], x[1])
    point = Point(x[2], y=x[3])
    moved = point._replace(x=point.x * 2)
    other = dataclasses.replace(normal, mean=x[3])
    return normal(moved.x) * other(moved[1]) + moved.y


def methods(x):
    a = Derived.make(x)
    value = a.apply(x) * a.doubled
    a.doubled = value
    bound = a.apply
    part = functools.partial(a.apply, x)
    return bound(2.0) + Base.square(a.c) + part() + a.cubed * a.cubed + Lazy(x).times3


def user_operators(x):
    u, v = Vector(x[0], x[1]), Vector(x[2], x[3])
    w = u + 2.0 * v
    total = sum([u, v, w])
    a, b = total
    return abs(total) * w[0] + a * b + len(w) * min(u, v)[1] + max([u, v])[0]


def user_iterators(x):
    total = 0.0
    for v in Counter(x, 3):
        total += v
    a, b = Counter(x * x, 2)
    return total * a + b + next(Counter(x, 5)) + sum(Counter(x, 2))


def builtins_(x):
    values = list(x)
    total = sum(values, x[0]) + max(values) * min(x) + abs(x[1])
    total += pow(x[0], 2) + divmod(x[2], 0.9)[1] + round(x[0], 1)
    total += functools.reduce(lambda a, b: a * b + 1, values)
    total += sum(sorted(values, key=lambda v: -v)[i] * i for i in range(3))
    total += sum(v for v in reversed(x)) * list(map(lambda v: v * 2, x))[1]
    total += [a * b for a, b in zip(x, x[1:])][0] + list(filter(lambda v: v > 0, x))[1]
    total += list(itertools.accumulate(values))[2] + operator.mul(x[0], x[1])
    total += sum(itertools.chain(x, [x[0]])) + sum(itertools.starmap(pow, [(x[2], 3)]))
    return total + float(x[0]) * 2 + (x[1] if any(v > 1 for v in x) else 0.0)


def decorators(x):
    @decorate(x)
    def local(v):
        return v * v

    return decorated(x, power=3) + local(2.0) + fib(6, x)


def global_state(x):
    global SCRATCH  # noqa: PLW0603  what is followed
    SCRATCH = x * 2
    value = SCRATCH * x
    SCRATCH = None
    return value


def matching(x):
    match (x, Point(x, x * 2)):
        case (v, Point(y=w)) if w > 0:
            return v * w
        case [v, _]:
            return v * 7
    return None


def kinds(x):
    assert isinstance(x, float)
    assert not isinstance(x, int)
    z = complex(x, 2 * x)
    w = z * z.conjugate() + z**2
    return w.real + w.imag * abs(z)


def higher_order(x):
    def compose(*fs):
        return lambda v: functools.reduce(lambda acc, f: f(acc), fs, v)

    return compose(lambda v: v * 2, lambda v: v**2, branches)(x)


def matrices(m):
    total = (m @ m.T)[0, 1] + (m.T @ m[:, 0])[1]
    for row in m:
        a, b = row
        total += a * b
    v = m[1]
    return total + v @ v + (v * m)[2, 0] + (m**2 - m / 3.0)[0, 1]


def indexing(x):
    y = x[1:] * x[:-1]
    return y[0] + x[-1] * y[[0, 0, 2]][1] + x[x > 0][1] * x[..., 2] + x[None][0, 1]


ONE = [
    methods,
    user_iterators,
    contexts,
    decorators,
    global_state,
    matching,
    kinds,
    higher_order,
    formatted,
]
ARRAY = [
    containers,
    attributes,
    dataclasses_and_tuples,
    user_operators,
    builtins_,
    indexing,
]
PROGRAMS = [
    *((f, (0.8,)) for f in ONE),
    *((f, (X.copy(),)) for f in ARRAY),
    (matrices, (M.copy(),)),
]
