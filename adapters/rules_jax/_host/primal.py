"""The primal of a host primitive as a flat host function: shapes, batches, refusals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import jax
import numpy as np
from jax import dtypes, tree_util

import rules_core as rc
from rules_jax._values.leaves import Fixed, Slot, Template
from rules_jax._values.project import RuleOutputError
from rules_jax._values.static_keys import static_key

from .call import HostFunction
from .native.loops import Undeclared
from .native.native_call import Constant, NativeCall, native_call

__all__ = ["HostPrimal", "no_rule_text"]


@final
class HostPrimal:
    """Runs one form of call of a host primitive on NumPy arrays.

    Args:
        spec: The `Spec` of the call.
    """

    def __init__(self, spec: Any) -> None:
        self.spec = spec
        self.primitive = spec.primitive
        self._promised: dict[Any, tuple[list[Any], Template]] = {}
        self._has_constants = False
        self.foreign = rc.Foreign.of(self.primitive) is not None
        batch = self.batch if self._has_batch_rule() else None
        self.function = HostFunction(
            spec.name,
            self.run,
            lambda avals: self.results(avals)[0],
            elementwise=self.primitive.elementwise,
            batch=batch,
            refusal=no_rule_text(spec.name),
            owned=self.foreign,
            native=self.native,
        )

    def _has_batch_rule(self) -> bool:
        # A batched keyword has no place in a batch rule's signature.
        has = self.primitive.batch_rule is not None and not self.primitive.elementwise
        return bool(has and self.spec.kwargs.count == 0)

    def run(self, arrays: list[Any]) -> list[Any]:
        """The function on NumPy arrays, flat."""
        args, kwargs = self.spec.fill(self._as_numpy(arrays))
        found = tree_util.tree_leaves(self.primitive.run(*args, **kwargs))
        if self._has_constants:
            found = self._arrays(found, self.results(arrays)[1])
        return list(map(np.array, found)) if self.primitive.needs_copies else found

    def _arrays(self, found: list[Any], promised: Template) -> list[Any]:
        """The arrays of a result, whose constants must be those promised."""
        pairs = zip(found, promised.leaves, strict=False)
        fits = len(found) == len(promised.leaves) and (
            self.foreign or all(_is_kept(x, place) for x, place in pairs)
        )
        if not fits:
            raise RuleOutputError(_constants_text(self.spec.name, promised, found))
        return promised.of_arrays(found)

    def batch(
        self, size: int, batched: Sequence[bool], arrays: list[Any]
    ) -> list[Any] | None:
        """The batch rule on NumPy arrays, flat; every result gets the axis in front."""
        args, kwargs = self.spec.fill(self._as_numpy(arrays))
        flags, _ = self.spec.fill(list(batched))
        in_batched = tuple(
            jax.tree.map(_flag, template.skeleton(), part)
            for template, part in zip(self.spec.args, flags, strict=True)
        )
        found = self.primitive.batch_rule(size, in_batched, *args, **kwargs)
        if found is NotImplemented:
            return None
        if not isinstance(found, (tuple, list)) or len(found) != 2:
            raise RuleOutputError(_batch_text(self.spec.name, found))
        out, out_batched = found
        leaves, treedef = tree_util.tree_flatten(out)
        has_axis = _broadcast_flags(out_batched, treedef)
        if self._has_constants:
            pairs = zip(arrays, batched, strict=True)
            promised = self.results([_Row(x) if b else x for x, b in pairs])[1]
            leaves = self._arrays(leaves, promised)
            has_axis = promised.of_arrays(has_axis)
        return [
            x if b else np.broadcast_to(x, (size, *np.shape(x)))
            for x, b in zip(leaves, has_axis, strict=True)
        ]

    def native(
        self,
        avals: Sequence[Any],
        promised: Sequence[Any],
        size: int | None = None,
        batched: Sequence[bool] = (),
    ) -> NativeCall:
        """The native call of arrays of these types.

        Raises:
            Undeclared: It goes by callback; the text says why.
        """
        function = self.primitive.native
        if function is None:
            message = "it is no ufunc, and its primitive has no native="
            raise Undeclared(message)
        if not all(_is_sequence(out) for _, out in self._promised.values()):
            message = "its result is neither an array nor a tuple or list of arrays"
            raise Undeclared(message)
        if self.primitive.copy_in:
            message = "copy_in= says that it writes to its arguments"
            raise Undeclared(message)
        for aval in avals:
            if dtypes.issubdtype(aval.dtype, dtypes.extended) or aval.dtype.kind == "V":
                message = f"NumPy has no numbers of dtype {aval.dtype}"
                raise Undeclared(message)
        parts = function, self.spec.name, self._operands(), avals
        return native_call(*parts, promised, size, batched)

    def _operands(self) -> list[int | Constant]:
        """For each argument the place of its array, or a number."""
        if self.spec.kwargs.leaves:
            message = "the call has keyword arguments"
            raise Undeclared(message)
        operands: list[int | Constant] = []
        place = 0
        for template in self.spec.args:
            if template.single():
                operands.append(place)
            elif template.is_constant():
                operands.append(Constant(template.fill(())))
            else:
                message = "an argument is neither an array nor a number"
                raise Undeclared(message)
            place += template.count
        return operands

    def _as_numpy(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """NumPy's own dtypes in place of bfloat16, unless the function knows it.

        Copies where the function may write into them.
        """
        if self.foreign:
            return arrays
        copied = np.array if self.primitive.needs_copies else np.asarray
        return [copied(_widened(x)) for x in arrays]

    def results(self, avals: Sequence[Any]) -> tuple[list[Any], Template]:
        """Types of the results by the shape rule, and their template."""
        for aval in avals:
            if dtypes.issubdtype(aval.dtype, dtypes.prng_key):
                raise rc.UnsupportedError(_key_text(self.spec.name))
            if not all(isinstance(n, int) for n in aval.shape):
                raise rc.UnsupportedError(_length_text(self.spec.name, aval))
        key = tuple((tuple(a.shape), np.dtype(a.dtype)) for a in avals)
        found = self._promised.get(key)
        if found is None:
            if len(self._promised) >= 64:
                self._promised.clear()
            found = self._promised[key] = self._ask(key)
        return found

    def _ask(self, key: tuple[Any, ...]) -> tuple[list[Any], Template]:
        args, kwargs = self.spec.fill([rc.ShapeDtype(*pair) for pair in key])
        promise = self._promise(args, kwargs)
        leaves, treedef = tree_util.tree_flatten(promise, is_leaf=_is_promise)
        structs = [_struct(x) for x in leaves if _is_promise(x)]
        if not structs and not self.foreign:
            shown = leaves[0] if leaves else promise
            raise rc.UnsupportedError(_promise_text(self.spec.name, shown))
        slots = map(Slot, range(len(structs)))
        places = [next(slots) if _is_promise(x) else Fixed(x) for x in leaves]
        self._has_constants = self._has_constants or len(structs) < len(leaves)
        return structs, Template(treedef, places)

    def _promise(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self.spec.out is not None:
            return self.spec.out(*args, **kwargs)
        rule = self.primitive.shape_rule
        if rule is None:
            raise rc.UnsupportedError(_no_shape_text(self.spec.name))
        return rule(*args, **kwargs)


def _widened(x: Any) -> Any:
    is_extension = x.dtype.kind == "V" and dtypes.issubdtype(x.dtype, np.floating)
    return x.astype(np.float32) if is_extension else x


def _flag(place: Any, flag: Any) -> bool:
    return isinstance(place, Slot) and bool(flag)


def _broadcast_flags(flags: Any, treedef: Any) -> list[bool]:
    if isinstance(flags, bool):
        return [flags] * int(treedef.num_leaves)
    return [bool(x) for x in treedef.flatten_up_to(flags)]


def _is_sequence(out: Template) -> bool:
    """Whether the order of a result's arrays is that of the outputs of a loop."""
    found = out.skeleton()
    parts = found if isinstance(found, (tuple, list)) else [found]
    return all(isinstance(x, Slot) for x in parts)


