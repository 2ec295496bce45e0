"""Arguments as flat lists: which leaves JAX computes with, and what stays static.

A `Template` is everything about a call except its arrays: the containers, the static
values and where the arrays go. It is hashable, so that two calls of the same form
share what was traced for the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np
from jax import tree_util
from jax.dtypes import canonicalize_dtype

from rules_jax import _compat

from .static_keys import static_key, structure_key

__all__ = [
    "Template",
    "all_weak",
    "by_types",
    "expand",
    "has_tangent",
    "instantiate",
    "is_dynamic",
    "is_traced",
    "settle",
    "split",
]


def is_traced(x: Any) -> bool:
    """Whether `x` stands for a value that is not known yet."""
    return isinstance(x, jax.core.Tracer)


def has_tangent(aval: Any) -> bool:
    """Whether values of this type have derivatives: floating and complex arrays."""
    return bool(jnp.issubdtype(aval.dtype, jnp.inexact))


def is_dynamic(leaf: Any) -> bool:
    """Whether JAX computes with this leaf.

    JAX's and NumPy's arrays and NumPy's floating scalars are; Python numbers are
    constants of the call (a traced number is a tracer already), as are NumPy's integer
    scalars, which are used as axes and lengths.
    """
    if isinstance(leaf, jax.Array):
        return True
    if isinstance(leaf, np.ndarray):
        return leaf.dtype.kind not in "OSUMmV" or jnp.issubdtype(leaf.dtype, np.number)
    return isinstance(leaf, np.inexact)


def by_types(
    known: dict[Any, Any], leaves: Sequence[Any], infer: Callable[..., Any]
) -> Any:
    """`infer(leaves)`, remembered in `known` for arguments of the same types."""
    key = (tuple(map(jax.typeof, leaves)), _compat.trace_key())
    found = known.get(key)
    if found is None:
        if len(known) >= 64:
            known.clear()
        found = known[key] = infer(leaves)
    return found


@final
class Slot:
    """Place of one array in a template."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index

    def __repr__(self) -> str:
        return "array"


