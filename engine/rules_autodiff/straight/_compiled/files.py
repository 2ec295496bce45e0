"""Modules of compiled code: files in the user's cache, with numba's own beside them.

A file is named by a digest of its text, which holds everything that is compiled, and of
the versions of what compiles it: so what is found is up to date.
"""

import hashlib
import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

__all__ = ["FOLDER", "in_memory", "module_of"]

FOLDER = "RULES_COMPILED_CACHE"  # a variable of the environment: the folder, or "off"


def module_of(text: str) -> Any:
    """The module with this text, compiled or taken from the cache."""
    import numba

    versions = f"{numba.__version__} {sys.implementation.cache_tag}"
    digest = hashlib.sha256(f"{versions}\n{text}".encode()).hexdigest()[:32]
    name = f"compiled_{digest}"
    path = written(name, text)
    return in_memory(name, text) if path is None else loaded(name, path)


def in_memory(name: str, text: str) -> Any:
    """A module without a file, which numba compiles each time."""
    known: dict[str, Any] = {"__name__": name, "CACHE": False}
    exec(compile(text, f"<{name}>", "exec"), known)
    return SimpleNamespace(**known)


def loaded(name: str, path: Path) -> Any:
    """A module from a file."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    vars(module)["CACHE"] = True
    sys.modules[name] = module  # numba's cache looks for it
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def folder() -> Path | None:
    """The folder of the files; None if there is to be none."""
    chosen = os.environ.get(FOLDER, "")
    if chosen == "off":
        return None
    if chosen:
        return Path(chosen)
    from numba.misc.appdirs import user_cache_dir

    found: Any = user_cache_dir("rules-autodiff")  # type: ignore[no-untyped-call]
    return Path(found) / "compiled"


def written(name: str, text: str) -> Path | None:
    """The file of a module; None if none can be written."""
    place = folder()
    if place is None:
        return None
    path = place / f"{name}.py"
    try:
        place.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            handle, own = tempfile.mkstemp(".py", dir=place)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(own).replace(path)
        same = path.read_text(encoding="utf-8") == text
    except OSError:
        return None
    return path if same else None
