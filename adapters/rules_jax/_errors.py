"""Whose code an exception comes from: notes that name the rule, and texts of callbacks.

XLA reports an exception in a callback as one text, with every frame of the program
before the error itself, and without notes. What it is given here has one frame.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import jax

import rules_core as rc
from rules_core.extend import note_rule

__all__ = [
    "REGISTER",
    "CallbackError",
    "for_callback",
    "is_leak",
    "leaked_text",
    "note",
    "noted",
    "noted_body",
]

_OURS = str(Path(__file__).parent), str(Path(rc.__file__).parent)


class CallbackError(RuntimeError):
    """An exception in NumPy code that compiled code calls."""


def note(error: BaseException | None, text: str) -> None:
    """Add where an exception happened, unless its text or a note has that already."""
    if not isinstance(error, Exception) or isinstance(error, rc.RulesCoreError):
        return
    if text not in getattr(error, "__notes__", ()):
        error.add_note(text)


REGISTER = (
    "Register the class with jax.tree_util.register_dataclass or "
    "register_pytree_node_class"
)


def is_leak(error: BaseException | None) -> bool:
    """Whether JAX says that a traced array was used after its trace had ended."""
    return isinstance(error, jax.errors.UnexpectedTracerError) and (
        "Encountered an unexpected tracer" in str(error)
    )


def leaked_text(rule: Any) -> str:
    """The remedy for an array that one run of a rule left to another."""
    return (
        f"{rule.label} uses an array that another of its runs has computed and kept, "
        "in a global or an object that JAX does not look into. Under a transformation "
        "it belongs to that run alone: compute it before the pullback is made, or in "
        "each run."
    )


@contextmanager
def noted(rule: Any) -> Iterator[None]:
    """Let exceptions of an author's code name its rule."""
    try:
        yield
    except Exception as error:
        note_rule(error, rule)
        raise


_BODY = "This happened in the body of "


@contextmanager
def noted_body(primitive: Any) -> Iterator[None]:
    """Let an error about a traced value name the innermost body, and say what to do."""
    try:
        yield
    except (
        jax.errors.ConcretizationTypeError,
        jax.errors.TracerIntegerConversionError,
        jax.errors.TracerArrayConversionError,
    ) as error:
        notes = getattr(error, "__notes__", ())
        if not any(text.startswith(_BODY) for text in notes):
            note(error, _body_text(primitive, error))
        raise


def _body_text(primitive: Any, error: Exception) -> str:
    code = getattr(primitive.fun, "__code__", None)
    at = f" at {Path(code.co_filename).name}:{code.co_firstlineno}" if code else ""
    if isinstance(error, jax.errors.TracerArrayConversionError):
        return f"{_BODY}{primitive.__name__}{at}, which JAX traces."
    return (
        f"{_BODY}{primitive.__name__}{at}, which JAX traces for the shapes of its "
        "results, also where all arguments are concrete. Use where() of "
        "rules_core.array_namespace(x), or jax.lax.cond, in place of if; name an "
        "argument that is a setting in static_argnames; or declare a body that needs "
        "numbers with host=True."
    )


def for_callback(name: str, error: Exception) -> Exception:
    """The exception that XLA is to report for one in the code of a host function."""
    told = error
    if not isinstance(error, rc.RulesCoreError):
        frames = traceback.extract_tb(error.__traceback__)
        theirs = [x for x in frames if not x.filename.startswith(_OURS)]
        lines = traceback.format_list(theirs) + traceback.format_exception_only(error)
        said = f"{name} raised {type(error).__name__}: {error}{_at(theirs)}"
        told = CallbackError("\n".join((said, "".join(lines).rstrip())))
    return told.with_traceback(_alone())


def _at(frames: list[traceback.FrameSummary]) -> str:
    """Where the host function itself raised, or called what raises."""
    if not frames:
        return ""
    return f", at {Path(frames[0].filename).name}:{frames[0].lineno}"


def _alone() -> TracebackType:
    """A trace of one frame without a caller: that of a generator at rest."""
    frame = _SLEEPER.gi_frame
    return TracebackType(None, frame, frame.f_lasti, frame.f_lineno)


def _sleep() -> Any:
    yield


_SLEEPER = _sleep()
next(_SLEEPER)
