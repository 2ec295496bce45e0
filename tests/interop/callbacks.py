"""Two functions whose rules call back into AD, written once for every host.

The rules know no host: array-API operations, and `rrule_via_ad` and `frule_via_ad` of
whatever configuration runs them. Only the loop of the solve, inside a primal, is the
host's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import rules_core as rc
from rules_core import (
    HasForwardsMode,
    HasReverseMode,
    NoTangent,
    RuleConfig,
    ZeroTangent,
    frule_via_ad,
    rrule_via_ad,
)

__all__ = ["MOST_STEPS", "fixed_point", "map_", "solve"]

MOST_STEPS = 60
FORWARD = RuleConfig[HasForwardsMode]
REVERSE = RuleConfig[HasReverseMode]


def solve(step: Callable[[Any], Any], x: Any) -> Any:
    """`x = step(x)` by iteration, in the loop that the array's host prefers."""
    if rc.array_namespace(x).__name__ == "jax.numpy":
        return _solve_in_jax(step, x)
    for _ in range(MOST_STEPS):
        x = step(x)
    return x


def _solve_in_jax(step: Callable[[Any], Any], x: Any) -> Any:
    import jax

    def unfinished(state: Any) -> Any:
        i, before, now = state
        return (i < MOST_STEPS) & (abs(now - before).max() > 1e-14)

    def advance(state: Any) -> Any:
        i, _, now = state
        return i + 1, now, step(now)

    return jax.lax.while_loop(unfinished, advance, (1, x, step(x)))[2]


@rc.primitive
def fixed_point(f: Any, theta: Any, x0: Any) -> Any:
    """The `x` with `x = f(theta, x)`; `theta` is a pytree, `f` may capture arrays."""

    def step(x: Any) -> Any:
        return f(theta, x)

    return solve(step, x0)


@rc.rrule.define(fixed_point, config=REVERSE)
def fixed_point_rrule(config: Any, f: Any, theta: Any, x0: Any) -> Any:
    """The implicit function theorem: w = dy + (∂f/∂x)* w, then dtheta = (∂f/∂theta)* w.

    The adjoint equation is a fixed point again, so the rule serves every order.
    """
    x = fixed_point(f, theta, x0)
    _, pullback_at_x = rrule_via_ad(config, f, theta, x)

    def fixed_point_pullback(dy: Any) -> Any:
        def adjoint(dy: Any, w: Any) -> Any:
            return dy + pullback_at_x(w)[2]

        w = fixed_point(adjoint, dy, dy)
        df, dtheta, _ = pullback_at_x(w)
        return NoTangent(), df, dtheta, ZeroTangent()

    return x, fixed_point_pullback


@rc.frule.define(fixed_point, config=FORWARD)
def fixed_point_frule(config: Any, tangents: Any, f: Any, theta: Any, x0: Any) -> Any:
    """dx = b + (∂f/∂x) dx, where b is the tangent of `f(theta, x)` at a fixed `x`."""
    _, df, dtheta, _ = tangents
    x = fixed_point(f, theta, x0)
    _, b = frule_via_ad(config, (df, dtheta, ZeroTangent()), f, theta, x)

    def tangent(b: Any, dx: Any) -> Any:
        own = (NoTangent(), ZeroTangent(), dx)
        return b + frule_via_ad(config, own, f, theta, x)[1]

    return x, fixed_point(tangent, b, b)


@rc.primitive
def map_(f: Any, xs: Sequence[Any]) -> Any:
    """`f` of each entry, stacked."""
    ys = [f(x) for x in xs]
    return rc.array_namespace(*ys).stack(ys)


@rc.rrule.define(map_, config=REVERSE)
def map_rrule(config: Any, f: Any, xs: Any) -> Any:
    """Each entry is pulled back on its own; what `f` captures gets their sum."""
    pairs = [rrule_via_ad(config, f, x) for x in xs]

    def map_pullback(dy: Any) -> Any:
        df, dxs = ZeroTangent(), []
        for i, (_, pullback) in enumerate(pairs):
            own, dx = pullback(dy[i])
            df = rc.accumulate(df, own)
            dxs.append(dx)
        return NoTangent(), df, dxs

    return map_(f, xs), map_pullback


@rc.frule.define(map_, config=FORWARD)
def map_frule(config: Any, tangents: Any, f: Any, xs: Any) -> Any:
    """Each entry is pushed forward on its own."""
    _, df, dxs = tangents
    moved = [
        frule_via_ad(config, (df, dx), f, x)[1] for x, dx in zip(xs, dxs, strict=True)
    ]
    return map_(f, xs), rc.array_namespace(*moved).stack(moved)
