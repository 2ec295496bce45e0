"""Matrix equations: of Sylvester, Lyapunov and Riccati."""

from __future__ import annotations

from typing import Any

import scipy.linalg as _sp

from rules_scipy._steps import At, declare

from ._matrices import adjoint, solved
from ._shapes import like

__all__ = [
    "solve_continuous_are",
    "solve_continuous_lyapunov",
    "solve_discrete_are",
    "solve_discrete_lyapunov",
    "solve_lyapunov",
    "solve_sylvester",
]


def _sylvester_residual(at: At, a: Any, b: Any, q: Any) -> Any:
    return a @ at.y + at.y @ b - q


def _sylvester_again(at: At, r: Any) -> Any:
    a, b, _ = at.args
    return solve_sylvester(a, b, r)


def _sylvester_adjoint(at: At, w: Any) -> Any:
    a, b, _ = at.args
    return solve_sylvester(adjoint(a), adjoint(b), w)


solve_sylvester = declare(
    _sp.solve_sylvester,
    _sylvester_residual,
    count=3,
    out=like(2),
    solve=_sylvester_again,
    adjoint=_sylvester_adjoint,
)


def _lyapunov_residual(at: At, a: Any, q: Any) -> Any:
    return a @ at.y + at.y @ adjoint(a) - q


def _lyapunov_again(at: At, r: Any) -> Any:
    return solve_continuous_lyapunov(at.args[0], r)


def _lyapunov_adjoint(at: At, w: Any) -> Any:
    return solve_continuous_lyapunov(adjoint(at.args[0]), w)


solve_continuous_lyapunov = declare(
    _sp.solve_continuous_lyapunov,
    _lyapunov_residual,
    count=2,
    out=like(1),
    solve=_lyapunov_again,
    adjoint=_lyapunov_adjoint,
)
solve_lyapunov = solve_continuous_lyapunov  # SciPy's older name of it


def _discrete_residual(at: At, a: Any, q: Any) -> Any:
    return at.y - a @ at.y @ adjoint(a) - q


def _discrete_again(at: At, r: Any, method: Any) -> Any:
    return solve_discrete_lyapunov(at.args[0], r, method)


def _discrete_adjoint(at: At, w: Any, method: Any) -> Any:
    return solve_discrete_lyapunov(adjoint(at.args[0]), w, method)


solve_discrete_lyapunov = declare(
    _sp.solve_discrete_lyapunov,
    _discrete_residual,
    count=2,
    out=like(1),
    solve=_discrete_again,
    adjoint=_discrete_adjoint,
)


# Riccati: linear in the change of X with the matrix of the closed loop.


def _even(q: Any) -> Any:
    """The Hermitian part: SciPy accepts no other q and r."""
    return (q + adjoint(q)) / 2


def _feedback_continuous(x: Any, b: Any, r: Any, e: Any, s: Any) -> Any:
    cross = adjoint(b) @ (x if e is None else x @ e)
    return solved(r, cross if s is None else cross + adjoint(s))


def _care_residual(
    at: At, a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None
) -> Any:
    x, r = at.y, _even(r)
    moved = adjoint(a) @ (x if e is None else x @ e)
    gain = _feedback_continuous(x, b, r, e, s)
    return moved + adjoint(moved) - adjoint(gain) @ r @ gain + _even(q)


def _closed_loop(at: At, gain: Any) -> tuple[Any, Any]:
    a, b, _, _, e, _ = at.args
    return a - b @ gain, e


def _care_loop(at: At) -> tuple[Any, Any]:
    _, b, _, r, e, s = at.args
    return _closed_loop(at, _feedback_continuous(at.y, b, _even(r), e, s))


def _descriptor_left(e: Any, m: Any) -> Any:
    """e⁻¹ m."""
    return m if e is None else solved(e, m)


def _descriptor_right(e: Any, m: Any) -> Any:
    """m e⁻¹."""
    return m if e is None else adjoint(solved(adjoint(e), adjoint(m)))


def _care_again(at: At, r: Any) -> Any:
    loop, e = _care_loop(at)
    m = _descriptor_right(e, loop)
    right = _descriptor_right(e, adjoint(_descriptor_right(e, adjoint(r))))
    return solve_continuous_lyapunov(adjoint(m), right)


def _care_adjoint(at: At, w: Any) -> Any:
    loop, e = _care_loop(at)
    m = _descriptor_left(e, loop)
    right = _descriptor_left(e, adjoint(_descriptor_left(e, adjoint(w))))
    return solve_continuous_lyapunov(m, right)


solve_continuous_are = declare(
    _sp.solve_continuous_are,
    _care_residual,
    count=6,
    out=like(0, of=6),
    solve=_care_again,
    adjoint=_care_adjoint,
)


def _feedback_discrete(x: Any, a: Any, b: Any, r: Any, s: Any) -> Any:
    cross = adjoint(b) @ x @ a
    return solved(r + adjoint(b) @ x @ b, cross if s is None else cross + adjoint(s))


def _dare_residual(
    at: At, a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None
) -> Any:
    x, r = at.y, _even(r)
    gain = _feedback_discrete(x, a, b, r, s)
    inner = r + adjoint(b) @ x @ b
    kept = x if e is None else adjoint(e) @ x @ e
    moved = adjoint(a) @ x @ a - kept
    return moved - adjoint(gain) @ inner @ gain + _even(q)


def _dare_loop(at: At) -> tuple[Any, Any]:
    a, b, _, r, _, s = at.args
    return _closed_loop(at, _feedback_discrete(at.y, a, b, _even(r), s))


def _dare_again(at: At, r: Any) -> Any:
    loop, e = _dare_loop(at)
    m = _descriptor_right(e, loop)
    right = _descriptor_right(e, adjoint(_descriptor_right(e, adjoint(r))))
    return solve_discrete_lyapunov(adjoint(m), -right)


def _dare_adjoint(at: At, w: Any) -> Any:
    loop, e = _dare_loop(at)
    m = _descriptor_left(e, loop)
    right = _descriptor_left(e, adjoint(_descriptor_left(e, adjoint(w))))
    return solve_discrete_lyapunov(m, -right)


solve_discrete_are = declare(
    _sp.solve_discrete_are,
    _dare_residual,
    count=6,
    out=like(0, of=6),
    solve=_dare_again,
    adjoint=_dare_adjoint,
)