@final
class Fixed:
    """A static value in a template."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return repr(self.value)


@final
class Template:
    """Containers and static values of a call, with numbered places for its arrays.

    Attributes:
        count: Number of arrays.
        layout: The tree as rules_core knows it, once it was asked for.
    """

    __slots__ = ("_hash", "_is_data", "_key", "count", "layout", "leaves", "treedef")

    def __init__(self, treedef: Any, leaves: Sequence[Slot | Fixed]) -> None:
        self.treedef, self.leaves = treedef, tuple(leaves)
        self.layout: Any = None
        self.count = sum(isinstance(x, Slot) for x in self.leaves)
        self._key = (
            treedef,
            structure_key(treedef),
            tuple(None if isinstance(x, Slot) else static_key(x.value) for x in leaves),
        )
        self._hash = hash(self._key)
        self._is_data: bool | None = None

    def fill(self, arrays: Sequence[Any]) -> Any:
        """The tree with these arrays in their places."""
        return self.treedef.unflatten(
            arrays[x.index] if isinstance(x, Slot) else x.value for x in self.leaves
        )

    def of_arrays(self, leaves: Sequence[Any]) -> list[Any]:
        """Of values at the leaves of the tree, those at the places of its arrays."""
        pairs = zip(leaves, self.leaves, strict=True)
        return [value for value, place in pairs if isinstance(place, Slot)]

    def skeleton(self) -> Any:
        """The tree with `Slot` and `Fixed` for leaves, to walk beside a tangent."""
        return self.treedef.unflatten(self.leaves)

    def is_data(self) -> bool:
        """Whether it is made of arrays, numbers and texts, in plain containers."""
        if self._is_data is None:
            slots = (isinstance(x, Slot) or type(x.value) in _DATA for x in self.leaves)
            self._is_data = all(slots) and _is_plain(self.treedef)
        return self._is_data

    def single(self) -> bool:
        """Whether the whole tree is one array."""
        return self.count == 1 and tree_util.treedef_is_leaf(self.treedef)

    def is_constant(self) -> bool:
        """Whether the whole tree is one static value."""
        return self.count == 0 and tree_util.treedef_is_leaf(self.treedef)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Template) and self._key == other._key

    def __repr__(self) -> str:
        return f"Template({self.skeleton()!r})"


_DATA = frozenset({bool, int, float, complex, str, bytes, type(None), type(Ellipsis)})


def _is_plain(treedef: Any) -> bool:
    node = treedef.node_data()
    if node is not None and node[0] not in (tuple, list, dict, type(None)):
        return False
    return all(map(_is_plain, treedef.children()))


def split(tree: Any) -> tuple[list[Any], Template]:
    """Arrays of a tree, NumPy's as JAX's, and the template of the rest.

    A `Fixed` leaf of the given tree stays static whatever it holds.
    """
    leaves, treedef = tree_util.tree_flatten(tree)
    arrays: list[Any] = []
    places: list[Slot | Fixed] = []
    for leaf in leaves:
        if is_dynamic(leaf):
            places.append(Slot(len(arrays)))
            # In memory of its own: JAX shares that of NumPy's arrays, even in a trace.
            own = leaf if isinstance(leaf, jax.Array) else jnp.asarray(np.array(leaf))
            arrays.append(own)
        else:
            places.append(leaf if isinstance(leaf, Fixed) else Fixed(leaf))
    return arrays, Template(treedef, places)


def settle(fun: Any, arrays: list[Any]) -> list[Any]:
    """Weakly typed floats in the widest precision of the others.

    What JAX's arithmetic does with them, done before NumPy, which has no weak types,
    sees them. Weakly typed integers of a ufunc have the type that it gives to Python's.
    """
    if isinstance(fun, np.ufunc) and not fun.signature and len(arrays) == fun.nin:
        arrays = _settled_integers(fun, arrays)
    strong = [x.dtype for x in arrays if has_tangent(x) and not _is_weak(x)]
    if not strong:
        return arrays
    real = max((jnp.finfo(dtype) for dtype in strong), key=lambda info: info.bits).dtype
    return [_settled(x, real) if has_tangent(x) and _is_weak(x) else x for x in arrays]


def _settled_integers(ufunc: Any, arrays: list[Any]) -> list[Any]:
    weak = [x.dtype.kind == "i" and _is_weak(x) for x in arrays]
    if all(weak) or not any(weak):
        return arrays
    given = [int if w else x.dtype for x, w in zip(arrays, weak, strict=True)]
    try:
        dtypes = ufunc.resolve_dtypes((*given, *(None,) * ufunc.nout))
    except TypeError:  # it has no such loop, as other code says better
        return arrays
    return [
        x.astype(canonicalize_dtype(dtype)) if w else x
        for x, w, dtype in zip(arrays, weak, dtypes, strict=False)
    ]


def _is_weak(x: Any) -> bool:
    return bool(jax.typeof(x).weak_type)


def _settled(x: Any, real: Any) -> Any:
    dtype = jnp.promote_types(real, jnp.complex64) if jnp.iscomplexobj(x) else real
    return x.astype(dtype)


def all_weak(avals: Iterable[Any]) -> bool:
    """Whether there are floats among these types, and only weakly typed ones."""
    floats = [aval.weak_type for aval in avals if has_tangent(aval)]
    return bool(floats) and all(floats)


def instantiate(avals: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
    """Arrays for the outputs that have a tangent, zeros where there is none given."""
    return [
        _compat.zeros_of(_compat.cotangent_aval(aval)) if ct is None else ct
        for aval, ct in zip(avals, cotangents, strict=True)
        if has_tangent(aval)
    ]


def expand(avals: Sequence[Any], given: Sequence[Any]) -> list[Any]:
    """The reverse of `instantiate`: None for outputs that have no tangent."""
    rest = iter(given)
    return [next(rest) if has_tangent(aval) else None for aval in avals]
