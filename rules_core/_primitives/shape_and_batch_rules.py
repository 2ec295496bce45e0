"""Shape and batch rules: their registration, and those of elementwise functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar, final

from rules_core._base.arrays import ShapeDtype, is_array
from rules_core._base.errors import RuleClashError, UnsupportedError
from rules_core._dispatch.call_site import refuse_bare
from rules_core._dispatch.normal_form import keyword_names, parameter_names
from rules_core._dispatch.registry import is_permanent, table_for
from rules_core._dispatch.rule import Location, Rule
from rules_core._dispatch.rule_key import describe
from rules_core._dispatch.table import LOCK, Table

__all__ = [
    "batch_rule",
    "broadcast",
    "elementwise_batch_rule",
    "elementwise_shape_rule",
    "is_plain_ufunc",
    "numpy_dtype",
    "result_dtype",
    "shape_rule",
    "ufunc_shape_rule",
    "vectorized_batch_rule",
]

F = TypeVar("F", bound=Callable[..., Any])


class _SideRule:
    """The common base of `shape_rule` and `batch_rule`: one function per key."""

    kind: str
    slot: str

    def define(self, f: Any) -> Callable[[F], F]:
        """Register the decorated function for `f`; returns it unchanged.

        Raises:
            RuleClashError: `f` has one from another place.
            RuleDefinitionError: `f` is missing.
        """
        refuse_bare(f, f"{self.kind}.define")
        key = getattr(f, "__wrapped__", f) if type(f).__name__ == "Primitive" else f
        table = table_for(key, f"{self.kind}.define")

        def register(function: F) -> F:
            self.register(table, function, Location.of(function))
            return function

        return register

    def register(
        self, table: Table, function: Callable[..., Any], where: Location
    ) -> None:
        """Register a rule; one of this name from this module is replaced."""
        new = Rule(
            self.kind,
            table.key,
            _with_defaults(function, table),
            where,
            (),
            variadic=(object,),
            persistent=is_permanent(where.module),
        )
        with LOCK:
            old = getattr(table, self.slot)
            if old and (old.module, old.name) != (new.module, new.name):
                raise RuleClashError(old, new)
            setattr(table, self.slot, new)
            table.forget_shortcuts()

    def __reduce__(self) -> str:
        return self.kind

    def __repr__(self) -> str:
        return f"rules_core.{self.kind}"


@final
class _ShapeRule(_SideRule):
    """Shapes and dtypes of results from those of arguments; needed for compilation.

    The rule `rule(*args, **kw)` receives a `ShapeDtype` instead of each array and other
    values unchanged, and returns a pytree of `ShapeDtype`.

    >>> import numpy as np
    >>> from rules_core import ShapeDtype, primitive, shape_rule
    >>> @primitive(host=True)
    ... def gram(A):
    ...     return np.asarray(A).T @ A
    >>> @shape_rule.define(gram)
    ... def gram_shape(A):
    ...     return ShapeDtype((A.shape[1], A.shape[1]), A.dtype)
    >>> gram.shape_rule(ShapeDtype((5, 2), np.dtype("float64"))).shape
    (2, 2)
    """

    kind = "shape_rule"
    slot = "shapes"


@final
class _BatchRule(_SideRule):
    """A host function on a whole batch, for `vmap`.

    The rule `rule(axis_size, in_batched, *args, **kw)` receives NumPy arrays with the
    batch axis first if `in_batched` is true, and returns `(out, out_batched)`. It may
    return `NotImplemented`; the function is then called once per example.

    >>> import numpy as np
    >>> from rules_core import batch_rule, primitive
    >>> @primitive(host=True)
    ... def total(x):
    ...     return np.sum(x)
    >>> @batch_rule.define(total)
    ... def total_batch(axis_size, in_batched, x):
    ...     return np.sum(x, axis=tuple(range(1, x.ndim))), True
    >>> total.batch_rule(2, (True,), np.ones((2, 3)))[0].tolist()
    [3.0, 3.0]
    """

    kind = "batch_rule"
    slot = "batches"


shape_rule = _ShapeRule()
batch_rule = _BatchRule()


def _with_defaults(function: Callable[..., Any], table: Table) -> Callable[..., Any]:
    """The rule, with the function's defaults for the keywords that it declares."""
    names = parameter_names(function) & keyword_names(table.key)
    if not names:
        return function

    @wraps(function)
    def filled(*args: Any, **kw: Any) -> Any:
        defaults = table.binder.keyword_defaults.items()
        own = {name: x for name, x in defaults if name in names}
        return function(*args, **{**own, **kw})

    return filled


