"""Leaves that have a tangent: floating Python numbers, arrays and sparse matrices."""

from __future__ import annotations

import sys
from typing import Any

from ._arrays import array_namespace, is_array
from ._errors import UnsupportedError
from ._sparse import is_sparse, zero_sparse

__all__ = [
    "is_concrete",
    "is_float0",
    "is_floating",
    "is_number",
    "is_numpy",
    "is_plain_tensor",
    "number_type",
    "zero_number",
]

_FLOATING = ("real floating", "complex floating")

# The array classes that users know; what they hold (tracers, parameters) is theirs.
_HOST_CLASSES = (("numpy", "ndarray"), ("jax", "Array"), ("torch", "Tensor"))


def is_number(x: Any) -> bool:
    """Whether `x` is a leaf with a tangent.

    Raises:
        UnsupportedError: `x` is a NumPy array of objects or of records.
    """
    if is_array(x):
        return _is_floating_array(x)
    if isinstance(x, (float, complex)):
        return True
    return is_sparse(x) and x.dtype.kind in "fc"


def _is_floating_array(x: Any) -> bool:
    dtype = x.dtype
    records = getattr(dtype, "names", None) and not is_float0(x)
    if getattr(dtype, "hasobject", False) or records:
        message = (
            "a NumPy array must hold numbers to have a tangent, but got dtype "
            f"{dtype}. Use a list or tuple of arrays instead."
        )
        raise UnsupportedError(message)
    return is_floating(array_namespace(x), dtype)


def is_float0(x: Any) -> bool:
    """Whether this is JAX's array without numbers, its tangent of integers."""
    return getattr(x.dtype, "names", None) == ("float0",)


def is_floating(xp: Any, dtype: Any) -> bool:
    """Whether a dtype is real or complex floating, bfloat16 and its like included."""
    try:
        return bool(xp.isdtype(dtype, _FLOATING))
    except TypeError:  # dtypes that NumPy knows only as foreign, and JAX's keys
        return str(dtype).startswith(("bfloat", "float8", "float6", "float4"))


def zero_number(x: Any) -> Any:
    """A zero like `x`, of its shape, dtype, device and library."""
    if isinstance(x, (float, complex)) and not is_array(x):
        return 0.0 if isinstance(x, float) else 0j
    if is_sparse(x):
        return zero_sparse(x)
    if not is_numpy(x):
        return array_namespace(x).zeros_like(x)
    zero = sys.modules["numpy"].zeros(x.shape, x.dtype)
    return zero if hasattr(x, "__array_finalize__") else zero[()]


def number_type(x: Any) -> type:
    """The class of the tangents of a number leaf."""
    if not is_array(x):
        return next((cls for cls in (float, complex) if isinstance(x, cls)), type(x))
    for module, name in _HOST_CLASSES:
        host = getattr(sys.modules.get(module), name, None)
        if host is not None and isinstance(x, host):
            return host  # type: ignore[no-any-return]
    return type(x)


def is_numpy(x: Any) -> bool:
    """Whether `x` is a NumPy array or scalar."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(x, (numpy.ndarray, numpy.generic))


def is_concrete(x: Any) -> bool:
    """Whether an array's value may be taken out without losing what follows it.

    False for JAX tracers, and for torch tensors that are recorded, wrapped by a
    transformation, or of a class of their own.
    """
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(x, jax.core.Tracer):
        return False
    torch = sys.modules.get("torch")
    return torch is None or not isinstance(x, torch.Tensor) or is_plain_tensor(x)


def is_plain_tensor(x: Any) -> bool:
    """Whether a torch tensor is neither recorded nor wrapped nor of a subclass."""
    torch = sys.modules["torch"]
    wrapped = torch._C._functorch.is_functorch_wrapped_tensor  # noqa: SLF001
    return type(x) is torch.Tensor and not x.requires_grad and not wrapped(x)
