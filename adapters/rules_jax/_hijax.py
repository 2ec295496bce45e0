"""The full back end: a hijax primitive with the author's rules in both modes.

JAX asks it for what it needs: `vjp_fwd` and `vjp_bwd_retval` for reverse mode (the
rrule, its residuals kept), `jvp` for forward mode, `lin` for `jax.linearize`, and
`batch`, which keeps the rules attached to the batched call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from . import _compat
from ._batched import Batched
from ._leaves import is_traced
from ._linear import apply_linear
from ._modes import linearise, load, push_forward, save
from ._saved import expand

__all__ = ["call_hijax"]

_Base: Any = _compat.VJPHiPrimitive if _compat.HAS_HIJAX else object


def call_hijax(spec: Any, leaves: Sequence[Any]) -> list[Any]:
    """Results of a call, with its rules attached."""
    avals = tuple(map(jax.typeof, leaves))
    call = RuleCall(spec, avals, spec.outs(leaves).avals)
    return list(call(*leaves))


def _moved(tangents: Sequence[Any]) -> list[bool]:
    return [not isinstance(t, _compat.Zero) for t in tangents]


def _or_zero(found: Sequence[Any], avals: Sequence[Any]) -> tuple[Any, ...]:
    """Tangents or cotangents as JAX wants them: a symbolic zero for None."""
    return tuple(
        _compat.Zero(_compat.cotangent_aval(aval)) if x is None else x
        for x, aval in zip(found, avals, strict=True)
    )


def _or_none(values: Sequence[Any]) -> list[Any]:
    return [None if isinstance(x, _compat.Zero) else x for x in values]


class RuleCall(_Base):
    """One call of a function that has rules."""

    def __init__(
        self, spec: Any, in_avals: tuple[Any, ...], out_avals: tuple[Any, ...]
    ) -> None:
        self.spec = spec
        self.in_avals, self.out_aval = in_avals, out_avals
        self.params = {"spec": spec}
        super().__init__()

    def expand(self, *leaves: Any) -> tuple[Any, ...]:
        """The function without its rules."""
        return tuple(self.spec.primal(*leaves))

    def vjp_fwd(self, wanted: Sequence[bool], *leaves: Any) -> Any:
        """The rrule, or else the frule in two parts; the residuals are kept."""
        results, saved = save(self.spec, list(wanted), leaves)
        return tuple(results), saved

    def vjp_bwd_retval(self, saved: Any, cotangents: Any) -> tuple[Any, ...]:
        """Its pullback."""
        return _or_zero(load(self.spec, saved, _or_none(cotangents)), self.in_avals)

    def jvp(self, primals: Any, tangents: Any) -> Any:
        """The frule; as a transposable linear map where anything is traced."""
        wanted, given = _moved(tangents), _or_none(tangents)
        if not self.spec.has_rrule or not any(map(is_traced, (*primals, *given))):
            results, found = push_forward(self.spec, wanted, primals, given)
        else:
            results, linear, residuals = linearise(self.spec, wanted, primals)
            moved = apply_linear(linear, residuals, [t for t in given if t is not None])
            found = expand(self.out_aval, moved)
        return tuple(results), _or_zero(found, self.out_aval)

    def lin(self, wanted: Sequence[bool], *leaves: Any) -> Any:
        """Results and residuals for `jax.linearize`."""
        results, linear, residuals = linearise(self.spec, list(wanted), leaves)
        saved = _Linearised(residuals, linear)
        return tuple(results), saved

    def linearized(self, saved: Any, *tangents: Any) -> tuple[Any, ...]:
        """The linear map on tangents."""
        given = [t for t in _or_none(tangents) if t is not None]
        found = expand(self.out_aval, apply_linear(saved.linear, saved.arrays, given))
        return tuple(
            _compat.zeros_of(_compat.cotangent_aval(aval)) if x is None else x
            for x, aval in zip(found, self.out_aval, strict=True)
        )

    def transpose(self, cotangents: Any, *operands: Any) -> None:
        """Of a call on tangents, inside another rule: the pullback, at any point."""
        linear = [_compat.is_accumulator(x) for x in operands]
        at = [
            _compat.zeros_of(x.aval) if is_open else jnp.asarray(x)
            for x, is_open in zip(operands, linear, strict=True)
        ]
        _, saved = save(self.spec, linear, at)
        found = load(self.spec, saved, _or_none(cotangents))
        for operand, is_open, x in zip(operands, linear, found, strict=True):
            if is_open and x is not None:
                operand.accum(x)

    def batch(self, axis: Any, operands: Any, dims: Any) -> Any:
        """The same call over a batch, its rules attached."""
        if all(dim is None for dim in dims):
            return self(*operands), tuple(None for _ in self.out_aval)
        spec = Batched.of(self.spec, axis, tuple(dims))
        return tuple(call_hijax(spec, operands)), tuple(0 for _ in self.out_aval)


@jax.tree_util.register_pytree_node_class
class _Linearised:
    """Residuals of a linear map, and the map."""

    def __init__(self, arrays: Sequence[Any], linear: Any) -> None:
        self.arrays, self.linear = arrays, linear

    def tree_flatten(self) -> Any:
        """Children and static part."""
        return tuple(self.arrays), self.linear

    @classmethod
    def tree_unflatten(cls, linear: Any, arrays: Any) -> _Linearised:
        """The reverse."""
        return cls(arrays, linear)
