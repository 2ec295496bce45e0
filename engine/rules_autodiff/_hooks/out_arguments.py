"""Calls that write their result into `out`, and the operands of ufuncs."""

from typing import Any

import numpy as np

from rules_autodiff._python.errors import AFTERWARDS, note_half_written
from rules_autodiff._python.masks import mask_of_ufunc
from rules_autodiff._python.values import INERT, is_arithmetic

from .interface import Hooks
from .numpy_protocols import as_entry

__all__ = ["call_with_out", "operands"]


def operands(run: Hooks, f: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """A function's inputs, and its options with an `out` that stands after them."""
    if type(f) is np.ufunc and len(args) > f.nargs:
        f(*args, **kwargs)  # raises the error
    if type(f) is np.ufunc and len(args) > f.nin:
        args, out = args[: f.nin], args[f.nin :]
        if any(target is not None for target in out):
            kwargs = {**kwargs, "out": (*out, *[None] * (f.nout - len(out)))}
    if any(type(x) is list or type(x) is tuple for x in args) and is_special(f):
        args = tuple(
            [
                run.call(np.asarray, x) if isinstance(x, list | tuple) else x
                for x in args
            ]
        )
    return args, kwargs


def call_with_out(run: Hooks, f: Any, args: Any, kwargs: Any) -> Any:
    """`f(x, out=a)` is `a[...] = f(x)`, where `where=` is true."""
    try:
        return write_out(run, f, args, kwargs)
    except AFTERWARDS as error:
        note_half_written(error)
        raise


def write_out(run: Hooks, f: Any, args: Any, kwargs: Any) -> Any:
    rest = dict(kwargs)
    out = rest.pop("out")
    target = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    targets = target if isinstance(target, tuple) else (target,)
    if not all(a is None or isinstance(a, np.ndarray) for a in targets):
        return run.below.call(f, *args, **kwargs)  # which words the error
    masked = isinstance(f, np.ufunc) and f.signature is None
    where = rest.pop("where", True) if masked else True
    if where is not True:  # the entries that are left out may not be computed
        return masked_out(run, f, args, rest, targets, where)
    if not isinstance(target, np.ndarray):
        return several_out(run, f, args, rest, out)
    if isinstance(args[0] if args else None, np.random.Generator):
        rest.setdefault("size", target.shape)
    value = run.call(f, *args, **rest)
    run.write(target, Ellipsis, castable_to(value, target, rest))
    return target


def several_out(run: Hooks, f: Any, args: Any, rest: Any, out: Any) -> Any:
    values = run.call(f, *args, **rest)
    shape = np.broadcast_shapes(*(a.shape for a in out if a is not None))
    return tuple(
        [
            filled_out(run, value, target, shape, rest)
            for value, target in zip(values, out, strict=True)
        ]
    )


def filled_out(run: Hooks, value: Any, target: Any, shape: Any, rest: Any) -> Any:
    """One result; where it has no `out` it has the shape of the others."""
    if target is None:
        if np.shape(value) == shape:
            return value
        target = np.empty(shape, value.dtype)
    run.write(target, Ellipsis, castable_to(value, target, rest))
    return target


def masked_out(
    run: Hooks, f: Any, args: Any, rest: Any, targets: Any, where: Any
) -> Any:
    """Only where the mask is true: on the selected entries alone."""
    shape = next(a.shape for a in targets if a is not None)
    mask = mask_of_ufunc(where, shape)
    found = run.call(f, *[select(run, a, mask) for a in args], **rest)
    values = found if isinstance(found, tuple) else (found,)
    written = []
    for value, out in zip(values, targets, strict=True):
        target = np.zeros(shape, value.dtype) if out is None else out
        run.write(target, mask, castable_to(value, target, rest))
        written.append(target)
    return tuple(written) if len(written) > 1 else written[0]


def select(run: Hooks, a: Any, mask: Any) -> Any:
    if not is_arithmetic(a) and type(a) not in INERT:
        a = run.call(np.asarray, as_entry(run, a, floats=False))
    if not isinstance(a, np.ndarray) or a.ndim == 0:
        return a
    if a.shape != mask.shape:
        a = run.call(np.broadcast_to, a, mask.shape)
    return run.read_array(a, mask)


def is_special(f: Any) -> bool:
    """Whether a function of entries is one of SciPy's, whose rules take arrays."""
    if type(f) is np.ufunc:
        return getattr(np, f.__name__, None) is not f
    return getattr(f, "__module__", None) == "scipy.special._basic"


def castable_to(value: Any, target: Any, kwargs: Any) -> Any:
    casting = kwargs.get("casting", "same_kind")
    if not np.can_cast(getattr(value, "dtype", target.dtype), target.dtype, casting):
        np.copyto(target.copy(), value, casting=casting)
    return value
