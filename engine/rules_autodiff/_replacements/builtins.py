"""Replacements of Python's builtins."""

import builtins
import collections
import dataclasses
import functools
import operator
from collections.abc import Callable
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np

import rules_core
from rules_autodiff._hooks.bytes import rounded
from rules_autodiff._hooks.calls import call_in_c, construct
from rules_autodiff._hooks.close_calls import whole
from rules_autodiff._hooks.numpy_protocols import as_real
from rules_autodiff._hooks.operators import BINARY, COMPARISONS, method_of
from rules_autodiff._hooks.sequence_operators import asks_python
from rules_autodiff._own_rules.arithmetic import product, strong, total
from rules_autodiff._own_rules.own_rule import (
    CORE,
    INERT_FUNCTIONS,
    CoreRule,
    conj,
    fit,
    space_of,
)
from rules_autodiff._python.handlers import CALLABLES, HANDLERS, handler
from rules_autodiff._python.methods import python_method
from rules_autodiff._python.opaque import MOVERS, is_opaque_module
from rules_autodiff._python.values import INERT, is_arithmetic, is_number
from rules_autodiff._refusals import refused
from rules_core.extend import note_strong_zeros, strong_product

from .questions import check_digits

__all__ = ["stop_gradient"]


def plainly(f: Any) -> Callable[..., Any]:
    """The function itself: its result has no derivative."""

    def handle(_run: Any, *args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs)

    return handle


INERT_BUILTINS = (
    callable, ord,
    input, open, vars, slice, object, property,
    classmethod, staticmethod, super,
    functools.wraps, functools.update_wrapper, functools.lru_cache, functools.cache,
    functools.partial, functools.cached_property, functools.total_ordering,
    functools.singledispatch, rules_core.opt_out, rules_core.non_differentiable,
    dataclasses.make_dataclass, dataclasses.dataclass, dataclasses.field,
    dataclasses.fields, np.result_type,
    np.iscomplexobj, np.isrealobj, np.isscalar, np.broadcast_shapes,
    collections.namedtuple,  # noqa: PYI024  (the program may call it)
    np.zeros_like, np.ones_like, np.empty_like, np.errstate,
    operator.itemgetter, operator.attrgetter, operator.methodcaller, MethodType,
    note_strong_zeros,
)  # fmt: skip
# Functions that pack or unpack the objects unchanged.
MAKERS = (CellType, FunctionType, rules_core.structure)
for _function in (*INERT_BUILTINS, *INERT_FUNCTIONS, *MAKERS):
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
    if mod is None:
        return run.pow(base, exp)
    method = method_of(base, "__pow__")
    result = NotImplemented if method is None else run.call(method, base, exp, mod)
    return pow(base, exp, mod) if result is NotImplemented else result


@handler(builtins.divmod)
def handle_divmod(run: Any, x: Any, y: Any) -> Any:
    for name, own, other in (("__divmod__", x, y), ("__rdivmod__", y, x)):
        method = method_of(own, name)
        if method is not None:
            result = run.call(method, own, other)
            if result is not NotImplemented:
                return result
    if not run.is_active((x, y)):
        return divmod(x, y)
    for own in (x, y):
        if isinstance(own, np.ndarray) and not is_arithmetic(own):
            refused("operand", type(own).__name__)
    return run.floordiv(x, y), run.mod(x, y)


def core_handler(key: Any) -> Callable[..., Any]:
    def handle(run: Any, *args: Any) -> Any:
        return run.core(key, args)

    return handle


REFLECTED = {f"__r{name.strip('_')}__": name for name in BINARY}
DIRECT = {
    f"__{name.strip('_')}__": name for name in (*BINARY, *COMPARISONS, "neg", "abs")
}


SPECIAL = {
    "__divmod__": divmod, "__round__": round, "__float__": float, "__str__": str,
    "__repr__": repr, "__pos__": operator.pos,
    **{f"__i{n.strip('_')}__": getattr(operator, f"i{n.strip('_')}") for n in BINARY},
}  # fmt: skip


