"""Entries of the tape for writes of whole arrays of float64, at first order."""

from typing import Any

import numpy as np
from numpy import ndarray

from rules_autodiff._own_rules.own_rule import Space, fit
from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._shadows.memory import FRESH, LENT
from rules_autodiff._shadows.slots import Shadow, add_to, give
from rules_autodiff._tape.entries import WriteEntry

__all__ = ["ArrayWrite", "Increase"]


class ArrayWrite(WriteEntry):
    """`dest[key] = value` for a key that gives a view, as `WriteEntry`."""

    __slots__ = ("size",)
    winners = None
    space: Any
    size: Any

    def __init__(self, dest: Any, key: Any, here: Any, out: Any, slot: Any, value: Any):
        self.dest, self.key, self.other = dest, key, here.copy()
        self.out, self.value = out, slot
        self.size = value.shape if type(value) is ndarray else None

    def reverse(self, below: Any) -> None:
        if below is not PLAIN:
            self.prepare()
            super().reverse(below)
            return
        ct = None
        if self.out is not None and self.out.data is not None:
            ct = self.taken(self.out)
        self.swap()
        if ct is not None and self.value is not None:
            give(self.value, self.fitted(ct), FRESH)

    def prepare(self) -> None:
        """Note what only general arithmetic asks for: the value's space, and shape."""
        self.space = self.value_space()
        if type(self.value) is Shadow and self.value.shape is None:
            self.value.pin(np.broadcast_to(0.0, self.size))

    def value_space(self) -> Space:
        return Space(self.size or (), "f", array=self.size is not None)

    def taken(self, out: Any) -> Any:
        """The cotangent of what was written, which is zero from here on."""
        if self.key is Ellipsis and type(out) is Shadow:
            whole, out.data = out.data, None
            return whole.copy() if out.hold == LENT else whole
        here = out.here(PLAIN)[self.key]
        ct = None if self.value is None else here.copy()
        here[...] = 0.0
        return ct

    def fitted(self, ct: Any) -> Any:
        """A cotangent in the shape of the value."""
        return ct if ct.shape == self.size else fit(ct, self.value_space())

    def swap(self) -> None:
        """Exchange what the entries hold with what they held on the other side."""
        here = self.dest[self.key]
        other = here.copy()
        here[...] = self.other
        self.other = other


class Increase(ArrayWrite):
    """`dest += value` or `dest -= value`: the cotangent of `dest` stays as it is.

    Attributes:
        sign: 1 or -1.
    """

    __slots__ = ("sign",)
    sign: int

    def reverse(self, below: Any) -> None:
        needed = self.out is not None and self.value is not None
        if not needed or self.out.data is None:
            self.undo(below)
        elif below is PLAIN:
            ct = self.shared(self.out)
            self.swap()
            give(self.value, self.fitted(-ct if self.sign < 0 else ct), LENT)
        else:
            ct = below.copied(self.out.here(below))
            self.undo(below)
            self.prepare()
            ct = below.neg(ct) if self.sign < 0 else ct
            add_to(self.value, below.call(fit, ct, self.space), below)

    def shared(self, out: Any) -> Any:
        """The cotangent of the array that was added to; it must not be written to."""
        if type(out) is not Shadow:
            return out.here(PLAIN).copy()
        out.hold = LENT
        return out.data
