"""One call of a primitive: which rules serve it, and what they are given and return.

Both Functions (`_eager`, `_functorch`) run on this. It knows rules and tangents, and
nothing of how PyTorch keeps residuals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

import rules_core as rc

from ._closure import convert, rebuild
from ._config import CONFIG
from ._errors import (
    CotangentError,
    KeywordDerivativeError,
    UnconvertibleClosureError,
    rule_label,
)
from ._host import run_primal
from ._leaves import differentiable, flatten, leaf_names, pair, tangent_of, unflatten
from ._transpose import transpose

__all__ = ["Call", "Meta"]

Prune = Callable[[int], bool]


class Meta(NamedTuple):
    """What is kept of a tensor in order to check and complete its tangents."""

    shape: Any
    dtype: Any
    device: Any

    @classmethod
    def of(cls, x: Tensor) -> Meta:
        """Shape, dtype and device of a tensor."""
        return cls(x.shape, x.dtype, x.device)

    @property
    def differentiable(self) -> bool:
        """Whether such a tensor has a tangent."""
        return self.dtype.is_floating_point or self.dtype.is_complex  # type: ignore[no-any-return]

    def zeros(self) -> Tensor:
        """Zeros like the tensor."""
        return torch.zeros(self.shape, dtype=self.dtype, device=self.device)

    def stand_in(self) -> Tensor:
        """A tensor of this shape and dtype that occupies no memory."""
        return torch.zeros((), dtype=self.dtype, device=self.device).expand(self.shape)


class Call:
    """A call of a primitive on torch tensors, in normal form.

    Attributes:
        primitive: The primitive.
        layout: Layout of `(args, kwargs)`; None where the arguments are the tensors.
        needs: Per argument, whether its derivative is wanted.
        found: The rrule with its arguments, until it has run once.
        rrule: The rule that reverse mode uses, None if it is derived from the frule.
        plan: How to make the pullback again from its residuals; None where the
            residuals are the arguments, from which the backward pass starts anew.
        inputs: Shapes and dtypes of the tensors.
        result: Layout of the result; None where it is one tensor.
        outputs: Shapes and dtypes of the tensors of the result.
    """

    __slots__ = (
        "found", "inputs", "layout", "needs", "outputs", "plan", "primitive", "result",
        "rrule",
    )  # fmt: skip

    def __init__(self, primitive: rc.Primitive, layout: Any, rrule: Any = None) -> None:
        self.primitive, self.layout, self.rrule = primitive, layout, rrule
        self.needs = self.found = self.result = self.plan = None

    def needs_of(self, wanted: Sequence[bool], count: int) -> tuple[bool, ...]:
        """Per argument of the rule, whether any of its tensors is wanted."""
        if self.layout is None:
            needs = tuple(wanted)
        else:
            left = iter(wanted)
            layouts = self._parts()
            needs = tuple(any([next(left) for _ in leaf_names(p, "")]) for p in layouts)
        return (False,) * (count - len(needs)) + needs

    def arguments(
        self, tensors: Sequence[Tensor]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """`(args, kwargs)` again from their tensors."""
        if self.layout is None:
            return tuple(tensors), {}
        return unflatten(self.layout, tensors)  # type: ignore[no-any-return]

    def primal(self, tensors: Sequence[Tensor]) -> Any:
        """The result alone."""
        return run_primal(self.primitive, *self.arguments(tensors))

    def start(self, tensors: Sequence[Tensor]) -> tuple[Any, Sequence[Tensor]]:
        """`(y, residuals)`: the forward pass; `finish` takes the residuals up."""
        self.inputs = [Meta.of(x) for x in tensors]
        rule = self.rrule
        if rule is None:
            return self.primal(tensors), tensors
        y, pullback = self._run_rrule(tensors)
        plan, residuals = convert(pullback)
        if plan.obstacle is None:
            self.plan = plan
            return y, residuals
        if not rule.deterministic:
            raise UnconvertibleClosureError(rule, plan.obstacle)
        return y, tensors

    def _run_rrule(self, tensors: Sequence[Tensor]) -> tuple[Any, Any]:
        found, self.found = self.found, None
        if found is None:  # once more, on tensors of another level
            args, kwargs = self.arguments(tensors)
            found = rc.rrule.resolve(self.primitive.fun, args, kwargs, CONFIG)
        return found.run(self.needs)  # type: ignore[no-any-return]

    def finish(
        self,
        residuals: Sequence[Tensor],
        seeds: Sequence[Tensor | None],
        wanted: Sequence[bool],
        prune: Prune | None = None,
    ) -> list[Tensor | None]:
        """Cotangents of the tensors from those of the result: the backward pass."""
        if self.plan is not None:
            pullback = rebuild(self.plan, residuals)
        elif self.rrule is not None:
            _, pullback = self._run_rrule(residuals)
        else:
            return self._transposed_push(residuals, seeds, wanted)
        return self.spread(pullback(self.seed(seeds)), wanted, prune)

    def _transposed_push(
        self,
        tensors: Sequence[Tensor],
        seeds: Sequence[Tensor | None],
        wanted: Sequence[bool],
    ) -> list[Tensor | None]:
        """Reverse mode of a function that has only an frule."""
        chosen = [i for i, want in enumerate(wanted) if want]
        outputs = [i for i, meta in enumerate(self.outputs) if meta.differentiable]

        def pushforward(*dxs: Tensor) -> tuple[Tensor, ...]:
            tangents: list[Tensor | None] = [None] * len(tensors)
            for i, dx in zip(chosen, dxs, strict=True):
                tangents[i] = dx
            dys = self.push(tensors, tangents)
            return tuple(dys[i] for i in outputs)  # type: ignore[misc]

        points = [tensors[i] for i in chosen]
        found = iter(transpose(pushforward, points, [seeds[i] for i in outputs]))
        return [next(found) if want else None for want in wanted]

    def transposed_pull(
        self,
        residuals: Sequence[Tensor],
        tensors: Sequence[Tensor],
        tangents: Sequence[Tensor | None],
    ) -> list[Tensor | None]:
        """Forward mode of a function that has only an rrule."""
        chosen = [i for i, dx in enumerate(tangents) if dx is not None]
        outputs = [i for i, meta in enumerate(self.outputs) if meta.differentiable]
        wanted = [dx is not None for dx in tangents]

        def pullback(*dys: Tensor) -> tuple[Tensor, ...]:
            seeds: list[Tensor | None] = [None] * len(self.outputs)
            for i, dy in zip(outputs, dys, strict=True):
                seeds[i] = dy
            dxs = self.finish(residuals, seeds, wanted)
            return tuple(_zeros_if_none(dxs[i], tensors[i]) for i in chosen)

        points = [self.outputs[i].zeros() for i in outputs]
        found = dict(
            zip(outputs, transpose(pullback, points, [tangents[i] for i in chosen]))
        )
        return [
            _zeros_if_none(found[i], meta) if i in found else None
            for i, meta in enumerate(self.outputs)
        ]

    def flatten_result(self, y: Any) -> list[Tensor]:
        """The tensors of a result; keeps its layout and their shapes."""
        if isinstance(y, Tensor):
            self.outputs = [Meta.of(y)]
            return [y]
        tensors: list[Tensor] = []
        self.result = flatten(y, tensors)
        self.outputs = [Meta.of(t) for t in tensors]
        return tensors

    # -- reverse mode --------------------------------------------------------------

    def seed(self, seeds: Sequence[Tensor | None]) -> Any:
        """The cotangent `dy` as the rule expects it."""
        if self.result is None and seeds[0] is not None:
            return seeds[0]
        symbolic = self.rrule is not None and self.rrule.symbolic_zeros
        filled = (
            _fill(meta, dy, symbolic)
            for meta, dy in zip(self.outputs, seeds, strict=True)
        )
        if self.result is None:
            return next(filled)
        return tangent_of(self.result, filled)

    def spread(
        self, result: Any, wanted: Sequence[bool], prune: Prune | None = None
    ) -> list[Tensor | None]:
        """The cotangent of each tensor out of what a pullback returned."""
        if self.layout is not None:
            return self._spread_structured(result, wanted, prune)
        if type(result) is not tuple or len(result) != len(self.inputs) + 1:
            raise self._count_error(len(self.inputs), result)
        out: list[Tensor | None] = []
        for i, (shape, dtype, _) in enumerate(self.inputs):
            dx = result[i + 1] if wanted[i] else None
            if dx is None or (
                isinstance(dx, Tensor) and dx.dtype is dtype and dx.shape == shape
            ):
                out.append(dx)
            else:
                out.append(self._project(i, dx, prune))
        return out

    def _count_error(self, count: int, result: Any) -> Exception:
        rule = self.rrule or rc.frule.resolve(self.primitive.fun, ()).rule  # type: ignore[union-attr]
        return rc.CotangentCountError(rule, count + 1, result)

    def _project(self, i: int, dx: Any, prune: Prune | None) -> Tensor | None:
        """A cotangent that is lazy, zero, or not quite like its primal."""
        if isinstance(dx, rc.AbstractZero):
            return None
        if isinstance(dx, rc.NotImplementedTangent):
            dx.throw(f"{rule_label(self.rrule)}, argument {self._name(i)!r}")
        if isinstance(dx, rc.AbstractThunk):
            if prune is not None and not prune(i):
                return None
            return self._project(i, rc.unthunk(dx), prune)
        primal = self.inputs[i].stand_in()
        try:
            (projected,) = rc.normalise((primal,), (dx,))
        except (TypeError, ValueError) as error:
            what = f"cotangent of argument {self._name(i)!r}"
            raise CotangentError(self.rrule, what, error) from error
        if isinstance(projected, Tensor) or projected is None:
            return projected
        if isinstance(projected, rc.AbstractZero):
            return None
        return torch.as_tensor(projected, dtype=primal.dtype, device=primal.device)

    def _name(self, i: int) -> str:
        """The name of the i-th tensor, for messages."""
        names = self.primitive.names
        if self.layout is None:
            return names[i] if names and i < len(names) else str(i)
        return list(self._names())[i]

    def _names(self) -> Iterator[str]:
        names = self.primitive.names or ()
        for i, layout in enumerate(self.layout[3][0][3]):
            yield from leaf_names(layout, names[i] if i < len(names) else f"args[{i}]")
        keywords = self.layout[3][1]
        if keywords[0] != "static":
            for name, layout in zip(keywords[2], keywords[3], strict=True):
                yield from leaf_names(layout, name)

    def _spread_structured(
        self, result: Any, wanted: Sequence[bool], prune: Prune | None
    ) -> list[Tensor | None]:
        layouts = self._parts()
        stand_ins, _ = self.arguments([meta.stand_in() for meta in self.inputs])
        if type(result) is not tuple or len(result) != len(layouts) + 1:
            raise self._count_error(len(layouts), result)
        out: list[Tensor | None] = []
        for layout, primal, dx in zip(layouts, stand_ins, result[1:], strict=True):
            start, count = len(out), leaf_count(layout)
            if not any(wanted[start : start + count]):
                out.extend([None] * count)
                continue
            for leaf in self._leaf_cotangents(layout, primal, dx):
                i = len(out)
                out.append(self._project(i, leaf, prune) if wanted[i] else None)
        for i in range(len(out), len(self.inputs)):
            if wanted[i]:
                raise KeywordDerivativeError(self.primitive.table.label, self._name(i))
            out.append(None)
        return out

    def _parts(self) -> Any:
        """Layouts of the positional arguments."""
        positional = self.layout[3][0]
        if positional[0] == "static":
            return tuple(("static", x) for x in positional[1])
        return positional[3]

    def _leaf_cotangents(self, layout: Any, primal: Any, dx: Any) -> Iterator[Any]:
        if layout[0] == "tensor":
            return iter((dx,))
        (canonical,) = rc.normalise((primal,), (rc.unthunk(dx),))
        return pair(layout, canonical)

    # -- forward mode --------------------------------------------------------------

    def push(
        self, tensors: Sequence[Tensor], tangents: Sequence[Tensor | None]
    ) -> list[Tensor | None]:
        """Tangents of the result's tensors by the frule; None for integers."""
        args, kwargs = self.arguments(tensors)
        found = rc.frule.resolve(self.primitive.fun, args, kwargs, CONFIG)
        if found is None:
            raise rc.RuleNotFound.build("frule", self.primitive.fun, args, kwargs, CONFIG)
        y, dy = found.run(self._tangents(found.rule, tensors, tangents), self.needs)
        return self._read_tangent(found.rule, y, dy)

    def _tangents(
        self, rule: Any, tensors: Sequence[Tensor], tangents: Sequence[Tensor | None]
    ) -> tuple[Any, ...]:
        filled = [
            _fill(Meta.of(x), dx, rule.symbolic_zeros)
            for x, dx in zip(tensors, tangents, strict=True)
        ]
        if self.layout is None:
            return (rc.NoTangent(), *filled)
        positional = self.layout[3][0]
        leaves = iter(filled)
        if positional[0] == "static":
            return (rc.NoTangent(), *(rc.NoTangent() for _ in positional[1]))
        return (rc.NoTangent(), *(tangent_of(part, leaves) for part in positional[3]))

    def _read_tangent(self, rule: Any, y: Any, dy: Any) -> list[Tensor | None]:
        ys = self.flatten_result(y)
        if self.result is None and isinstance(dy, Tensor) and _like(dy, y):
            return [dy]
        dy = rc.unthunk(dy)
        if isinstance(dy, rc.NotImplementedTangent):
            dy.throw(rule_label(rule))
        try:
            (canonical,) = rc.normalise((y,), (dy,))
        except (TypeError, ValueError) as error:
            raise CotangentError(rule, "tangent of the result", error) from error
        leaves = [canonical] if self.result is None else pair(self.result, canonical)
        return [_tangent(rule, x, dx) for x, dx in zip(ys, leaves, strict=True)]


def _like(dx: Tensor, x: Tensor) -> bool:
    return dx.dtype is x.dtype and dx.shape == x.shape


def _tangent(rule: Any, x: Tensor, dx: Any) -> Tensor | None:
    """One tangent of the result: zeros, never None, where a tangent can be."""
    if not differentiable(x):
        return None
    dx = rc.unthunk(dx)
    if isinstance(dx, rc.NotImplementedTangent):
        dx.throw(rule_label(rule))
    if isinstance(dx, rc.AbstractZero) or dx is None:
        return torch.zeros_like(x)
    return dx  # type: ignore[no-any-return]


def _fill(meta: Meta, dx: Tensor | None, symbolic: bool) -> Any:
    if not meta.differentiable:
        return rc.NoTangent()
    if dx is not None:
        return dx
    return rc.ZeroTangent() if symbolic else meta.zeros()


def leaf_count(layout: Any) -> int:
    """How many tensors a layout stands for."""
    return sum(1 for _ in leaf_names(layout, ""))


def _zeros_if_none(dx: Tensor | None, like: Tensor | Meta) -> Tensor:
    if dx is not None:
        return dx
    return torch.zeros(like.shape, dtype=like.dtype, device=like.device)
