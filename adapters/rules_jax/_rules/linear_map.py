"""`rule_linear`: a linear map whose transposition an author wrote.

JAX transposes the linear part of whatever it linearised. Where that part came from an
frule, JAX would transpose the frule and never ask for the rrule: under
`jax.checkpoint`, inside `jax.custom_jvp`, and when a linearised function is transposed.
This primitive stands for the linear part, knows both directions, and so lets the rrule
have the say:

    rule_linear(residuals, dx) = map.forward(residuals, dx)
    transposed:              x̄ = map.backward(residuals, ȳ)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, final

import jax
import jax.numpy as jnp

from rules_jax import _compat
from rules_jax._linear.transpose import NotLinear
from rules_jax._values.jax_primitive import register
from rules_jax._values.leaves import has_tangent
from rules_jax._values.taylor import support_taylor

__all__ = ["LinearMap", "apply_linear", "rule_linear_p"]


class LinearMap(Protocol):
    """A linear map in both directions, on flat lists of arrays."""

    @property
    def outs(self) -> Sequence[Any]:
        """Types of the results."""

    @property
    def effects(self) -> frozenset[Any]:
        """Effects of `forward`, such as printing."""

    def forward(self, residuals: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        """Results, one array per type in `outs`."""

    def backward(
        self, residuals: Sequence[Any], cotangents: Sequence[Any]
    ) -> list[Any]:
        """Cotangents of the tangents; None is zero, on both sides."""


_RESIDUAL = (
    "a derivative by rules is transposed as a function of the point at which it was "
    "taken, of which it need not be a linear function. Transpose it as a function of "
    "the tangent, or differentiate it with jax.vjp."
)

rule_linear_p = _compat.Primitive("rule_linear")
rule_linear_p.multiple_results = True


def apply_linear(
    linear: LinearMap, residuals: Sequence[Any], tangents: Sequence[Any]
) -> list[Any]:
    """The map as one primitive application."""
    return list(
        rule_linear_p.bind(*residuals, *tangents, linear=linear, count=len(residuals))
    )


def _forward(*operands: Any, linear: LinearMap, count: int) -> list[Any]:
    return linear.forward(operands[:count], operands[count:])


_compat.lower_by_tracing(rule_linear_p, _forward)


@rule_linear_p.def_effectful_abstract_eval
def _abstract(*_: Any, linear: LinearMap, count: int) -> tuple[list[Any], Any]:
    return list(linear.outs), linear.effects


def _jvp(primals: Any, tangents: Any, *, linear: LinearMap, count: int) -> Any:
    """Linear in the tangents; for the residuals, `forward` is differentiated."""
    out = apply_linear(linear, primals[:count], primals[count:])
    terms = []
    moved = [not isinstance(t, _compat.Zero) for t in tangents]
    if any(moved[count:]):
        filled = [
            _compat.zeros_of(t.aval) if isinstance(t, _compat.Zero) else t
            for t in tangents[count:]
        ]
        terms.append(apply_linear(linear, primals[:count], filled))
    if any(moved[:count]):
        terms.append(_along_residuals(primals, tangents, moved, linear, count))
    return out, [sum(column[1:], column[0]) for column in zip(*terms, strict=True)]


def _along_residuals(
    primals: Any, tangents: Any, moved: Sequence[bool], linear: LinearMap, count: int
) -> list[Any]:
    where = [i for i in range(count) if moved[i]]

    def body(*changed: Any) -> list[Any]:
        residuals = list(primals[:count])
        for i, x in zip(where, changed, strict=True):
            residuals[i] = x
        return linear.forward(residuals, primals[count:])

    at, along = [primals[i] for i in where], [tangents[i] for i in where]
    return list(jax.jvp(body, at, along)[1])


def _transpose(cotangents: Any, *operands: Any, linear: LinearMap, count: int) -> Any:
    if any(map(_compat.is_undefined_primal, operands[:count])):
        raise NotLinear(_RESIDUAL)
    given = [None if isinstance(ct, _compat.Zero) else ct for ct in cotangents]
    found = linear.backward(operands[:count], given)
    back = [
        x if _compat.is_undefined_primal(operand) else None
        for x, operand in zip(found, operands[count:], strict=True)
    ]
    zeros = [
        _compat.Zero(_compat.cotangent_aval(operand.aval))
        if x is None and _compat.is_undefined_primal(operand)
        else x
        for x, operand in zip(back, operands[count:], strict=True)
    ]
    return [None] * count + zeros


def _batch(
    axis: Any, operands: Any, dims: Any, *, linear: LinearMap, count: int
) -> Any:
    if all(dim is None for dim in dims):
        out = rule_linear_p.bind(*operands, linear=linear, count=count)
        return out, [None] * len(out)
    mapped = BatchedLinear(linear, axis, tuple(dims), count, operands)
    return apply_linear(mapped, operands[:count], operands[count:]), [0] * len(
        mapped.outs
    )


register(rule_linear_p, impl=_forward, jvp=_jvp, transpose=_transpose, batch=_batch)


@_compat.held_weakly
@final
class BatchedLinear:
    """A linear map over a batch axis; results have it in front."""

    def __init__(
        self,
        inner: LinearMap,
        axis: Any,
        dims: tuple[Any, ...],
        count: int,
        operands: Any,
    ) -> None:
        self.inner, self.dims, self.count = inner, dims, count
        self.axis = _compat.axis_keywords(axis)
        shaped = jax.make_jaxpr(lambda *x: self.forward(x[:count], x[count:]))
        closed = shaped(*map(jax.typeof, operands))
        self.outs, self.effects = closed.out_avals, frozenset(closed.effects)

    def forward(self, residuals: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        """`vmap` of the map."""
        count = self.count
        mapped = jax.vmap(
            self.inner.forward,
            in_axes=(list(self.dims[:count]), list(self.dims[count:])),
            **self.axis,
        )
        return list(mapped(list(residuals), list(tangents)))

    def backward(
        self, residuals: Sequence[Any], cotangents: Sequence[Any]
    ) -> list[Any]:
        """`vmap` of the transposition; unbatched tangents get the sum."""
        return batched_backward(
            self.inner.backward,
            (list(residuals), list(self.dims[: self.count])),
            cotangents,
            self.dims[self.count :],
            self.axis,
        )


def batched_backward(
    backward: Any,
    residuals: tuple[Any, Any],
    cotangents: Sequence[Any],
    dims: Sequence[Any],
    axis: dict[str, Any],
) -> list[Any]:
    """Transposition over a batch: cotangents have the axis in front.

    Args:
        backward: `(residuals, cotangents) -> cotangents` of one element, None for zero.
        residuals: Of the whole batch, with their batch dimensions.
        cotangents: Of the results.
        dims: Batch dimension of each input, None where it has none.
        axis: Keywords for `jax.vmap`.
    """
    present: list[bool] = []
    given = [ct for ct in cotangents if ct is not None]

    def one(res: Any, given: Any) -> list[Any]:
        rest = iter(given)
        found = backward(res, [None if ct is None else next(rest) for ct in cotangents])
        present[:] = [x is not None for x in found]
        return [x for x in found if x is not None]

    found = iter(jax.vmap(one, in_axes=(residuals[1], 0), **axis)(residuals[0], given))
    return [
        _place(next(found), dim) if there else None
        for there, dim in zip(present, dims, strict=True)
    ]


def _place(x: Any, dim: int | None) -> Any:
    if dim is None:
        return x.sum(axis=0) if has_tangent(x) else None
    return jnp.moveaxis(x, 0, dim)


support_taylor(rule_linear_p)
