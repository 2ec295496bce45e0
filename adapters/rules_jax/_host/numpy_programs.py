"""Traced functions evaluated by NumPy: what a solver's callback may run.

A function that JAX has compiled may not run inside a callback of JAX: on CPU it waits
for threads that wait for the callback. A solver calls its function there many times, so
the function is traced once, outside, and its program runs on NumPy arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, final

import jax
import numpy as np
from jax import tree_util
from jax.extend.core import Literal

import rules_core as rc

from .call import run_host
from .numpy_operations import OPERATIONS, wide

__all__ = ["numpy_function"]

Run = Callable[..., Sequence[Any]]


def numpy_function(
    f: Callable[..., Any], *examples: Any
) -> tuple[Unbound, tuple[Any, ...]]:
    """The traced program of `f`, and the arrays that it captures.

    Args:
        f: A function that JAX can trace.
        *examples: Arrays of the shapes and dtypes with which it will be called.

    Raises:
        UnsupportedError: The program has an operation that has none here.
    """
    closed, form = jax.make_jaxpr(f, return_shape=True)(*examples)
    name = getattr(f, "__qualname__", repr(f))
    shapes = [a.shape for a in closed.in_avals]
    call = Unbound(name, _program(closed.jaxpr, name), shapes, form)
    return call, tuple(closed.consts)


@final
class Unbound:
    """A traced function without the arrays that it captures."""

    def __init__(self, name: str, run: Run, shapes: Sequence[Any], form: Any) -> None:
        self.name, self.run, self.shapes = name, run, shapes
        self.form = tree_util.tree_structure(form)

    def __tangent_structure__(self) -> None:
        """A constant: its arrays were taken out."""

    def __call__(self, arrays: Sequence[Any]) -> Callable[..., Any]:
        """The function of NumPy arrays, in double precision."""
        captured = list(map(_widened, arrays))

        def bound(*args: Any) -> Any:
            flat = list(map(_widened, tree_util.tree_leaves(args)))
            self._check(flat)
            with np.errstate(all="ignore"):  # as in JAX
                return self.form.unflatten(self.run(captured, *flat))

        return bound

    def _check(self, flat: Sequence[Any]) -> None:
        got = [x.shape for x in flat]
        if got != list(map(tuple, self.shapes)):
            message = (
                f"{self.name} was traced for arrays of the shapes {self.shapes}, but "
                f"the solver calls it with {got}. Choose a method that calls it with "
                "arrays of one shape."
            )
            raise rc.UnsupportedError(message)


def _widened(x: Any) -> Any:
    x = np.asarray(x)
    return x.astype(wide(x.dtype), copy=False)


def _program(jaxpr: Any, name: str) -> Run:
    """`run(consts, *args)` of a jaxpr on NumPy arrays."""
    steps = [(_operation(eqn, name), eqn) for eqn in jaxpr.eqns]

    def run(consts: Sequence[Any], *args: Any) -> list[Any]:
        known: dict[Any, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
        known.update(zip(jaxpr.invars, args, strict=True))

        def read(x: Any) -> Any:
            return _widened(x.val) if isinstance(x, Literal) else known[x]

        for operation, eqn in steps:
            found = operation(*map(read, eqn.invars))
            known.update(zip(eqn.outvars, found, strict=True))
        return list(map(read, jaxpr.outvars))

    return run


def _operation(eqn: Any, name: str) -> Run:
    """An equation as a function of NumPy arrays that returns a list of them."""
    kind, params = eqn.primitive.name, eqn.params
    if kind in _PROGRAMS:
        return _PROGRAMS[kind](eqn, name)
    found = OPERATIONS.get(kind)
    if found is None:
        message = (
            f"{name} runs in NumPy while a solver calls it, where JAX's operation "
            f"{kind} is not available. Write the function without it, or compute what "
            "needs it before and pass the result in args."
        )
        raise rc.UnsupportedError(message)
    run, many = partial(found, params), eqn.primitive.multiple_results
    if many:
        return lambda *xs: _tuple(run(*xs))
    return lambda *xs: (np.asarray(run(*xs)),)


def _tuple(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


def _closed(program: Any, name: str) -> Run:
    """A jaxpr, with its constants if it has any."""
    if not hasattr(program, "consts"):
        return partial(_program(program, name), ())
    return partial(_program(program.jaxpr, name), list(map(_widened, program.consts)))


def _call(eqn: Any, name: str) -> Run:
    keys = ("jaxpr", "call_jaxpr", "fun_jaxpr")
    return _closed(next(eqn.params[k] for k in keys if k in eqn.params), name)


def _host_call(eqn: Any, _: str) -> Run:
    p = eqn.params

    def run(*xs: Any) -> Sequence[Any]:
        found = run_host(p["host"], p["size"], p["batched"], list(xs))
        return list(map(np.asarray, found))

    return run


def _rule_call(eqn: Any, name: str) -> Run:
    """A primitive's own function; its rules do not matter here."""
    avals = [x.aval for x in eqn.invars]
    return _closed(jax.make_jaxpr(eqn.params["spec"].primal)(*avals), name)


