"""Programs that use the language: each is a function and arguments for it."""

# Programs use all of the language, also what one would not write.
# ruff: noqa: B905, C416, C417, PLR0124, RUF007, RUF015, SIM108
# ruff: noqa: SIM202

import contextlib
import dataclasses
import functools
import itertools
import operator
from collections import deque
from typing import NamedTuple

import numpy as np

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


def branches(x):
    if x > 1:
        return x * x
    if x > 0:
        y = x + 1
    else:
        y = -x
    return y * 3


def loops(x, n=6):
    total = 0.0
    for i in range(n):
        if i == 1:
            continue
        if i == 4:
            break
        total += x**i / (i + 1)
    else:
        total = 100.0
    k = 0
    while k < 3:
        k += 1
        total *= x
    total += x
    for _ in ():
        pass
    total -= x * x
    return total


def arithmetic(x, y):
    return (x + y) * (x - 2 * y) / (1 + x * x) - x**y + (-x) + abs(y) + x % 0.7 + 3**y


def comparisons(x, y):
    return (x if -5 < x < y <= 9 else y) * (2.0 if x == x and not x != x else 0.0)


def boolean_values(x, y):
    return (x and y) * ((x > 100 and x) or y) + (0.0 or x)


def unpacking(x):
    a, (b, *c), d = x[0], x[1:], x[3]
    (e, f), g = (a * b, c[0]), d
    h, c[0] = c[0] * 2, g
    return a * b + c[0] * d + e * f + g + h


def array_unpacking(x):
    a, b, *c = x
    first, *_ = c
    return a * b * first + max(c)


def starred_calls(x):
    def inner(a, *args, k=2.0, **kwargs):
        return a * args[0] + k * kwargs["z"] - sum(args)

    rest = {"z": x[3], "k": x[2]}
    return inner(*x[:3], **rest) + inner(x[0], *(x[1], x[2]), z=x[0])


def defaults(x):
    def inner(a, b=x * 2, *, c=x + 1):
        return a * b * c

    return inner(x) + inner(x, 1.0) + inner(x, c=2.0)


def comprehensions(x):
    squares = [v * v for v in x if v > 0]
    table = {i: v for i, v in enumerate(x)}
    pairs = [a * b for a in squares for b in (1.0, a)]
    unpacked = [a * i for i, (a, b) in enumerate(zip(x, squares))]
    grid = [[v * w for w in row] for v, row in zip(x, [squares] * 2)]
    total = sum(g * 2 for g in squares) + table[1] * table[2]
    return total + sum(pairs) + sum(unpacked) + sum(map(sum, grid))


def generators(x):
    def count(c):
        while True:
            c = c * x[0] + 1
            got = yield c
            if got:
                c = c + got

    def delegate(c):
        result = yield from itertools.islice(count(c), 2)
        yield c * 2 if result is None else c

    g = count(x[1])
    first = next(g)
    second = g.send(x[2])
    g.close()
    return first * second + sum(delegate(x[3]))


def closures(x):
    total = 0.0

    def add(v):
        nonlocal total
        total += v * x[0]
        return total

    for v in x:
        add(v)
    scale = lambda v, c=x[1]: v * c * total  # noqa: E731
    return scale(x[2])


def nested_closures(x):
    def outer(a):
        def middle():
            def inner(b):
                return a * b * x

            return inner

        return middle()

    return outer(x)(2.0) + outer(3.0)(x)


def recursion(x, n=5):
    return 1.0 if n == 0 else x * recursion(x, n - 1) + n


def mutual_recursion(x):
    def even(n, v):
        return v if n == 0 else odd(n - 1, v * x)

    def odd(n, v):
        return v + x if n == 0 else even(n - 1, v + 1)

    return even(5, x)


def exceptions(x):
    total = x
    for d in (2.0, 0.0, "a"):
        try:
            total = total * x / d
        except ZeroDivisionError as error:
            total += x * len(str(error)[:2])
        except TypeError:
            total -= x * x
        else:
            total *= 2
        finally:
            total += 1
    return total


def raising(x):
    def risky(v):
        if v > 0:
            raise ValueError("positive", v * 2)
        return v

    try:
        return risky(x)
    except ValueError as error:
        return error.args[1] * x


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


def walrus(x):
    if (y := x * 2) > 0 and (z := y + 1):
        return y * z
    return [w := y + 1, w * y][1]


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
    global SCRATCH  # noqa: PLW0603
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


def locals_in_loops(x):
    fs = [lambda v, i=i: v * x * i for i in range(3)]
    return sum(f(2.0) for f in fs)


def del_and_rebind(x):
    y = x * 2
    z = y
    del y
    y = z * x
    return y + z


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
    branches, loops, defaults, nested_closures, recursion, mutual_recursion, exceptions,
    raising, contexts, walrus, formatted, methods, user_iterators, decorators,
    global_state, matching, kinds, higher_order, locals_in_loops, del_and_rebind,
]  # fmt: skip
TWO = [arithmetic, comparisons, boolean_values]
ARRAY = [
    unpacking, array_unpacking, starred_calls, comprehensions, generators, closures,
    containers, attributes, dataclasses_and_tuples, user_operators, builtins_, indexing,
]  # fmt: skip
PROGRAMS = [
    *((f, (0.8,)) for f in ONE),
    *((f, (1.3, 2.1)) for f in TWO),
    *((f, (X.copy(),)) for f in ARRAY),
    (matrices, (M.copy(),)),
]
