"""`scalar_rule`: frule and rrule of an elementwise function from its partials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Never

from rules_core._base.arrays import array_namespace, is_array
from rules_core._base.errors import ProjectionError, RuleDefinitionError
from rules_core._base.unknown_names import refuse_unknown
from rules_core._dispatch.rule import AUTHORS, FROM_VALUE, PARTIALS, Location
from rules_core._dispatch.rule_signature import read_signature
from rules_core._dispatch.table import Table
from rules_core._primitives.strong_zero import conj, strong_product, total
from rules_core._rules.definition_checks import check_arity
from rules_core._rules.explain import RuleNotFound
from rules_core._rules.frule_rrule import rrule
from rules_core._tangents.canonical import has_tangent
from rules_core._tangents.containers import Tangent
from rules_core._tangents.leaves import is_complex, is_same_kind, signed
from rules_core._tangents.project import ProjectTo
from rules_core._tangents.pullback import Pullback
from rules_core._tangents.zeros import (
    AbstractTangent,
    AbstractZero,
    NoTangent,
    NotImplementedTangent,
    ZeroTangent,
)

from .rule_pair import called, register_pair

__all__ = ["derivatives_given_output", "scalar_rule"]


def _rows(
    partials: Any, y: Any, label: str, inputs: int
) -> tuple[tuple[Any, ...], ...]:
    """Partials as one row per output.

    Raises:
        RuleDefinitionError: The rows do not match the outputs and arguments.
    """
    several = isinstance(y, tuple)
    if not several and type(partials) is tuple and len(partials) == inputs:
        return (partials,)
    rows = partials if several else (partials,)
    good = isinstance(rows, tuple) and len(rows) == (len(y) if several else 1)
    if not good or not all(isinstance(r, tuple) and len(r) == inputs for r in rows):
        row = f"a tuple of {inputs}, one per argument"
        if several:
            row = f"a tuple of {len(y)}, one per output, each {row}"
        message = f"{label}: the partials must be {row}, but got {_form(partials)}."
        raise RuleDefinitionError(message)
    return rows


def _form(partials: Any) -> str:
    """The nesting of tuples, without the numbers."""
    if not isinstance(partials, tuple):
        return type(partials).__name__
    comma = "," if len(partials) == 1 else ""
    return f"({', '.join(map(_form, partials))}{comma})"


_OPTIONS = ("holomorphic", "real_valued", "symbolic", "host")


def scalar_rule(
    f: Any,
    partials: Callable[..., Any],
    *,
    holomorphic: bool = False,
    real_valued: bool = False,
    symbolic: bool = True,
    host: bool = False,
    **unknown: Never,
) -> None:
    """Define frule and rrule of a scalar or elementwise `f` by its partials.

    `dy = Σᵢ ∂f/∂xᵢ dxᵢ` and `dxᵢ = Σⱼ conj(∂fⱼ/∂xᵢ) dyⱼ`, summed over broadcast axes
    and projected on `xᵢ`. Zeros are strong: a zero tangent or cotangent times an
    infinite or NaN partial is zero.

    Args:
        f: The function of the arguments `x1, …, xn`; elementwise on arrays.
        partials: `partials(y, x1, …, xn)` does any shared set-up and returns the tuple
            `(∂f/∂x1, …, ∂f/∂xn)`; for a tuple of outputs a tuple of such tuples. A
            partial may be `NoTangent()`, or `not_implemented(…)`. Annotations restrict
            the types; a keyword-only `needs` tells which arguments need a cotangent, so
            that costly partials of the others can be omitted (`NoTangent()`). Unsigned
            and narrow integers and booleans arrive as signed integers, which formulas
            can negate and shift.
        holomorphic: Declare that `f` satisfies the Cauchy–Riemann equations at complex
            arguments; the tester checks it. Without either flag the derivative with
            respect to a complex argument is NotImplemented.
        real_valued: Declare that `f` is real at complex arguments too, with the partial
            `∂f/∂Re x - i ∂f/∂Im x`: `conj(x) / |x|` for `|x|`.
        symbolic: Whether a `ZeroTangent()` cotangent passes without arithmetic.
        host: Whether `partials` is NumPy-only: frameworks run it as an opaque call, at
            first order.
        **unknown: An error, which names the nearest argument.

    Raises:
        RuleDefinitionError: The signature of `partials` does not match `f`, or both
            flags are set.

    >>> import numpy as np
    >>> from rules_core import frule, NoTangent, rrule, scalar_rule
    >>> def hypotenuse(x, y):
    ...     return np.sqrt(x * x + y * y)
    >>> def hypotenuse_partials(h, x, y):
    ...     return x / h, y / h
    >>> scalar_rule(hypotenuse, hypotenuse_partials)
    >>> h, pullback = rrule(hypotenuse, 3.0, 4.0)
    >>> pullback(5.0)
    (NoTangent(), 3.0, 4.0)
    """
    refuse_unknown("scalar_rule", unknown, _OPTIONS)
    table = rrule.table_to_define(f)
    where = Location.of(partials)
    label = f"scalar_rule {where.name} for {table.label} at {where}"
    read = read_signature(partials, label, ("y",))
    check_arity(table, label, read, ("y",))
    if holomorphic and real_valued:
        message = f"{label} must be holomorphic or real_valued, but got both."
        raise RuleDefinitionError(message)
    claims = {"holomorphic": holomorphic, "real_valued": real_valued}
    rows = _rows_of(partials, label, where, **claims)
    forward, backward = _make(table, rows, label, asks_needs=read.needs)
    for rule in (forward, backward):
        claimed = {PARTIALS: rows, AUTHORS: partials, "holomorphic": holomorphic}
        rule.__dict__.update(claimed)
    register_pair(
        table,
        where,
        forward,
        backward,
        read.types,
        variadic=read.variadic,
        required=read.required,
        keywords=read.keywords,
        opened=read.opened,
        needs=read.needs,
        symbolic_zeros=symbolic,
        host=host,
    )


def _rows_of(
    partials: Callable[..., Any],
    label: str,
    where: Location,
    *,
    holomorphic: bool,
    real_valued: bool,
) -> Callable[..., Any]:
    """`partials` in rows, NotImplemented for complex arguments without a flag.

    One complex partial means `dy = p dx` for a holomorphic function, or `dy = Re(p dx)`
    for a real one; other functions need two.
    """
    why = (
        f"{label} is declared for real arguments; declare it holomorphic=True if the "
        "function satisfies the Cauchy–Riemann equations, real_valued=True if its "
        "value is real and its partials are ∂f/∂Re x - i ∂f/∂Im x, else write an frule "
        "and an rrule for complex arguments"
    )
    if real_valued:
        why = (
            f"{label} claims real_valued, but the result is complex; where "
            "elementwise=True makes it so, declare the function without and add a "
            "shape_rule that gives the real dtype"
        )
    missing = NotImplementedTangent(why, "", where.module, where.file, where.line)

    def rows(y: Any, *args: Any, **kw: Any) -> tuple[tuple[Any, ...], ...]:
        partial_rows = _rows(partials(y, *map(signed, args), **kw), y, label, len(args))
        if holomorphic or not any(map(is_complex, args)):
            return partial_rows
        outputs = y if isinstance(y, tuple) else (y,)
        return tuple(
            row
            if real_valued and not is_complex(out)
            else _of_reals(row, args, missing)
            for row, out in zip(partial_rows, outputs, strict=True)
        )

    return rows


def _of_reals(
    row: tuple[Any, ...], args: tuple[Any, ...], missing: NotImplementedTangent
) -> tuple[Any, ...]:
    return tuple(
        missing if is_complex(x) and not isinstance(p, AbstractTangent) else p
        for p, x in zip(row, args, strict=True)
    )


def _make(
    table: Table, rows: Callable[..., Any], label: str, *, asks_needs: bool
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    # The rule of a method receives the instance, not the function.
    pull, head = (_pull, 0) if table.method else (_pull_function, 1)
    pull_one = _pull_one if table.method else _pull_one_function

    def value(args: tuple[Any, ...], kw: dict[str, Any]) -> Any:
        own = {k: v for k, v in kw.items() if k != "needs"} if asks_needs else kw
        return called(table.key)(*args, **own)

    def rows_of(y: Any, args: tuple[Any, ...], kw: dict[str, Any]) -> Any:
        if isinstance(y, list):
            message = f"{label}: several outputs must be a tuple, but got a list."
            raise RuleDefinitionError(message)
        return rows(y, *args, **kw)

    def scalar_frule(tangents: Any, *args: Any, **kw: Any) -> tuple[Any, Any]:
        y = value(args, kw)
        outputs = y if isinstance(y, tuple) else (y,)
        pairs = zip(rows_of(y, args, kw), outputs, strict=True)
        dys = [_push(row, tangents[head:], out) for row, out in pairs]
        return y, Tangent(type(y), *dys) if isinstance(y, tuple) else dys[0]

    def scalar_rrule(*args: Any, **kw: Any) -> tuple[Any, Any]:
        y = value(args, kw)
        return y, pullback_of(y, args, kw)

    def pullback_of(y: Any, args: tuple[Any, ...], kw: dict[str, Any]) -> Any:
        found = rows_of(y, args, kw)
        if isinstance(y, tuple):
            return Pullback(pull, args, found)
        return Pullback(pull_one, *args, *found[0])  # flat: quickest to save

    scalar_rrule.__dict__[FROM_VALUE] = value, pullback_of
    return scalar_frule, scalar_rrule


def _push(row: tuple[Any, ...], tangents: tuple[Any, ...], y: Any) -> Any:
    """`Σᵢ pᵢ dxᵢ`, of the dtype and shape of `y`."""
    terms = [strong_product(p, dx) for p, dx in zip(row, tangents, strict=True)]
    dy = _broadcast(total(terms), y)
    if isinstance(dy, NoTangent) and has_tangent(y):
        return ZeroTangent()  # no active argument has a partial
    return _like(y, dy)


def _broadcast(tangent: Any, y: Any) -> Any:
    """The tangent broadcast to the shape of `y`: a constant partial has no shape."""
    if not is_array(y) or isinstance(tangent, AbstractTangent):
        return tangent
    if getattr(tangent, "shape", ()) == y.shape:
        return tangent
    xp = array_namespace(y, tangent)
    spread = tangent if is_array(tangent) else xp.asarray(tangent, dtype=y.dtype)
    return xp.broadcast_to(spread, y.shape)


def _like(primal: Any, tangent: Any) -> Any:
    if isinstance(tangent, AbstractZero) or is_same_kind(primal, tangent):
        return tangent
    return ProjectTo(primal)(tangent)


def _pull_function(args: tuple[Any, ...], rows: Any, dy: Any) -> tuple[Any, ...]:
    return NoTangent(), *_pull(args, rows, dy)


def _pull(args: tuple[Any, ...], rows: Any, dy: Any) -> tuple[Any, ...]:
    """`Σⱼ conj(pⱼᵢ) dyⱼ` for every argument."""
    dys = _outputs(dy, len(rows))
    columns = zip(*rows, strict=True) if rows else ((),) * len(args)
    pairs = zip(args, columns, strict=True)
    return tuple([_cotangent(x, column, dys) for x, column in pairs])


def _pull_one_function(*given: Any) -> tuple[Any, ...]:
    return NoTangent(), *_pull_one(*given)


def _pull_one(*given: Any) -> tuple[Any, ...]:
    """`conj(pᵢ) dy` for every argument, of the arguments, their partials, and `dy`."""
    dys, count = given[-1:], len(given) // 2
    pairs = zip(given[:count], given[count:-1], strict=True)
    return tuple([_cotangent(x, (p,), dys) for x, p in pairs])


def _cotangent(x: Any, column: tuple[Any, ...], dys: tuple[Any, ...]) -> Any:
    """`Σⱼ conj(pⱼ) dyⱼ`; an output without a tangent has no part in it."""
    if not has_tangent(x):
        return NoTangent()
    pairs = zip(column, dys, strict=True)
    terms = [
        strong_product(conj(p), dy) for p, dy in pairs if not isinstance(p, NoTangent)
    ]
    return _like(x, total(terms)) if terms else NoTangent()


def _outputs(dy: Any, count: int) -> tuple[Any, ...]:
    if isinstance(dy, AbstractZero):
        return (ZeroTangent(),) * count
    dys = tuple(dy)
    if len(dys) != count:
        whole, must = "", f"be a tuple of {count}, one per output"
        raise ProjectionError(whole, must, f"a tuple of {len(dys)}")
    return dys


def derivatives_given_output(y: Any, f: Any, *args: Any, **kw: Any) -> Any:
    """The partials of a `scalar_rule`, `((∂f₁/∂x₁, …), …)`, from the known output.

    Follows ChainRulesCore's `derivatives_given_output`: one row per output, so that a
    framework can fuse `y` and the partials in one broadcast.

    Args:
        y: `f(*args, **kw)`, already known.
        f: A function with a `scalar_rule` for these arguments.
        *args: Its arguments.
        **kw: Its keyword arguments.

    Raises:
        RuleNotFound: `f` has no `scalar_rule` for these arguments.

    >>> import numpy as np
    >>> from rules_core import derivatives_given_output, scalar_rule
    >>> def twice(x):
    ...     return 2.0 * x
    >>> def twice_partials(y, x):
    ...     return (2.0,)
    >>> scalar_rule(twice, twice_partials)
    >>> derivatives_given_output(6.0, twice, 3.0)
    ((2.0,),)
    """
    call = rrule.resolve(f, args, kw)
    if call is None or call.rule.partials is None:
        kind = "scalar_rule"
        raise RuleNotFound.build(kind, f, args, kw)
    needs = {"needs": (True,) * len(call.args)} if call.rule.needs else {}
    return call.rule.partials(y, *call.args, **call.kwargs, **needs)