def _is_promise(x: Any) -> bool:
    return hasattr(x, "shape") and hasattr(x, "dtype")


class _Row:
    """The type of one row of a batch."""

    def __init__(self, x: Any) -> None:
        self.shape, self.dtype = x.shape[1:], x.dtype


def _struct(promise: Any) -> Any:
    dtype = dtypes.canonicalize_dtype(promise.dtype)
    return jax.ShapeDtypeStruct(tuple(promise.shape), dtype)


def _promise_text(name: str, promise: Any) -> str:
    return (
        f"the shape rule of {name} must return rules_core.ShapeDtype objects, but got "
        f"{promise!r} among them. Return one for each array of the result."
    )


def _constants_text(name: str, promised: Template, found: Sequence[Any]) -> str:
    return (
        f"host function {name} must return what its shape rule promises, with these "
        f"constants beside the arrays: {promised.skeleton()!r}, but got "
        f"{', '.join(_kind(x) for x in found)}. Correct one of the two, and return "
        "arrays in place of numbers that depend on the data."
    )


def _is_kept(x: Any, place: Any) -> bool:
    """Whether a result has the constant that its shape rule has in its place."""
    return isinstance(place, Slot) or static_key(x) == static_key(place.value)


def _kind(x: Any) -> str:
    return "array" if _is_promise(x) else repr(x)


def _batch_text(name: str, found: Any) -> str:
    return (
        f"the batch rule of {name} must return (out, out_batched) or NotImplemented, "
        f"but got a value of type {type(found).__name__}. Return the results, and True "
        "for those that have the batch axis in front."
    )


def no_rule_text(name: str, reason: str | None = None) -> str:
    """The refusal to differentiate a host call that no rule covers."""
    none_derived = f" None is derived from its code: {reason}." if reason else ""
    return (
        f"the host function {name} is differentiated here, and no rule covers it: it "
        f"runs in NumPy, so JAX cannot differentiate it either.{none_derived} Define a "
        "rule with "
        f"@rrule.define({name}) or @frule.define({name}); for a second derivative let "
        "the rule's body call primitives that have rules."
    )


def _key_text(name: str) -> str:
    return (
        f"the host function {name} is called with a random key of JAX, which NumPy "
        "does not have. Pass jax.random.key_data(key), or numbers drawn from it."
    )


def _length_text(name: str, aval: Any) -> str:
    return (
        f"the host function {name} is traced for an array of shape {aval.shape}, but "
        "it runs in this process, on arrays of known lengths, and cannot be exported. "
        "Export the parts before and after the call, or replace the function by one in "
        "array-API code."
    )


def _no_shape_text(name: str) -> str:
    return (
        f"the host function {name} is traced by JAX, which must know the shapes and "
        f"dtypes of its results. Add @shape_rule.define({name}), declare it with "
        "elementwise=True, or call it through to_jax(…, out=…)."
    )
