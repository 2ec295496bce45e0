"""One normal form for every spelling of a call.

Positional-or-keyword arguments become positional and their defaults are filled in;
keyword-only arguments stay keywords. The binder of a function is made once; defaults
are read at each call, because `f.__defaults__` may be assigned to.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

__all__ = ["Binder", "binder_of", "declaring", "keyword_names", "parameter_names"]

_MISSING = inspect.Parameter.empty
_POSITIONAL = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)
_REST = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _is_ufunc(f: Any) -> bool:
    return hasattr(f, "nin") and hasattr(f, "ntypes")


def _signature_of(f: Any) -> inspect.Signature | None:
    """The parameters that a callable declares itself, if it says."""
    if _is_ufunc(f):  # `out` and `where` are no arguments of the mathematics
        return None
    try:
        return inspect.signature(f, follow_wrapped=isinstance(f, type))
    except (ValueError, TypeError):
        return None


def keyword_names(f: Any) -> frozenset[str]:
    """The keyword-only parameters of a callable."""
    return _names(f, inspect.Parameter.KEYWORD_ONLY)


def parameter_names(f: Any) -> frozenset[str]:
    """The parameters of a callable that may be given by name."""
    return keyword_names(f) | _names(f, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _names(f: Any, kind: Any) -> frozenset[str]:
    signature = _signature_of(declaring(f))
    parameters = () if signature is None else signature.parameters.values()
    return frozenset(p.name for p in parameters if p.kind is kind)


def declaring(f: Any) -> Any:
    """The callable whose parameters count for calls of `f`.

    That is `f`, also where `functools.wraps` made it: a wrapper may have parameters and
    defaults of its own. A wrapper that takes `*args`, perhaps with `**kwargs` and after
    the first parameters of what it wraps, hands them on: there it is what it wraps.

    >>> from functools import wraps
    >>> from rules_core._dispatch.normal_form import declaring
    >>> def f(x, y=1.0): ...
    >>> @wraps(f)
    ... def logged(*args, **kwargs): ...
    >>> @wraps(f)
    ... def doubled(x, y=2.0): ...
    >>> declaring(logged) is f, declaring(doubled) is doubled
    (True, True)
    """
    inner = getattr(f, "__wrapped__", None)
    if inner is None or isinstance(f, type) or _is_ufunc(f):
        return f
    stated = vars(f).get("__signature__") if hasattr(f, "__dict__") else None
    if stated is not None and stated is not getattr(inner, "__signature__", None):
        return f
    inner, own = declaring(inner), _signature_of(f)
    if own is None or _hands_on(own, _signature_of(inner)):
        return inner
    return f


def _hands_on(own: inspect.Signature, inner: inspect.Signature | None) -> bool:
    """Whether a wrapper has no parameter or default that is not the inner one's."""
    parameters = list(own.parameters.values())
    first = [p for p in parameters if p.kind not in _REST]
    if not any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters):
        return False
    leading = [] if inner is None else list(inner.parameters)[: len(first)]
    bare = all(p.kind in _POSITIONAL and p.default is _MISSING for p in first)
    return bare and [p.name for p in first] == leading


class Binder:
    """Brings the arguments of one function into normal form.

    Attributes:
        names: Names of the positional parameters, None where there is no signature.
        variadic: Whether the function takes `*args`.
        star: The name of `*args`.
        required: Names of the keyword-only parameters without a default.
    """

    __slots__ = (
        "_defaults",
        "_function",
        "_keyword_defaults",
        "_keywords",
        "_label",
        "_own_defaults",
        "names",
        "only",
        "required",
        "star",
        "variadic",
    )

    def __init__(self, f: Callable[..., Any], label: str) -> None:
        f = declaring(f)
        signature = _signature_of(f)
        # A plain function's defaults are those that it has when it is called.
        plain = type(f) is FunctionType and not hasattr(f, "__signature__")
        self._function: Any = f if plain else None
        self._keyword_defaults: dict[str, Any] = {}
        self._label = label
        self.names: tuple[str, ...] | None = None
        self.variadic = signature is None
        self.star: str | None = None
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
        star = inspect.Parameter.VAR_POSITIONAL
        self.variadic = star in kinds
        self.star = next((p.name for p in parameters if p.kind is star), None)
        self._defaults = tuple(p.default for p in positional)
        self._own_defaults = tuple(d for d in self._defaults if d is not _MISSING)
        named = [p for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]
        opened = inspect.Parameter.VAR_KEYWORD in kinds
        self._keywords = None if opened else {p.name for p in named}
        self.required = tuple(p.name for p in named if p.default is _MISSING)
        defaults = {p.name: p.default for p in named if p.default is not _MISSING}
        self._keyword_defaults = defaults

    @property
    def keyword_defaults(self) -> dict[str, Any]:
        """The defaults of the keyword-only parameters."""
        if self._function is None:
            return self._keyword_defaults
        return self._function.__kwdefaults__ or {}

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
            TypeError: The function itself rejects these arguments.
        """
        names = self.names
        if names is None or not (len(args) != len(names) or kwargs or self.required):
            return args, kwargs
        if len(args) > len(names):
            self._check_surplus(args)
            self._check_keywords(kwargs, names)
            return args, kwargs
        if not (kwargs or self.required):
            tail = self._last(len(names) - len(args))
            if tail is not None:
                return (*args, *tail), {}
        rest = dict(kwargs)
        filled = [self._take(i, rest) for i in range(len(args), len(names))]
        self._check_keywords(rest, names[: len(args)])
        return (*args, *filled), rest

    def _last(self, count: int) -> tuple[Any, ...] | None:
        """The defaults of the last positional parameters, if all of them have one."""
        if self._function is None:
            defaults = self._own_defaults
        else:
            defaults = self._function.__defaults__ or ()
        return defaults[len(defaults) - count :] if count <= len(defaults) else None

    def _take(self, index: int, kwargs: dict[str, Any]) -> Any:
        assert self.names is not None
        name = self.names[index]
        if index >= self.only and name in kwargs:
            return kwargs.pop(name)
        default = self._default(index)
        if default is _MISSING:
            raise self._missing(name)
        return default

    def _default(self, index: int) -> Any:
        if self._function is None:
            return self._defaults[index]
        assert self.names is not None
        defaults = self._function.__defaults__ or ()
        place = index - len(self.names) + len(defaults)
        return defaults[place] if place >= 0 else _MISSING

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
