"""Name, place and signature of declared rules."""

from __future__ import annotations

import inspect
from functools import cache, wraps
from typing import Any

import numpy as np

__all__ = ["is_method", "named", "out_and_keywords"]

_KINDS = inspect.Parameter
_CONFIG = _KINDS("config", _KINDS.POSITIONAL_ONLY)
_TANGENTS = _KINDS("tangents", _KINDS.POSITIONAL_ONLY)
_ARGS = _KINDS("args", _KINDS.VAR_POSITIONAL)
_NEEDS = _KINDS("needs", _KINDS.KEYWORD_ONLY, default=None)
_OPTIONS = _KINDS("kw", _KINDS.VAR_KEYWORD)


def named(rule: Any, given: Any, types: tuple[Any, ...] | None) -> Any:
    """The rule with the name and place of its derivative, for given types."""
    signature = _signature(rule.__name__, types, bare=bool(given.bare))
    rule = wraps(given.maps)(rule)
    rule.__signature__ = signature
    return rule


@cache
def _signature(
    kind: str, types: tuple[Any, ...] | None, *, bare: bool
) -> inspect.Signature:
    """The signature of a rule of some kind; many rules share one."""
    leads = {"forward": [_TANGENTS], "backward_by_config": [_CONFIG]}
    lead = leads.get(kind, [])
    tail = [_NEEDS] if lead == [_TANGENTS] or not bare else []
    own = (
        [_ARGS]
        if types is None
        else [
            _KINDS(f"x{i}", _KINDS.POSITIONAL_ONLY, annotation=cls)
            for i, cls in enumerate(types, 1)
        ]
    )
    return inspect.Signature([*lead, *own, *tail, _OPTIONS])


def is_method(f: Any) -> bool:
    """Whether a function is a method of a C class, whose instance comes first."""
    return hasattr(f, "__objclass__")


def out_and_keywords(f: Any, maps: Any) -> tuple[int | None, frozenset[str] | None]:
    """The position of `out` among the arguments, and the keywords of `maps`."""
    names, kinds = _parameters(maps)
    out = names.index("out") - 1 if "out" in names else None
    if out is None and _KINDS.VAR_POSITIONAL in kinds and f in _WITH_OUT:
        out = _WITH_OUT[f]
    if out is None and isinstance(f, np.ufunc):
        out = f.nin
    if _KINDS.VAR_KEYWORD in kinds:
        return out, None
    return out, frozenset(names)


@cache
def _parameters(maps: Any) -> tuple[list[str], set[Any]]:
    """Names and kinds of parameters; many functions share a derivative."""
    parameters = inspect.signature(maps).parameters.values()
    return [p.name for p in parameters], {p.kind for p in parameters}


# Functions with a positional `out` whose derivatives take any options.
_WITH_OUT: dict[Any, int] = {
    np.take: 3, np.compress: 3, np.ndarray.take: 3, np.generic.take: 3,
    np.round: 2, np.around: 2, np.fix: 1,
}  # fmt: skip
