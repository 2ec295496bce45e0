"""The subject of a command: `module:function`, and arguments as Python writes them."""

from __future__ import annotations

import importlib
import sys
from difflib import get_close_matches
from importlib.util import find_spec
from typing import Any

__all__ = ["CommandError", "find_function", "find_module", "read_arguments"]


class CommandError(Exception):
    """A command that cannot run as it was written."""


def find_module(name: str) -> Any:
    """A module by its name, imported as from the current folder.

    Raises:
        CommandError: It does not import.
    """
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except ImportError as error:
        message = f"cannot import {name!r}: {error}"
        raise CommandError(message) from error


def find_function(name: str) -> Any:
    """The callable that `module:function` names; `module:Class.method` too.

    Raises:
        CommandError: It is not written so, or there is none.
    """
    module, colon, path = name.partition(":")
    if not (module and colon and path):
        message = f"a function must be module:name, such as math:sin, but got {name!r}."
        raise CommandError(message)
    found = find_module(module)
    for part in path.split("."):
        if not hasattr(found, part):
            raise CommandError(_no_such(name, found, part))
        found = getattr(found, part)
    if not callable(found):
        message = f"{name} must be callable, but got {found!r}."
        raise CommandError(message)
    return found


def _no_such(name: str, owner: Any, part: str) -> str:
    near = get_close_matches(part, dir(owner), n=1)
    own = getattr(owner, "__name__", repr(owner))
    cure = f" Is it {near[0]!r}?" if near else ""
    return f"{name}: {own} has no {part!r}.{cure}"


def read_arguments(
    text: str | None, module: str
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments of a call from its text, such as `1.0, np.ones(3), tol=1e-3`.

    The text is Python: it may use `np`, builtins, and the names of the function's
    module.

    Raises:
        CommandError: It is no such text, or an expression in it fails.
    """
    if text is None or not text.strip():
        return (), {}
    names = {**vars(find_module(module)), "_call": lambda *args, **kw: (args, kw)}
    if find_spec("numpy") is not None:
        names["np"] = importlib.import_module("numpy")
    try:
        found: tuple[Any, dict[str, Any]] = eval(f"_call({text})", names)
    except Exception as error:
        message = f"cannot read the arguments {text!r}: {type(error).__name__}: {error}"
        raise CommandError(message) from error
    return found
