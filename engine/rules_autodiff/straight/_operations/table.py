"""The table of operations that the straight-line tier supports.

The key is the function that a program calls (`numpy.tanh`), an operator's name
(`"mul"`), or the name of an array method. For the kinds of a call's operands it gives a
`Written`: the kind of the result, the text of the call and, for each operand, the text
of its cotangent.
"""

from collections.abc import Callable
from typing import Any

from rules_autodiff.straight._program.written import Call, Written

__all__ = [
    "FUNCTIONS", "METHODS", "OPERATORS", "SPREADING", "Operation", "function", "method",
    "operator",
]  # fmt: skip


Operation = Callable[[Call], Written | None]

# Functions whose only argument is a row or list of values, which are the operands.
SPREADING: set[Any] = set()
FUNCTIONS: dict[Any, Operation] = {}
METHODS: dict[str, Operation] = {}
OPERATORS: dict[str, Operation] = {}


def registered(
    table: dict[Any, Operation], keys: Any
) -> Callable[[Operation], Operation]:
    def register(operation: Operation) -> Operation:
        for key in keys:
            table[key] = operation
        return operation

    return register


def function(*functions: Any) -> Callable[[Operation], Operation]:
    """Register the operation of functions; None from it leaves a call to the tape."""
    return registered(FUNCTIONS, functions)


def method(*names: str) -> Callable[[Operation], Operation]:
    """Register the operation of methods of arrays, which are their first operand."""
    return registered(METHODS, names)


def operator(*names: str) -> Callable[[Operation], Operation]:
    """Register the operation of an operator: `add`, `mul`, `neg`, `lt`, …."""
    return registered(OPERATORS, names)
