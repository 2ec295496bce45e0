"""The least that a tape by identity costs: what is left when nothing is asked.

Run: `python benchmarks/engine_floor.py`.

The engine knows a value by its identity and writes a tape. Here is such a tape for four
operations, written by hand for known classes of known values: no other classes, no
views, no broadcasting, no rules of others, no writes, one level. What it takes beyond
the plain loop is a bound from below for the engine, in microseconds for each operation.
"""

import math
import operator
import time
from collections.abc import Callable
from typing import Any
from weakref import ref

import numpy as np

COUNT = 200


class Shadow(ref[Any]):
    """Where the cotangent of an array is gathered."""

    __slots__ = ("data",)

    def __init__(self, _owner: Any, _callback: Any):
        self.data: Any = None


class Tape:
    """Four hooks that record, and the way back."""

    def __init__(self) -> None:
        self.entries: list[Any] = []
        self.nodes: dict[int, Any] = {}
        self.shadows: dict[int, Any] = {}

    def watch(self, x: Any) -> Any:
        """A slot for the input."""
        if isinstance(x, float):
            slot: Any = [0.0, x]
            self.nodes[id(x)] = slot
        else:
            slot = self.shadows[id(x)] = Shadow(x, id)
        return slot

    def mul(self, x: Any, y: Any) -> Any:
        """A number times a constant."""
        z = x * y
        entry = [0.0, z, self.nodes[id(x)], y, self.nodes.get(id(y)), x]
        self.nodes[id(z)] = entry
        self.entries.append(entry)
        return z

    def sin(self, x: Any) -> Any:
        """The sine of a number."""
        z = np.sin(x)
        entry = [0.0, z, self.nodes[id(x)], math.cos(x), None, 0.0]
        self.nodes[id(z)] = entry
        self.entries.append(entry)
        return z

    def add(self, x: Any, y: Any) -> Any:
        """The sum of an array and a constant one of its shape."""
        z = x + y
        one, other = self.shadows.get(id(x)), self.shadows.get(id(y))
        assert one() is x
        out = self.shadows[id(z)] = Shadow(z, id)
        self.entries.append((out, one, None, None, other))
        return z

    def tanh(self, x: Any) -> Any:
        """The hyperbolic tangent of an array."""
        z = np.tanh(x)
        slot = self.shadows.get(id(x))
        assert slot() is x
        out = self.shadows[id(z)] = Shadow(z, id)
        self.entries.append((out, slot, tanh_map, z, None))
        return z

    def back(self, seed: Any) -> None:
        """The reverse pass."""
        last = self.entries[-1]
        if type(last) is list:
            last[0] = seed
        else:
            last[0].data = seed
        for entry in reversed(self.entries):
            if type(entry) is list:
                d = entry[0]
                entry[2][0] += d * entry[3]
                if entry[4] is not None:
                    entry[4][0] += d * entry[5]
            else:
                out, slot, by, kept, other = entry
                dz = out.data
                ct = dz if by is None else by(dz, kept)
                slot.data = ct if slot.data is None else slot.data + ct
                if other is not None:
                    other.data = ct if other.data is None else other.data + ct


def tanh_map(dz: Any, z: Any) -> Any:
    return dz * (1.0 - z * z)


def recorded(name: str, x: Any, *rest: Any) -> None:
    """One gradient of `COUNT` operations."""
    tape = Tape()
    tape.watch(x)
    hook, y = getattr(tape, name), x
    for _ in range(COUNT):
        y = hook(y, *rest)
    tape.back(np.ones_like(y) if isinstance(y, np.ndarray) else 1.0)


def plain(f: Callable[..., Any], x: Any, *rest: Any) -> None:
    """The same operations alone."""
    y = x
    for _ in range(COUNT):
        y = f(y, *rest)


def least(call: Callable[..., None], *args: Any) -> float:
    """Processor seconds of one operation, the least of many rounds."""
    found = []
    for _ in range(300):
        before = time.process_time()
        call(*args)
        found.append(time.process_time() - before)
    return min(found) / COUNT


def main() -> None:
    """Print what each operation takes beyond itself."""
    v = np.linspace(0.1, 0.9, 16)
    cases: list[tuple[str, str, Callable[..., Any], tuple[Any, ...]]] = [
        ("number * number", "mul", operator.mul, (0.99, 0.999)),
        ("np.sin(number)", "sin", np.sin, (0.5,)),
        ("array + array", "add", operator.add, (v, v.copy())),
        ("np.tanh(array)", "tanh", np.tanh, (v,)),
    ]
    for title, name, f, args in cases:
        taped, bare = least(recorded, name, *args), least(plain, f, *args)
        print(f"{title:20}{(taped - bare) * 1e6:8.2f} µs")


if __name__ == "__main__":
    main()