def call_slot(run: Any, f: Any, args: Any, kwargs: Any) -> Any:
    """A bound special method of C code, such as `(2.0).__mul__` or `slot.__get__`."""
    owner, name = f.__self__, f.__name__
    if name == "__call__":
        if overrides_call(f):
            return call_in_c(run, f, args, kwargs)
        make = isinstance(owner, type) and f.__objclass__ is type
        if make:
            return construct(run, owner, *args, **kwargs)
        return run.call(owner, *args, **kwargs)
    if isinstance(owner, float | complex | np.ndarray | np.generic):
        if name in DIRECT:
            return by_operator(run, f, DIRECT[name], owner, args)
        if name in REFLECTED:
            return by_operator(run, f, REFLECTED[name], owner, args, reflected=True)
        if name in SPECIAL:
            return by_function(run, f, SPECIAL[name], owner, args)
        if isinstance(owner, np.ndarray):
            return run.call(getattr(np.ndarray, name), owner, *args, **kwargs)
    handle = HANDLERS.get(getattr(f.__objclass__, name, None))
    if handle is not None:
        return handle(run, owner, *args, **kwargs)
    if keeps_copies(f.__objclass__):
        return run.call_opaque(f, args, kwargs)
    return run.below.call(f, *args, **kwargs)


def by_operator(
    run: Any, f: Any, name: str, own: Any, args: Any, *, reflected: bool = False
) -> Any:
    """A bound special method as its operator, if that has a result."""
    modulus = len(args) > 1 and args[1] is not None
    if modulus or (asks_nobody(own, args) and f(*args) is NotImplemented):
        return f(*args)
    args = [run.call(type(own), x) if is_of_numpy(own, x) else x for x in args[:1]]
    return getattr(run, name)(*((*args, own) if reflected else (own, *args)))


def is_of_numpy(own: Any, other: Any) -> bool:
    """Whether an operand of a Python number is NumPy's, whose method comes later."""
    return type(own) in (float, complex) and isinstance(other, np.inexact)


def by_function(run: Any, f: Any, function: Any, own: Any, args: Any) -> Any:
    """A bound special method as the builtin that calls it."""
    if asks_nobody(own, args) and f(*args) is NotImplemented:
        return NotImplemented
    return run.call(function, own, *args)


def asks_nobody(own: Any, args: Any) -> bool:
    """Whether a special method of a number runs no code of the program."""
    if isinstance(own, np.ndarray):
        return False
    return isinstance(own, float | complex) or not any(map(asks_python, args))


def overrides_call(f: Any) -> bool:
    """Whether `f` is `super().__call__` of a class with a Python `__call__`."""
    cls = type(f.__self__)
    if issubclass(cls, type):  # of a metaclass: creates an instance
        return False
    return f.__objclass__ is not cls and isinstance(cls.__call__, FunctionType)


def keeps_copies(cls: type) -> bool:
    """Whether a class in C may convert the contents of its instances."""
    if cls.__module__ == "builtins":
        return cls in (bytearray, memoryview, bytes)
    return is_opaque_module(cls.__module__) and not issubclass(cls, MOVERS)


CALLABLES[type((1.0).__add__)] = call_slot


def register_methods() -> None:
    """`float.__mul__(x, y)`, `numpy.ndarray.__iadd__(x, y)`: operators by name."""
    for cls in (float, complex, *NUMPY_NUMBERS, np.ndarray):
        for special in {*DIRECT, *REFLECTED, *SPECIAL}.intersection(vars(cls)):
            if SPECIAL.get(special) in HANDLERS or special not in SPECIAL:
                HANDLERS[vars(cls)[special]] = bound_handler(vars(cls)[special])


def bound_handler(slot: Any) -> Callable[..., Any]:
    """`float.__mul__(x, y)` is `x.__mul__(y)`."""

    def handle(run: Any, x: Any, *args: Any) -> Any:
        return call_slot(run, slot.__get__(x), args, {})

    return handle


NUMPY_NUMBERS = (np.float64, np.float32, np.complex128, np.complex64, np.generic)


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


def to_complex(x: Any, *imaginary: Any) -> complex:
    """One number, or a real and an imaginary part, as a Python complex number."""
    return complex(x, *imaginary)


def to_complex_rrule(_needs: Any, x: Any, *imaginary: Any) -> Any:
    spaces = tuple(map(space_of, (x, *imaginary)))

    def to_complex_pullback(dy: Any) -> Any:
        return fit(dy, spaces[0]), *(fit(dy * -1j, s) for s in spaces[1:])

    return to_complex(x, *imaginary), to_complex_pullback


def to_complex_frule(tangents: Any, x: Any, *imaginary: Any) -> Any:
    dz = tangents[0]
    for dy in tangents[1:]:
        dz = total(dz, product(dy, 1j))
    return to_complex(x, *imaginary), to_complex(dz)


