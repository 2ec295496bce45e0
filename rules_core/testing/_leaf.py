"""Arrays and numbers: the leaves of a primal, and their real coordinates."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from rules_core import array_namespace, is_array

from ._differences import Vector

__all__ = [
    "TINY",
    "Leaf",
    "StructureMismatch",
    "describe",
    "dtype_of",
    "like",
    "spans_of",
    "to_numpy",
]


# Smaller numbers count as zero and give no scale.
TINY = 2.0**-1000


class StructureMismatch(Exception):
    """A value or tangent does not have the structure of the primal of its space."""


def to_numpy(x: Any) -> np.ndarray[Any, Any]:
    """An array of any library, or a number, as a NumPy array."""
    if hasattr(x, "detach"):  # torch rejects tensors that require a gradient
        x = x.detach().resolve_conj().cpu()
    try:
        return np.asarray(x)
    except RuntimeError:  # on a device that NumPy cannot access
        xp = array_namespace(x)
        return np.asarray(x.to_device(xp.zeros(0).device))


def dtype_of(x: Any) -> np.dtype[Any] | None:
    """The NumPy dtype of a leaf that has a tangent; None for everything else."""
    if type(x) is float:
        return np.dtype(np.float64)
    if type(x) is complex:
        return np.dtype(np.complex128)
    if not is_array(x):
        return None
    dtype = to_numpy(x).dtype
    return dtype if dtype.kind in "fc" else None


def like(x: Any, value: np.ndarray[Any, Any]) -> Any:
    """`value` as an array or number of the library, kind and device of `x`."""
    if isinstance(x, (float, complex)) and not isinstance(x, np.generic):
        return value.item()
    if isinstance(x, np.generic):
        return value[()]
    if isinstance(x, np.ndarray):
        return value
    return array_namespace(x).asarray(value, device=x.device)


def describe(value: Any) -> str:
    """A value in a message: `float64 array of shape (3,)`, `2.0`, `a tuple of 2`."""
    if is_array(value):
        return f"{to_numpy(value).dtype} array of shape {tuple(value.shape)}"
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    text = repr(value)
    is_plain = len(text) < 60 and " at 0x" not in text
    return text if is_plain else f"a {type(value).__name__}"


def spans_of(x: np.ndarray[Any, Any]) -> Vector:
    """The scale on which each entry of an array varies."""
    sizes = np.abs(x).astype(np.float64)
    sizes = np.where(np.isfinite(sizes), sizes, 1.0)
    sizes = np.where(sizes < TINY, 0.0, sizes)
    typical = np.max(sizes, initial=0.0) or 1.0
    spans: Vector = np.where(sizes == 0, typical, np.maximum(sizes, 1e-3 * typical))
    return spans


@final
@dataclass(frozen=True, slots=True)
class Leaf:
    """An array or number at some place inside a primal.

    Attributes:
        path: Its place, such as `x[1].slope`.
        primal: The array or number.
        dtype: Its NumPy dtype; float64 or complex128 for Python numbers.
        shape: Its shape; `()` for Python numbers.
    """

    path: str
    primal: Any
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def is_complex(self) -> bool:
        """Whether each entry has two coordinates."""
        return self.dtype.kind == "c"

    @property
    def dim(self) -> int:
        """Number of real coordinates."""
        return math.prod(self.shape) * (1 + self.is_complex)

    @property
    def eps(self) -> float:
        """Unit round-off of its dtype."""
        return float(np.finfo(self.dtype).eps)

    def decode(self, coordinates: Vector) -> Any:
        """An array or number like the primal with these coordinates."""
        values = coordinates
        if self.is_complex:
            values = np.ascontiguousarray(values).view(np.complex128)
        return like(self.primal, values.reshape(self.shape).astype(self.dtype))

    def encode(self, value: Any) -> Vector:
        """Coordinates of an array or number.

        Raises:
            StructureMismatch: It has another shape, or is neither an array nor a
                number.
        """
        is_leaf = is_array(value) or isinstance(value, (bool, int, float, complex))
        array = to_numpy(value) if is_leaf else np.empty(0, object)
        if array.shape != self.shape or array.dtype.kind not in "fciub":
            message = f"{self.path}: shape {self.shape} expected, got {describe(value)}"
            raise StructureMismatch(message)
        flat = array.reshape(-1)
        if not self.is_complex:
            return flat.real.astype(np.float64)
        return flat.astype(np.complex128).view(np.float64)

    def copy(self) -> Any:
        """The array or number, without shared memory."""
        return like(self.primal, to_numpy(self.primal).copy())

    def spans(self) -> Vector:
        """The scale on which each coordinate varies: its size, or the leaf's.

        A complex entry's two parts share the modulus.
        """
        sizes = spans_of(to_numpy(self.primal)).reshape(-1)
        return np.repeat(sizes, 1 + self.is_complex)

    def labels(self) -> Iterator[str]:
        """A name for each coordinate."""
        for index in np.ndindex(self.shape):
            name = self.path + (f"[{', '.join(map(str, index))}]" * bool(index))
            yield from (f"{name}.real", f"{name}.imag") if self.is_complex else (name,)
