"""Calls of compiled code: the value of a program and its derivatives."""

import ast
import time
from typing import Any, NoReturn

import numpy as np

from rules_autodiff.straight._program.kinds import kind_of, spread
from rules_autodiff.straight._program.refused import in_place
from rules_autodiff.straight._unit.unpacked_arguments import active_leaves

from .files import module_of
from .flags import UNDERFLOW, flags
from .program import Program
from .terms import FLOAT, NUMPY, Uncompiled, refuse

__all__ = ["Kernel", "Unused", "kernel_of"]

LARGE = 1000  # entries of an array from which NumPy does as well
PASSED = frozenset({
    float, np.float64, int, np.int64, bool, np.bool_, np.ndarray
})  # fmt: skip
CLASSES: dict[int, type] = {FLOAT: float, NUMPY: np.float64}


class Unused(Exception):
    """Compiled code does not serve a call; generated code in Python does."""


def unused(reason: str) -> NoReturn:
    raise Unused(reason)


class Kernel:
    """The compiled code of a unit.

    Attributes:
        seconds: How long compiling took.
        text: The text that numba compiled.
        small: Whether a number became too small in the last call.
    """

    def __init__(
        self, unit: Any, args: Any, caps: Any, dots: Any, places: Any, *, required: bool
    ):
        began = time.perf_counter()
        active = leaves_of(args, places)
        self.flat, self.check = unpackers(unit, args)
        leaves = self.flat(args)
        program = made(unit, leaves, caps, dots)
        values = (*leaves, *caps, *(dots or ()))
        if not required and program.whole_arrays and any(map(is_large, values)):
            refuse("its arrays are large, for which NumPy is as fast")
        self.classes = [classes_of(x) for x in (*leaves, *caps)]
        self.active, self.arrays = active, [
            i for i in active if type(leaves[i]) is np.ndarray
        ]  # fmt: skip
        layouts = [layout_of(x) for value in values for x in entries_of(value)]
        self.text = program.text(layouts, active)
        self.row = program.first.value is not None and program.first.value.name == "row"
        self.clear, self.marks = flags()
        try:
            self.module = compiled(self.text)
        except Uncompiled as error:
            raise Uncompiled(error.reason, program.line_of(error.line)) from None
        self.made_value: Any = None
        self.small = False
        self.rows = rows_of(unit)
        self.seconds = time.perf_counter() - began

    def given(self, args: Any, caps: Any) -> list[Any]:
        """The arguments of the entry, in the expected classes."""
        leaves = self.flat(args)
        values = [*leaves, *caps]
        if [*map(classes_of, values)] != self.classes:
            unused("its arguments are of other classes than before")
        self.check(leaves, caps)
        return [
            leaf if type(leaf) in PASSED else 0
            for x in values
            for leaf in entries_of(x)
        ]

    def run(self, values: Any, entry: Any) -> Any:
        """A call of an entry, if nothing in it would raise an error in Python."""
        self.clear()
        try:
            found = entry(*values)
        except TypeError:  # the layout of an array
            found = entry(*map(contiguous, values))
        marks = self.marks()
        if marks & 1:
            unused("there is a floating-point error")
        self.small = bool(marks & UNDERFLOW)
        return found

    def back(self, args: Any, caps: Any, dy: Any) -> tuple[Any, Any]:
        """The value, and the cotangents of the active arguments."""
        values = self.given(args, caps)
        dys = dy if self.row else (dy,)
        leaves = self.flat(args)
        outs = [np.empty(leaves[i].shape) for i in self.arrays]
        value, rank, numbers = self.run(
            [*values, *map(contiguous, dys), *outs], self.module.entry
        )
        found = dict(zip(self.arrays, outs, strict=True))
        others = [i for i in self.active if i not in found]
        found |= dict(zip(others, numbers, strict=False))
        cotangents = tuple([found[i] for i in self.active])
        return self.value(value, rank), self.rows(cotangents)

    def value_alone(self, args: Any, caps: Any) -> Any:
        """The value."""
        if self.made_value is None:
            self.made_value = compiled_value(self.module)
        return self.value(*self.run(self.given(args, caps), self.made_value))

    def push(self, args: Any, caps: Any, dots: Any) -> tuple[Any, Any]:
        """The value, and its tangents."""
        values = self.given(args, caps)
        value, rank, dys = self.run(
            [*values, *map(contiguous, dots)], self.module.entry
        )
        return self.value(value, rank), tuple(map(own, dys))

    def value(self, value: Any, rank: Any) -> Any:
        """A value in the class that Python would give it."""
        if type(rank) is tuple:
            return tuple(map(self.value, value, rank))
        if type(value) is np.ndarray:
            return own(value)
        if rank not in CLASSES:
            unused("its value is a whole number")
        return CLASSES[rank](value)


def leaves_of(args: Any, places: Any) -> tuple[int, ...]:
    """The leaves of the arguments that are differentiated."""
    kinds = [kind_of(x) for x in args]
    spread_out = [spread(k) if i in places and k else k for i, k in enumerate(kinds)]
    return active_leaves(tuple(k for k in spread_out if k), places)


