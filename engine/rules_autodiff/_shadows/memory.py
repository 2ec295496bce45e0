"""Memory and its shadow: one buffer of derivatives per owner of memory.

The shadow of a view is the window onto the owner's shadow with the view's offset and
strides, so aliases in the program are aliases in its derivative. The key is the owner,
never the array object: ``np.reshape(m.T, n)`` copies and yet returns a view, of a
temporary without a name.
"""

from typing import Any
from weakref import ref

import numpy as np

from rules_autodiff._refusals import refused

__all__ = [
    "CALLBACK",
    "FRESH",
    "LENT",
    "OWN",
    "WRITEABLE",
    "Memory",
    "add_into",
    "apart",
    "is_constant_field",
    "may_mirror",
    "overlaps_itself",
    "owner_of",
    "places_of",
    "same_entries",
    "same_place",
]


# NumPy's flag bit: reading `flags.writeable` warns for a broadcast array.
WRITEABLE = 0x0400

# Ownership of a shadow's buffer: its own, with the owner's layout; its own, with any
# layout; or possibly shared, which must not be written to.
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


# The object that `as_strided` puts between a view and its array.
STRIDED = type(np.lib.stride_tricks.as_strided(np.zeros(1)).base)


def same_place(a: Any, b: Any) -> bool:
    """Whether two arrays are the same entries of one memory."""
    return bool(
        a.shape == b.shape
        and a.strides == b.strides
        and a.dtype == b.dtype
        and address(a) == address(b)
    )


# The callback of every reference to an array. Without one CPython before 3.13 crashes
# if an array with several references is freed with one of them, which owned it.
CALLBACK = id


class Memory(ref[Any]):
    """The shadow of one owner: shape and strides as the owner's, allocated when needed.

    It is itself a weak reference to the owner: ids are used again, so whoever finds a
    shadow by an id compares. (One object for both takes a third of the time of two.)

    Attributes:
        data: The buffer in the owner's shape, or None where all is zero.
        data: The buffer in the owner's shape, or None for zero.
    """

    __slots__ = ("_start", "_strides", "data", "dtype", "flat", "hold", "shape")

    def __init__(self, owner: Any, _callback: Any):
        self.data: Any = None
        self.hold = OWN
        self.pin(owner)

    def pin(self, owner: Any) -> None:
        """Record the memory layout of the owner."""
        self.shape = owner.shape
        self.dtype = owner.dtype
        self._strides: Any = None
        self._start: int | None = None
        self.flat: Any = None  # an array and its window, cached

    def offset(self, view: Any) -> int:
        """Bytes from the first entry of the owner to the first one of a view of it."""
        if self._start is None:
            owner: Any = self()
            self._start, self._strides = address(owner), owner.strides
        return address(view) - self._start

    def layout(self) -> Any:
        """The strides of the owner.

        If it is gone without a record, C order is used: a window of an owner with
        another layout records it when it is made.
        """
        if self._strides is None:
            owner: Any = self()
            if owner is None:
                owner = np.broadcast_to(np.zeros((), self.dtype), self.shape).copy()
            self._strides = owner.strides
        return self._strides

    def zeros(self) -> Any:
        """A buffer of zeros with the owner's memory layout."""
        return strided_zeros(self.shape, self.dtype, self.layout())

    def own(self) -> Any:
        """The buffer, made our own, so that its windows can be written to."""
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
        """The part of the buffer at a place recorded while the view existed."""
        data = self.own()
        if self.flat is None or self.flat[0] is not data:
            flat = owner_of(data)
            self.flat = data, flat, address(data) - address(flat)
        _, flat, start = self.flat
        return np.ndarray(shape, dtype, flat, start + offset, strides)


def address(a: Any) -> int:
    """The address of an array's first entry."""
    return int(a.__array_interface__["data"][0])


def strided_zeros(shape: Any, dtype: Any, strides: Any) -> Any:
    """Zeros with given strides over one flat array, for taking windows."""
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
    if a.flags.forc:  # contiguous in either order
        return False
    for stride, n in sorted(zip(map(abs, a.strides), a.shape, strict=True)):
        if n > 1:
            if stride < extent:
                return True
            extent += stride * (n - 1)
    return False


def add_into(window: Any, ct: Any) -> None:
    """``window += ct``, even if entries of the window share memory."""
    if overlaps_itself(window):
        flat, places = places_of(window)
        np.add.at(flat, places, np.broadcast_to(ct, window.shape))
    else:
        window += ct


def apart(dest: Any, key: Any) -> tuple[Any, Any]:
    """These entries of this memory, in an array without duplicates."""
    if not (isinstance(dest, np.ndarray) and overlaps_itself(dest)):
        return dest, key
    flat, places = places_of(dest)
    # With one axis, NumPy 2.4 reads beyond values that have fewer axes than the index.
    return flat[:, np.newaxis], (places[key], 0)


def places_of(window: Any) -> tuple[Any, Any]:
    """All numbers in the memory of a window, in a row, and the window's positions.

    They have the window's own class: the real part of a complex array is every other
    one of its floats.
    """
    memory, size = owner_of(window), window.dtype.itemsize
    start = address(window) - address(memory)
    if not memory.flags.c_contiguous or any(n % size for n in (start, *window.strides)):
        refused("overlapping")
    flat = np.ndarray((memory.nbytes // size,), window.dtype, memory)
    places = np.full(window.shape, start // size)
    for axis, stride in enumerate(window.strides):
        along = [1] * window.ndim
        along[axis] = -1
        steps = np.arange(window.shape[axis]) * (stride // size)
        places += steps.reshape(along)
    return flat, places


def same_entries(a: Any, b: Any) -> bool:
    """Whether two arrays of one dtype are equal, field by field, NaN being NaN."""
    if a.dtype.names:
        return all(same_entries(a[name], b[name]) for name in a.dtype.names)
    return np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")


def is_constant_field(view: Any, owner: Any) -> bool:
    """Whether a view is a field of records that cannot have a derivative."""
    return bool(owner.kind == "V" and view.kind not in "fcV")


def may_mirror(view: Any, owner: Any) -> bool:
    """Whether a window of this dtype has one meaning in shadow and owner."""
    if view == owner or owner.kind == "V":
        return True
    parts = {view.kind, owner.kind}
    return parts == {"f", "c"} and (
        view.itemsize * 2 == owner.itemsize or owner.itemsize * 2 == view.itemsize
    )
