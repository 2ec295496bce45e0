"""Projections onto tangent spaces, and the normal forms of authors' tangents."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, final

from rules_core._base.errors import ProjectionError

from .base import AbstractTangent
from .canonical import canonical, zero_tangent
from .containers import (
    StructuralTangent,
    backing,
    is_mutable,
    keyed,
    like,
    primal_type,
)
from .leaf_spaces import has_own_form, space_of
from .leaves import is_number, is_same_kind
from .structure import Structure, entry_path, structure
from .thunks import AbstractThunk, InplaceableThunk, Thunk, unthunk
from .zeros import AbstractZero, NoTangent, NotImplementedTangent, ZeroTangent

__all__ = [
    "ProjectTo",
    "entries_given",
    "entries_of",
    "missing_entry",
    "named_entries",
    "materialise",
    "normalise",
]


_NO_NUMBERS = (AbstractTangent, type(None))


@final
class ProjectTo:
    """The projection onto the tangent space of a primal: `dx ↦ P(dx)`, with `P² = P`.

    Numbers: a complex tangent of a real primal loses its imaginary part, the dtype
    becomes the primal's. Shapes: broadcast axes are summed, axes of length one are
    added or dropped. Containers: plain tuples, lists, dicts and instances become the
    `Tangent` of the primal's class; a sparse matrix keeps its pattern. Zeros and
    `NotImplementedTangent` pass; a thunk stays a thunk.

    Your own tangent class defines `__as_tangent__()`, which returns the number, array
    or container that it represents; this value is projected.

    It copies shapes and dtypes from the primal and does not keep it alive, so a
    pullback may capture it.

    Args:
        primal: The argument whose tangents are to be projected.
        path: Its name in errors.

    >>> import numpy as np
    >>> from rules_core import ProjectTo
    >>> ProjectTo(1.0)(2.0 + 3.0j)
    2.0
    >>> ProjectTo(np.ones((1, 4)))(np.ones((3, 4)))
    array([[3., 3., 3., 3.]])
    >>> ProjectTo((1.0, 2))((3, None))
    Tangent(tuple, 3.0, NoTangent())
    """

    __slots__ = ("path", "space")

    def __init__(self, primal: Any, path: str = "x") -> None:
        self.path = path
        number = is_number(primal)
        self.space = space_of(primal) if number else canonical(primal, space_of)

    def __call__(self, dx: Any) -> Any:
        """Project one tangent.

        Raises:
            ProjectionError: `dx` has the shape or structure of another space.
        """
        space, path = self.space, self.path
        if isinstance(space, AbstractTangent) or isinstance(dx, _NO_NUMBERS):
            return _Projection().fit(space, dx, path)
        return space.project(dx, path)

    def __repr__(self) -> str:
        return f"ProjectTo({self.space!r})"


def normalise(
    primals: Sequence[Any], cotangents: Any, names: Sequence[str] | None = None
) -> tuple[Any, ...]:
    """Project the tangents that a rule returned onto their primals.

    Authors may return zeros, None, Python numbers, plain containers and thunks; an AD
    system calls this once, at its boundary. Zeros, `NoTangent` and
    `NotImplementedTangent` stay, thunks stay lazy.

    Args:
        primals: One per cotangent.
        cotangents: The tuple that a pullback returned.
        names: Names of the primals in errors; `primals[0]` and so on by default.

    Raises:
        ProjectionError: The count, a structure or a shape is wrong.

    >>> from rules_core import normalise
    >>> normalise((abs, 1.5, [1.0, 2.0]), (None, 2, [1j, 3]))
    (NoTangent(), 2.0, Tangent(list, 0.0, 3.0))
    """
    if not isinstance(cotangents, tuple) or len(cotangents) != len(primals):
        raise _count_error(len(primals), cotangents)
    paths = names or [f"primals[{i}]" for i in range(len(primals))]
    triples = zip(primals, cotangents, paths, strict=True)
    return tuple(_normalised(x, dx, path) for x, dx, path in triples)


def _count_error(expected: int, cotangents: Any) -> ProjectionError:
    must = f"be a tuple of {expected}, one per primal"
    got = f"a {type(cotangents).__name__}"
    if isinstance(cotangents, tuple):
        got = f"a tuple of {len(cotangents)}"
    return ProjectionError("", must, got, "Return NoTangent() for what has no tangent.")


def _normalised(x: Any, dx: Any, path: str) -> Any:
    if isinstance(dx, AbstractZero) or (is_number(x) and is_same_kind(x, dx)):
        return dx  # the common cases need no space
    return ProjectTo(x, path)(dx)


def materialise(primal: Any, tangent: Any, path: str = "x") -> Any:
    """The canonical tangent of `primal`, concrete, as pullbacks and frules receive it.

    Thunks are computed, zeros become arrays (or numbers) like the primal, and the
    result is `NoTangent()` exactly if the primal has no tangent. A
    `NotImplementedTangent` stays.

    Raises:
        ProjectionError: `tangent` has the shape or structure of another space.

    >>> from rules_core import ZeroTangent, materialise
    >>> materialise((1.5, 2, 3j), ZeroTangent())
    Tangent(tuple, 0.0, NoTangent(), 0j)
    """
    if is_number(primal):
        if is_same_kind(primal, tangent):
            return tangent
        return _Filling().fit(primal, tangent, path)
    return _Filling().fit(canonical(primal, lambda x: x), tangent, path)


class _Fit:
    """A walk through a tangent along the tree of its primal."""

    def __init__(self) -> None:
        self.met: dict[tuple[int, int], Any] = {}

    def number(self, tree: Any, dx: Any, path: str) -> Any:
        raise NotImplementedError

    def zero(self, tree: Any, dx: Any) -> Any:
        raise NotImplementedError

    def lazy(self, tree: Any, dx: AbstractThunk, path: str) -> Any:
        raise NotImplementedError

    def fit(self, tree: Any, dx: Any, path: str) -> Any:
        if isinstance(dx, AbstractThunk):
            return self.lazy(tree, dx, path)
        if dx is None or isinstance(dx, AbstractZero):
            return self.zero(tree, dx)
        if isinstance(dx, NotImplementedTangent):
            return dx
        if isinstance(tree, AbstractZero):  # the primal has no tangent, or is a zero
            return tree
        if isinstance(tree, StructuralTangent):
            return self.container(tree, dx, path)
        return self.number(tree, dx, path)

    def container(self, tree: StructuralTangent, dx: Any, path: str) -> Any:
        if (earlier := self.met.get((id(tree), id(dx)))) is not None:
            return earlier
        entries = entries_given(tree, dx, path)
        result = like(tree, {})
        if is_mutable(tree):
            self.met[id(tree), id(dx)] = result
        return self.filled(tree, entries, result, path)

    def filled(
        self,
        tree: StructuralTangent,
        given: dict[Any, Any],
        result: StructuralTangent,
        path: str,
    ) -> Any:
        for name, subtree in backing(tree).items():
            inner = entry_path(path, keyed(tree), name)
            entry = self.fit(subtree, given.get(name), inner)  # absent: zero
            backing(result)[name] = entry
        return result


class _Projection(_Fit):
    """Zeros stay, thunks stay lazy; numbers of the tree are spaces."""

    def number(self, tree: Any, dx: Any, path: str) -> Any:
        return tree.project(dx, path)

    def zero(self, tree: Any, dx: Any) -> Any:
        if dx is not None:
            return dx
        return tree if isinstance(tree, NoTangent) else ZeroTangent()

    def lazy(self, tree: Any, dx: AbstractThunk, path: str) -> Any:
        if isinstance(tree, NoTangent):
            return tree
        value = dx.value if isinstance(dx, InplaceableThunk) else dx
        return Thunk(lambda: _Projection().fit(tree, unthunk(value), path))

    def filled(
        self,
        tree: StructuralTangent,
        given: dict[Any, Any],
        result: StructuralTangent,
        path: str,
    ) -> Any:
        super().filled(tree, given, result, path)
        entries = backing(result).values()
        zero = all(isinstance(entry, AbstractZero) for entry in entries)
        return ZeroTangent() if zero and not is_mutable(result) else result


class _Filling(_Fit):
    """Zeros become numbers, thunks are forced; numbers of the tree are the primal's."""

    def __init__(self) -> None:
        super().__init__()
        self.latest: dict[int, Any] = {}

    def number(self, tree: Any, dx: Any, path: str) -> Any:
        return space_of(tree).project(dx, path)

    def zero(self, tree: Any, dx: Any) -> Any:
        if not isinstance(tree, StructuralTangent):
            return zero_tangent(tree)
        # A repeated instance is one instance, reached again without a tangent.
        earlier = self.latest.get(id(tree))
        return self.filled(tree, {}, like(tree, {}), "") if earlier is None else earlier

    def filled(
        self,
        tree: StructuralTangent,
        given: dict[Any, Any],
        result: StructuralTangent,
        path: str,
    ) -> Any:
        if is_mutable(tree):
            self.latest[id(tree)] = result
        return super().filled(tree, given, result, path)

    def lazy(self, tree: Any, dx: AbstractThunk, path: str) -> Any:
        if isinstance(tree, NoTangent):
            return tree
        return self.fit(tree, unthunk(dx), path)


