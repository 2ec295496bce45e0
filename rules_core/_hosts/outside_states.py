"""What code reads that is no value of Python: settings of the process, and files."""

from __future__ import annotations

import decimal
import locale
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, product
from types import CodeType
from typing import Any
from zlib import crc32

from .code_names import codes

__all__ = ["may_read", "states"]

# By the names in code that read them: an expression, and its value.
STATES: list[tuple[frozenset[str], str, Callable[[], Any]]] = [
    (
        frozenset({"environ", "environb", "expandvars", "getenv", "getenvb"}),
        "os.environ",
        lambda: tuple(sorted(os.environ.items())),
    ),
    (frozenset({"geterr"}), "np.geterr()", lambda: _of_numpy("geterr")),
    (
        frozenset({"get_printoptions"}),
        "np.get_printoptions()",
        lambda: _of_numpy("get_printoptions"),
    ),
    (
        frozenset({"Decimal", "decimal", "getcontext", "localcontext"}),
        "decimal.getcontext()",
        lambda: _context(decimal.getcontext()),
    ),
    (frozenset({"getcwd", "cwd"}), "os.getcwd()", os.getcwd),
    (
        frozenset({"getlocale", "localeconv", "strxfrm"}),
        "locale.setlocale(locale.LC_ALL)",
        lambda: locale.setlocale(locale.LC_ALL),
    ),
]
# Names of functions that read files.
READERS = frozenset({
    "exists", "fromfile", "genfromtxt", "getmtime", "getsize", "is_file", "isfile",
    "listdir", "load", "loadtxt", "memmap", "open", "read", "read_bytes", "read_csv",
    "read_text", "readlines", "stat",
})  # fmt: skip
# Texts that are looked at, pairs of them, and the size to which files are read.
MOST, PAIRS, LARGEST = 200, 2_000, 1 << 20


def may_read(words: set[str], everything: list[CodeType]) -> bool:
    """Whether code may read a setting or a file; arguments as those of `states`."""
    if any(not words.isdisjoint(names) for names, _, _ in STATES):
        return True
    return _reads_files(part for code in everything for part in codes(code))


def _reads_files(everything: Iterable[CodeType]) -> bool:
    return any(not READERS.isdisjoint(code.co_names) for code in everything)


def states(
    words: set[str], everything: list[CodeType], texts: set[str]
) -> Iterator[Any]:
    """Settings and files that code reads, each with its state.

    Args:
        words: All names in the code.
        everything: The code.
        texts: What it reads that may name a file.
    """
    for names, path, state in STATES:
        if not words.isdisjoint(names):
            yield path, state()
    inner = [part for code in everything for part in codes(code)]
    if _reads_files(inner):
        constants = (c for code in inner for c in code.co_consts if type(c) is str)
        for path in sorted(_paths({*texts, *constants})):
            yield f"the file {path!r}", _state_of(path)


def _of_numpy(name: str) -> str | None:
    """A setting of NumPy; None where no code has imported it."""
    numpy = sys.modules.get("numpy")
    return None if numpy is None else repr(getattr(numpy, name)())


def _context(context: decimal.Context) -> Any:
    """What decides results; flags are what computations leave there."""
    settings = (context.prec, context.rounding, context.Emin, context.Emax)
    return *settings, context.capitals, context.clamp, tuple(context.traps.values())


def _paths(texts: set[str]) -> set[str]:
    """The paths among texts, and names in the folders of others."""
    short = [x for x in texts if 0 < len(x) < 1000 and "\n" not in x and "\0" not in x]
    few = sorted(short)[:MOST]
    found = {x for x in few if os.path.isfile(x)}
    folders = {x for x in few if os.path.isdir(x)} | {os.path.dirname(x) for x in found}
    joined = islice(product(sorted(folders - {""}), few), PAIRS)
    return found | {
        path for pair in joined if os.path.isfile(path := os.path.join(*pair))
    }


def _state_of(path: str) -> Any:
    try:
        about = os.stat(path)
        state = about.st_mtime_ns, about.st_size, about.st_ino
        if about.st_size > LARGEST:
            return state
        with open(path, "rb") as file:
            return about.st_size, crc32(file.read())
    except OSError:
        return None
