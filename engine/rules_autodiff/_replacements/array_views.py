"""NumPy functions that return views: the view shares its owner's derivative.

The result decides whether it is a view, by its owner. A view needs no rule; a copy
(such as a reshaped transposed matrix) uses the rule of the registry, or, for `reshape`
and similar functions, the engine's own.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from rules_autodiff._hooks.calls import look_up
from rules_autodiff._hooks.numpy_protocols import as_entry, by_protocol
from rules_autodiff._own_rules.own_rule import CORE, CoreRule
from rules_autodiff._python.handlers import HANDLERS, LATER, handler
from rules_autodiff._python.methods import python_method
from rules_autodiff._python.values import INERT, is_numeric
from rules_autodiff._refusals import no_rule_error, refused
from rules_autodiff._shadows.memory import is_constant_field, may_mirror, owner_of

__all__: list[str] = []

VIEWING = (
    np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.expand_dims, np.squeeze,
    np.atleast_1d, np.atleast_2d, np.atleast_3d, np.broadcast_to, np.diagonal, np.flip,
    np.fliplr, np.flipud, np.rot90, np.split, np.array_split, np.hsplit, np.vsplit,
    np.dsplit, np.real, np.imag, np.asarray, np.asanyarray, np.ascontiguousarray,
    np.lib.stride_tricks.sliding_window_view, np.lib.stride_tricks.as_strided,
    np.matrix_transpose, np.permute_dims,
    np.ndarray.transpose, np.ndarray.swapaxes, np.ndarray.squeeze, np.ndarray.diagonal,
    np.ndarray.view, np.unstack,
)  # fmt: skip


def all_views(result: Any, owner: Any) -> bool:
    """Whether a result consists of views of one owner's memory."""
    parts = result if isinstance(result, tuple | list) else (result,)
    return all(isinstance(a, np.ndarray) and owner_of(a) is owner for a in parts)


def as_numbers(views: Any, dtype: Any) -> Any:
    """Views of an array of this dtype that carries a derivative, if they show numbers.

    One that shows bytes is refused here: an operation of whole numbers, which has no
    derivative, would not ask where they come from.
    """
    for view in views if isinstance(views, tuple | list) else (views,):
        if is_constant_field(view.dtype, dtype) or not may_mirror(view.dtype, dtype):
            refused("reinterpreted")
    return views


# Functions whose results are views of the array that a list is made.
SPLITTING = (np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit)


def is_sequence(x: Any) -> bool:
    """Whether NumPy makes an array of the items of something."""
    taken = isinstance(x, np.ndarray) or type(x) in INERT or is_numeric(x)
    return not taken and python_method(type(x), "__array_function__") is None


def viewing(f: Any) -> Callable[..., Any]:
    def handle(run: Any, *args: Any, **kwargs: Any) -> Any:
        if f in SPLITTING and args and is_sequence(args[0]):
            args = (run.call(np.asarray, as_entry(run, args[0])), *args[1:])
        if args and isinstance(args[0], np.ndarray) and run.is_active(args[0]):
            result = f(*args, **kwargs)
            if all_views(result, owner_of(args[0])):
                return as_numbers(result, args[0].dtype)
        elif not run.is_active((args, kwargs)):
            return run.from_text(run.below.call(f, *args, **kwargs), f, args)
        result = by_protocol(run, f, args, kwargs)
        if result is NotImplemented:
            result = look_up(run, f, args, kwargs)
        if result is NotImplemented:
            raise no_rule_error(f, run.kind.kind)
        return result

    return handle


for _function in VIEWING:
    HANDLERS[_function] = viewing(_function)

# Wrappers around functions of NumPy, by version, that may return an argument or a view.
WRAPPERS = frozenset({
    "asarray", "astype", "broadcast_to", "diagonal", "expand_dims", "flip",
    "matrix_transpose", "moveaxis", "permute_dims", "reshape", "squeeze", "unstack",
})  # fmt: skip


def wrapper(f: Any) -> Callable[..., Any] | None:
    """The handler of a function of `array_api_compat`, which packs call."""
    return viewing(f) if f.__name__ in WRAPPERS else None


LATER["array_api_compat"] = wrapper


def reshaped(x: Any, shape: Any, order: str) -> Any:
    """`x.reshape(shape)` in its own memory."""
    return x.reshape(shape, order=order).copy(order="K")


def reshaped_rrule(_needs: Any, x: Any, shape: Any, order: str) -> Any:
    back = x.shape

    def reshaped_pullback(dy: Any) -> Any:
        return reshaped(dy, back, order), None, None

    return reshaped(x, shape, order), reshaped_pullback


def reshaped_frule(tangents: Any, x: Any, shape: Any, order: str) -> Any:
    return reshaped(x, shape, order), reshaped(tangents[0], shape, order)


CORE[reshaped] = CoreRule(reshaped, reshaped_rrule, reshaped_frule)


@handler(reshaped)
def handle_reshaped(run: Any, *args: Any) -> Any:
    return run.core(reshaped, args)


def reshape(run: Any, a: Any, shape: Any, order: str, *, copy: bool = False) -> Any:
    if isinstance(a, np.generic) and np.ndim(a.reshape(shape)) == 0:
        return run.box(a)
    if not isinstance(a, np.ndarray):
        a = run.call(np.asarray, a)
    result = a.reshape(shape, order=order)
    if not copy and owner_of(result) is owner_of(a):
        return result
    if order == "A":
        order = "F" if a.flags.fnc else "C"
    return run.core(reshaped, (a, shape, order))


@handler(np.ndarray.reshape)
def handle_method(run: Any, a: Any, *shape: Any, order: str = "C", **copy: Any) -> Any:
    new_shape = shape[0] if len(shape) == 1 else shape
    return reshape(run, a, new_shape, order, copy=bool(copy.get("copy")))


@handler(np.reshape)
def handle_reshape(run: Any, a: Any, shape: Any, order: str = "C", **copy: Any) -> Any:
    return reshape(run, a, shape, order, copy=bool(copy.get("copy")))


@handler(np.ravel, np.ndarray.ravel)
def handle_ravel(run: Any, a: Any, order: str = "C") -> Any:
    """A view only if the entries are contiguous, unlike that of `reshape`."""
    if not isinstance(a, np.ndarray):
        a = run.call(np.asarray, a)
    result = a.ravel(order)
    if owner_of(result) is owner_of(a):
        return result
    return flattened(run, a, order)


@handler(np.ndarray.flatten)
def flattened(run: Any, a: Any, order: str = "C") -> Any:
    """The entries in a row, in their own memory."""
    if order == "K":  # in memory order
        axes = sorted(range(a.ndim), key=lambda axis: -abs(a.strides[axis]))
        a, order = a.transpose(axes), "C"
    return reshape(run, a, -1, order, copy=True)