def entries_given(tree: StructuralTangent, dx: Any, path: str) -> dict[Any, Any]:
    """The entries of a container's tangent in an author's form, by the primal's names.

    `dx` may be a tangent, an instance of the primal's class, a plain container, or
    positional for a primal with fields. Missing entries are absent.

    Args:
        tree: A tangent of the primal's class with all of its entries.
        dx: The author's tangent.
        path: Its name in errors.

    Raises:
        ProjectionError: `dx` is not a container, or has other entries.

    >>> from rules_core import Tangent
    >>> from rules_core.extend import entries_given
    >>> entries_given(Tangent(tuple, 0.0, 0.0), [1.0, 2.0], "x")
    {0: 1.0, 1: 2.0}
    """
    return named_entries(keyed(tree), primal_type(tree), backing(tree), dx, path)


def entries_of(level: Structure, dx: Any, path: str) -> dict[Any, Any]:
    """Entries of a tangent for one level of the primal.

    >>> from rules_core import structure
    >>> from rules_core.extend import entries_of
    >>> entries_of(structure({"w": 1.0, "b": 2.0}), {"b": 0.5}, "p")
    {'b': 0.5}
    """
    return named_entries(level.keyed, level.primal, level.names, dx, path)


def named_entries(
    kind: str, primal: Any, names: Collection[Any], dx: Any, path: str
) -> dict[Any, Any]:
    """The entries that an author gave, by what is known of the primal's container."""
    items = _read(kind, primal, names, dx, path)
    unknown = [name for name in items if name not in names]
    if unknown or (kind == "position" and len(items) != len(names)):
        raise _wrong_entries(primal, names, items, path)
    return items


