"""One call of a primitive: which rules serve it, and what they are given and return.

Both Functions (`_autograd.eager`, `_autograd.transforms`) run on this. It knows rules
and tangents, and nothing of how PyTorch keeps residuals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

import rules_core as rc
from rules_core.extend import (
    LEAF,
    ConstantReads,
    FlatCall,
    Reads,
    build_tangent,
    is_watching,
    ordered_cotangents,
    unflatten,
)
from rules_torch._closures.convert import convert, rebuild
from rules_torch._compat import (
    autocast_active,
    lacks_data,
    older_vmap_active,
    will_execute,
)
from rules_torch._config import CONFIG
from rules_torch._errors import (
    CotangentError,
    KeywordDerivativeError,
    UnconvertibleClosureError,
    blame_rule,
    untraceable,
)
from rules_torch._host.run import run_primal
from rules_torch._values.leaves import flatten
from rules_torch._values.meta import (
    Meta,
    has_tangent_space,
    is_ragged,
    stand_in,
    zeros,
)
from rules_torch._values.older_vmap import run_whole_batch
from rules_torch._values.tangents import check_dtype, fitted, leaves_of, read_tangents

from .autocast import State, current, resumed
from .check_result import (
    as_declared,
    blame_result,
    check_pattern,
    check_result,
    check_shapes,
)
from .cuts import watched_if_tracked
from .derived_mode import transposed_push
from .host_rules import pull_host, push_host, start_host
from .lookup import find_again, is_direct
from .read_later import as_before
from .reads_in_graphs import GraphReads

__all__ = ["Call"]

Cotangents = list[Tensor | None]

# Below this size, asking the engine whether a cotangent is used costs more than it.
_LARGE = 4096


class Call:
    """A call of a primitive on torch tensors, in normal form.

    Attributes:
        primitive: The primitive.
        layout: Layout of `(args, kwargs)`; None where the arguments are the tensors.
        needs: Per argument, whether its derivative is wanted; None stands for all.
        found: What the rule returned, where it has run before the forward pass.
        rrule: The rule that reverse mode uses, None if it is derived from the frule.
        plan: How to make the pullback again from its residuals; None where the
            residuals are the arguments, from which the backward pass starts anew.
        inputs: Shape, dtype and device of each tensor.
        result: Layout of the result; None where it is one tensor.
        outputs: Shape, dtype and device of each tensor of the result.
        autocast: The autocast under which the forward pass ran.
        reads: What functions read that the pullback calls again; None for none.
        watch: The operators that ask for it in a compiled program; None elsewhere.
    """

    __slots__ = (
        "_flat", "autocast", "found", "inputs", "layout", "needs", "outputs", "plan",
        "primitive", "reads", "result", "rrule", "watch",
    )  # fmt: skip

    autocast: State
    inputs: list[Meta]
    outputs: list[Meta]

    def __init__(self, primitive: rc.Primitive, layout: Any, rrule: Any) -> None:
        self.primitive, self.layout, self.rrule = primitive, layout, rrule
        self.needs: tuple[bool, ...] | None = None
        self.result: Any = None
        self.plan: Any = None
        self.found: Any = None
        self.reads: Reads | ConstantReads | None = None
        self.watch: GraphReads | None = None
        self._flat: FlatCall | None = None

    def needs_of(self, wanted: Sequence[bool]) -> tuple[bool, ...]:
        """Per argument, whether any of its tensors is wanted."""
        return tuple(wanted) if self.layout is None else self.flat().needs(wanted)

    def flat(self) -> FlatCall:
        """Whose the tensors are, where some are in containers."""
        if self._flat is None:
            self._flat = FlatCall.within(self.layout, self.primitive.names)
        return self._flat

    def arguments(
        self, tensors: Sequence[Tensor]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """`(args, kwargs)` again from their tensors."""
        if self.layout is None:
            return tuple(tensors), {}
        return unflatten(self.layout, tensors)

    def full_layout(self) -> Any:
        """The layout, also where the arguments are the tensors."""
        if self.layout is not None:
            return self.layout
        count = len(self.inputs)
        args = ("sequence", tuple, tuple(range(count)), (LEAF,) * count)
        return ("sequence", tuple, (0, 1), (args, ("static", {})))

    def primal(self, tensors: Sequence[Tensor]) -> Any:
        """The result alone."""
        return run_primal(self.primitive, *self.arguments(tensors))

    def start(self, tensors: Sequence[Tensor]) -> tuple[Any, Sequence[Tensor]]:
        """`(y, residuals)`: the forward pass; `finish` takes the residuals up."""
        self.autocast = current(tensors) if autocast_active() else None
        self.inputs = [(x.shape, x.dtype, x.device) for x in tensors]
        if self.rrule is None:
            return self.primal(tensors), tensors
        if self.rrule.host:
            return start_host(self, tensors)
        found, self.found = self.found, None
        y, pullback = found or self._run_rrule(tensors)
        y = as_declared(self, y, tensors)
        if is_watching():
            check_result(self, y)
        self.plan, residuals = convert(pullback)
        if self.plan[2] is not None:
            return y, self.refuse(self.plan[2], tensors)
        return y, residuals

    def refuse(self, obstacle: str, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        """Start anew from the arguments in the backward pass, if the rule allows it."""
        if not self.rrule.deterministic:
            raise UnconvertibleClosureError(self.rrule, obstacle)
        self.plan = None
        return tensors

    def _run_rrule(self, tensors: Sequence[Tensor]) -> Any:
        try:
            if self.primitive.table.primitive is self.primitive:
                return self._call_rrule(tensors)
            with self.primitive.acting():
                return self._call_rrule(tensors)
        except Exception as error:
            if not any(map(lacks_data, tensors)):  # a compiler has words of its own
                blame_rule(self.rrule, error, self.arguments(tensors)[0])
            raise

    def _call_rrule(self, tensors: Sequence[Tensor]) -> Any:
        if self.layout is None and self.rrule.plain and is_direct(self.primitive):
            pair = self.rrule.function(*tensors)
            if type(pair) is tuple and len(pair) == 2:
                return pair
        args, kwargs = self.arguments(tensors)
        found = find_again(rc.rrule, self.primitive, args, kwargs, self.rrule)
        needs = self.needs
        if needs is not None:  # an instance comes first among the rule's arguments
            needs = (False,) * (len(found.args) - len(needs)) + needs
        return found.run(needs)

    def flatten_result(self, y: Any) -> list[Tensor]:
        """The tensors of a result; keeps its layout and their shapes."""
        if isinstance(y, Tensor):
            self.outputs = [(y.shape, y.dtype, y.device)]
            return [y]
        tensors: list[Tensor] = []
        self.result = flatten(y, tensors)
        self.outputs = [(t.shape, t.dtype, t.device) for t in tensors]
        return tensors

    # -- reverse mode --------------------------------------------------------------

    def finish(
        self,
        residuals: Sequence[Tensor],
        seeds: Sequence[Tensor | None],
        wanted: Sequence[bool],
        node: Any = None,
    ) -> Cotangents:
        """Cotangents of the tensors from those of the result: the backward pass."""
        if self.rrule is None or self.layout is not None:
            wanted = self._used(wanted, node)
        try:
            if self.autocast is not None or autocast_active():
                with resumed(self.autocast, self.inputs[0][2].type):
                    return self._finish(residuals, seeds, wanted, node)
            return self._finish(residuals, seeds, wanted, node)
        except Exception as error:
            seen = [dy for dy in seeds if dy is not None]
            if "Batching rule not implemented" in str(error) and older_vmap_active():
                return self._finish_in_newer_vmap(residuals, seeds, wanted)
            reason = untraceable(self.primitive.table.label, str(error))
            if reason is not None and any(map(lacks_data, seen)):
                raise reason from error
            if self.rrule is not None:
                blame_rule(self.rrule, error, part="the pullback of ")
            raise

    def _finish_in_newer_vmap(
        self,
        residuals: Sequence[Tensor],
        seeds: Sequence[Tensor | None],
        wanted: Sequence[bool],
    ) -> Cotangents:
        """The backward pass of cotangents in a batch of torch's older vmap.

        That knows fewer operations: it has none for `broadcast_to`.
        """

        def run(*given: Tensor) -> Cotangents:
            rest = iter(given)
            filled = [None if dy is None else next(rest) for dy in seeds]
            return self._finish(residuals, filled, wanted, None)

        seen = [dy for dy in seeds if dy is not None]
        found: Cotangents = run_whole_batch(self.primitive.table.label, run, seen)
        return found

    def _finish(
        self,
        residuals: Sequence[Tensor],
        seeds: Sequence[Tensor | None],
        wanted: Sequence[bool],
        node: Any,
    ) -> Cotangents:
        if self.reads is None:
            return self._pulled(residuals, seeds, wanted, node)
        if self.watch is not None:
            *residuals, number = residuals
            seeds = self.watch.checked(number, seeds)
        with as_before(self.reads, self.primitive):
            return self._pulled(residuals, seeds, wanted, node)

    def _pulled(
        self,
        residuals: Sequence[Tensor],
        seeds: Sequence[Tensor | None],
        wanted: Sequence[bool],
        node: Any,
    ) -> Cotangents:
        if self.rrule is not None and self.rrule.host:
            return pull_host(self, residuals, seeds, wanted)
        if self.plan is not None:
            pullback = rebuild(self.plan, residuals)
        elif self.rrule is not None:
            _, pullback = self._run_rrule(residuals)
        else:
            return transposed_push(self, residuals, seeds, wanted)
        dy = seeds[0]
        if dy is None or self.result is not None:
            dy = self.seed(seeds)
        if self.primitive.table.primitive is self.primitive:
            return self.spread(pullback(dy), wanted, node)
        with self.primitive.acting():
            return self.spread(pullback(dy), wanted, node)

    def seed(self, seeds: Sequence[Tensor | None]) -> Any:
        """The cotangent `dy` as the rule expects it, whatever it is made of."""
        symbolic = self.rrule.symbolic_zeros
        pairs = zip(self.outputs, seeds, strict=True)
        filled = (_fill(meta, dy, symbolic) for meta, dy in pairs)
        return (
            next(filled) if self.result is None else build_tangent(self.result, filled)
        )

    def spread(
        self, result: Any, wanted: Sequence[bool], node: Any = None
    ) -> Cotangents:
        """The cotangent of each tensor out of what a pullback returned."""
        if self.layout is not None:
            return self._spread_structured(result, wanted, node)
        if type(result) is not tuple or len(result) != len(self.inputs) + 1:
            result = ordered_cotangents(self.rrule, result, len(self.inputs) + 1)
        out: Cotangents = []
        for i, (shape, dtype, _) in enumerate(self.inputs):
            if not wanted[i]:
                out.append(None)
                continue
            dx = result[i + 1]
            if isinstance(dx, Tensor) and dx.dtype is dtype and dx.shape == shape:
                out.append(dx)
            else:
                out.append(self._project(i, dx, node))
        return out

    def _project(self, i: int, dx: Any, node: Any) -> Tensor | None:
        """A cotangent that is lazy, zero, or not quite like its primal."""
        if dx is None or isinstance(dx, rc.AbstractZero):
            self._refuse_no_tangent(i, dx)
            return None
        if isinstance(dx, rc.NotImplementedTangent):
            if self._is_unused(i, node):
                return None
            dx.throw(f"{self.rrule.label}, argument {self.name(i)!r}")
        if isinstance(dx, rc.AbstractThunk):
            ragged = is_ragged(self.inputs[i : i + 1])
            large = not ragged and self.inputs[i][0].numel() > _LARGE
            if large and self._is_unused(i, node):
                return None
            return self._project(i, rc.unthunk(dx), node)
        shape, dtype, _ = self.inputs[i]
        if isinstance(dx, Tensor) and dx.dtype is dtype and dx.shape == shape:
            return dx
        primal = stand_in(self.inputs[i])
        name = self.name(i)
        what = f"cotangent of argument {name!r}"
        check_dtype(self.rrule, what, dx)
        projected = self._fit(what, name, primal, dx)
        if isinstance(projected, rc.AbstractZero):
            return None
        if isinstance(dx, Tensor) and dx.shape != primal.shape:
            check_pattern(self)
        return torch.as_tensor(projected, dtype=primal.dtype, device=primal.device)

    def _refuse_no_tangent(self, i: int, dx: Any) -> None:
        """Raise for `NoTangent()`, for what is wanted has a tangent."""
        if isinstance(dx, rc.NoTangent) and not self.rrule.constant:
            what = f"the cotangent of argument {self.name(i)!r}"
            raise rc.NoTangentError(self.rrule, what)

    def _is_unused(self, i: int, node: Any) -> bool:
        """Whether the backward pass that is running drops the i-th cotangent."""
        return node is not None and not will_execute(node.next_functions[i][0])

    def _used(self, wanted: Sequence[bool], node: Any) -> Sequence[bool]:
        """Wanted cotangents, without those that are not taken and may raise or be dear.

        A keyword has no cotangent at all, and a transposed frule computes each anew.
        """
        start = 0 if self.rrule is None else self._positional()
        if True not in wanted[start:]:
            return wanted
        rest = enumerate(wanted[start:], start)
        used = [want and not self._is_unused(i, node) for i, want in rest]
        return [*wanted[:start], *used]

    def _positional(self) -> int:
        """The number of tensors in positional arguments; those of keywords follow."""
        return len(self.inputs) if self.layout is None else self.flat().positional

    def _refuse_keywords(self, active: Sequence[bool]) -> None:
        name = self.flat().keyword(active)
        if name is not None:
            raise KeywordDerivativeError(self.primitive.table.label, name)

    def name(self, i: int) -> str:
        """The name of the i-th tensor, for messages."""
        if self.layout is not None:
            return self.flat().name(i)
        names = self.primitive.names or ()
        return names[i] if i < len(names) else str(i)

    def _spread_structured(
        self, result: Any, wanted: Sequence[bool], node: Any
    ) -> Cotangents:
        def read(i: int, dx: Any, part: slice) -> Cotangents:
            leaves = self._leaf_cotangents(i, dx, wanted[part])
            return [
                None if leaf is None else self._project(j, leaf, node)
                for j, leaf in enumerate(leaves, part.start)
            ]

        found = self.flat().cotangents(self.rrule, result, read, len(self.inputs))
        self._refuse_keywords(wanted)
        return found

    def _leaf_cotangents(self, i: int, dx: Any, wanted: Sequence[bool]) -> list[Any]:
        layout, name = self.flat().parts[i], self.flat().argument(i)
        what = f"cotangent of argument {name!r}"
        try:
            return leaves_of(self.rrule, what, name, layout, dx, wanted)
        except CotangentError as error:
            self._blame(error)
            raise

    def _fit(self, what: str, name: str, primal: Any, dx: Any) -> Any:
        try:
            return fitted(self.rrule, what, name, primal, dx)
        except CotangentError as error:
            self._blame(error)
            raise

    def _blame(self, error: CotangentError) -> None:
        """Raise for a result that is not shaped like its function's, if it is one."""
        blame = blame_result(self)
        if blame is not None:
            raise blame from error

    # -- forward mode --------------------------------------------------------------

    def find_frule(self, tensors: Sequence[Tensor]) -> Any:
        args, kwargs = self.arguments(tensors)
        return rc.resolve_primitive(rc.frule, self.primitive, args, kwargs, CONFIG)

    def push(
        self, tensors: Sequence[Tensor], tangents: Sequence[Tensor | None]
    ) -> Cotangents:
        """Tangents of the result's tensors by the frule; None for integers."""
        if self.layout is not None:
            self._refuse_keywords([dx is not None for dx in tangents])
        found = self.find_frule(tensors)
        needs = None
        if found.rule.needs:
            needs = self.needs_of([dx is not None for dx in tangents])
            needs = (False,) * (len(found.args) - len(needs)) + needs
        if found.rule.host:
            return push_host(self, found.rule, needs, tensors, tangents)
        given = self._tangents(found.rule, tensors, tangents)
        try:
            with self.primitive.acting():
                moved = (*tensors, *tangents)
                y, dy = watched_if_tracked(found.rule, moved, found.run, given, needs)
        except Exception as error:
            if not any(map(lacks_data, tensors)):
                blame_rule(found.rule, error, self.arguments(tensors)[0])
            raise
        return self._read_tangent(found.rule, y, dy, tensors)

    def _tangents(
        self, rule: Any, tensors: Sequence[Tensor], tangents: Sequence[Tensor | None]
    ) -> tuple[Any, ...]:
        pairs = zip(tensors, tangents, strict=True)
        filled = [
            _fill((x.shape, x.dtype, x.device), dx, rule.symbolic_zeros)
            for x, dx in pairs
        ]
        if self.layout is None:
            return (rc.NoTangent(), *filled)
        leaves = iter(filled)
        given = [
            rc.NoTangent() if part[0] == "static" else build_tangent(part, leaves)
            for part in self.flat().parts
        ]
        return (rc.NoTangent(), *given)

    def _read_tangent(
        self, rule: Any, y: Any, dy: Any, tensors: Sequence[Tensor]
    ) -> Cotangents:
        expected = self.outputs
        ys = self.flatten_result(as_declared(self, y, tensors))
        check_shapes(rule, expected, self.outputs)
        alike = isinstance(dy, Tensor) and self.result is None and dy.dtype is y.dtype
        if alike and dy.shape == y.shape:
            return [dy]
        return read_tangents(rule, self.result, ys, dy)


def _fill(meta: Meta, dx: Tensor | None, symbolic: bool) -> Any:
    if not has_tangent_space(meta):
        return rc.NoTangent()
    if dx is not None:
        return dx
    return rc.ZeroTangent() if symbolic else zeros(meta)
