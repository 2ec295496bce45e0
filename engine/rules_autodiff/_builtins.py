"""What the engine does in place of calling Python's builtins."""

import builtins
import functools
import itertools
import operator
import weakref
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

import rules_core
from rules_autodiff._access import python_method
from rules_autodiff._calls import CALLABLES, HANDLERS, handler
from rules_autodiff._core import CORE, INERT_FUNCTIONS, CoreRule, conj
from rules_autodiff._operators import BINARY, COMPARISONS, method_of
from rules_autodiff._values import is_number

__all__ = ["stop_gradient"]


def plainly(f: Any) -> Callable[..., Any]:
    """The function as it is: what it returns carries no derivative."""

    def handle(_run: Any, *args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs)

    return handle


INERT_BUILTINS = (
    len, isinstance, issubclass, id, hash, repr, ascii, str, bytes, print, callable,
    format, ord, chr, bool, int, range, hasattr, bin, hex, oct, input, open, vars, dir,
    slice, object, property, classmethod, staticmethod, super, bytearray, memoryview,
    functools.wraps, functools.update_wrapper, functools.lru_cache, functools.cache,
    functools.partial, functools.cached_property, functools.total_ordering,
    functools.singledispatch, rules_core.opt_out, rules_core.non_differentiable,
    operator.is_, operator.is_not, operator.not_, operator.truth, operator.index,
    weakref.ref, np.shape, np.ndim, np.size, np.result_type, np.iscomplexobj,
    np.isrealobj, np.isscalar, np.broadcast_shapes, np.shares_memory,
    np.may_share_memory, np.zeros_like, np.ones_like, np.empty_like, np.errstate,
    operator.itemgetter, operator.attrgetter, operator.methodcaller, operator.contains,
)  # fmt: skip
for _function in (*INERT_BUILTINS, *INERT_FUNCTIONS):
    HANDLERS[_function] = plainly(_function)


# operators as functions


def operator_handler(name: str) -> Callable[..., Any]:
    def handle(run: Any, *args: Any) -> Any:
        return getattr(run, name)(*args)

    return handle


for _name in (*BINARY, *COMPARISONS, "neg", "pos", "invert", "abs"):
    HANDLERS[getattr(operator, _name)] = operator_handler(_name)
for _name in BINARY:
    _inplace = "i" + _name.strip("_")
    HANDLERS[getattr(operator, _inplace)] = operator_handler(_inplace)
HANDLERS[operator.getitem] = operator_handler("getitem")
HANDLERS[operator.delitem] = operator_handler("delitem")
HANDLERS[builtins.abs] = operator_handler("abs")


@handler(operator.setitem)
def handle_setitem(run: Any, owner: Any, key: Any, value: Any) -> None:
    run.store_item(value, owner, key)


@handler(builtins.pow)
def handle_pow(run: Any, base: Any, exp: Any, mod: Any = None) -> Any:
    return run.pow(base, exp) if mod is None else pow(base, exp, mod)


@handler(builtins.divmod)
def handle_divmod(run: Any, x: Any, y: Any) -> Any:
    return run.floordiv(x, y), run.mod(x, y)


def core_handler(key: Any) -> Callable[..., Any]:
    def handle(run: Any, *args: Any) -> Any:
        return run.core(key, args)

    return handle


REFLECTED = {f"__r{name.strip('_')}__": name for name in BINARY}
DIRECT = {
    f"__{name.strip('_')}__": name for name in (*BINARY, *COMPARISONS, "neg", "abs")
}


def call_slot(run: Any, f: Any, args: Any, kwargs: Any) -> Any:
    """A bound special method of C code, as `(2.0).__mul__` or `slot.__get__`."""
    owner, name = f.__self__, f.__name__
    if isinstance(owner, float | complex | np.ndarray | np.generic):
        if name in DIRECT:
            return getattr(run, DIRECT[name])(owner, *args)
        if name in REFLECTED:
            return getattr(run, REFLECTED[name])(*args, owner)
        if isinstance(owner, np.ndarray):
            return run.call(getattr(np.ndarray, name), owner, *args, **kwargs)
    return run.below.call(f, *args, **kwargs)


CALLABLES[type((1.0).__add__)] = call_slot


# numbers


def to_float(x: Any) -> float:
    """A real number as a Python float."""
    return float(x)


def to_float_rrule(_needs: Any, x: Any) -> Any:
    def to_float_pullback(dy: Any) -> Any:
        return (dy,)

    return to_float(x), to_float_pullback


