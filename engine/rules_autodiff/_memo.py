"""Caches that outlive a call: what they hold is a constant, and must not pass unseen.

`if x not in cache: cache[x] = f(x)` is right as long as the entry was made in this run.
An entry of an earlier call holds a plain number for the very value that carries the
derivative now.
"""

from typing import Any

from rules_autodiff._calls import HANDLERS
from rules_autodiff._explain import refused
from rules_autodiff._hooks import Hooks
from rules_autodiff._text import NUMBER
from rules_autodiff._values import INERT, is_float_array, is_number

__all__ = ["Memos"]

TEXTS = frozenset({str, bytes, int})


class Memos(Hooks):
    """What a run knows about the dicts that are asked by values with derivatives.

    Attributes:
        keys: Texts, bytes and hashes that were made of such values.
        stored: Dicts and the hashes of the keys that were stored in this run.
    """

    keys: set[Any]
    texts: set[Any]
    stored: dict[int, tuple[Any, set[int]]]

    def is_own_key(self, key: Any) -> bool:
        """Whether a key says which value with a derivative is meant."""
        if type(key) is str and self.texts and key not in self.keys:
            return any(float(part) in self.texts for part in NUMBER.findall(key))
        if type(key) in TEXTS:
            return key in self.keys
        if type(key) is tuple:
            return any(self.is_own_key(part) for part in key)
        return type(key) not in INERT and self.is_active(key)

    def note_key(self, table: Any, key: Any) -> None:
        """Called when an entry is stored."""
        if type(key) not in TEXTS or self.keys:
            kept = self.stored.setdefault(id(table), (table, set()))
            kept[1].add(hash(key))

    def check_memo(self, table: Any, key: Any, value: Any) -> Any:
        """What a dict holds under a key; refused if it was cached by another call."""
        if type(key) in TEXTS and not self.keys:
            return value
        if not holds_numbers(value) or not self.is_own_key(key):
            return value
        known = hash(key) in self.stored.get(id(table), (None, ()))[1]
        if not known and not self.is_active(value):
            refused("memo")
        return value


def holds_numbers(x: Any) -> bool:
    """Whether a value is, or a builtin container holds, a float or a float array."""
    if isinstance(x, list | tuple):
        return any(map(holds_numbers, x))
    return is_number(x) or is_float_array(x)


def asked(run: Any, table: Any, key: Any, *default: Any) -> Any:
    """`dict.get`."""
    found = dict.get(table, key, *default)
    return run.check_memo(table, key, found) if key in table else found


HANDLERS[dict.get] = asked
