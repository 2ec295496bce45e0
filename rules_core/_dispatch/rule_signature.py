"""The signature of a rule: its types, and the inputs that it declares."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable
from typing import Any, NamedTuple

from rules_core._base.errors import RuleDefinitionError
from rules_core._base.frameworks import framework_of

from .normal_form import declaring

__all__ = ["RuleSignature", "read_signature", "read_types"]

_POSITIONAL = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)


_NEEDS = " To ask which are wanted, make needs keyword-only: write (…, *, needs)."


class RuleSignature(NamedTuple):
    """Types of a rule's own arguments; each entry is a tuple of alternatives."""

    types: tuple[tuple[type, ...], ...]
    required: int
    variadic: tuple[type, ...] | None = None
    needs: bool = False
    keywords: frozenset[str] = frozenset()
    opened: bool = False
    hint: str = ""


def _alternatives(annotation: Any, where: str) -> tuple[type, ...]:
    if annotation is inspect.Parameter.empty or annotation is Any:
        return (object,)
    if annotation is None:
        return (type(None),)
    if isinstance(annotation, type) and typing.get_origin(annotation) is None:
        if hasattr(annotation, "array_type") and hasattr(annotation, "dtypes"):
            return _alternatives(annotation.array_type, where)  # jaxtyping
        return _with_traced(_checked(annotation, where))
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return _alternatives(annotation.__origin__, where)
    if origin in (typing.Union, types.UnionType):
        parts = (_alternatives(a, where) for a in typing.get_args(annotation))
        return tuple(dict.fromkeys(cls for part in parts for cls in part))
    if isinstance(origin, type) and not typing.get_args(annotation):
        return (origin,)  # typing.Sequence and similar, without a parameter
    raise _not_a_type(annotation, origin, where)


def _with_traced(cls: type) -> tuple[type, ...]:
    """A class; of a framework's arrays with those of traced ones.

    Tracers are instances of it but not of a subclass, and dispatch works on classes.
    """
    framework = framework_of(cls)
    if framework is None or cls is not framework.array:
        return (cls,)
    return cls, *framework.traced


def _checked(cls: type, where: str) -> type:
    """The class, if `issubclass` works with it."""
    try:
        issubclass(object, cls)
    except TypeError as error:
        message = (
            f"{where}: dispatch asks for subclasses of {cls.__name__}, which refuses "
            f"to tell ({error}). Use another class, or leave the annotation out."
        )
        raise RuleDefinitionError(message) from error
    return cls


def _not_a_type(annotation: Any, origin: Any, where: str) -> RuleDefinitionError:
    cure = "Leave it out to accept any value."
    if isinstance(origin, type):
        cure = f"Dispatch sees classes only: write {origin.__name__}."
    elif origin is typing.Literal or callable(annotation):
        cure += " To distinguish values or functions, compare them inside of the rule."
    return RuleDefinitionError(
        f"{where} must be annotated with a class, an ABC, Array or a union of them, "
        f"but got {annotation!r}. {cure}"
    )


def _signature(function: Callable[..., Any], label: str) -> inspect.Signature:
    try:
        own = declaring(function)
        return inspect.signature(own, follow_wrapped=False, eval_str=True)
    except NameError as error:
        message = (
            f"{label}: an annotation names something that is not defined there "
            f"({error}). Import it, or leave the annotation out."
        )
        raise RuleDefinitionError(message) from error
    except (TypeError, ValueError) as error:
        message = f"{label} must be a Python function, but got {function!r}."
        raise RuleDefinitionError(message) from error


def read_signature(
    function: Callable[..., Any], label: str, leading: tuple[str, ...]
) -> RuleSignature:
    """Read a rule function's signature.

    Args:
        function: The rule.
        label: Its name for messages.
        leading: Parameters before the rule's own arguments (`config`, `tangents`);
            `*args` may include these.

    Raises:
        RuleDefinitionError: An annotation is not a type, or too few parameters.
    """
    parameters = list(_signature(function, label).parameters.values())
    positional = [p for p in parameters if p.kind in _POSITIONAL]
    variadic = [p for p in parameters if p.kind is inspect.Parameter.VAR_POSITIONAL]
    if len(positional) < len(leading) and not variadic:
        message = (
            f"{label} must take ({', '.join((*leading, 'x1', '…'))}), but takes only "
            f"{len(positional)} positional parameters. Add {leading[-1]!r}."
        )
        raise RuleDefinitionError(message)
    own = positional[len(leading) :]
    keywords = {p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}
    opened = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)

    def read(parameter: inspect.Parameter) -> tuple[type, ...]:
        return _alternatives(
            parameter.annotation, f"{label}: parameter {parameter.name!r}"
        )

    return RuleSignature(
        types=tuple(read(p) for p in own),
        required=sum(p.default is inspect.Parameter.empty for p in own),
        variadic=read(variadic[0]) if variadic else None,
        needs="needs" in keywords,
        keywords=frozenset(keywords - {"needs"}),
        opened=opened,
        hint=_NEEDS if any(p.name == "needs" for p in own) else "",
    )


def read_types(
    annotations: tuple[Any, ...], label: str
) -> tuple[tuple[type, ...], ...]:
    """Alternatives per argument for explicitly given types (`opt_out`)."""
    return tuple(
        _alternatives(a, f"{label}: argument {i}") for i, a in enumerate(annotations, 1)
    )
