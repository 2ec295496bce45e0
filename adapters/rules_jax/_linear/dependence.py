"""Which entries of the results of a traced function depend on which of its inputs.

A cotangent that is packed into one array with constants stands beside them in every
array made of it. Whether a result depends on it is therefore followed entry by entry:
what moves entries moves their marks, and an operation that is not known here spreads a
mark over all of its results. No dependence is missed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

import jax
import numpy as np

from rules_jax import _compat

__all__ = ["depends"]

# Values of integers (indices) are kept up to this size.
_KNOWN_SIZE = 1 << 16


class Cell(NamedTuple):
    """A value: marks of its entries, and the value itself if it is a known index."""

    marks: np.ndarray[Any, Any]
    value: Any = None


Cells = list[Cell]


def depends(closed: Any, count: int) -> bool:
    """Whether an entry of a result depends on one of the first `count` inputs.

    >>> import jax, jax.numpy as jnp
    >>> def f(x, c):
    ...     packed = jnp.concatenate([c, x])
    ...     return packed[0] * packed[0], packed[0] * packed[1]
    >>> x = jnp.ones(1)
    >>> [depends(jax.make_jaxpr(lambda x, c: f(x, c)[i])(x, x), 1) for i in (0, 1)]
    [False, True]
    """
    ins = [
        Cell(np.full(v.aval.shape, i < count))
        for i, v in enumerate(closed.jaxpr.invars)
    ]
    return any(cell.marks.any() for cell in _closed(closed, ins))


def _closed(closed: Any, ins: Cells) -> Cells:
    return _walk(closed.jaxpr, [_constant(x) for x in closed.consts], ins)


def _constant(x: Any) -> Cell:
    known = not isinstance(x, jax.core.Tracer) and _is_index(x)
    return Cell(np.zeros(np.shape(x), bool), x if known else None)


def _is_index(x: Any) -> bool:
    dtype = jax.dtypes.result_type(x) if not hasattr(x, "dtype") else x.dtype
    kinds = jax.numpy.issubdtype(dtype, np.integer) or dtype == np.bool_
    return bool(kinds and np.size(x) <= _KNOWN_SIZE)


def _walk(jaxpr: Any, consts: Cells, ins: Cells) -> Cells:
    known = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*consts, *ins), strict=True))

    def read(place: Any) -> Cell:
        is_literal = isinstance(place, jax.extend.core.Literal)
        return _constant(place.val) if is_literal else known[place]

    for eqn in jaxpr.eqns:
        cells = _apply(eqn, [read(x) for x in eqn.invars])
        known.update(zip(eqn.outvars, cells, strict=True))
    return [read(x) for x in jaxpr.outvars]


def _apply(eqn: Any, cells: Cells) -> Cells:
    if not any(cell.marks.any() for cell in cells):
        values = _computed(eqn, cells)
        return [
            Cell(np.zeros(out.aval.shape, bool), x)
            for out, x in zip(eqn.outvars, values, strict=True)
        ]
    name = eqn.primitive.name
    found = None
    if name in _ELEMENTWISE:
        found = _elementwise(eqn, cells)
    elif name in _RULES:
        found = _RULES[name](eqn, cells)
    return _spread(eqn) if found is None else found


def _spread(eqn: Any) -> Cells:
    return [Cell(np.ones(out.aval.shape, bool)) for out in eqn.outvars]


def _computed(eqn: Any, cells: Cells) -> Sequence[Any]:
    """Values of the results, None where they are unknown or no indices."""
    unknown = [None] * len(eqn.outvars)
    if eqn.effects or any(cell.value is None for cell in cells):
        return unknown
    if not all(_is_small_index(out.aval) for out in eqn.outvars):
        return unknown
    with jax.ensure_compile_time_eval():
        out = eqn.primitive.bind(*(cell.value for cell in cells), **eqn.params)
    return list(out) if eqn.primitive.multiple_results else [out]


def _is_small_index(aval: Any) -> bool:
    kinds = jax.numpy.issubdtype(aval.dtype, np.integer) or aval.dtype == np.bool_
    return bool(kinds and aval.size <= _KNOWN_SIZE)


def _elementwise(eqn: Any, cells: Cells) -> Cells:
    marks = reduce(np.logical_or, (cell.marks for cell in cells))
    return [Cell(np.broadcast_to(marks, out.aval.shape)) for out in eqn.outvars]


def _select(eqn: Any, cells: Cells) -> Cells:
    """Dependence of a `select`: of the chosen case alone, if it is known."""
    which, *cases = cells
    if which.value is None:
        return _elementwise(eqn, cells)
    chosen = [
        case.marks & (np.asarray(which.value) == i) for i, case in enumerate(cases)
    ]
    return [Cell(reduce(np.logical_or, chosen))]


def _moved(eqn: Any, cells: Cells, *, indices: slice = slice(0, 0)) -> Cells | None:
    """The operation itself on marks; its index operands must be known."""
    places = range(len(cells))[indices]
    if any(cells[i].value is None for i in places):
        return None
    given = [
        cell.value if i in places else cell.marks.astype(place.aval.dtype)
        for i, (cell, place) in enumerate(zip(cells, eqn.invars, strict=True))
    ]
    with jax.ensure_compile_time_eval():
        out = eqn.primitive.bind(*given, **eqn.params)
    found = out if eqn.primitive.multiple_results else [out]
    return [Cell(np.asarray(x) != 0) for x in found]


def _reduced(eqn: Any, cells: Cells) -> Cells:
    found = np.any(cells[0].marks, axis=tuple(eqn.params["axes"]))
    return [Cell(np.asarray(found))]


def _dot(eqn: Any, cells: Cells) -> Cells:
    a, b = (cell.marks.astype(np.float32) for cell in cells)
    with jax.ensure_compile_time_eval():
        dot = partial(
            jax.lax.dot_general, dimension_numbers=eqn.params["dimension_numbers"]
        )
        total = dot(a, np.ones_like(b)) + dot(np.ones_like(a), b)
    return [Cell(np.asarray(total) > 0)]


def _call(eqn: Any, cells: Cells) -> Cells:
    inner = eqn.params.get("call_jaxpr", eqn.params.get("jaxpr"))
    if hasattr(inner, "consts"):
        return _closed(inner, cells)
    return _walk(inner, [], cells)


def _cond(eqn: Any, cells: Cells) -> Cells | None:
    which, *rest = cells
    if which.marks.any():
        return None
    found = [_closed(branch, rest) for branch in eqn.params["branches"]]
    return [
        Cell(reduce(np.logical_or, (c.marks for c in column)))
        for column in zip(*found, strict=True)
    ]


def _stable(step: Callable[[Cells], Cells], carry: Cells) -> Cells:
    """Marks of what a loop hands on, once another turn adds none."""
    carry = [Cell(cell.marks) for cell in carry]
    while True:
        pairs = zip(carry, step(carry), strict=True)
        wider = [Cell(old.marks | new.marks) for old, new in pairs]
        pairs = zip(carry, wider, strict=True)
        if all(np.array_equal(old.marks, new.marks) for old, new in pairs):
            return wider
        carry = wider


def _scan(eqn: Any, cells: Cells) -> Cells:
    first, second = _compat.scan_counts(eqn.params)
    consts, rest = cells[:first], cells[first:]
    rows = [Cell(np.asarray(cell.marks.any(axis=0))) for cell in rest[second:]]

    def turn(carry: Cells) -> Cells:
        return _closed(eqn.params["jaxpr"], [*consts, *carry, *rows])

    carry = _stable(lambda carry: turn(carry)[:second], rest[:second])
    outs = zip(turn(carry)[second:], eqn.outvars[second:], strict=True)
    stacked = [Cell(np.broadcast_to(c.marks, out.aval.shape)) for c, out in outs]
    return [*carry, *stacked]


def _while(eqn: Any, cells: Cells) -> Cells | None:
    first, second = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
    asked, consts = cells[:first], cells[first : first + second]

    def turn(carry: Cells) -> Cells:
        return _closed(eqn.params["body_jaxpr"], [*consts, *carry])

    carry = _stable(turn, cells[first + second :])
    (stop,) = _closed(eqn.params["cond_jaxpr"], [*asked, *carry])
    return None if stop.marks.any() else carry


def _rule_call(eqn: Any, cells: Cells) -> Cells | None:
    """By the function's body, which the rules describe."""
    return _traced(eqn.params["spec"].primal, eqn, cells)


