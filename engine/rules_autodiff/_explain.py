"""Errors that name the function and the line of the user's program."""

import sys
from typing import Any

from rules_autodiff._errors import EngineError, UnsupportedProgram
from rules_autodiff._lift import is_lifted_code

__all__ = ["keyword_error", "no_rule_error", "refuse", "where"]


def where() -> str:
    """The place in the user's program that is being differentiated."""
    frame = sys._getframe(1)  # noqa: SLF001
    while frame is not None:
        if is_lifted_code(frame.f_code):
            return f"{frame.f_code.co_filename}, line {frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return "called from outside of any differentiated function"


def name_of(f: Any) -> str:
    module = getattr(f, "__module__", None)
    name = getattr(f, "__qualname__", None) or getattr(f, "__name__", None) or repr(f)
    owner = getattr(f, "__self__", None)
    if module is None and owner is not None and not isinstance(owner, type(sys)):
        module = type(owner).__module__
    return f"{module}.{name}" if module and module != "builtins" else str(name)


def no_rule_error(f: Any, kind: str) -> EngineError:
    """The error for a function that has neither a rule nor source of its own."""
    name = name_of(f)
    text = (
        f"{name} ({where()}) must have a rule to be differentiated: the engine does not "
        f"look into it, but it was called with a value that carries a derivative and no "
        f"{kind} for these arguments is known. Define one with "
        f"@rules_core.{kind}.define({name.rpartition('.')[2]}), install the rule pack of "
        f"its library, or, if it has no derivative, declare "
        f"rules_core.non_differentiable({name.rpartition('.')[2]})."
    )
    return UnsupportedProgram(text)


def keyword_error(f: Any, name: str) -> EngineError:
    """The error for a derivative that would be needed of a keyword-only argument."""
    return UnsupportedProgram(
        f"The keyword-only argument {name!r} of {name_of(f)} ({where()}) must carry no "
        "derivative, because rules give none for it, but it does. Pass "
        f"stop_gradient({name}), or a value that does not depend on the arguments."
    )


def refuse(what: str, cure: str) -> EngineError:
    """The error for something that the engine will not do."""
    return UnsupportedProgram(f"{what} ({where()}). {cure}")
