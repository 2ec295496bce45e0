"""Arguments of the solvers of `scipy.optimize`, in the forms that they are given in."""

from __future__ import annotations

from typing import Any

from rules_scipy._functions import Function
from rules_scipy._solvers import Declared

__all__ = ["DECLARED", "functions_of", "tuple_of"]

DECLARED = Declared()


def tuple_of(args: Any) -> tuple[Any, ...]:
    """The arguments of a function after the first, which may be one."""
    return args if isinstance(args, tuple) else (args,)


def functions_of(fun: Function, jac: Any) -> tuple[Function, Function | None]:
    """The function and its Jacobian, where `jac=True` says that it returns both."""
    if jac is not True:
        return fun, jac if callable(jac) else None
    return (lambda x, *args: fun(x, *args)[0]), (lambda x, *args: fun(x, *args)[1])
