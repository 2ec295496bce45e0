"""Memory and its shadow: one buffer of derivatives per owner of memory.

The shadow of a view is the window onto the owner's shadow with the same offset and
strides, so whatever aliases in the program aliases in its derivative. The key is the
owner, never the array object: ``np.reshape(m.T, n)`` copies and yet returns a view, of
a temporary that nobody else sees.
"""

from typing import Any
from weakref import ref

import numpy as np

__all__ = [
    "CALLBACK",
    "FRESH",
    "LENT",
    "OWN",
    "Memory",
    "add_into",
    "overlaps_itself",
    "owner_of",
    "places_of",
    "same_place",
]


# Whose array a shadow's buffer is: its own, laid out as the owner is; its own, however
# it lies; or one that others may hold too, which must not be written to.
OWN, FRESH, LENT = 0, 1, 2


def owner_of(a: Any) -> Any:
    """The array that owns the memory of ``a`` (`a` itself unless it is a view)."""
    base = a.base
    while base is not None:
        if isinstance(base, np.ndarray):
            a = base
        elif type(base) is not STRIDED:
            break
        base = base.base
    return a


# What `as_strided` puts between a view and the array that it was made from.
STRIDED = type(np.lib.stride_tricks.as_strided(np.zeros(1)).base)


def same_place(a: Any, b: Any) -> bool:
    """Whether two arrays are the same entries of the same memory."""
    return bool(
        a.shape == b.shape
        and a.strides == b.strides
        and a.dtype == b.dtype
        and address(a) == address(b)
    )


# The callback of every reference to an array. Without one CPython before 3.13 crashes
# where an array with several references goes with one of them, which held it.
CALLBACK = id


class Memory(ref[Any]):
    """The shadow of one owner: shape and strides as the owner's, allocated when needed.

    It is itself a weak reference to the owner: ids are used again, so whoever finds a
    shadow by an id compares. (One object for both takes a third of the time of two.)

    Attributes:
        data: The buffer in the owner's shape, or None where all is zero.
        hold: Whose array `data` is: `OWN`, `FRESH` or `LENT`.
    """

    __slots__ = ("_start", "_strides", "data", "dtype", "flat", "hold", "shape")

    def __init__(self, owner: Any, _callback: Any):
        self.data: Any = None
        self.hold = OWN
        self.pin(owner)

    def pin(self, owner: Any) -> None:
        """Note how the owner lies in memory."""
        self.shape = owner.shape
        self.dtype = owner.dtype
        self._strides: Any = None
        self._start: int | None = None
        self.flat: Any = None  # of which array it was asked for, it, and where it lies

    def offset(self, view: Any) -> int:
        """Bytes from the first entry of the owner to the first one of a view of it."""
        if self._start is None:
            owner: Any = self()
            self._start, self._strides = address(owner), owner.strides
        return address(view) - self._start

    def layout(self) -> Any:
        """The strides of the owner.

        Where it is gone and nobody has asked before, there is no view of it: any will
        do.
        """
        if self._strides is None:
            owner: Any = self()
            if owner is None:
                owner = np.broadcast_to(np.zeros((), self.dtype), self.shape).copy()
            self._strides = owner.strides
        return self._strides

    def zeros(self) -> Any:
        """A buffer of zeros that lies in memory as the owner does."""
        return strided_zeros(self.shape, self.dtype, self.layout())

    def own(self) -> Any:
        """The buffer, made our own, so that windows of it can be written to."""
        if self.data is None or self.hold:
            old = self.data
            self.data = self.zeros()
            self.hold = OWN
            if old is not None:
                self.data[...] = old
        return self.data

    def window(self, view: Any) -> Any:
        """The part of the (own) buffer that mirrors a view of the owner."""
        return self.window_at(self.offset(view), view.shape, view.dtype, view.strides)

    def window_at(self, offset: int, shape: Any, dtype: Any, strides: Any) -> Any:
        """The part of the buffer at a place that was noted while the view lived."""
        data = self.own()
        if self.flat is None or self.flat[0] is not data:
            flat = owner_of(data)
            self.flat = data, flat, address(data) - address(flat)
        _, flat, start = self.flat
        return np.ndarray(shape, dtype, flat, start + offset, strides)


def address(a: Any) -> int:
    """Where the first entry of an array lies."""
    return int(a.__array_interface__["data"][0])


def strided_zeros(shape: Any, dtype: Any, strides: Any) -> Any:
    """Zeros with given strides over one flat array, whose windows can be taken."""
    spans = [(n - 1) * stride for n, stride in zip(shape, strides, strict=True) if n]
    low = sum(span for span in spans if span < 0)
    high = sum(span for span in spans if span > 0)
    flat = np.zeros((high - low) // dtype.itemsize + 1, dtype)
    return np.ndarray(shape, dtype, flat, -low, strides)


def overlaps_itself(a: Any) -> bool:
    """Whether two entries of an array may share memory (broadcast, sliding windows)."""
    extent = a.dtype.itemsize
    if a.ndim == 1:
        return bool(abs(a.strides[0]) < extent and a.size > 1)
    if a.flags.forc:  # contiguous one way or the other
        return False
    for stride, n in sorted(zip(map(abs, a.strides), a.shape, strict=True)):
        if n > 1:
            if stride < extent:
                return True
            extent += stride * (n - 1)
    return False


def add_into(window: Any, ct: Any) -> None:
    """``window += ct``, also where entries of the window share memory."""
    if overlaps_itself(window):
        flat = owner_of(window).reshape(-1)
        np.add.at(flat, places_of(window), np.broadcast_to(ct, window.shape))
    else:
        window += ct


def places_of(window: Any) -> Any:
    """Where each entry of a window lies in the flat array that owns its memory."""
    flat = owner_of(window)
    start = (address(window) - address(flat)) // flat.dtype.itemsize
    places = np.full(window.shape, start)
    for axis, stride in enumerate(window.strides):
        along = [1] * window.ndim
        along[axis] = -1
        steps = np.arange(window.shape[axis]) * (stride // flat.dtype.itemsize)
        places += steps.reshape(along)
    return places
