"""One normal form for every spelling of a call.

Positional-or-keyword arguments become positional and their defaults are filled in;
keyword-only arguments stay keywords. The binder of a function is made once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["Binder", "binder_of"]

_MISSING = inspect.Parameter.empty
_POSITIONAL = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)


def _is_ufunc(f: Any) -> bool:
    return hasattr(f, "nin") and hasattr(f, "ntypes")


def _signature_of(f: Any) -> inspect.Signature | None:
    if _is_ufunc(f):  # `out` and `where` are no arguments of the mathematics
        return None
    try:
        return inspect.signature(f)
    except (ValueError, TypeError):
        return None


class Binder:
    """Brings the arguments of one function into normal form.

    Attributes:
        names: Names of the positional parameters, None where there is no signature.
        variadic: Whether the function takes `*args`.
        required: Names of the keyword-only parameters without a default.
    """

    __slots__ = (
        "_defaults",
        "_keywords",
        "_label",
        "names",
        "only",
        "required",
        "variadic",
    )

    def __init__(self, f: Callable[..., Any], label: str) -> None:
        signature = _signature_of(f)
        self._label = label
        self.names: tuple[str, ...] | None = None
        self.variadic = signature is None
        self.only = 0
        self.required: tuple[str, ...] = ()
        if signature is not None:
            self._read(signature)

    def _read(self, signature: inspect.Signature) -> None:
        parameters = list(signature.parameters.values())
        kinds = {p.kind for p in parameters}
        positional = [p for p in parameters if p.kind in _POSITIONAL]
        self.names = tuple(p.name for p in positional)
        self.only = sum(p.kind is inspect.Parameter.POSITIONAL_ONLY for p in positional)
        self.variadic = inspect.Parameter.VAR_POSITIONAL in kinds
        self._defaults = tuple(p.default for p in positional)
        named = [p for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]
        opened = inspect.Parameter.VAR_KEYWORD in kinds
        self._keywords = None if opened else {p.name for p in named}
        self.required = tuple(p.name for p in named if p.default is _MISSING)

    @property
    def parameters(self) -> frozenset[str] | None:
        """Names of all parameters, None where there may be others."""
        if self.names is None or self._keywords is None:
            return None
        return frozenset(self.names) | self._keywords

    def __call__(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """`(args, kwargs)` in normal form.

        Raises:
            TypeError: The function itself would refuse these arguments.
        """
        names = self.names
        if names is None or not (len(args) != len(names) or kwargs or self.required):
            return args, kwargs
        if len(args) > len(names):
            self._check_surplus(args)
            self._check_keywords(kwargs, names)
            return args, kwargs
        rest = dict(kwargs)
        filled = [self._take(i, rest) for i in range(len(args), len(names))]
        self._check_keywords(rest, names[: len(args)])
        return (*args, *filled), rest

    def _take(self, index: int, kwargs: dict[str, Any]) -> Any:
        assert self.names is not None
        name, default = self.names[index], self._defaults[index]
        if index >= self.only and name in kwargs:
            return kwargs.pop(name)
        if default is _MISSING:
            raise self._missing(name)
        return default

    def _check_surplus(self, args: tuple[Any, ...]) -> None:
        if not self.variadic:
            assert self.names is not None
            message = (
                f"{self._label}() takes {len(self.names)} positional arguments but "
                f"{len(args)} were given"
            )
            raise TypeError(message)

    def _check_required(self, kwargs: dict[str, Any]) -> None:
        for name in self.required:
            if name not in kwargs:
                raise self._missing(name)

    def _missing(self, name: str) -> TypeError:
        return TypeError(f"{self._label}() is missing the required argument {name!r}")

    def _check_keywords(self, kwargs: dict[str, Any], taken: tuple[str, ...]) -> None:
        self._check_required(kwargs)
        for name in kwargs:
            if name in taken[self.only :]:
                message = f"{self._label}() got multiple values for argument {name!r}"
                raise TypeError(message)
            if self._keywords is not None and name not in self._keywords:
                message = f"{self._label}() got an unexpected keyword argument {name!r}"
                raise TypeError(message)


def binder_of(f: Callable[..., Any], label: str) -> Binder:
    """The binder of a function; make it once and keep it."""
    return Binder(f, label)
