"""Tangents without numbers: zeros, and derivatives that are not implemented.

The algebra is that of ChainRulesCore.jl (`abstract_zero.jl`, `notimplemented.jl` and
`tangent_arithmetic.jl`); `base` defines which operand decides.
"""

from __future__ import annotations

import sys
from typing import Any, ClassVar, NoReturn, Self, final

from rules_core._base.errors import UnsupportedError

from .base import AbstractTangent

__all__ = [
    "AbstractTangent",
    "AbstractZero",
    "DerivativeNotImplemented",
    "NoTangent",
    "NotImplementedTangent",
    "ZeroTangent",
    "not_implemented",
]

# Linear operations on arrays, as methods: the zero of a zero.
_LINEAR_METHODS = (
    "adjoint", "astype", "conj", "conjugate", "copy", "cumsum", "diagonal", "dot",
    "flatten", "mean", "permute", "ravel", "repeat", "reshape", "squeeze", "sum",
    "swapaxes", "take", "trace", "transpose", "view",
)  # fmt: skip

# Properties of an array that a zero, which has no shape, cannot have.
_METADATA = frozenset({
    "aval", "data", "device", "dtype", "itemsize", "nbytes", "ndim", "shape", "size",
    "strides",
})  # fmt: skip


class AbstractZero(AbstractTangent):
    """Base class of the two tangents that act as zero.

    Propagators are linear, so an AD system may stop at a result of zeros. A zero is the
    zero of every shape: indexing it, reading a field, iterating (once) and the linear
    array methods give the zero itself.

    >>> from rules_core import NoTangent, ZeroTangent
    >>> z = ZeroTangent()
    >>> z + 3.0, 3.0 * z, NoTangent() + z, NoTangent() * z
    (3.0, ZeroTangent(), NoTangent(), ZeroTangent())
    >>> z[0] is z, z.T is z, z.weights is z, float(z)
    (True, True, True, 0.0)
    """

    __slots__ = ()

    _instance: ClassVar[Any]

    def __init_subclass__(cls) -> None:
        cls._instance = object.__new__(cls)
        for name in _LINEAR_METHODS:
            setattr(cls, name, _itself)

    def __new__(cls) -> Self:
        if cls is AbstractZero:
            message = "AbstractZero is abstract: use ZeroTangent() or NoTangent()"
            raise TypeError(message)
        instance: Self = cls._instance
        return instance

    def __tangent_plus__(self, a: Any, b: Any) -> Any:
        return b if a is self else a

    def __tangent_minus__(self, a: Any, b: Any) -> Any:
        return -b if a is self else a

    def __tangent_times__(self, a: Any, b: Any) -> Any:
        return self

    def __tangent_divide__(self, a: Any, b: Any) -> Any:
        if isinstance(a, AbstractZero):
            return a
        message = f"{_name(a)} must be divided by a number, but got {b!r}"
        raise ZeroDivisionError(message)

    def __neg__(self) -> Self:
        return self

    def __bool__(self) -> bool:
        return False

    def __int__(self) -> int:
        return 0

    def __float__(self) -> float:
        return 0.0

    def __complex__(self) -> complex:
        return 0j

    def __iter__(self) -> Any:
        return iter((self,))

    def __getitem__(self, key: object) -> Self:
        return self

    def __getattr__(self, name: str) -> Self:
        if name.startswith("_") or name in _METADATA:
            message = f"{self!r} has no attribute {name!r}"
            raise AttributeError(message)
        return self

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> Any:
        return type(self), ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def _itself(self: AbstractZero, *_args: Any, **_kwargs: Any) -> AbstractZero:
    return self


@final
class ZeroTangent(AbstractZero):
    """The zero of every tangent space: `z + dx = dx`, `z * dx = z`.

    The derivative is zero although the primal could be perturbed.

    >>> from rules_core import ZeroTangent
    >>> ZeroTangent() is ZeroTangent(), ZeroTangent() - 2.0
    (True, -2.0)
    """

    __slots__ = ()

    __tangent_rank__ = 3


@final
class NoTangent(AbstractZero):
    """The tangent of constants by nature: integers, strings, None, functions.

    Acts as zero, and wins `+` against `ZeroTangent()`.

    >>> from rules_core import NoTangent
    >>> NoTangent() + 1.5, NoTangent() * 1.5
    (1.5, NoTangent())
    """

    __slots__ = ()

    __tangent_rank__ = 4

    def __tangent_plus__(self, a: Any, b: Any) -> Any:
        other = b if a is self else a
        return self if isinstance(other, AbstractZero) else other

    def __tangent_minus__(self, a: Any, b: Any) -> Any:
        other = b if a is self else a
        if isinstance(other, AbstractZero):
            return self
        return super().__tangent_minus__(a, b)

    def __tangent_times__(self, a: Any, b: Any) -> Any:
        other = b if a is self else a
        return other if isinstance(other, ZeroTangent) else self