def result_dtype(dtypes: list[Any]) -> Any:
    """The widest floating dtype; double for integers alone."""
    import numpy as np

    floating = [d for d in dtypes if d.kind not in "biu"]
    try:
        return np.result_type(*floating) if floating else np.dtype(np.float64)
    except TypeError:  # float16 and bfloat16
        names = " and ".join(dict.fromkeys(str(dtype) for dtype in floating))
        message = (
            "an elementwise host function must be given arrays of which NumPy knows "
            f"the common dtype, but got {names}. Convert one of them before the call."
        )
        raise UnsupportedError(message) from None


def numpy_dtype(dtype: Any) -> Any:
    """A dtype of NumPy; frameworks name theirs like it, after their own name."""
    import numpy as np

    text = str(dtype)
    root, _, name = text.partition(".")
    return np.dtype(name if root.isidentifier() and name else dtype)


def broadcast(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape to which shapes broadcast."""
    import numpy as np

    return np.broadcast_shapes(*shapes)


def elementwise_shape_rule(fun: Callable[..., Any]) -> Callable[..., Any]:
    """Shapes broadcast; the widest floating argument decides the dtype."""
    is_ufunc = is_plain_ufunc(fun)

    def elementwise_shapes(*args: Any, **kw: Any) -> Any:
        import numpy as np

        if is_ufunc:
            _check_ufunc_call(fun, args, kw)
        arrays = [a for a in args if isinstance(a, ShapeDtype)]
        shape = np.broadcast_shapes(*(a.shape for a in arrays))
        numbers = {type(a) for a in args if isinstance(a, (float, complex))}
        dtypes = [np.dtype(a.dtype) for a in arrays] or [np.dtype(t) for t in numbers]
        if complex in numbers:
            dtypes.append(np.dtype(np.complex64))
        out = ShapeDtype(shape, result_dtype(dtypes))
        count = getattr(fun, "nout", 1)
        return out if count == 1 else (out,) * count

    return elementwise_shapes


def is_plain_ufunc(fun: Any) -> bool:
    """Whether a function is a NumPy ufunc that maps broadcast elements one by one."""
    return type(fun).__name__ == "ufunc" and fun.signature is None


def ufunc_shape_rule(fun: Any) -> Callable[..., Any]:
    """Shapes broadcast; the ufunc knows the dtypes of its results."""

    def ufunc_shapes(*args: Any, **kw: Any) -> Any:
        import numpy as np

        _check_ufunc_call(fun, args, kw)
        shape = np.broadcast_shapes(*(getattr(a, "shape", ()) for a in args))
        weak = (int, float, complex)
        kinds = [getattr(a, "dtype", type(a)) for a in args]
        kinds = [np.dtype(bool) if kind is bool else kind for kind in kinds]
        if all(kind in weak for kind in kinds):
            kinds = list(map(np.dtype, kinds))
        dtypes = fun.resolve_dtypes((*kinds, *(None,) * fun.nout))[fun.nin :]
        outs = tuple(ShapeDtype(shape, dtype) for dtype in dtypes)
        return outs[0] if fun.nout == 1 else outs

    return ufunc_shapes


def _check_ufunc_call(fun: Any, args: Sequence[Any], kw: Any) -> None:
    """Raise an error for options, and for other arguments than the ufunc's."""
    if kw.keys() - {"out"}:  # of which the rules say more
        message = (
            f"{describe(fun)} has no shape rule for calls with {', '.join(kw)}. "
            "Call it without, or define a shape_rule."
        )
        raise UnsupportedError(message)
    if len(args) != fun.nin:
        message = f"{describe(fun)} takes {fun.nin} arrays, but got {len(args)}."
        raise UnsupportedError(message)


def elementwise_batch_rule(fun: Callable[..., Any]) -> Callable[..., Any]:
    """One call for the whole batch; ranks are aligned behind the batch axis."""

    def elementwise_batch(
        axis_size: int, in_batched: tuple[bool, ...], *args: Any, **kw: Any
    ) -> tuple[Any, Any]:
        pairs = list(zip(args, in_batched, strict=True))
        rank = max((_rank(a) - batched for a, batched in pairs), default=0)
        out = fun(*(_align(a, rank) if batched else a for a, batched in pairs), **kw)
        count = getattr(fun, "nout", 1)
        return out, True if count == 1 else (True,) * count

    elementwise_batch.__qualname__ = f"elementwise_batch[{describe(fun)}]"
    return elementwise_batch


def vectorized_batch_rule(fun: Callable[..., Any]) -> Callable[..., Any]:
    """One call for the whole batch: the batch axis is one more leading axis."""

    def vectorized_batch(
        axis_size: int, in_batched: tuple[bool, ...], *args: Any, **kw: Any
    ) -> tuple[Any, Any]:
        return fun(*args, **kw), True

    vectorized_batch.__qualname__ = f"vectorized_batch[{describe(fun)}]"
    return vectorized_batch


def _rank(a: Any) -> int:
    return a.ndim if is_array(a) else 0


def _align(a: Any, rank: int) -> Any:
    size, *rest = a.shape
    return a.reshape((size, *(1,) * (rank - len(rest)), *rest))