CORE[to_float] = CoreRule(to_float, to_float_rrule, to_float_frule)
CORE[to_complex] = CoreRule(to_complex, to_complex_rrule, to_complex_frule)
for _key in CORE:
    if not isinstance(_key, str):
        HANDLERS[_key] = core_handler(_key)


@handler(strong_product)
def handle_strong_product(run: Any, p: Any, dx: Any) -> Any:
    if is_arithmetic(p) and is_arithmetic(dx):
        return run.call(strong, dx, p)
    return run.derive(strong_product)(p, dx)


def only_entry(run: Any, x: Any, convert: Any) -> Any:
    """The entry of an array that has one; anything else unchanged."""
    if isinstance(x, np.ndarray) and x.size == 1:
        if x.ndim:
            convert(x)  # a warning or an error, by the version of NumPy
        return run.read_array(x, (0,) * x.ndim)
    return x


@handler(float)
def handle_float(run: Any, x: Any = 0.0) -> Any:
    if type(x) is float:
        return x
    x = only_entry(run, x, float)
    if is_number(x):
        return run.core(to_float, (x,))
    if type(x) in INERT and type(x) is not str:  # an integer, as of `len`
        return float(x)
    method = method_of(x, "__float__")
    return run.from_text(float(x)) if method is None else run.call(method, x)


@handler(float.__new__)
def handle_float_new(run: Any, cls: Any, x: Any = 0.0) -> Any:
    if cls is not float and run.is_active(x):
        refused("number class", cls.__name__)
    return run.call(float, x) if cls is float else float.__new__(cls, x)


@handler(complex)
def handle_complex(run: Any, x: Any = 0, y: Any = None, **named: Any) -> Any:
    x, y = named.get("real", x), named.get("imag", y)
    if type(x) is complex and y is None:
        return x
    if not run.is_active((x, y)):
        return run.from_text(complex(x) if y is None else complex(x, y))
    method = method_of(x, "__complex__")
    if method is not None:
        x = run.call(method, x)
        if y is None:
            return x
    arguments = (x,) if y is None else (x, y)
    parts = [only_entry(run, as_real(run, part), complex) for part in arguments]
    return run.core(to_complex, tuple(parts))


for _cls in (complex, np.float64, np.float32, np.complex128, np.complex64):
    HANDLERS[_cls.conjugate] = core_handler(conj)


@handler(float.conjugate)
def handle_conjugate(run: Any, x: Any) -> Any:
    return x if type(x) is float else run.core(conj, (x,))


HANDLERS[float.is_integer] = plainly(float.is_integer)


@handler(np.float64.item, np.float32.item)
def handle_item(run: Any, x: Any, *index: Any) -> Any:
    x.item(*index)  # rejects invalid indices
    return run.core(to_float, (x,))


@handler(np.float64.copy)
def handle_number_copy(run: Any, x: Any, order: str = "C") -> Any:
    x.copy(order)  # rejects invalid orders
    return run.box(x)


@handler(builtins.round)
def handle_round(run: Any, x: Any, ndigits: Any = None) -> Any:
    method = python_method(type(x), "__round__")
    if method is not None:
        return run.call(method, x) if ndigits is None else run.call(method, x, ndigits)
    whole(run, x)
    if ndigits is None:
        check_digits(run, round, x)
    value = round(x) if ndigits is None else round(x, ndigits)
    value = without_derivative(value)
    return rounded(run, value) if ndigits and run.is_active(x) else value


def rounding(f: Any) -> Callable[..., Any]:
    """A function of arrays that rounds: its result may be the key of a cache."""

    def handle(run: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        result = run.call_opaque(f, (x, *args), kwargs)
        return rounded(run, result) if run.is_active(x) else result

    return handle


for _round in (np.round, np.around, np.ndarray.round):
    HANDLERS[_round] = rounding(_round)


def without_derivative(x: Any) -> Any:
    """An equal value that is unknown to all runs."""
    from rules_autodiff._python.plain_level import boxed

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

    Numbers, arrays and containers of them are returned equal, as new objects.

    >>> from rules_autodiff import grad, stop_gradient
    >>> grad(lambda x: x * stop_gradient(x))(3.0)
    3.0
    """
    return without_derivative(x)


HANDLERS[stop_gradient] = plainly(stop_gradient)


register_methods()
