"""`implicit`: the rule of a solver from the equation that its result satisfies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from inspect import signature
from typing import Any

from rules_core._base.arrays import is_array
from rules_core._base.errors import RuleDefinitionError, UnsupportedError
from rules_core._dispatch.configs import (
    HasForwardsMode,
    HasReverseMode,
    RuleConfig,
    frule_via_ad,
    rrule_via_ad,
)
from rules_core._dispatch.normal_form import keyword_names
from rules_core._dispatch.registry import is_permanent
from rules_core._dispatch.rule import Location, Rule
from rules_core._dispatch.rule_key import describe
from rules_core._primitives.declare import primitive
from rules_core._primitives.primitive import Primitive
from rules_core._rules.frule_rrule import frule, rrule
from rules_core._rules.vjp_and_jvp import vjp
from rules_core._tangents.canonical import canonical, zero_tangent
from rules_core._tangents.containers import StructuralTangent, backing
from rules_core._tangents.leaves import is_complex
from rules_core._tangents.zeros import (
    AbstractZero,
    NoTangent,
    NotImplementedTangent,
    ZeroTangent,
)

from .rule_pair import called
from .solvers import Operator, solve_dense, solve_gmres

__all__ = ["implicit"]

Solver = Callable[[Operator, Any], Any]

SOLVERS: dict[str, Solver] = {"dense": solve_dense, "gmres": solve_gmres}


def implicit(
    f: Callable[..., Any],
    residual: Callable[..., Any],
    *,
    solve: str | Solver = "dense",
    auxiliary: bool = False,
    out: Any = None,
    host: bool | None = None,
    vectorized: bool | None = None,
    copy_in: bool | None = None,
    copy_out: bool | None = None,
) -> Primitive:
    """Make `f` a primitive whose rule is the implicit function theorem.

    Where `r(y, x) = 0` for `y = f(x)` the pushforward is `∂r/∂y dy = -∂r/∂x dx`, the
    pullback `dx = -(∂r/∂x)* w` with `(∂r/∂y)* w = dy`. The iterations of `f` are not
    differentiated; the rule serves every order.

    Args:
        f: The solver; its result `y` is one array of real numbers, or one number.
        residual: `residual(y, *args)` is zero at the solution and has the shape of `y`.
            It is differentiated by the framework, so it is array-API code, or calls
            primitives. Keyword-only arguments of `f` are passed on if it takes them.
        solve: `"dense"` builds the matrix of `(∂r/∂y)*`, by one pullback for each
            entry of `y`. `"gmres"` needs no matrix, for many unknowns: at most 50
            pullbacks, and NaN where it does not converge. A function `solve(operator,
            b)` returns `w` with `operator(w) = b`; it is differentiated at higher
            orders.
        auxiliary: `f` returns `(y, *others)`: a plan, potentials, the number of
            iterations. The others have no formula: a cotangent of one that is not known
            to be zero raises `DerivativeNotImplemented`; in forward mode their tangent
            is NaN, which does no harm where it is not used.
        out: The shape of the result, as in `primitive`, like the flags that follow.
        host: As in `primitive`.
        vectorized: As in `primitive`.
        copy_in: As in `primitive`.
        copy_out: As in `primitive`.

    Raises:
        RuleDefinitionError: `residual` is not callable, or there is no such `solve`.
        RuleClashError: `f` has a rule from another place.

    >>> import rules_core as rc
    >>> from rules_core.testing import FiniteDifferenceConfig
    >>> def square_root(a):
    ...     x = 1.0
    ...     for _ in range(30):
    ...         x = 0.5 * (x + a / x)
    ...     return x
    >>> def square_residual(x, a):
    ...     return x * x - a
    >>> root = rc.implicit(square_root, square_residual)
    >>> y, pullback = rc.rrule(FiniteDifferenceConfig(), root, 4.0)
    >>> y, round(pullback(1.0)[1], 6)
    (2.0, 0.25)
    """
    given: Any = residual  # unchecked so far
    if not callable(given):
        message = (
            f"implicit({describe(f)}): the residual must be callable as residual(y, "
            f"*args), but got {residual!r}."
        )
        raise RuleDefinitionError(message)
    solver = SOLVERS.get(solve, solve) if isinstance(solve, str) else solve
    if not callable(solver):
        message = (
            f"implicit({describe(f)}): solve must be {', '.join(map(repr, SOLVERS))} "
            f"or a function solve(operator, b), but got {solve!r}."
        )
        raise RuleDefinitionError(message)
    handle = primitive(
        f,
        out=out,
        host=host,
        vectorized=vectorized,
        copy_in=copy_in,
        copy_out=copy_out,
    )
    found = Location.of(residual)
    name = f"implicit function theorem of {found.name}"
    where = Location(found.file, found.line, found.module, name, own=found.own)
    theorem = _Theorem(handle, residual, solver, where, auxiliary=auxiliary)
    own = () if isinstance(solve, str) else (solver,)
    handle.search_also((residual, *own), theorem.probe)
    for kind, function, needed in (
        (rrule, theorem.rrule, RuleConfig[HasReverseMode]),
        (frule, theorem.frule, RuleConfig[HasForwardsMode]),
    ):
        rule = Rule(
            kind.kind,
            handle.fun,
            function,
            where,
            (),
            variadic=(object,),
            config=needed,
            opened=True,
            symbolic_zeros=kind is rrule,
            persistent=is_permanent(where.module),
        )
        kind.register(handle.table, rule)
    return handle


class _Theorem:
    """The rrule of an implicit function."""

    def __init__(
        self,
        handle: Primitive,
        residual: Callable[..., Any],
        solve: Solver,
        where: Location,
        *,
        auxiliary: bool,
    ) -> None:
        self.handle, self.residual, self.solve = handle, residual, solve
        self.where, self.auxiliary = where, auxiliary
        self.keywords = keyword_names(residual)
        self.label = f"implicit({handle.table.label})"
        self.blamed = f"{self.label}: the residual {describe(residual)}"

    def rrule(self, config: Any, *args: Any, **kw: Any) -> tuple[Any, Any]:
        result = called(self.handle.fun)(*args, **kw)
        y, own = self._solution(result), self._options(kw)

        def implicit_pullback(dy: Any) -> tuple[Any, ...]:
            dy, refusal = self._read(dy)
            if refusal is not None:
                return (NoTangent(), *(refusal,) * len(args))
            if isinstance(dy, AbstractZero):
                return (NoTangent(), *(ZeroTangent(),) * len(args))
            self._check_call(y, *args, **own)
            config.check_uncut(self.blamed, self.residual, y, *args, **own)
            r, pull = rrule_via_ad(config, self.residual, y, *args, **own)
            self._check_residual(y, r)

            def operator(w: Any) -> Any:
                return pull(w)[1]

            _, _, *dxs = pull(self._solved(operator, -dy))
            return (NoTangent(), *dxs)

        return result, implicit_pullback

    def frule(
        self, config: Any, tangents: tuple[Any, ...], *args: Any, **kw: Any
    ) -> tuple[Any, Any]:
        result = called(self.handle.fun)(*args, **kw)
        y, own = self._solution(result), self._options(kw)
        still = [zero_tangent(x) for x in args]
        self._check_call(y, *args, **own)
        config.check_uncut(self.blamed, self.residual, y, *args, **own)

        def push(dy: Any, dxs: Sequence[Any]) -> Any:
            given = (NoTangent(), dy, *dxs)
            r, dr = frule_via_ad(config, given, self.residual, y, *args, **own)
            self._check_residual(y, r)
            return dr

        def operator(dy: Any) -> Any:
            return push(dy, still)

        dr = push(zero_tangent(y), tangents[1:])
        dy = ZeroTangent() if isinstance(dr, AbstractZero) else None
        dy = self._solved(operator, -dr) if dy is None else dy
        if not self.auxiliary:
            return result, dy
        return result, (dy, *map(_unknown, result[1:]))

    def _solved(self, operator: Operator, b: Any) -> Any:
        try:
            return self.solve(operator, b)
        except (ZeroDivisionError, ValueError) as error:
            if type(error).__name__ not in ("ZeroDivisionError", "LinAlgError"):
                raise
            message = (
                f"{self.label}: the derivative of the residual with respect to the "
                "result is singular there, so the solution is not isolated, or is a "
                "double one, and has no derivative. Choose a problem with one solution "
                "nearby, and without parameters that do nothing."
            )
            raise UnsupportedError(message) from error

    def probe(self, result: Any, *args: Any, **kw: Any) -> Any:
        """All that the rules compute: a value from outside would show in it."""
        y = result[0] if self.auxiliary else result
        equation = partial(self.residual, **self._options(kw))
        r = equation(y, *args)
        if self.solve in SOLVERS.values():  # they read nothing
            return r
        _, pull = vjp(equation, y, *args)
        return r, self.solve(lambda w: pull(w)[0], r)

    def _options(self, kw: dict[str, Any]) -> dict[str, Any]:
        """The keywords that the residual takes."""
        return {name: x for name, x in kw.items() if name in self.keywords}

    def _solution(self, result: Any) -> Any:
        if self.auxiliary and not (isinstance(result, tuple) and result):
            message = (
                f"{self.label} is declared with auxiliary=True, so the function must "
                f"return a tuple (y, *others), but got a {type(result).__name__}. "
                "Return a tuple, or leave auxiliary out."
            )
            raise UnsupportedError(message)
        y = result[0] if self.auxiliary else result
        self._check_result(y)
        return y

    def _read(self, dy: Any) -> tuple[Any, NotImplementedTangent | None]:
        """The cotangent of `y`, and why the call has none."""
        if not self.auxiliary or isinstance(dy, AbstractZero):
            return dy, None
        dy, *others = dy
        moving = [i for i, d in enumerate(others, 1) if not _is_zero(d)]
        if not moving:
            return dy, None
        where = self.where
        info = (
            f"{self.label}: result {moving[0]} is auxiliary and has no formula, but "
            "its derivative is asked for, or not known to be zero; hold it constant "
            "with ignore_derivatives, or leave it out"
        )
        return dy, NotImplementedTangent(info, "", where.module, where.file, where.line)

    def _check_result(self, y: Any) -> None:
        if (is_array(y) or isinstance(y, float)) and not is_complex(y):
            return
        kind = "complex numbers" if is_complex(y) else f"a {type(y).__name__}"
        message = (
            f"{self.label}: the result must be one array of real numbers, or a number, "
            f"but got {kind}. Return one array: stack several, and complex numbers as "
            "their real and imaginary parts."
        )
        raise UnsupportedError(message)

    def _check_call(self, *args: Any, **own: Any) -> None:
        """Refuse a residual that does not take the solver's arguments, defaults too."""
        try:
            form = signature(self.residual)
        except (TypeError, ValueError):  # of code that is not Python
            return
        try:
            # No values: an AD system may be differentiating this code.
            form.bind(*[None] * len(args), **dict.fromkeys(own))
        except TypeError as error:
            names = ", ".join(self.handle.names or ("*args",))
            message = (
                f"{self.blamed} must be callable as residual(y, {names}), with every "
                f"argument of the function, those with defaults too, but got {form}: "
                f"{error}. Add the missing arguments."
            )
            raise UnsupportedError(message) from None

    def _check_residual(self, y: Any, r: Any) -> None:
        want, got = getattr(y, "shape", ()), getattr(r, "shape", ())
        if tuple(want) != tuple(got) or is_complex(r):
            name = describe(self.residual)
            message = (
                f"{self.label}: the residual {name} must be real and have the shape of "
                f"the result, {tuple(want)}, but got {_described(r)}. Return as many "
                "equations as there are unknowns."
            )
            raise UnsupportedError(message)


def _described(r: Any) -> str:
    if is_complex(r):
        return "complex numbers"
    return f"the shape {tuple(r.shape)}" if is_array(r) else f"a {type(r).__name__}"


def _unknown(x: Any) -> Any:
    """NaN for the tangent that has no formula: unused it does no harm."""
    return canonical(x, lambda number: zero_tangent(number) + float("nan"))


def _is_zero(d: Any) -> bool:
    """Whether a cotangent is known to be zero; the values of traced ones are not."""
    if isinstance(d, AbstractZero):
        return True
    if isinstance(d, StructuralTangent):
        return all(map(_is_zero, backing(d).values()))
    try:
        return not bool((d != 0).any()) if is_array(d) else d == 0
    except Exception as error:
        if isinstance(error, (TypeError, RuntimeError)):  # as tracers raise
            return False
        raise
