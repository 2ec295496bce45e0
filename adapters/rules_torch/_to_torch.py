"""`to_torch`: a function of another library, with its rules, on torch tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Never, ParamSpec, TypeVar

import torch

import rules_core as rc
from rules_core.extend import FLAGS, declared_shapes, refuse_unknown
from rules_torch._rules.autocast import check_policy
from rules_torch._values.numpy_arrays import numpy_dtype

__all__ = ["to_torch"]

P = ParamSpec("P")
R = TypeVar("R")

_MECHANISMS = (None, "autograd.Function")


def to_torch(
    f: Callable[P, R],
    *,
    host: bool | None = None,
    elementwise: bool | None = None,
    vectorized: bool | None = None,
    static_argnames: str | Iterable[str] | None = None,
    pure: bool | None = None,
    copy_in: bool | None = None,
    copy_out: bool | None = None,
    out: Any = None,
    via: str | None = None,
    autocast: str = "keep",
    **unknown: Never,
) -> rc.Primitive[P, R]:
    """`f` as a function of torch tensors that is differentiated by its rules.

    Calling a primitive does the same by itself; this is for functions that one does not
    own, such as SciPy's. The result may be called under every transform of PyTorch.

    Args:
        f: A function, or a primitive.
        host: `f` needs NumPy arrays.
        elementwise: `f` maps broadcast elements one by one, like a ufunc.
        vectorized: As in `rules_core.primitive`.
        static_argnames: Arguments that are no data.
        pure: Whether torch may repeat or drop calls.
        copy_in: As in `rules_core.primitive`.
        copy_out: As in `rules_core.primitive`.
        out: As in `rules_core.primitive`, for this wrapper alone; torch dtypes are
            accepted.
        autocast: What `torch.autocast` does to a call. `"keep"`: the body runs under
            it, and the pullback likewise; `"promote"`: arguments are cast to the widest
            dtype among them, `"cast"`: to that of the autocast, and it is off inside.
        via: The mechanism; `"autograd.Function"` is the only one and the default.
        **unknown: An error, which names the nearest argument.

    Raises:
        PrimitiveError: `f` is a primitive with other flags.
        UnsupportedError: There is no such mechanism, or no such policy.

    >>> import scipy.special, torch
    >>> from rules_torch import to_torch
    >>> jv = to_torch(scipy.special.jv, host=True, elementwise=True)
    >>> jv(1.0, torch.tensor([0.0, 1.0], dtype=torch.float64))
    tensor([0.0000, 0.4401], dtype=torch.float64)
    """
    refuse_unknown("to_torch", unknown, (*FLAGS, *("out", "via", "autocast")))
    if via not in _MECHANISMS:
        message = (
            f"to_torch: via must be 'autograd.Function', but got {via!r}. Leave it out."
        )
        raise rc.UnsupportedError(message)
    handle = rc.as_primitive(
        f,
        host=host,
        elementwise=elementwise,
        vectorized=vectorized,
        static_argnames=static_argnames,
        pure=pure,
        copy_in=copy_in,
        copy_out=copy_out,
    )
    if out is None and check_policy(autocast) == "keep":
        return handle
    own = rc.Primitive(handle.fun, **handle.flags)
    if out is not None:
        own.own_shapes = declared_shapes(_in_numpy(out), own)
    own.__dict__["_autocast_torch"] = check_policy(autocast)
    return own


def _in_numpy(out: Any) -> Any:
    if isinstance(out, rc.ShapeDtype):
        dtype = out.dtype
        numpy = numpy_dtype(dtype) if isinstance(dtype, torch.dtype) else dtype
        return rc.ShapeDtype(out.shape, numpy)
    if isinstance(out, torch.dtype):
        return numpy_dtype(out)
    if isinstance(out, (tuple, list)):
        return type(out)(_in_numpy(item) for item in out)
    if isinstance(out, dict):
        return {key: _in_numpy(item) for key, item in out.items()}
    return out