def to_float_frule(tangents: Any, x: Any) -> Any:
    return to_float(x), to_float(tangents[0])


CORE[to_float] = CoreRule(to_float, to_float_rrule, to_float_frule)
for _key in CORE:
    if not isinstance(_key, str):
        HANDLERS[_key] = core_handler(_key)


@handler(float)
def handle_float(run: Any, x: Any = 0.0) -> Any:
    if isinstance(x, np.ndarray):
        if x.size != 1:
            return float(x)
        x = run.read_array(x, (0,) * x.ndim)
    if is_number(x):
        return run.core(to_float, (x,))
    method = method_of(x, "__float__")
    return float(x) if method is None else run.call(method, x)


@handler(complex)
def handle_complex(run: Any, x: Any = 0, y: Any = None, **named: Any) -> Any:
    x, y = named.get("real", x), named.get("imag", y)
    if not run.is_active((x, y)):
        return complex(x) if y is None else complex(x, y)
    return run.add(x, 0j if y is None else run.mul(y, 1j))


for _cls in (float, complex, np.float64, np.float32, np.complex128, np.complex64):
    HANDLERS[_cls.conjugate] = core_handler(conj)
for _function in (float.is_integer, float.as_integer_ratio, float.hex):
    HANDLERS[_function] = plainly(_function)


@handler(np.float64.item, np.float32.item)
def handle_item(run: Any, x: Any) -> Any:
    return run.core(to_float, (x,))


@handler(np.float64.copy)
def handle_number_copy(run: Any, x: Any) -> Any:
    return run.box(x)


@handler(builtins.round)
def handle_round(run: Any, x: Any, ndigits: Any = None) -> Any:
    method = python_method(type(x), "__round__")
    if method is not None:
        return run.call(method, x) if ndigits is None else run.call(method, x, ndigits)
    if isinstance(x, np.ndarray):
        return run.call(np.round, x, ndigits or 0)
    found = round(x) if ndigits is None else round(x, ndigits)
    return without_derivative(found)


def without_derivative(x: Any) -> Any:
    """An equal value that no run knows."""
    from rules_autodiff._plain import boxed

    if is_number(x):
        return boxed(x)
    if isinstance(x, np.ndarray) and x.dtype.kind in "fcV":
        return x.copy()
    level = rules_core.structure(x)
    if level is None or not rules_core.has_tangent(x):
        return x
    return level.rebuild([without_derivative(value) for value in level.values])


def stop_gradient(x: Any) -> Any:
    """The value of `x` as a constant: `d stop_gradient(x) = 0`.

    Numbers, arrays and containers of them come back equal, as new objects.

    >>> from rules_autodiff import grad, stop_gradient
    >>> grad(lambda x: x * stop_gradient(x))(3.0)
    3.0
    """
    return without_derivative(x)


HANDLERS[stop_gradient] = plainly(stop_gradient)


@handler(rules_core.ignore_derivatives)
def handle_ignore(run: Any, f: Any) -> Any:
    if isinstance(f, FunctionType | functools.partial) or (
        callable(f) and not isinstance(f, type) and hasattr(f, "__self__")
    ):
        return without_derivative(f())
    _ = run
    return without_derivative(f)


# attributes


@handler(builtins.getattr)
def handle_getattr(run: Any, owner: Any, name: str, *default: Any) -> Any:
    try:
        return run.getattr(owner, name)
    except AttributeError:
        if not default:
            raise
        return default[0]


@handler(builtins.setattr)
def handle_setattr(run: Any, owner: Any, name: str, value: Any) -> None:
    run.store_attr(value, owner, name)


@handler(object.__setattr__)
def handle_object_setattr(run: Any, owner: Any, name: str, value: Any) -> None:
    run.changing(owner)
    object.__setattr__(owner, name, value)


@handler(builtins.delattr)
def handle_delattr(run: Any, owner: Any, name: str) -> None:
    run.delattr(owner, name)


@handler(type)
def handle_type(_run: Any, *args: Any, **kwargs: Any) -> Any:
    return type(*args, **kwargs)


# iteration


def followed(run: Any, f: Any) -> Any:
    """A callable for C code to call, whose calls are followed."""
    if f is None or isinstance(f, type):
        return f

    def call_followed(*args: Any, **kwargs: Any) -> Any:
        return run.call(f, *args, **kwargs)

    return call_followed


def collecting(cls: Any) -> Callable[..., Any]:
    def handle(run: Any, *args: Any) -> Any:
        return cls(*map(run.iter, args))

    return handle


