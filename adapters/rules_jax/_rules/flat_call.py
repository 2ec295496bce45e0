"""One form of call of one function, flattened: its primal and its rules on leaves.

A `Spec` is what the back ends work with. They know nothing of rules_core: they see
`primal`, `push` (the frule), `save` and `load` (the rrule in two halves) on flat lists
of arrays, with None for a zero tangent or cotangent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise
from types import TracebackType
from typing import Any, NamedTuple, final

import jax
import jax.numpy as jnp

import rules_core as rc
from rules_core.extend import FlatCall, note_rule
from rules_jax import _compat
from rules_jax._config import CONFIG
from rules_jax._errors import (
    is_leak,
    leaked_text,
    note,
    noted_body,
)
from rules_jax._host.call import host_call, result_types
from rules_jax._host.primal import HostPrimal
from rules_jax._values.layouts import layout_of
from rules_jax._values.leaves import (
    Template,
    all_weak,
    by_types,
    has_tangent,
    is_traced,
)
from rules_jax._values.placement import match_placement
from rules_jax._values.project import RuleOutputError, match_weak, project
from rules_jax._values.tangents import build, read, refuse_places

from .host_rules import HostRules
from .results import flat_results
from .saved_pullback import Saved, save_pullback

__all__ = ["Outs", "Spec", "captured_text"]


class Outs(NamedTuple):
    """Types of the results of a call, how to put them together, and its effects."""

    avals: tuple[Any, ...]
    template: Template
    effects: frozenset[Any] = frozenset()


@_compat.held_weakly
@final
class Spec:
    """A primitive with the static part of one call, and the rules that serve it.

    Args:
        primitive: The `rc.Primitive`.
        args: One template per positional argument.
        kwargs: Template of the keyword-only arguments.
        frule: The rule of forward mode, or None.
        rrule: The rule of reverse mode, or None.
        out: Declared types of the results (`to_jax(f, out=…)`), or None.
        call: Calls the primitive again, with its rules.
    """

    def __init__(
        self,
        primitive: Any,
        args: tuple[Template, ...],
        kwargs: Template,
        frule: Any,
        rrule: Any,
        out: Any,
        call: Callable[..., Any],
    ) -> None:
        self.primitive, self.args, self.kwargs = primitive, args, kwargs
        self.frule, self.rrule, self.out = frule, rrule, out
        self.call = call
        self.is_host = primitive.host
        self._outs: dict[Any, Outs] = {}
        starts = [0]
        for template in args:
            starts.append(starts[-1] + template.count)
        self._slices = [slice(*pair) for pair in pairwise(starts)]
        self._positional = starts[-1]

    def __repr__(self) -> str:
        return f"Spec({self.name})"

    @property
    def name(self) -> str:
        """The primal's name, for messages."""
        return getattr(self.primitive.fun, "__name__", repr(self.primitive.fun))

    @property
    def has_frule(self) -> bool:
        """Whether an author wrote the forward mode."""
        return self.frule is not None

    @property
    def has_rrule(self) -> bool:
        """Whether an author wrote the reverse mode."""
        return self.rrule is not None

    # The primal

    def fill(self, leaves: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments and keywords of the call with these arrays."""
        args = tuple(
            template.fill(leaves[part])
            for template, part in zip(self.args, self._slices, strict=True)
        )
        return args, self.kwargs.fill(leaves[self._positional :])

    def primal(self, *leaves: Any) -> list[Any]:
        """Results of the function itself, without its rules."""
        if self.primitive.host:
            return self.typed(host_call(self.host_primal.function, leaves), leaves)
        args, kwargs = self.fill(leaves)
        return flat_results(self.primitive.fun(*args, **kwargs), self.name)[0]

    def typed(self, results: list[Any], leaves: Sequence[Any]) -> list[Any]:
        """A host function's results, weakly typed where its arguments are."""
        return list(map(_compat.weaken, results)) if self._is_weak(leaves) else results

    def _is_weak(self, leaves: Sequence[Any]) -> bool:
        return self.primitive.elementwise and all_weak(map(jax.typeof, leaves))

    def again(self, leaves: Sequence[Any]) -> list[Any]:
        """Results with the rules attached, one level down."""
        like = self.outs(leaves).template if self.is_host else None
        return flat_results(self.call(*self.fill(leaves)), self.name, like)[0]

    @cached_property
    def host_primal(self) -> HostPrimal:
        """The primal on NumPy arrays."""
        return HostPrimal(self)

    def outs(self, leaves: Sequence[Any]) -> Outs:
        """Types of the results for arguments of these types."""
        outs: Outs = by_types(self._outs, leaves, self._infer)
        return outs

    def _infer(self, leaves: Sequence[Any]) -> Outs:
        if self.primitive.host:
            avals = tuple(map(jax.typeof, leaves))
            promised, form = self.host_primal.results(avals)
            typed = result_types(self.host_primal.function, avals, promised)
            if self._is_weak(leaves):
                typed = [aval.update(weak_type=True) for aval in typed]
            return Outs(tuple(typed), form)
        template: list[Template] = []

        def trace(*leaves: Any) -> list[Any]:
            args, kwargs = self.fill(leaves)
            with noted_body(self.primitive):
                y = self.primitive.fun(*args, **kwargs)
            flat, form = flat_results(y, self.name)
            template.append(form)
            return flat

        closed = jax.make_jaxpr(trace)(*leaves)
        self._refuse_captured(closed.consts)
        return Outs(tuple(closed.out_avals), template[0], frozenset(closed.effects))

    def _refuse_captured(self, consts: Sequence[Any]) -> None:
        if any(map(is_traced, consts)):
            raise jax.errors.UnexpectedTracerError(captured_text(self.name))

    # The rules

    def push(
        self, wanted: Sequence[bool], leaves: Sequence[Any], tangents: Sequence[Any]
    ) -> tuple[list[Any], list[Any]]:
        """Results and their tangents by the frule; None is a zero tangent."""
        if self.frule.host:
            return HostRules(self).push(wanted, leaves, tangents)
        call = self._resolve(rc.frule, self.frule, leaves)
        outs = self.outs(leaves)
        refuse_places((*self.args, outs.template), self.frule)
        given = self._tangents(leaves, tangents, self.frule.symbolic_zeros)
        with _Running(self, self.frule):
            y, dy = call.run(given, needs=self.needs(wanted, call))
        results = self._results(self.frule, y, outs)
        return results, self._output_tangents(dy, outs)

    def save(
        self, wanted: Sequence[bool], leaves: Sequence[Any]
    ) -> tuple[list[Any], Saved]:
        """Results by the rrule, and its pullback as a pytree."""
        if self.rrule.host:
            return HostRules(self).save(wanted, leaves)
        call = self._resolve(rc.rrule, self.rrule, leaves)
        outs = self.outs(leaves)
        refuse_places((*self.args, outs.template), self.rrule)
        with _Running(self, self.rrule):
            y, pullback = call.run(needs=self.needs(wanted, call))
        results = self._results(self.rrule, y, outs)
        pull = Pull(self, tuple(wanted), tuple(map(jax.typeof, leaves)), outs)
        eager = not any(map(is_traced, (*leaves, *results)))
        return results, save_pullback(pull, pullback, eager=eager)

    def load(self, saved: Saved, cotangents: Sequence[Any]) -> list[Any]:
        """Cotangents of the leaves, None for zero or unwanted."""
        return saved.run(cotangents)

    def needs(self, wanted: Sequence[bool], call: Any) -> tuple[bool, ...]:
        """One flag per argument of the rule: whether any of its leaves is wanted."""
        if self.flat.keyword(wanted) is not None:
            message = (
                f"{call.rule.kind} {call.rule.name} for {call.rule.target}: a keyword "
                "argument is being differentiated, but keyword arguments have no "
                "derivative. Pass it by position, or hold it constant with "
                "jax.lax.stop_gradient."
            )
            raise rc.UnsupportedError(message)
        return self.flat.needs(wanted, len(call.args) - len(self.args))

    @cached_property
    def flat(self) -> FlatCall:
        """Whose the leaves are, and their tangents."""
        names = self.primitive.names
        return FlatCall([*map(layout_of, self.args)], layout_of(self.kwargs), names)

    def _resolve(self, kind: Any, rule: Any, leaves: Sequence[Any]) -> Any:
        args, kwargs = self.fill(leaves)
        call = rc.resolve_primitive(kind, self.primitive, args, kwargs, CONFIG)
        if call is None or call.rule is not rule:
            found = "no rule" if call is None else f"{call.rule.name}"
            message = (
                f"{rule.kind} {rule.name} for {rule.target} was chosen by the types of "
                f"the call, but {found} fits the arrays that JAX hands on. Annotate "
                "array arguments with rules_core.Array."
            )
            raise rc.UnsupportedError(message)
        return call

    def _tangents(
        self, leaves: Sequence[Any], tangents: Sequence[Any], symbolic: bool
    ) -> tuple[Any, ...]:
        flat = [
            _given(jax.typeof(x), t, symbolic)
            for x, t in zip(leaves, tangents, strict=True)
        ]
        return self.flat.tangents(flat, symbolic=symbolic)

    def _results(self, rule: Any, y: Any, outs: Outs) -> list[Any]:
        like = outs.template if self.is_host else None
        flat, template = flat_results(y, self.name, like)
        if template != outs.template:
            message = (
                f"{rule.label} must "
                f"return what {self.name} returns, {outs.template.skeleton()!r}, but "
                f"got {template.skeleton()!r}."
            )
            raise RuleOutputError(message)
        pairs = zip(flat, outs.avals, strict=True)
        return [self._result(rule, i, x, aval) for i, (x, aval) in enumerate(pairs)]

    def _result(self, rule: Any, i: int, x: Any, aval: Any) -> Any:
        have = jax.typeof(x)
        if have.shape == aval.shape:
            if have.dtype == aval.dtype:
                return match_placement(match_weak(x, aval), aval)
            if have.weak_type:
                return match_placement(x.astype(aval.dtype), aval)
        message = (
            f"{rule.label}: output {i} "
            f"must have the type {aval.str_short()} of {self.name}'s, but got "
            f"{have.str_short()}."
        )
        raise RuleOutputError(message)

    def _output_tangents(self, dy: Any, outs: Outs) -> list[Any]:
        rule = self.frule
        what = f"frule {rule.name} for {rule.target} at {rule.location}: the tangent"
        wanted = [has_tangent(aval) for aval in outs.avals]
        found = read(outs.template, dy, wanted, "the tangent", rule)
        return [
            None if t is None else project(t, aval, what, tangent=True)
            for t, aval in zip(found, outs.avals, strict=True)
        ]


@final
class Pull:
    """Turns flat cotangents into an author's, and the answer back into flat ones.

    JAX's cotangents are transposes, the rules' are adjoints: complex ones are
    conjugated on the way in and on the way out.
    """

    def __init__(
        self, spec: Spec, wanted: tuple[bool, ...], avals: tuple[Any, ...], outs: Outs
    ) -> None:
        self.spec, self.wanted, self.avals, self.outs = spec, wanted, avals, outs
        self.symbolic = spec.rrule.symbolic_zeros

    def __call__(
        self, pullback: Callable[..., Any], cotangents: Sequence[Any]
    ) -> list[Any]:
        """Flat cotangents through the author's pullback."""
        dy = build(
            self.outs.template,
            [
                _given(aval, None if ct is None else _conj(ct), self.symbolic)
                for aval, ct in zip(self.outs.avals, cotangents, strict=True)
            ],
        )
        with _Running(self.spec, self.spec.rrule):
            answer = pullback(dy)
        spec, count = self.spec, len(self.avals)
        return spec.flat.cotangents(spec.rrule, answer, self._argument, count)

    def _argument(self, i: int, ct: Any, part: slice) -> list[Any]:
        rule = self.spec.rrule
        what = (
            f"rrule {rule.name} for {rule.target} at {rule.location}: the cotangent of "
            f"argument {i}"
        )
        own = f"the cotangent of argument {i}"
        found = read(self.spec.args[i], ct, self.wanted[part], own, rule)
        return [
            None if x is None else _conj(project(x, aval, what))
            for x, aval in zip(found, self.avals[part], strict=True)
        ]


class _Running:
    """While an author's code runs: it reaches the handle; errors say whose they are."""

    def __init__(self, spec: Spec, rule: Any) -> None:
        self.rule = rule
        primitive = spec.primitive
        own = primitive.table.primitive is primitive
        self.acting = None if own else primitive.acting()

    def __enter__(self) -> None:
        if self.acting is not None:
            self.acting.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.acting is not None:
            self.acting.__exit__(kind, error, trace)
        if isinstance(error, jax.errors.TracerArrayConversionError):
            raise rc.UnsupportedError(_numpy_text(self.rule)) from error
        if is_leak(error):
            raise rc.UnsupportedError(leaked_text(self.rule)) from error
        note_rule(error, self.rule)
        if isinstance(error, jax.errors.ConcretizationTypeError):
            note(error, TRACED)


def captured_text(name: str) -> str:
    """The refusal of a function whose rules do not know what it depends on."""
    return (
        f"{name} has rules and closes over a traced value, but its rules differentiate "
        "its arguments only. Pass the value as an argument."
    )


def _numpy_text(rule: Any) -> str:
    return (
        f"{rule.label} calls NumPy on "
        "a traced JAX array, but rule bodies must be generic: use "
        "rules_core.array_namespace(x) and primitives, or declare the rule NumPy-only "
        f"with @{rule.kind}.define(…, host=True)."
    )


TRACED = (
    "JAX traces rules: take functions from rules_core.array_namespace(x), not from "
    "math, and where() in place of if."
)


def _given(aval: Any, value: Any, symbolic: bool) -> Any:
    """A tangent as an author sees it."""
    if not has_tangent(aval):
        return rc.NoTangent()
    if value is None:
        return rc.ZeroTangent() if symbolic else _compat.zeros_of(aval)
    return value


def _conj(x: Any) -> Any:
    return jnp.conj(x) if jnp.iscomplexobj(x) else x
