"""Replacements of builtins that iterate: items keep their derivatives."""

import builtins
import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterator
from types import FunctionType, GeneratorType
from typing import Any

import numpy as np

from rules_autodiff._hooks.access import as_index
from rules_autodiff._hooks.flat_iterators import flat_items
from rules_autodiff._hooks.generators import check_generator
from rules_autodiff._hooks.sequence_operators import is_numpy
from rules_autodiff._hooks.special_methods import Ordered
from rules_autodiff._own_rules.own_rule import CORE, CoreRule, given
from rules_autodiff._python.handlers import HANDLERS, handler
from rules_autodiff._python.methods import has_items, python_method

__all__ = ["followed"]


def followed(run: Any, f: Any) -> Any:
    """A callable for C code whose calls are differentiated."""
    if f is None:
        return f

    def call_followed(*args: Any, **kwargs: Any) -> Any:
        return run.call(f, *args, **kwargs)

    return call_followed


def collecting(cls: Any) -> Callable[..., Any]:
    def handle(run: Any, *args: Any) -> Any:
        return cls(*map(run.starred, args))

    return handle


def deciding(f: Any) -> Callable[..., Any]:
    def handle(run: Any, *args: Any) -> Any:
        return f(*(map(run.truth, run.iter(arg)) for arg in args))

    return handle


for _collect in (list, tuple):
    HANDLERS[_collect] = collecting(_collect)
for _decide in (any, all):
    HANDLERS[_decide] = deciding(_decide)


def collecting_set(cls: Any) -> Callable[..., Any]:
    def handle(run: Any, *args: Any) -> Any:
        return cls(*(map(run.hashed, run.iter(arg)) for arg in args))

    return handle


for _set in (set, frozenset):
    HANDLERS[_set] = collecting_set(_set)


@handler(enumerate)
def handle_enumerate(run: Any, iterable: Any, start: int = 0) -> Any:
    return enumerate(run.iter(iterable), start)


@handler(zip)
def handle_zip(run: Any, *iterables: Any, strict: bool = False) -> Any:
    return zip(*map(run.iter, iterables), strict=strict)


@handler(dict)
def handle_dict(run: Any, *args: Any, **kwargs: Any) -> Any:
    return dict(*(run.entries(a) for a in args), **kwargs)


@handler(map)
def handle_map(run: Any, f: Any, *iterables: Any) -> Iterator[Any]:
    call = followed(run, f) if not isinstance(f, type) else class_caller(run, f)
    return map(call, *map(run.iter, iterables))


def class_caller(run: Any, cls: type) -> Any:
    def make(*args: Any) -> Any:
        return run.call(cls, *args)

    return make


@handler(filter)
def handle_filter(run: Any, f: Any, iterable: Any) -> Iterator[Any]:
    return filter(predicate(run, f), run.iter(iterable))


def predicate(run: Any, f: Any) -> Any:
    """A callable for C code that tests the truth of its results."""
    if f is None or f is bool:
        return run.truth
    call = followed(run, f)
    return lambda *args: run.truth(call(*args))


@handler(reversed)
def handle_reversed(run: Any, sequence: Any) -> Any:
    if isinstance(sequence, np.ndarray):
        return run.array_items(sequence[::-1])
    method = python_method(type(sequence), "__reversed__")
    if method is not None:
        return run.iter(run.call(method, sequence))
    if hasattr(type(sequence), "__reversed__") or not reads_items(sequence):
        return reversed(sequence)
    return items_backwards(run, sequence)


def reads_items(x: Any) -> bool:
    """Whether a user's `__getitem__` gives the items of a sequence."""
    return python_method(type(x), "__getitem__") is not None


def items_backwards(run: Any, sequence: Any) -> Iterator[Any]:
    """The items of a sequence with `__len__` and `__getitem__`, from the last."""
    read = python_method(type(sequence), "__getitem__")
    for i in range(run.call(len, sequence) - 1, -1, -1):
        try:
            yield run.call(read, sequence, i)
        except (IndexError, StopIteration):
            return


@handler(builtins.iter)
def handle_iter(run: Any, source: Any, *sentinel: Any) -> Any:
    if sentinel:
        return iter(followed(run, source), *sentinel)
    if type(source) is np.flatiter:  # its own iterator
        return source
    return iter(run.iter(source))


@handler(builtins.next)
def handle_next(run: Any, iterator: Any, *default: Any) -> Any:
    if type(iterator) is GeneratorType:
        check_generator(run, iterator)
    if type(iterator) is np.flatiter:
        return next(flat_items(run, iterator), *default)
    method = python_method(type(iterator), "__next__")
    if method is None:
        return next(iterator, *default)
    try:
        return run.call(method, iterator)
    except StopIteration:
        if not default:
            raise
        return default[0]


def plain_sum(start: Any, *items: Any) -> Any:
    """`sum` of floats, which is compensated from Python 3.12 on."""
    return sum(items, start)


def plain_sum_rrule(needs: Any, start: Any, *items: Any) -> Any:
    def plain_sum_pullback(dy: Any) -> Any:
        return tuple([dy if need else None for need in needs])

    return plain_sum(start, *items), plain_sum_pullback


def plain_sum_frule(tangents: Any, start: Any, *items: Any) -> Any:
    dy: Any = 0.0
    for dx in tangents:
        if given(dx):
            dy += dx
    return plain_sum(start, *items), dy


CORE[plain_sum] = CoreRule(plain_sum, plain_sum_rrule, plain_sum_frule)


@handler(plain_sum)
def handle_plain_sum(run: Any, *args: Any) -> Any:
    return run.core(plain_sum, args)