for _collect in (list, tuple, any, all):
    HANDLERS[_collect] = collecting(_collect)


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
    return dict(*(a if hasattr(a, "keys") else run.iter(a) for a in args), **kwargs)


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
    return filter(followed(run, f), run.iter(iterable))


@handler(sorted)
def handle_sorted(
    run: Any, iterable: Any, *, key: Any = None, reverse: bool = False
) -> list[Any]:
    return sorted(run.iter(iterable), key=followed(run, key), reverse=reverse)


@handler(reversed)
def handle_reversed(run: Any, sequence: Any) -> Any:
    if isinstance(sequence, np.ndarray):
        return run.array_items(sequence[::-1])
    method = python_method(type(sequence), "__reversed__")
    return (
        reversed(sequence) if method is None else run.iter(run.call(method, sequence))
    )


@handler(builtins.iter)
def handle_iter(run: Any, source: Any, *sentinel: Any) -> Any:
    if sentinel:
        return iter(followed(run, source), *sentinel)
    return iter(run.iter(source))


@handler(builtins.next)
def handle_next(run: Any, iterator: Any, *default: Any) -> Any:
    method = python_method(type(iterator), "__next__")
    if method is None:
        return next(iterator, *default)
    try:
        return run.call(method, iterator)
    except StopIteration:
        if not default:
            raise
        return default[0]


@handler(builtins.sum)
def handle_sum(run: Any, iterable: Any, start: Any = 0) -> Any:
    total = start
    for item in run.iter(iterable):
        total = run.add(total, item)
    return total


def reduction(native: Any) -> Callable[..., Any]:
    """`min` and `max`; equal numbers share the derivative equally."""

    def handle(run: Any, *args: Any, key: Any = None, **default: Any) -> Any:
        items = list(run.iter(args[0])) if len(args) == 1 else list(args)
        if not items or key is not None or not all(map(is_number, items)):
            return native(items, key=followed(run, key), **default)
        best = native(items)
        ties = [item for item in items if item == best and item is not best]
        if not ties or not run.is_active([best, *ties]):
            return best
        result = best
        for item in ties:
            share = run.truediv(run.sub(item, best), float(len(ties) + 1))
            result = run.add(result, share)
        return result

    return handle


HANDLERS[min] = reduction(min)
HANDLERS[max] = reduction(max)


@handler(functools.reduce)
def handle_reduce(run: Any, f: Any, iterable: Any, *initial: Any) -> Any:
    return functools.reduce(followed(run, f), run.iter(iterable), *initial)


@handler(itertools.accumulate)
def handle_accumulate(
    run: Any, iterable: Any, func: Any = operator.add, *, initial: Any = None
) -> Any:
    call = followed(run, func or operator.add)
    return itertools.accumulate(run.iter(iterable), call, initial=initial)


def moving(f: Any) -> Callable[..., Any]:
    """An iterator of C code: its callables are followed, its arrays read by item."""

    def handle(run: Any, *args: Any, **kwargs: Any) -> Any:
        given = [
            followed(run, a) if isinstance(a, FunctionType) else iterable(run, a)
            for a in args
        ]
        return f(*given, **kwargs)

    return handle


def iterable(run: Any, x: Any) -> Any:
    return run.iter(x) if hasattr(type(x), "__iter__") else x


for _mover in (
    itertools.chain, itertools.chain.from_iterable, itertools.islice, itertools.repeat,
    itertools.count, itertools.cycle, itertools.product, itertools.permutations,
    itertools.combinations, itertools.combinations_with_replacement,
    itertools.zip_longest, itertools.starmap, itertools.takewhile, itertools.dropwhile,
    itertools.filterfalse, itertools.groupby, itertools.tee, itertools.pairwise,
    itertools.compress,
):  # fmt: skip
    HANDLERS[_mover] = moving(_mover)


@handler(itertools.starmap)
def handle_starmap(run: Any, f: Any, items: Any) -> Iterator[Any]:
    return itertools.starmap(followed(run, f), map(run.iter, run.iter(items)))


@handler(itertools.chain.from_iterable)
def handle_from_iterable(run: Any, items: Any) -> Iterator[Any]:
    return itertools.chain.from_iterable(map(run.iter, run.iter(items)))


@handler(itertools.groupby)
def handle_groupby(run: Any, items: Any, key: Any = None) -> Any:
    return itertools.groupby(run.iter(items), followed(run, key))