def _rule_linear(eqn: Any, name: str) -> Run:
    avals = [x.aval for x in eqn.invars]
    bound = partial(eqn.primitive.impl, **eqn.params)
    return _closed(jax.make_jaxpr(bound)(*avals), name)


def _cond(eqn: Any, name: str) -> Run:
    branches = [_closed(branch, name) for branch in eqn.params["branches"]]

    def run(index: Any, *xs: Any) -> Sequence[Any]:
        return branches[int(np.clip(index, 0, len(branches) - 1))](*xs)

    return run


def _while(eqn: Any, name: str) -> Run:
    p = eqn.params
    test, body = _closed(p["cond_jaxpr"], name), _closed(p["body_jaxpr"], name)
    of_test, of_body = p["cond_nconsts"], p["body_nconsts"]

    def run(*xs: Any) -> Sequence[Any]:
        for_test, rest = xs[:of_test], xs[of_test:]
        for_body, state = rest[:of_body], rest[of_body:]
        while test(*for_test, *state)[0]:
            state = tuple(body(*for_body, *state))
        return state

    return run


def _scan(eqn: Any, name: str) -> Run:
    p = eqn.params
    body, consts = _closed(p["jaxpr"], name), p["num_consts"]
    carried, length = consts + p["num_carry"], p["length"]
    rows_of = [x.aval for x in eqn.outvars[p["num_carry"] :]]

    def run(*xs: Any) -> Sequence[Any]:
        fixed, state, columns = xs[:consts], list(xs[consts:carried]), xs[carried:]
        found = [np.empty(a.shape, wide(a.dtype)) for a in rows_of]
        for i in range(length)[:: -1 if p["reverse"] else 1]:
            results = body(*fixed, *state, *[x[i] for x in columns])
            state = list(results[: len(state)])
            for rows, row in zip(found, results[len(state) :], strict=True):
                rows[i] = row
        return [*state, *found]

    return run


def _linear_solve(eqn: Any, name: str) -> Run:
    p = eqn.params
    lengths, solve = p["const_lengths"], _closed(p["jaxprs"].solve, name)
    start = lengths.matvec + lengths.vecmat
    end = start + lengths.solve
    total = end + lengths.transpose_solve

    def run(*xs: Any) -> Sequence[Any]:
        return solve(*xs[start:end], *xs[total:])

    return run


_PROGRAMS: dict[str, Callable[[Any, str], Run]] = {
    **dict.fromkeys(
        (
            "jit", "pjit", "closed_call", "core_call", "checkpoint", "remat", "remat2",
            "custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr",
        ),
        _call,
    ),
    "cond": _cond,
    "custom_linear_solve": _linear_solve,
    "host_call": _host_call,
    "rule_call": _rule_call,
    "rule_linear": _rule_linear,
    "scan": _scan,
    "while": _while,
}  # fmt: skip
