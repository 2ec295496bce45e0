"""What is known of code objects, as long as they live."""

from __future__ import annotations

from types import CodeType
from typing import Any
from weakref import ref

__all__ = ["ByIdentity"]


class ByIdentity:
    """A mapping from code objects by identity, as long as they live.

    Used at each call of an unknown function: a `WeakKeyDictionary` would hash the whole
    code object.
    """

    def __init__(self) -> None:
        self.entries: dict[int, tuple[ref[CodeType], Any]] = {}

    def __len__(self) -> int:
        return len(self.entries)

    def get(self, code: CodeType) -> Any:
        """The value of this very object, or None."""
        entry = self.entries.get(id(code))
        return None if entry is None or entry[0]() is not code else entry[1]

    def put(self, code: CodeType, value: Any) -> None:
        """Keep a value of an object."""
        key, entries = id(code), self.entries

        def forget(gone: ref[CodeType]) -> None:
            if entries.get(key, (None,))[0] is gone:
                del entries[key]

        entries[key] = ref(code, forget), value
