"""A call as the straight-line tier writes it: its texts, filled in and run.

Nothing of the tier's reader is used: fields are filled with names, and every text is
evaluated among the helpers that written code has.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import rules_autodiff.straight._operations.choices
import rules_autodiff.straight._operations.constants
import rules_autodiff.straight._operations.joining
import rules_autodiff.straight._operations.linalg
import rules_autodiff.straight._operations.reductions  # noqa: F401  they fill the tables
from rules_autodiff import vjp
from rules_autodiff.straight._operations.table import (
    FUNCTIONS,
    METHODS,
    OPERATORS,
    SPREADING,
)
from rules_autodiff.straight._program.kinds import Kind, kind_of
from rules_autodiff.straight._program.written import Call, Written
from rules_autodiff.straight._runtime import helpers

HELPERS = helpers.HELPERS
TABLES = {"function": FUNCTIONS, "method": METHODS, "operator": OPERATORS}
ATTRIBUTES = ("T", "mT", "shape", "size", "ndim")
SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%",
    "pow": "**", "matmul": "@", "and": "&", "or": "|", "xor": "^", "lt": "<",
    "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip
BEFORE = {"neg": "-", "pos": "+", "invert": "~"}


@dataclass(frozen=True)
class Literal:
    """An operand that stands in the program."""

    value: Any


@dataclass(frozen=True)
class Case:
    """A call with operands.

    Attributes:
        table: `"function"`, `"method"` or `"operator"`.
        key: What the table knows it by.
        operands: Arrays, numbers and literals.
        options: Its keywords.
        smooth: Whether differences tell the derivative.
    """

    table: str
    key: Any
    operands: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)
    smooth: bool = True

    @property
    def values(self) -> tuple[Any, ...]:
        return tuple(x.value if isinstance(x, Literal) else x for x in self.operands)

    @property
    def call(self) -> Call:
        constants = [x.value if isinstance(x, Literal) else ... for x in self.operands]
        return Call(tuple(map(kind, self.operands)), tuple(constants), self.options)

    @property
    def written(self) -> Written | None:
        found: Written | None = TABLES[self.table][self.key](self.call)
        return found

    @property
    def text(self) -> str:
        """The call as the program has it, with fields."""
        fields = [f"{{{i}}}" for i in range(len(self.operands))]
        if self.table == "operator":
            if self.key == "abs":
                return "abs({0})"
            if len(fields) == 1:
                return f"{BEFORE[self.key]}{fields[0]}"
            return f" {SIGNS[self.key]} ".join(fields)
        options = [f"{k}={v!r}" for k, v in self.options.items()]
        if self.table == "function":
            if self.key in SPREADING:
                fields = [f"[{', '.join(fields)}]"]
            return f"program({', '.join(fields + options)})"
        if self.key in ATTRIBUTES:
            return f"{{0}}.{self.key}"
        return f"{{0}}.{self.key}({', '.join(fields[1:] + options)})"

    @property
    def operation(self) -> str:
        """What is called, in words of which no two are the same."""
        module = getattr(self.key, "__module__", None)
        name = getattr(self.key, "__name__", self.key)
        return f"{self.table} {module}.{name}" if module else f"{self.table} {name}"

    @property
    def name(self) -> str:
        """The call in words."""
        key = getattr(self.key, "__name__", self.key)
        given = [shown(x) for x in self.operands]
        return (
            f"{key}({', '.join(given + [f'{k}={v}' for k, v in self.options.items()])})"
        )

    def active(self, written: Written) -> list[int]:
        """The places of operands that get a cotangent."""
        return [i for i, pull in enumerate(written.pulls) if pull is not None]

    def run(self, *values: Any) -> Any:
        """The call itself."""
        return evaluate(self.text, values, program=self.key)

    def at(self, places: list[int]) -> Any:
        """The call as a function of some of its operands."""

        def of_some(*some: Any) -> Any:
            given = dict(zip(places, some, strict=True))
            return self.run(*[given.get(i, x) for i, x in enumerate(self.values)])

        return of_some


def kind(x: Any) -> Kind:
    found = kind_of(x.value if isinstance(x, Literal) else x)
    assert found is not None
    return found


def shown(x: Any) -> str:
    if isinstance(x, Literal):
        return repr(x.value)
    if isinstance(x, np.ndarray):
        order = "" if x.flags.c_contiguous else "'"
        return f"{x.dtype.char}{list(x.shape)}{order}"
    return f"{type(x).__name__} {x}"


def of(function: Any, *operands: Any, smooth: bool = True, **options: Any) -> Case:
    return Case("function", function, operands, options, smooth)


def method(name: str, *operands: Any, smooth: bool = True, **options: Any) -> Case:
    return Case("method", name, operands, options, smooth)


def operator(name: str, *operands: Any, smooth: bool = True) -> Case:
    return Case("operator", name, operands, {}, smooth)


def evaluate(text: str, values: tuple[Any, ...], **names: Any) -> Any:
    """A text with its fields filled: operands are `v0`, `v1`, …."""
    known = {f"v{i}": x for i, x in enumerate(values)}
    fields = [f"v{i}" for i in range(len(values))]
    return eval(text.format(*fields), {**HELPERS, **names, **known})


def forward(case: Case, written: Written) -> Any:
    """The result of the call as it is written."""
    return evaluate(written.text or case.text, case.values, program=case.key)


def cotangents(case: Case, written: Written, z: Any, dz: Any) -> list[Any]:
    """What the written texts give to the operands that get something."""
    return [pulled(text, case, z, dz) for text in written.pulls if text is not None]


def pulled(text: Any, case: Case, z: Any, dz: Any) -> Any:
    shapes = {
        f"shape{i}": x.shape
        for i, x in enumerate(case.values)
        if isinstance(x, np.ndarray)
    }
    for i in range(len(case.values)):
        text = text.replace(f"{{s{i}}}", f"shape{i}")
    text = text.replace("{z}", "z").replace("{dz}", "dz").replace("{sz}", "z.shape")
    with np.errstate(all="ignore"):
        return evaluate(text, case.values, z=z, dz=dz, **shapes)


def by_tape(case: Case, written: Written, dz: Any) -> Any:
    """The same by the tape, which knows nothing of what is written."""
    places = case.active(written)
    given = [case.values[i] for i in places]
    lifted = LIFTED[case.table]
    with np.errstate(all="ignore"):
        return vjp(lifted(case, places), *given, tier="tape")[1](dz)


# The calls as programs that the engine lifts. Their arguments are no positions of a
# fixed number, so that they are the tape's.


def filled_in(case: Case, places: list[int], some: Any) -> list[Any]:
    given = dict(zip(places, some, strict=True))
    return [given.get(i, x) for i, x in enumerate(case.values)]


def lifted_function(case: Case, places: list[int]) -> Any:
    function, options, spreads = case.key, case.options, case.key in SPREADING

    def program(*some: Any) -> Any:
        values = filled_in(case, places, some)
        return function(values, **options) if spreads else function(*values, **options)

    return program


def lifted_method(case: Case, places: list[int]) -> Any:
    name, options = case.key, case.options

    def program(*some: Any) -> Any:
        values = filled_in(case, places, some)
        found = getattr(values[0], name)
        return found if name in ATTRIBUTES else found(*values[1:], **options)

    return program


def lifted_operator(case: Case, places: list[int]) -> Any:
    operate = OPERATIONS[case.key]

    def program(*some: Any) -> Any:
        return operate(*filled_in(case, places, some))

    return program


LIFTED: dict[str, Any] = {
    "function": lifted_function, "method": lifted_method, "operator": lifted_operator
}  # fmt: skip
OPERATIONS: dict[str, Any] = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y,
    "truediv": lambda x, y: x / y, "pow": lambda x, y: x**y, "mod": lambda x, y: x % y,
    "floordiv": lambda x, y: x // y, "matmul": lambda x, y: x @ y, "neg": lambda x: -x,
    "pos": lambda x: +x, "abs": lambda x: abs(x),
}  # fmt: skip