def own(x: Any) -> Any:
    """An array in memory of NumPy's, and of its dtype, not of numba's."""
    if type(x) is not np.ndarray:
        return x
    made = np.empty(x.shape)
    made[...] = x
    return made


def contiguous(x: Any) -> Any:
    return np.ascontiguousarray(x) if type(x) is np.ndarray else x


def is_large(x: Any) -> bool:
    return type(x) is np.ndarray and x.size > LARGE


def layout_of(x: Any) -> str:
    return "A" if type(x) is np.ndarray and not x.flags.c_contiguous else "C"


def classes_of(x: Any) -> Any:
    """The class of a value; of a container, of all its entries."""
    if type(x) is dict:
        return (*x, *map(classes_of, x.values()))
    return tuple(map(classes_of, x)) if type(x) in (tuple, list) else type(x)


def entries_of(x: Any) -> list[Any]:
    """The entries of a container, or another value alone."""
    if type(x) not in (tuple, list, dict):
        return [x]
    parts = x.values() if type(x) is dict else x
    return [leaf for part in parts for leaf in entries_of(part)]


def made(unit: Any, leaves: Any, caps: Any, dots: Any) -> Program:
    """The program as text for numba."""
    name = unit.name
    return Program(unit.text, name, unit.namespace, leaves, caps, dots)


def compiled(text: str) -> Any:
    """The entry of a text.

    Raises:
        Uncompiled: Numba does not compile it.
    """
    import numba

    try:
        return module_of(text)
    except numba.errors.NumbaError as error:
        place: Any = getattr(error, "loc", None)  # in the text
        refuse("an operation that numba does not compile", getattr(place, "line", 0))


def compiled_value(module: Any) -> Any:
    """The function that gives the value alone."""
    try:
        return module.made_value()
    except Exception as error:
        unused(f"its value is not compiled ({type(error).__name__})")


def kernel_of(
    unit: Any, args: Any, caps: Any, dots: Any, active: Any, *, required: bool
) -> Kernel:
    """The compiled code of a unit, for such arguments.

    Args:
        unit: Generated code.
        args: The arguments of a call.
        caps: The captured values.
        dots: The tangents, in forward mode.
        active: The positions of the arguments to differentiate.
        required: Whether to compile code that works on large arrays too.

    Raises:
        Uncompiled: There is none.
    """
    try:
        return Kernel(unit, args, caps, dots, active, required=required)
    except Uncompiled as error:
        raise Uncompiled(placed(unit, error)) from None
    except Exception as error:
        refuse(f"an error of the compiled tier, which is to be reported ({error!r})")


def placed(unit: Any, error: Uncompiled) -> str:
    """The reason with its place in the program."""
    if not 0 < error.line <= len(unit.places):
        return error.reason
    return in_place(error.reason, *unit.places[error.line - 1])


# what generated code does in Python around its first function


def unpackers(unit: Any, args: Any) -> tuple[Any, Any]:
    """What gives the leaves of the arguments, and what checks them before a call."""
    nodes = {
        node.name: node
        for node in ast.parse(unit.text).body
        if isinstance(node, ast.FunctionDef)
    }
    first, top = nodes[unit.name], nodes.get(f"{unit.name}_top")
    names = [arg.arg for arg in first.args.args]
    inner = names[: names.index("caps")]
    asked = [ast.unparse(n) for n in first.body if is_check(n)]
    lines = ["def check(leaves, caps):", "    pass"]
    if asked:
        lines.append(f"    ({', '.join(inner)},) = leaves")
        lines += [f"    {line}" for line in asked]
    namespace = dict(unit.namespace)
    exec("\n".join(lines), namespace)
    if top is None:
        return tuple, namespace["check"]
    returned: Any = top.body[0]
    texts = [ast.unparse(part) for part in returned.value.args[: len(inner)]]
    given = [arg.arg for arg in top.args.args if arg.arg != "caps"][: len(args)]
    exec(f"def flat(args):\n    ({', '.join(given)},) = args\n"
         f"    return ({', '.join(texts)},)", namespace)  # fmt: skip
    return namespace["flat"], namespace["check"]


def is_check(node: ast.stmt) -> bool:
    """Whether a statement asks for the arrays of the caller."""
    called = node.value if isinstance(node, ast.Expr) else None
    return isinstance(called, ast.Call) and ast.unparse(called.func) == "reached_alone"


def rows_of(unit: Any) -> Any:
    """What puts cotangents of leaves into the form of the arguments."""
    name = f"{unit.name}_top_back"
    for node in ast.parse(unit.text).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            leaves: Any = node.body[0]
            rows: Any = node.body[-1]
            namespace: dict[str, Any] = {}
            target, value = ast.unparse(leaves.targets[0]), ast.unparse(rows.value)
            exec(
                f"def rows(found):\n    {target} = found\n    return {value}", namespace
            )
            return namespace["rows"]
    return tuple
