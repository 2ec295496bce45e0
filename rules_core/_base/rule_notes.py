"""Notes on exceptions of an author's code: which rule, where, and at what arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .arrays import is_array, type_name
from .errors import RulesCoreError

__all__ = ["note_attribute", "note_rule", "shown_argument"]

_LONGEST = 40


def note_rule(
    error: BaseException | None, rule: Any, args: Iterable[Any] = (), part: str = ""
) -> None:
    """Add the rule, its place and its arguments to an exception, once.

    Args:
        error: The exception; errors of ours name the rule in their text.
        rule: The rule.
        args: The arguments of the rule's function, tangents left out.
        part: Such as `"the pullback of "`.

    >>> from rules_core import rrule
    >>> def square(x):
    ...     return x * x
    >>> @rrule.define(square)
    ... def square_rrule(x):
    ...     raise ValueError("not yet")
    >>> try:
    ...     rrule(square, 3.0)
    ... except ValueError as error:
    ...     print(*error.__notes__)
    This happened in rrule square_rrule for square at ..., called with x = 3.0.
    """
    if not isinstance(error, Exception) or isinstance(error, RulesCoreError):
        return
    notes = getattr(error, "__notes__", ())
    if any("This happened in" in note and rule.label in note for note in notes):
        return
    called = ", ".join(_named(rule, tuple(args)))
    called = f", called with {called}" if called else ""
    error.add_note(f"This happened in {part}{rule.label}{called}.")
    note_attribute(error)


def note_attribute(error: BaseException | None) -> None:
    """Say what to do where a method of NumPy's arrays was asked of another array."""
    x = getattr(error, "obj", None)
    is_other = isinstance(x, (float, int, complex)) or is_array(x)
    if not isinstance(error, AttributeError) or not is_other or not error.name:
        return
    text = (
        f"{type_name(type(x))} has no {error.name!r}. With xp = "
        f"rules_core.array_namespace(x), write {_CURES.get(error.name, _ANY)}."
    )
    if text not in getattr(error, "__notes__", ()):
        error.add_note(text)


_CURES = {
    "astype": "xp.astype(x, dtype)",
    "copy": "xp.asarray(x, copy=True)",
    "transpose": "xp.permute_dims(x, axes)",
    "T": "xp.matrix_transpose(x)",
    "repeat": "xp.repeat(x, counts)",
    "fill": "xp.full_like(x, value)",
}
_ANY = "a function of xp in place of a method"


def _named(rule: Any, args: tuple[Any, ...]) -> Iterator[str]:
    """Arguments with the names that the author gave them."""
    code = getattr(rule.function, "__code__", None)
    own = code.co_varnames[: code.co_argcount] if code else ()
    names = own[(rule.config is not None) + (rule.kind == "frule") :]
    for i, x in enumerate(args):
        name = names[i] if i < len(names) else f"argument {i + 1}"
        yield f"{name} = {shown_argument(x)}"


def shown_argument(x: Any) -> str:
    """A number; the dtype and shape of an array; the type of anything else."""
    dtype, shape = getattr(x, "dtype", None), getattr(x, "shape", None)
    if dtype is not None and isinstance(shape, tuple):
        sizes = ",".join(map(str, shape))
        return f"{str(dtype).rpartition('.')[2]}[{sizes}]"
    shown = repr(x) if isinstance(x, (int, float, complex, str, type(None))) else ""
    return shown if 0 < len(shown) < _LONGEST else type_name(type(x))
