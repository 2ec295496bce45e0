"""Array types, and the namespace that computes with them.

No array library is imported here: adapters register the arrays of frameworks.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from .compiler_hooks import opaque
from .frameworks import framework_of

__all__ = [
    "Array",
    "ArrayLike",
    "ShapeDtype",
    "array_namespace",
    "is_array",
    "is_array_type",
    "type_name",
]

_OF_NUMPY = {"ndarray", "generic"}

# The most frequent classes that are not arrays; array classes are added.
_KNOWN: dict[type, bool] = dict.fromkeys(
    (bool, int, float, complex, str, tuple, list, dict, type(None), FunctionType), False
)
_NAMESPACES: dict[type, Any] = {}


@opaque
def _inherits_array(cls: type) -> bool:
    if hasattr(cls, "__array_namespace__") or framework_of(cls) is not None:
        return True
    return any(
        base.__name__ in _OF_NUMPY and base.__module__ == "numpy"
        for base in cls.__mro__
    )


def is_array_type(cls: type) -> bool:
    """Whether instances of `cls` are arrays of some library.

    NumPy arrays and scalars, JAX arrays and tracers, torch tensors and every class
    with `__array_namespace__`; Python numbers are not.
    """
    answer = _KNOWN.get(cls)
    if answer is None:
        answer = _inherits_array(cls)
        if answer:  # array classes are few and long-lived; others may be temporary
            _KNOWN[cls] = answer
    return answer


def type_name(cls: type) -> str:
    """The name of a class for messages; for internal array classes the public name.

    >>> import jax.numpy as jnp
    >>> from rules_core._base.arrays import type_name
    >>> type_name(type(jnp.ones(2))), type_name(float)
    ('jax.Array', 'float')
    """
    framework = framework_of(cls) if is_array_type(cls) else None
    return cls.__name__ if framework is None else framework.type_name(cls)


def is_array(x: Any) -> bool:
    """Whether `x` is an array of some library.

    >>> import numpy as np
    >>> from rules_core import is_array
    >>> is_array(np.ones(3)), is_array(np.float64(1)), is_array(1.0)
    (True, True, False)
    """
    return is_array_type(type(x))


if TYPE_CHECKING:
    Array = Any
else:

    class _ArrayMeta(type):
        def __subclasscheck__(cls, other: type) -> bool:
            return other is cls or (isinstance(other, type) and is_array_type(other))

        def __instancecheck__(cls, instance: object) -> bool:
            return is_array_type(type(instance))

    class Array(metaclass=_ArrayMeta):
        """For annotations: an array of any library, traced or not.

        Covers NumPy arrays and scalars, JAX arrays and tracers, torch tensors and
        every other array-API object; Python numbers are not arrays.

        >>> import numpy as np
        >>> from rules_core import Array
        >>> isinstance(np.ones(3), Array), isinstance(3.0, Array)
        (True, False)
        """

        def __new__(cls) -> NoReturn:
            message = "Array is for annotations and isinstance; it has no instances"
            raise TypeError(message)


#: For annotations: an array of any library, or a Python number.
ArrayLike: TypeAlias = Array | int | float | complex


@dataclass(frozen=True, slots=True)
class ShapeDtype:
    """Shape and dtype of an array without data, as shape rules receive it.

    Attributes:
        shape: Lengths of the axes.
        dtype: The NumPy dtype.

    >>> from rules_core import ShapeDtype
    >>> ShapeDtype((2, 3), "float64").ndim
    2
    """

    shape: tuple[int, ...]
    dtype: Any

    def __post_init__(self) -> None:
        shape: object = self.shape  # unchecked so far
        if not isinstance(shape, (tuple, list)):
            message = (
                "ShapeDtype: the shape must be a tuple of lengths such as (3,), but "
                f"got {shape!r}."
            )
            raise TypeError(message)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)


def _namespace_of(cls: type, x: Any) -> Any:
    namespace = _NAMESPACES.get(cls)
    if namespace is None:
        from array_api_compat import array_namespace as compat

        namespace = _NAMESPACES[cls] = compat(x)
    return namespace


def _is_numpy(xp: Any) -> bool:
    return xp.__name__ in ("array_api_compat.numpy", "numpy")


def _numpy_namespace() -> Any:
    import array_api_compat.numpy as xp

    return xp


def array_namespace(*xs: Any) -> Any:
    """The array-API namespace for all of `xs`.

    A framework's namespace (JAX, torch, …) takes precedence over NumPy's; Python
    numbers, strings and None are ignored; without any array the result is NumPy's
    namespace.

    Args:
        *xs: Arrays, Python numbers, or other values, which are ignored.

    Raises:
        TypeError: `xs` contains arrays of two frameworks.

    >>> import numpy as np
    >>> from rules_core import array_namespace
    >>> array_namespace(np.ones(2), 1.0).__name__
    'array_api_compat.numpy'
    """
    namespace = None
    for x in xs:
        cls = type(x)
        if not is_array_type(cls):
            continue
        xp = _namespace_of(cls, x)
        if namespace is None or (namespace is not xp and _is_numpy(namespace)):
            namespace = xp
        elif namespace is not xp and not _is_numpy(xp):
            from .errors import MixedHostsError

            message = (
                f"arrays of two frameworks cannot be combined: "
                f"{namespace.__name__} and {xp.__name__}. Convert one of them."
            )
            raise MixedHostsError(message)
    return _numpy_namespace() if namespace is None else namespace
