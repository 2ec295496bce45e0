"""The text about which code computes the derivatives of a function."""

from types import FunctionType
from typing import Any

from .left import AUTO
from .signatures import FORMS, Form

__all__ = ["report"]


def report(f: FunctionType) -> str:
    """One line for each mode and all kinds of arguments so far."""
    forms: dict[Any, Form] = FORMS.get(f.__code__) or {}
    lines = [
        f"{form.mode} mode, {kinds_of(signature)}: {state_of(form)}"
        for signature, form in forms.items()
    ]
    return "\n".join(lines or ["no derivative so far"])


def kinds_of(signature: tuple[Any, ...]) -> str:
    return f"({', '.join(map(kind_text, signature[1:]))})"


def kind_text(kind: Any) -> str:
    """The kind of an argument, as signatures have it."""
    if isinstance(kind, type):
        return kind.__name__
    if isinstance(kind, int):
        return f"array of {kind} axes" if kind != 1 else "vector"
    if isinstance(kind[0], type):
        return kind[0].__name__
    return f"array of {kind[1]}"


def state_of(form: Form) -> str:
    if form.units:
        return f"generated code, {form.units[-1].compiling.report()}"
    reason = form.reason or ("first call" if form.calls > AUTO else "")
    return f"tape: {reason}" if reason else "tape"
