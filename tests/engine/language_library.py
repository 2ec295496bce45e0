"""The language: scopes, exceptions, and the standard library's helpers."""

# Programs use all of the language, also what one would not write.
# ruff: noqa: B023, B905, C416, PERF401, PLC3002
# ruff: noqa: RUF015, UP028, UP031

import bisect
import collections
import contextlib
import copy
import functools
import heapq
import itertools
import operator
import types

import numpy as np

X = np.array([0.3, -1.2, 2.0, 0.7])


def finally_and_return(x):
    def inner(v):
        for i in range(3):
            try:
                if i == 1:
                    continue
                v = v * x
                if i == 2:
                    return v
            finally:
                v = v + 1
        return v

    return inner(x)


def exit_stacks(x):
    log = []

    @contextlib.contextmanager
    def opened(v):
        log.append(v * 2)
        try:
            yield v * 3
        finally:
            log.append(v * v)

    with contextlib.ExitStack() as stack:
        a = stack.enter_context(opened(x))
        b = stack.enter_context(opened(a))
        stack.callback(lambda: log.append(b))
    with opened(x) as c, contextlib.nullcontext(c * 2) as d:
        pass
    return sum(log) + a * b + c * d


def generators_of_generators(x):
    def numbers():
        try:
            for v in x:
                yield v
        finally:
            state.append(x[0])

    def squares(source):
        yield from (v * v for v in source)

    def pairs(source):
        previous = None
        for v in source:
            if previous is not None:
                yield previous, v
            previous = v

    state = []
    total = sum(a * b for a, b in pairs(squares(numbers())))
    gen = numbers()
    next(gen)
    try:
        gen.throw(KeyError("stop"))
    except KeyError:
        total += 1
    return total + sum(state)


def comprehension_scopes(x):
    y = [z for z in (lambda: [v * w for v in x for w in x if v > 0])() if z > 0]
    best = [last := v * 2 for v in y]
    table = {k: [v, v * last] for k, v in zip("abcd", y)}
    nested = sum(sum(row) for row in table.values())
    flat = [e for row in [[v, -v] for v in best] for e in row if e != 0]
    return nested + sum(flat[::2]) + sum({k: v for k, v in enumerate(y)}.values())


def starred_everything(x):
    def f(a, /, b, *rest, c, d=2.0, **named):
        return a * b + sum(rest) * c - d * named.get("e", 1.0)

    first, *middle, last = x
    args = [*middle, last]
    return f(first, *args, c=x[0], e=x[1], d=x[2]) + f(*x, c=1.0)


def returns_starred(x):
    def f():
        return *x[:2], x[0] * x[1]

    a, b, c = f()
    return a * b * c


def assignment_chains(x):
    a = b = c = [x[0], x[1]]
    a[0] *= b[1]
    calls = []

    def which():
        calls.append(1)
        return 1

    c[which()] += x[2]
    (d, e), [f, *g] = (x[0], x[1]), x
    t = types.SimpleNamespace(v=d)
    t.v, c[0] = c[0], t.v * e
    assert len(calls) == 1
    return a[0] * a[1] * t.v + f * sum(g)


def higher_functions(x):
    compose = lambda f, g: lambda *a: f(g(*a))
    square = functools.partial(pow, exp=2)
    inc = functools.partial(operator.add, x[0])
    values = list(map(compose(square, inc), x))
    values += list(map(operator.mul, x, x[::-1]))
    values.append(functools.reduce(operator.mul, x, 1.0))
    groups = itertools.groupby(sorted(x, key=abs), key=lambda v: v > 0)
    values += [sum(items) * key for key, items in groups]
    values += itertools.accumulate(x, lambda a, b: a * 0.5 + b)
    values += [a * b for a, b in itertools.combinations(x, 2)]
    values += itertools.chain.from_iterable([x, x[:1]])
    values += [v for v in itertools.takewhile(lambda v: v < 1, x)]
    values += [a - b for a, b in itertools.pairwise(x)]
    return sum(values) + max(x, key=abs) * min(x, key=lambda v: v * v)


