"""Arguments that enter a run.

An argument must not be confused with an equal object elsewhere in the program (a
global, a captured array, another argument). So a number enters as a new object; an
array as a new array over its memory, so the program's writes reach it; a container as a
copy, which is written back.
"""

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import CellType, FunctionType
from typing import Any, final

import numpy as np

from rules_autodiff._lift.lift import like
from rules_autodiff._python.errors import UnsupportedProgram
from rules_autodiff._python.outside_reads import read_outside
from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._python.values import INERT, is_number
from rules_autodiff._shadows.memory import overlaps_itself, owner_of
from rules_autodiff._shadows.saved_state import state_functions
from rules_core import has_tangent, structure
from rules_core.extend import COMPILERS

__all__ = [
    "Const", "Entrance", "Guard", "alias", "is_leaf", "refuse_foreign", "without_const",
]  # fmt: skip


@final
@dataclass(frozen=True)
class Const:
    """Marks an argument as a constant: `vjp(f, x, Const(y))`.

    The function receives the value itself; its cotangent is `NoTangent()`.

    Attributes:
        value: The value.

    >>> from rules_autodiff import Const, vjp
    >>> y, pullback = vjp(lambda x, c: x * c, 2.0, Const(3.0))
    >>> y, pullback(1.0)
    (6.0, (3.0, NoTangent()))
    """

    value: Any


def without_const(args: Any) -> list[Any]:
    """The arguments as the function receives them."""
    return [x.value if isinstance(x, Const) else x for x in args]


def is_leaf(x: Any) -> bool:
    return type(x) in INERT or is_number(x) or isinstance(x, np.ndarray)


