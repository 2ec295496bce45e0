"""The language at its corners: the standard library's helpers."""

# Programs use all of the language, also what one would not write.
# ruff: noqa: FURB192
# ruff: noqa: RUF015, RUF017

import bisect
import functools
import heapq
import itertools
import operator
import random
import typing


@functools.lru_cache
def sq(x):
    return x * x


def lru_warm(x):
    return sq(x)


@functools.cache
def cst(n):
    return [1.0]


def lru_mutable(x):
    l = cst(3)
    l.append(x)
    r = l[-1]
    l.pop()
    return r


def sorted_key(x):
    return sorted([3 * x, x, 2 * x], key=lambda v: -v)[0]


def min_key(x):
    return min([x, -x, 2 * x], key=lambda v: v * v) + max([x, 3 * x], key=abs)


def min_default(x):
    return min([], default=x * 2) + max((), default=x)


def sum_start(x):
    return sum([1.0, x], x * x) + sum([], start=x)


def sum_lists(x):
    return sum([[x], [x * 2]], [])[1]


def zip_strict(x):
    return sum(a * b for a, b in zip([x, 2 * x], [1.0, x], strict=True))


def reduce(x):
    return functools.reduce(lambda a, b: a * b, [x, x, 2.0]) + functools.reduce(
        operator.add, [x], x * x
    )


@functools.singledispatch
def sdf(a):
    return 0


@sdf.register
def _(a: float):
    return a * a


@sdf.register(list)
def _(a):
    return sum(map(sdf, a))


def cmp_to_key(x):
    return sorted(
        [x * 3, x], key=functools.cmp_to_key(lambda a, b: 1 if a > b else -1)
    )[0]


def it_accumulate(x):
    return list(itertools.accumulate([x, x * 2, 3.0], lambda a, b: a * b))[-1]


def it_misc(x):
    a = list(itertools.chain([x], (x * 2,)))[1]
    b = next(itertools.islice(itertools.count(x, x), 2, 3))
    c = next(itertools.repeat(x * 3))
    d = [q for _, q in zip(range(5), itertools.cycle([x, 2 * x]))][4]
    return a * b * c * d


def it_product(x):
    return sum(a * b for a, b in itertools.product([x, 2.0], [x, x * x]))


def it_comb(x):
    return sum(a * b for a, b in itertools.combinations([x, 2 * x, 3.0], 2)) + sum(
        a * b for a, b in itertools.permutations([x, 3.0])
    )


def it_ziplong(x):
    return sum(
        a * b for a, b in itertools.zip_longest([x, x * 2], [x], fillvalue=x * x)
    )


def it_starmap(x):
    return sum(itertools.starmap(lambda a, b: a * b, [(x, 2.0), (x, x)])) + sum(
        itertools.starmap(pow, [(x, 2)])
    )


def it_groupby(x):
    return sum(k * sum(g) for k, g in itertools.groupby([x, x, 2 * x]))


def it_tee(x):
    a, b = itertools.tee([x, x * 2])
    return sum(a) * list(b)[1]


def it_take(x):
    return sum(itertools.takewhile(lambda v: v < 2, [x, x * 2, 9 * x])) + sum(
        itertools.dropwhile(lambda v: v < 1, [x, 3 * x])
    )


def it_compress(x):
    return sum(itertools.compress([x, x * 2, x * 3], [1, 0, 1])) + sum(
        itertools.filterfalse(lambda v: v > 1, [x, 3 * x])
    )


def it_pairwise(x):
    return sum(a * b for a, b in itertools.pairwise([x, 2 * x, 3.0]))


def count_float(x):
    return sum(itertools.islice(itertools.count(x, 0.5), 3))


def map_multi(x):
    return (
        sum(map(lambda a, b: a * b, [x, 2.0], [x, x]))
        + sum(map(operator.mul, [x], [x]))
        + sum(map(float, [x]))
    )


def filter_none(x):
    return sum(filter(None, [x, 0.0, 2 * x]))


def any_all(x):
    return x * 2 if any([x > 0]) and all(v > 0 for v in [x]) else 0.0


def enumerate_program(x):
    return sum(i * v for i, v in enumerate([x, 2 * x], start=1))


def reversed_program(x):
    return list(reversed([x, 2 * x]))[0]


def heap_program(x):
    h = []
    heapq.heappush(h, (x * 3, 1))
    heapq.heappush(h, (x, 2))
    return (
        heapq.heappop(h)[0]
        + heapq.nlargest(1, [x, 2 * x])[0]
        + heapq.nsmallest(1, [x, 2 * x])[0]
    )


def heap_merge(x):
    return sum(v * i for i, v in enumerate(heapq.merge([x], [2 * x])))


def bisect_program(x):
    l = [0.1, 5.0]
    bisect.insort(l, x)
    return l[bisect.bisect(l, x) - 1] * 2


def random_program(x):
    random.seed(0)
    return random.uniform(0, 1) * x + random.choice([x, x]) * 2


def random_sample(x):
    random.seed(1)
    return random.sample([x, 2 * x, 3 * x], 2)[0] + random.choices([x, 2 * x], k=1)[0]


def typing_cast(x):
    return typing.cast(float, x) * 2


PROGRAMS = [
    (lru_warm, (0.7,)),
    (lru_mutable, (0.7,)),
    (sorted_key, (0.7,)),
    (min_key, (0.7,)),
    (min_default, (0.7,)),
    (sum_start, (0.7,)),
    (sum_lists, (0.7,)),
    (zip_strict, (0.7,)),
    (reduce, (0.7,)),
    (cmp_to_key, (0.7,)),
    (it_accumulate, (0.7,)),
    (it_misc, (0.7,)),
    (it_product, (0.7,)),
    (it_comb, (0.7,)),
    (it_ziplong, (0.7,)),
    (it_starmap, (0.7,)),
    (it_groupby, (0.7,)),
    (it_tee, (0.7,)),
    (it_take, (0.7,)),
    (it_compress, (0.7,)),
    (it_pairwise, (0.7,)),
    (count_float, (0.7,)),
    (map_multi, (0.7,)),
    (filter_none, (0.7,)),
    (any_all, (0.7,)),
    (enumerate_program, (0.7,)),
    (reversed_program, (0.7,)),
    (heap_program, (0.7,)),
    (heap_merge, (0.7,)),
    (bisect_program, (0.7,)),
    (random_program, (0.7,)),
    (random_sample, (0.7,)),
    (typing_cast, (0.7,)),
]