def _rule_linear(eqn: Any, cells: Cells) -> Cells | None:
    linear, count = eqn.params["linear"], eqn.params["count"]

    def forward(*operands: Any) -> Any:
        return linear.forward(operands[:count], operands[count:])

    return _traced(forward, eqn, cells)


def _traced(function: Callable[..., Any], eqn: Any, cells: Cells) -> Cells:
    return _closed(jax.make_jaxpr(function)(*(x.aval for x in eqn.invars)), cells)


def _host_call(eqn: Any, cells: Cells) -> Cells | None:
    return _elementwise(eqn, cells) if eqn.params["host"].elementwise else None


_ELEMENTWISE = frozenset(
    """abs acos acosh add add_any and asin asinh atan atan2 atanh bessel_i0e bessel_i1e
    cbrt ceil clamp complex conj convert_element_type copy copy_p cos cosh digamma div
    eq erf erf_inv erfc exp exp2 expm1 floor ge gt igamma igammac imag integer_pow
    is_finite le lgamma log log1p logistic lt max min mul ne neg nextafter not or
    polygamma pow real reduce_precision regularized_incomplete_beta rem round rsqrt
    sign sin sinh sqrt square stop_gradient sub tan tanh xor zeta
    """.split()
)

_RULES: dict[str, Callable[[Any, Cells], Cells | None]] = {
    **dict.fromkeys(
        """broadcast_in_dim concatenate expand_dims pad reshape rev slice split squeeze
        stack tile transpose unstack
        """.split(),
        _moved,
    ),
    "dynamic_slice": partial(_moved, indices=slice(1, None)),
    "dynamic_update_slice": partial(_moved, indices=slice(2, None)),
    **dict.fromkeys(
        ("gather", "scatter", "scatter-add"), partial(_moved, indices=slice(1, 2))
    ),
    **dict.fromkeys(
        """argmax argmin reduce_and reduce_max reduce_min reduce_or reduce_prod
        reduce_sum
        """.split(),
        _reduced,
    ),
    "dot_general": _dot,
    "select_n": _select,
    **dict.fromkeys(
        """checkpoint closed_call core_call custom_jvp_call custom_vjp_call jit pjit
        """.split(),
        _call,
    ),
    "cond": _cond,
    "scan": _scan,
    "while": _while,
    "rule_call": _rule_call,
    "rule_linear": _rule_linear,
    "host_call": _host_call,
}