class Entrance:
    """The arguments of one run: the user's, and the program's.

    With `callables` functions are arguments too, with their captured values. With
    `apart` the program receives copies, and its writes have no effect outside.
    """

    def __init__(self, run: Any, *, callables: bool = False, apart: bool = False):
        self.callables = callables
        self.apart = apart
        self.run = run
        self.below = run.below
        self.memo: dict[int, tuple[Any, Any]] = {}
        self.numbers: list[tuple[Any, Any]] = []  # (argument, entered)
        self.copies: list[tuple[Any, Any]] = []  # (argument, entered) of containers
        self.variables: dict[int, tuple[CellType, CellType]] = {}  # given, own
        self.cells: list[tuple[CellType, CellType, Any]] = []  # and the entered value
        self.rebuilt: list[tuple[Any, Any]] = []  # (argument, entered), immutable
        self.arrays: list[tuple[Any, Any, Guard]] = []
        run.entered = self.copies, self.rebuilt, self.arrays, self.numbers

    def enter(self, x: Any) -> Any:
        """The value that the program receives for `x`."""
        if type(x) in INERT:
            return x
        if type(x) is np.ndarray:
            return self.enter_array(x)
        if is_number(x):
            self.numbers.append((x, self.below.box(x)))
            return self.numbers[-1][1]
        if id(x) in self.memo and not isinstance(x, np.ndarray):
            return self.memo[id(x)][1]
        return self.enter_new(x)

    def enter_new(self, x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return self.enter_array(x)
        level = structure(x)
        if level is None:
            refuse_foreign(x)
            return x
        if not has_tangent(x) or (callable(x) and not self.callables):
            return x
        if level.mutable:
            inner = level.shell()
            self.memo[id(x)] = (x, inner)  # it may contain itself
            level.fill(inner, [self.enter(value) for value in level.values])
        elif isinstance(x, FunctionType):
            inner = self.enter_function(x)
        else:
            inner = level.rebuild([self.enter(value) for value in level.values])
        if isinstance(x, list | dict | deque | FunctionType) or level.mutable:
            self.copies.append((x, inner))
        else:
            self.rebuilt.append((x, inner))
        return inner

    def enter_function(self, x: FunctionType) -> FunctionType:
        """A function with new cells, shared as the original's are."""
        cells = x.__closure__ or ()
        new = [cell for cell in cells if id(cell) not in self.variables]
        self.variables.update({id(cell): (cell, CellType()) for cell in new})
        own = tuple([self.variables[id(cell)][1] for cell in cells])
        inner = like(x, x.__code__, own)
        self.memo[id(x)] = (x, inner)  # it may call itself
        for cell in new:
            if filled(cell):
                entered = self.enter(cell.cell_contents)
                self.variables[id(cell)][1].cell_contents = entered
                self.cells.append((cell, self.variables[id(cell)][1], entered))
        return inner

    def rebound(self) -> bool:
        """Whether the program assigned a variable of an entered function."""
        return any(own.cell_contents is not entered for _, own, entered in self.cells)

    def enter_array(self, x: Any) -> Any:
        if x.dtype.kind not in "fc":
            return x
        shared = self.below is PLAIN and not self.apart
        inner = alias(x) if shared else self.below.copied(x, "strides")
        if not x.flags.writeable:
            inner.flags.writeable = False
        owner = x if x.base is None else owner_of(x)
        guard = self.run.guards.setdefault(id(owner), Guard(owner))
        self.arrays.append((x, inner, guard))
        return inner

    def enter_beside(self, inner: list[Any], active: Any) -> None:
        """Let constants enter that share memory with a differentiated argument.

        Otherwise they would count as another access to that memory, which must not be
        written.
        """
        for i, x in enumerate(inner):
            if type(x) is np.ndarray and i not in active and x.dtype.kind in "fc":
                owner = x if x.base is None else owner_of(x)
                if type(self.run.guards.get(id(owner))) is Guard:
                    inner[i] = self.enter_array(x)

    def check_written(self, written: set[int]) -> None:
        """Raise an error for writes to memory with another access in the program.

        Each argument is a separate variable: the derivatives of `f(x, x)` are those of
        two variables. A write to one of them would change the other. Views of one array
        that do not overlap are two variables. The program's list, dict or object is a
        copy: a write to the user's own, by the name of a global, would not change it.
        """
        for x, _ in self.copies:
            if id(x) in written or id(getattr(x, "__dict__", None)) in written:
                message = (
                    f"A differentiated argument (of class {type(x).__name__}) must be "
                    "written to as the argument, but is written to by another name, as "
                    "a global or an entry of one. Use the argument's name, or pass a "
                    "copy."
                )
                raise UnsupportedProgram(message)
        for x, inner, guard in self.arrays:
            owners = {id(owner_of(inner)), id(guard.owner)}
            if not owners & written:
                continue
            if overlaps_itself(x):
                message = (
                    f"A differentiated argument (an array of shape {x.shape}) must not "
                    "share memory with itself if the function writes to it, but it "
                    "does. Pass a copy."
                )
                raise UnsupportedProgram(message)
            others = [o for o, i, g in self.arrays if g is guard and i is not inner]
            if guard.touched or any(np.shares_memory(x, o) for o in others):
                message = (
                    f"A differentiated argument (an array of shape {x.shape}) must not "
                    "share memory with another argument, a captured or a global array "
                    "if the function writes to it, but it does. Pass a copy."
                )
                raise UnsupportedProgram(message)

    def check_alone(self, written: set[int], f: Any, args: Any, inner: Any) -> None:
        """Raise an error for changed containers with another access in the program.

        The entered object is a copy: the other access leads to the user's object.

        Args:
            written: The ids of changed objects.
            f: The program.
            args: Its arguments, the user's objects.
            inner: Its arguments, the entered objects.
        """
        changed = [x for x, own in self.copies if id(own) in written]
        if not changed:
            return
        entered = Counter([id(x) for x, _ in self.copies])
        pairs = zip(without_const(args), inner, strict=True)
        others = [x for x, own in pairs if x is own]
        seen = reached(f, *others, *read_outside(f))
        for x in changed:
            if entered[id(x)] > 1 or id(x) in seen:
                message = (
                    f"A differentiated argument (of class {type(x).__qualname__}) must "
                    "not stand in two places, or be captured or global too, if the "
                    "function changes it, but it does. Pass a copy."
                )
                raise UnsupportedProgram(message)

    def given(self) -> dict[int, Any]:
        """The user's objects, by the ids of the entered objects."""
        pairs = (*self.copies, *self.rebuilt, *self.arrays, *self.numbers)
        return {id(inner): x for x, inner, *_ in pairs}

    def write_back(self, written: Callable[[], set[int]]) -> None:
        """Copy the state of written entered objects to the user's objects.

        Objects that were kept apart are not copied back. Entries that were not replaced
        are the user's own objects again: other levels know a number by its identity.
        """
        if self.apart:
            return
        originals = self.given()
        for x, inner in self.copies:
            save, load = state_functions(inner)
            state = own_state(x, save(inner), originals)
            if not same_state(state, save(x)):  # or it would count as a write
                self.below.changing(x)
                load(x, state)
        if self.below is not PLAIN and self.arrays:
            owners = written()
            for x, inner, _ in self.arrays:
                if id(owner_of(inner)) in owners:
                    self.below.store_item(inner, x, Ellipsis)


def refuse_foreign(x: Any) -> None:
    """Raise an error for a leaf whose derivative the engine does not know."""
    cls = type(x)
    if holds_numbers_of_numba(x):
        message = (
            "An argument to differentiate must be made of numbers and NumPy arrays, "
            f"but is or holds a {cls.__name__} of numba. Pass a list, a dict or an "
            "array, or Const(x)."
        )
        raise UnsupportedProgram(message)
    if not has_tangent(x):
        return
    message = (
        "An argument to differentiate must be made of numbers and NumPy arrays, but is "
        f"or holds a value of {cls.__module__}.{cls.__qualname__}. Pass "
        "numpy.asarray(x) or Const(x), or call the program in the other library by "
        "rules_jax.to_jax or rules_torch.to_torch with host=True."
    )
    raise UnsupportedProgram(message)


def holds_numbers_of_numba(x: Any) -> bool:
    """Whether a value is a typed list or dict of floats, or of a compiled class."""
    if type(x).__module__.partition(".")[0] not in COMPILERS or callable(x):
        return False
    parts: Any = x.values() if isinstance(x, Mapping) else x
    if isinstance(x, Mapping | Sequence):
        return any(has_tangent(part) for part in parts)
    return hasattr(x, "_numba_type_")


def filled(cell: CellType) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True


class Guard:
    """Represents the memory of an argument, and records whether it is reached."""

    def __init__(self, owner: Any):
        self.owner = owner
        self.touched = False

    def __call__(self) -> None:
        """The call of a weak reference: there is no derivative."""
        self.touched = True


def reached(*roots: Any) -> dict[int, Any]:
    """All objects inside values, by their ids."""
    seen: dict[int, Any] = {}
    open_ends = list(roots)
    while open_ends:
        x = open_ends.pop()
        if id(x) in seen or is_leaf(x):
            continue
        seen[id(x)] = x
        level = structure(x)
        open_ends.extend(() if level is None else level.values)
    return seen


def own_state(x: Any, state: Any, given: dict[int, Any]) -> Any:
    """A state of `x` with the user's own objects instead of the entered ones."""

    def own(value: Any) -> Any:
        if id(value) not in given and type(value) is tuple:
            return tuple(map(own, value))
        return given.get(id(value), value)

    if isinstance(x, dict):
        return [(key, own(value)) for key, value in state]
    if isinstance(state, tuple):  # of an object: attributes and slots
        attributes, slots = state
        named = {name: own(value) for name, value in attributes.items()}
        return named, [(slot, own(value)) for slot, value in slots]
    return list(map(own, state))


def same_state(one: Any, other: Any) -> bool:
    """Whether two saved states of a value contain identical objects."""
    if isinstance(one, tuple):  # of an object: attributes and slots
        one, other = ([*named.items(), *slots] for named, slots in (one, other))
    return len(one) == len(other) and all(map(same, one, other))


def same(x: Any, y: Any) -> bool:
    """Whether two values are one object, or tuples of identical objects."""
    if type(x) is tuple and type(y) is tuple and len(x) == len(y):
        return all(map(same, x, y))
    return x is y


def alias(x: Any) -> Any:
    """An array over the memory of `x` that counts as its owner in the engine."""
    if type(x) is not np.ndarray and not isinstance(x, np.memmap):
        message = (
            f"An argument must be a plain NumPy array to be differentiated, but got "
            f"{type(x).__name__}. Convert it by numpy.asarray."
        )
        raise UnsupportedProgram(message)
    if overlaps_itself(x) or not x.dtype.isnative:
        return x.copy()
    # Arrays have buffers, which NumPy declares from Python 3.12 on.
    return np.asarray(memoryview(x))  # type: ignore[arg-type]