def missing_entry(path: str) -> ProjectionError:
    """The error for a plain container that leaves out an entry with a tangent."""
    must = "be in the container that the rule returned"
    cure = "Return ZeroTangent() for it if it is zero."
    return ProjectionError(path, must, "none", cure)


def _wrong_entries(primal: Any, names: Any, items: Any, path: str) -> ProjectionError:
    must = f"have the entries {_listed(names)} of a {primal.__qualname__}"
    cure = "Return one entry for each."
    return ProjectionError(path, must, _listed(items), cure)


def _read(
    kind: str, primal: Any, names: Collection[Any], dx: Any, path: str
) -> dict[Any, Any]:
    if isinstance(dx, StructuralTangent):
        items = backing(dx)
        if kind == "field" and keyed(dx) == "position":
            return _renamed(primal, names, items, path)
        if kind == "position" and keyed(dx) == "field" and primal_type(dx) is primal:
            return dict(enumerate(items.values()))
        return items
    if has_own_form(dx):
        return _read(kind, primal, names, dx.__as_tangent__(), path)
    if type(dx) is primal and (level := structure(dx)) is not None:
        return dict(zip(level.names, level.values, strict=True))
    if kind != "position" and isinstance(dx, Mapping):
        return dict(dx)
    if kind != "key" and isinstance(dx, (tuple, list)):
        items = dict(enumerate(dx))
        return items if kind == "position" else _renamed(primal, names, items, path)
    title = primal.__qualname__
    must = f"have the structure of a {title} with {_listed(names)}"
    cure = f"Return Tangent({title}, …), or ZeroTangent()."
    raise ProjectionError(path, must, f"a {type(dx).__name__}", cure)


def _renamed(
    primal: Any, names: Collection[Any], items: dict[Any, Any], path: str
) -> dict[Any, Any]:
    """Positional entries under the names of the fields."""
    if len(names) != len(items):
        raise _wrong_entries(primal, names, items, path)
    return dict(zip(names, items.values(), strict=True))


def _listed(names: Any) -> str:
    return f"[{', '.join(map(str, names))}]"