class DerivativeNotImplemented(UnsupportedError):
    """A needed derivative that its rule declares as not implemented.

    Attributes:
        tangent: The `NotImplementedTangent` of the rule.
        context: Its origin: the rule, the function and the argument.
    """

    def __init__(self, tangent: NotImplementedTangent, context: str = "") -> None:
        self.tangent, self.context = tangent, context
        where = f" ({context})" if context else ""
        issue = f" See {tangent.issue}." if tangent.issue else ""
        super().__init__(
            f"this derivative is not implemented{where}: {tangent.info}. "
            f"Declared in {tangent.module}, {tangent.file}:{tangent.line}.{issue}"
        )

    def __reduce__(self) -> Any:  # the tangent consists of text too
        return DerivativeNotImplemented, (self.tangent, self.context)


@final
class NotImplementedTangent(AbstractTangent):
    """The tangent of an argument without an implemented derivative.

    Made by `not_implemented`. It wins `+`, loses `*` to a zero and wins it against
    anything else; it raises `DerivativeNotImplemented` if a number is needed: `-`, `/`,
    transposes, iteration, indexing, conversions.

    Attributes:
        info: Why there is no derivative, and what is missing.
        issue: Where to follow or change this, such as a URL.
        module: Name of the module that declares it.
        file: File of the declaration.
        line: Line of the declaration.

    >>> from rules_core import ZeroTangent, not_implemented
    >>> dn = not_implemented("derivative in the order")
    >>> dn + 1.0 is dn, dn * ZeroTangent()
    (True, ZeroTangent())
    """

    __slots__ = ("file", "info", "issue", "line", "module")

    __tangent_rank__ = 5

    def __init__(
        self,
        info: str,
        issue: str = "",
        module: str = "",
        file: str = "",
        line: int = 0,
    ) -> None:
        self.info, self.issue = info, issue
        self.module, self.file, self.line = module, file, line

    def throw(self, context: str = "") -> NoReturn:
        """Raise `DerivativeNotImplemented`; `context` names rule and argument."""
        raise DerivativeNotImplemented(self, context)

    def __tangent_plus__(self, a: Any, b: Any) -> Any:
        return self

    def __tangent_minus__(self, a: Any, b: Any) -> Any:
        self.throw("in a subtraction")

    def __tangent_times__(self, a: Any, b: Any) -> Any:
        other = b if a is self else a
        return other if isinstance(other, AbstractZero) else self

    def __tangent_divide__(self, a: Any, b: Any) -> Any:
        if not isinstance(a, AbstractZero):
            self.throw("in a division")
        return a

    def __neg__(self) -> Self:
        return self

    def conj(self) -> Self:
        """The tangent itself."""
        return self

    conjugate = conj

    @property
    def real(self) -> Self:
        """The tangent itself."""
        return self

    @property
    def imag(self) -> Self:
        """The tangent itself."""
        return self

    def _refuse(self, *_args: object) -> NoReturn:
        self.throw("its value is needed")

    __bool__ = __float__ = __int__ = __complex__ = __iter__ = __getitem__ = _refuse
    transpose = _refuse

    @property
    def T(self) -> NoReturn:
        """Raises an error: the transpose needs a value."""
        self._refuse()

    @property
    def mT(self) -> NoReturn:
        """Raises an error: the transpose needs a value."""
        self._refuse()

    def _key(self) -> tuple[object, ...]:
        return self.info, self.issue, self.module, self.file, self.line

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NotImplementedTangent) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> Any:
        return NotImplementedTangent, self._key()

    def __repr__(self) -> str:
        issue = f", issue={self.issue!r}" if self.issue else ""
        return f"NotImplementedTangent({self.info!r}{issue})"


def not_implemented(info: str, *, issue: str = "") -> NotImplementedTangent:
    """A tangent for a derivative that exists but is not implemented.

    An AD system raises `DerivativeNotImplemented` if it is needed, so it is never
    mistaken for zero.

    Args:
        info: What is missing, as text.
        issue: Where to follow or change this, such as a URL.

    >>> from rules_core import not_implemented
    >>> not_implemented("derivative in the order", issue="our issue 12")
    NotImplementedTangent('derivative in the order', issue='our issue 12')
    """
    frame = sys._getframe(1)  # noqa: SLF001  inspect costs milliseconds
    module = frame.f_globals.get("__name__", "")
    return NotImplementedTangent(
        info, issue, module, frame.f_code.co_filename, frame.f_lineno
    )


def _name(x: object) -> str:
    return type(x).__name__
