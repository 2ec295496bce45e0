"""Copies for libraries that write to their arguments or reuse their results."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

from rules_core._base.errors import RuleDefinitionError
from rules_core._dispatch.rule_key import describe
from rules_core._tangents.leaves import is_numpy

__all__ = ["with_copies"]


def with_copies(
    fun: Callable[..., Any], *, copy_in: bool | str | tuple[str, ...], copy_out: bool
) -> Callable[..., Any]:
    """`fun` on copies of its arrays, with copied results; `fun` itself without both."""
    if not copy_in and not copy_out:
        return fun
    names = (copy_in,) if isinstance(copy_in, str) else copy_in
    flags = [_flag(fun, name) for name in names] if isinstance(names, tuple) else []

    @wraps(fun)
    def run(*args: Any, **kwargs: Any) -> Any:
        if any(is_set(args, kwargs) for is_set in flags) if flags else copy_in:
            args, kwargs = copied(args), copied(kwargs)
        y = fun(*args, **kwargs)
        return copied(y) if copy_out else y

    if hasattr(fun, "nout"):  # a ufunc
        vars(run)["nout"] = fun.nout
    return run


def _flag(fun: Callable[..., Any], name: str) -> Callable[[Any, Any], Any]:
    """Whether a call sets an option, by name or by position."""
    parameters = signature(fun).parameters
    if name not in parameters:
        message = (
            f"primitive {describe(fun)}: copy_in must be True or the name of an option "
            f"that lets it overwrite its arguments, but it has no {name!r}."
        )
        raise RuleDefinitionError(message)
    parameter, place = parameters[name], list(parameters).index(name)

    def is_set(args: Any, kwargs: Any) -> Any:
        by_place = args[place] if len(args) > place else parameter.default
        return kwargs.get(name, by_place)

    return is_set


def copied(x: Any) -> Any:
    """A value with its own arrays; tuples, lists and dicts are searched."""
    if isinstance(x, dict):
        return {key: copied(item) for key, item in x.items()}
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*map(copied, x))
    if isinstance(x, (tuple, list)):
        return type(x)(map(copied, x))
    return x.copy() if is_numpy(x) else x
