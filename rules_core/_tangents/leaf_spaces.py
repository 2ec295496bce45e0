"""The vector spaces of numbers, and the projections onto them."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, Protocol, final

from rules_core._base.arrays import array_namespace, is_array
from rules_core._base.errors import ProjectionError
from rules_core._base.frameworks import framework_of

from .broadcast_shapes import summed_axes
from .leaves import is_complex, is_complex_dtype, is_concrete, is_float0, is_numpy
from .sparse import Pattern, is_sparse
from .zeros import ZeroTangent

__all__ = ["Space", "has_own_form", "space_of"]

_CURE = "Sum, broadcast or reshape it in the rule."
_MIXED = "Compute it with array_namespace of the argument."


class Space(Protocol):
    """A vector space over the real or complex numbers."""

    def project(self, dx: Any, path: str) -> Any:
        """The element of the space nearest to `dx`, which may be in a larger space."""


def space_of(x: Any) -> Space:
    """The tangent space of a number, array or sparse matrix; does not keep `x`."""
    if is_array(x):
        return ArraySpace(x)
    return SparseSpace(x) if is_sparse(x) else NumberSpace(x)


@final
class NumberSpace:
    """Python's floats, or its complex numbers."""

    __slots__ = ("cls",)

    def __init__(self, x: Any) -> None:
        self.cls = float if isinstance(x, float) else complex

    def project(self, dx: Any, path: str) -> Any:
        """A Python number; a traced number stays a 0-d array."""
        if type(dx) is self.cls:
            return dx
        if is_array(dx):
            return self._from_array(dx, path)
        if not _is_python_number(dx):
            if has_own_form(dx):
                return self.project(dx.__as_tangent__(), path)
            must = f"be a {self.cls.__name__}"
            raise ProjectionError(path, must, _described(dx))
        return self._convert(dx)

    def _from_array(self, dx: Any, path: str) -> Any:
        xp = array_namespace(dx)
        if is_float0(dx):
            return ZeroTangent()
        if tuple(dx.shape) != ():
            dx = _fit_shape(xp, dx, (), path)
        if is_concrete(dx):
            return self._convert(dx)
        return _real(xp, dx) if self.cls is float else dx

    def _convert(self, dx: Any) -> Any:
        if self.cls is complex:
            return complex(dx)
        return float(dx) if not is_complex(dx) else complex(dx).real

    def __repr__(self) -> str:
        return self.cls.__name__


@final
class ArraySpace:
    """Arrays of one library, dtype, shape and device."""

    __slots__ = ("device", "dtype", "numpy", "scalar", "shape", "xp")

    def __init__(self, x: Any) -> None:
        self.xp = array_namespace(x)
        self.dtype, self.shape = x.dtype, tuple(x.shape)
        host, framework = self.xp.__name__, framework_of(type(x))
        # Other libraries choose a device for Python numbers themselves.
        is_explicit = framework is not None and framework.on_device
        self.device = x.device if is_explicit else None
        self.numpy = host in ("array_api_compat.numpy", "numpy")
        self.scalar = self.numpy and not hasattr(x, "__array_finalize__")

    def project(self, dx: Any, path: str) -> Any:
        """Sum over broadcast axes, add or drop axes of length one, cast."""
        dx = self._admit(dx, path)
        if is_float0(dx):
            return ZeroTangent()
        xp = array_namespace(dx)
        if dx.shape != self.shape:
            dx = _fit_shape(xp, dx, self.shape, path)
        dtype = self.dtype if xp is self.xp else getattr(xp, _name(self.dtype))
        if dx.dtype != dtype:
            dx = _cast(xp, dx, dtype, path)
        return dx if self.shape else self._wrapped(dx)

    def _admit(self, dx: Any, path: str) -> Any:
        if is_array(dx):
            if self.numpy or array_namespace(dx) is self.xp or is_float0(dx):
                return dx
            if is_numpy(dx):
                # PyTorch warns of memory that must not be written to.
                return self._asarray(dx if dx.flags.writeable else dx.copy())
            must = f"be an array of {self.xp.__name__}"
            raise ProjectionError(path, must, _described(dx), _MIXED)
        if is_sparse(dx):
            return dx.toarray()
        if has_own_form(dx):
            return self._admit(dx.__as_tangent__(), path)
        if not _is_python_number(dx):
            must = f"be an array of shape {self.shape}"
            raise ProjectionError(path, must, _described(dx))
        if any(length != 1 for length in self.shape):
            must = f"have shape {self.shape}"
            raise ProjectionError(path, must, f"the number {dx!r}", _CURE)
        if is_complex(dx) and not is_complex_dtype(self.xp, self.dtype):
            dx = complex(dx).real
        return self._asarray(dx, dtype=self.dtype)

    def _asarray(self, dx: Any, **keywords: Any) -> Any:
        if self.device is not None:
            keywords["device"] = self.device
        return self.xp.asarray(dx, **keywords)

    def _wrapped(self, dx: Any) -> Any:
        # NumPy's scalars and 0-d arrays convert to each other on the way.
        if not is_numpy(dx):
            return dx
        if self.scalar:
            return dx[()]
        return sys.modules["numpy"].asarray(dx)

    def __getstate__(self) -> dict[str, Any]:
        state = {name: getattr(self, name) for name in self.__slots__}
        return {**state, "xp": self.xp.__name__}  # modules do not pickle

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, import_module(value) if name == "xp" else value)

    def __repr__(self) -> str:
        return f"{_name(self.dtype)}{list(self.shape)}"