def collections_(x):
    d = collections.defaultdict(lambda: x[0] * 2)
    d["a"] += x[1]
    chain = collections.ChainMap({"b": x[2]}, d)
    order = collections.OrderedDict(z=x[3], y=x[0])
    order.move_to_end("z")
    queue = collections.deque(x, maxlen=3)
    queue.rotate(1)
    queue[0] *= x[0]
    count = collections.Counter("aab")
    user = collections.UserDict(k=x[1])
    user["m"] = user["k"] * x[0]
    total = chain["b"] * chain["a"] + list(order.values())[0] * queue[0]
    return total * count["a"] + user["m"] + sum(queue)


def heaps_and_getters(x):
    heap = []
    for v in x:
        heapq.heappush(heap, v * v)
    smallest = heapq.heappop(heap)
    ordered = [0.1, 0.6]
    bisect.insort(ordered, x[0])
    a, b = operator.itemgetter(1, 2)(x)
    indexed = sum(v * i for (i,), v in np.ndenumerate(x))
    return smallest * heap[0] + ordered[1] * a * b + operator.itemgetter(0)(x) * indexed


def copies_of_objects(x):
    class_ = types.SimpleNamespace
    a = class_(v=x[0], w=[x[1]], z=x * 2)
    b = copy.copy(a)
    c = copy.deepcopy(a)
    b.w[0] *= x[2]
    c.w[0] = c.w[0] * 2 + c.z[3]
    c.z[0] = 1.0
    return a.w[0] * c.w[0] + b.v + a.z @ c.z


def y_combinator(x):
    fix = lambda f: (lambda g: g(g))(lambda g: f(lambda *a: g(g)(*a)))
    power = fix(lambda self: lambda n: 1.0 if n == 0 else x * self(n - 1) + 0.5)
    return power(4)


def late_binding(x):
    fs = []
    for i in range(3):
        fs.append(lambda v: v * x * i)
    first = fs[0](2.0)
    i = 5
    return first + fs[1](1.0)


def conditional_definitions(x):
    if x > 0:

        def g(v):
            return v * x

    else:

        def g(v):
            return v + x

    import math as m

    return g(x) * m.gcd(4, 6) + m.floor(2.5) * x


def shadowed_builtins(x):
    sum = lambda a, b: a * b  # noqa: A001  hidden on purpose
    slice = x * 2  # noqa: A001  hidden on purpose
    list = [sum(x, slice)]  # noqa: A001  hidden on purpose
    return list[0] + slice


def integers_and_bits(x):
    n = (7 & 3 | 8) ^ (1 << 2) >> 1
    k = -(-7 // 2) % 3 + (~n)
    return x**2 * n + k * x + divmod(17, 5)[1] * x


def loop_else_and_while(x):
    total, i = x, 0
    while True:
        i += 1
        for j in range(i):
            if j == 3:
                break
            total = total * 0.9 + x
        else:
            continue
        break
    return total * i


def string_work(x):
    parts = {f"{k:>3}": v for k, v in zip("ab", (x, x * x))}
    names = ",".join(sorted(parts)).split(",")
    return sum(parts[n] for n in names) * len("%.2f|%s" % (x, names[0]))


ONE = [
    finally_and_return,
    exit_stacks,
    y_combinator,
    late_binding,
    conditional_definitions,
    shadowed_builtins,
    integers_and_bits,
    loop_else_and_while,
    string_work,
]
ARRAY = [
    generators_of_generators,
    comprehension_scopes,
    starred_everything,
    returns_starred,
    assignment_chains,
    higher_functions,
    collections_,
    copies_of_objects,
    heaps_and_getters,
]
PROGRAMS = [
    *((f, (0.8,)) for f in ONE),
    *((f, (X.copy(),)) for f in ARRAY),
]