@handler(builtins.sum)
def handle_sum(run: Any, iterable: Any, start: Any = 0) -> Any:
    items, total = list(run.iter(iterable)), start
    plain = len(list(itertools.takewhile(is_plain, items))) if is_plain(start) else 0
    if plain > 1:
        total = run.core(plain_sum, (start, *items[:plain]))
        items = items[plain:]
    for item in items:
        total = run.add(total, item)
    return total


@handler(math.prod)
def handle_prod(run: Any, iterable: Any, *, start: Any = 1) -> Any:
    """The product, of NumPy's or Python's class as the factors decide."""
    product = start
    for factor in run.iter(iterable):
        product = run.mul(product, factor)
    return product


def is_plain(x: Any) -> bool:
    return type(x) in (float, int, bool)


@handler(operator.concat)
def handle_concat(run: Any, one: Any, other: Any) -> Any:
    return (operator.concat if is_numpy(one) else run.add)(one, other)


@handler(operator.iconcat)
def handle_iconcat(run: Any, one: Any, other: Any) -> Any:
    if is_numpy(one):
        return operator.concat(one, other)  # rejects an array
    if isinstance(one, list):
        run.call(one.extend, other)
        return one
    return run.iadd(one, other)


def handle_contains(run: Any, container: Any, item: Any) -> bool:
    return bool(run.contains(item, container))


HANDLERS[operator.contains] = handle_contains


@handler(itertools.count)
def handle_count(run: Any, start: Any = 0, step: Any = 1) -> Iterator[Any]:
    if not run.is_active((start, step)):
        return itertools.count(start, step)
    itertools.count(start, step)  # rejects invalid numbers
    return counted(run, start, step)


def counted(run: Any, start: Any, step: Any) -> Iterator[Any]:
    """The start, plus one step each time."""
    while True:
        yield start
        start = run.add(start, step)


@handler(functools.reduce)
def handle_reduce(run: Any, f: Any, iterable: Any, *initial: Any) -> Any:
    if not has_items(iterable) or is_single(iterable):
        return functools.reduce(f, iterable)  # raises Python's own error
    return functools.reduce(followed(run, f), run.iter(iterable), *initial)


def is_single(x: Any) -> bool:
    """Whether a value is a 0-d array, over which NumPy does not iterate."""
    return isinstance(x, np.ndarray) and not x.ndim


@handler(itertools.accumulate)
def handle_accumulate(
    run: Any, iterable: Any, func: Any = operator.add, *, initial: Any = None
) -> Any:
    call = followed(run, operator.add if func is None else func)
    return itertools.accumulate(run.iter(iterable), call, initial=initial)


def moving(f: Any) -> Callable[..., Any]:
    """An iterator in C: its callables are lifted, its arrays read by item."""

    def handle(run: Any, *args: Any, **kwargs: Any) -> Any:
        arguments = [
            followed(run, a) if isinstance(a, FunctionType) else iterable(run, a)
            for a in args
        ]
        return f(*arguments, **kwargs)

    return handle


def iterable(run: Any, x: Any) -> Any:
    return run.iter(x) if is_iterable(x) else x


def is_iterable(x: Any) -> bool:
    return hasattr(type(x), "__iter__") or reads_items(x)


def pooling(f: Any) -> Callable[..., Any]:
    """An iterator in C that first makes a tuple of its input."""

    def handle(run: Any, *args: Any, **kwargs: Any) -> Any:
        pools = [run.starred(a) if is_iterable(a) else a for a in args]
        return f(*pools, **kwargs)

    return handle


for _pool in (
    itertools.product, itertools.permutations, itertools.combinations,
    itertools.combinations_with_replacement,
):  # fmt: skip
    HANDLERS[_pool] = pooling(_pool)


@handler(itertools.islice)
def handle_islice(run: Any, items: Any, *bounds: Any) -> Iterator[Any]:
    taken = run.iter(items)
    return itertools.islice(taken, *[as_index(run, bound) for bound in bounds])


for _mover in (
    itertools.chain, itertools.chain.from_iterable, itertools.cycle,
    itertools.zip_longest, itertools.starmap, itertools.tee, itertools.pairwise,
):  # fmt: skip
    HANDLERS[_mover] = moving(_mover)


@handler(itertools.repeat)
def handle_repeat(_run: Any, *args: Any, **kwargs: Any) -> Any:
    return itertools.repeat(*args, **kwargs)


@handler(itertools.starmap)
def handle_starmap(run: Any, f: Any, items: Any) -> Iterator[Any]:
    return itertools.starmap(followed(run, f), map(run.iter, run.iter(items)))


@handler(itertools.chain.from_iterable)
def handle_from_iterable(run: Any, items: Any) -> Iterator[Any]:
    return itertools.chain.from_iterable(map(run.iter, run.iter(items)))


def testing(f: Any) -> Callable[..., Any]:
    """An iterator in C that calls a predicate."""

    def handle(run: Any, test: Any, items: Any) -> Any:
        return f(predicate(run, test), run.iter(items))

    return handle


for _test in (itertools.takewhile, itertools.dropwhile, itertools.filterfalse):
    HANDLERS[_test] = testing(_test)


@handler(itertools.compress)
def handle_compress(run: Any, data: Any, selectors: Any) -> Iterator[Any]:
    return itertools.compress(run.iter(data), map(run.truth, run.iter(selectors)))


@handler(itertools.groupby)
def handle_groupby(run: Any, items: Any, key: Any = None) -> Any:
    call = followed(run, key)

    def standing(item: Any) -> Any:
        return Ordered(run, item if call is None else call(item))

    groups = itertools.groupby(run.iter(items), standing)
    return ((each.value, group) for each, group in groups)