@final
class SparseSpace:
    """SciPy's sparse matrices of one pattern and dtype."""

    __slots__ = ("pattern", "values")

    def __init__(self, x: Any) -> None:
        self.pattern = Pattern(x)
        numpy = sys.modules["numpy"]
        self.values = ArraySpace(numpy.zeros(self.pattern.size, x.dtype))

    def project(self, dx: Any, path: str) -> Any:
        """The sparse matrix with the entries of `dx` at the stored places."""
        if not is_sparse(dx):
            dx = self._dense(dx, path)
        shape = tuple(self.pattern.shape)
        if tuple(dx.shape) != shape:
            must = f"have shape {shape}"
            raise ProjectionError(path, must, f"shape {tuple(dx.shape)}")
        return self.pattern.put(self.values.project(self.pattern.take(dx), path))

    def _dense(self, dx: Any, path: str) -> Any:
        shape = tuple(self.pattern.shape)
        if has_own_form(dx):
            return self._dense(dx.__as_tangent__(), path)
        if not is_array(dx):
            must = f"be a sparse or dense matrix of shape {shape}"
            raise ProjectionError(path, must, _described(dx))
        numpy = sys.modules["numpy"]
        dx = numpy.asarray(dx)
        return dx if dx.shape == shape else _fit_shape(numpy, dx, shape, path)

    def __repr__(self) -> str:
        return f"{type(self.pattern.empty).__name__}({self.values!r})"


def has_own_form(dx: Any) -> bool:
    """Whether an author's tangent class defines the numbers that it represents."""
    return hasattr(type(dx), "__as_tangent__")


def _fit_shape(xp: Any, dx: Any, shape: tuple[int, ...], path: str) -> Any:
    """Reshape or sum `dx` to the shape of a primal that was broadcast."""
    old = tuple(dx.shape)
    if _differ_by_ones(old, shape):
        return xp.reshape(dx, shape)
    axes = summed_axes(old, shape)
    if axes is None:
        must = f"have shape {shape}, or one that {shape} broadcasts to"
        raise ProjectionError(path, must, f"shape {old}", _CURE)
    return xp.reshape(xp.sum(dx, axis=axes), shape)


def _differ_by_ones(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether the longer shape is the shorter one with added axes of length one."""
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    rest = list(shorter)
    for length in longer:
        if rest and rest[0] == length:
            rest.pop(0)
        elif length != 1:
            return False
    return not rest


def _cast(xp: Any, dx: Any, dtype: Any, path: str) -> Any:
    if getattr(dx.dtype, "hasobject", False):
        raise ProjectionError(path, "hold numbers", f"dtype {dx.dtype}")
    if not is_complex_dtype(xp, dtype):
        dx = _real(xp, dx)
    return dx if dx.dtype == dtype else xp.astype(dx, dtype)


def _real(xp: Any, dx: Any) -> Any:
    return xp.real(dx) if is_complex_dtype(xp, dx.dtype) else dx


def _is_python_number(x: Any) -> bool:
    return any(hasattr(x, name) for name in ("__float__", "__complex__", "__index__"))


def _name(dtype: Any) -> str:
    return str(dtype).rpartition(".")[2]


def _described(x: Any) -> str:
    return f"a {type(x).__name__}"
