"""Structure of one container: its kind, its entries, and its reconstruction.

`structure(x)` alone decides what a container is. All other code (zero tangents,
projections, sums of primals and tangents) walks its results.
"""

from __future__ import annotations

import sys
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import partial
from types import (
    BuiltinMethodType,
    CellType,
    FunctionType,
    MappingProxyType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any, final

from rules_core._base.arrays import is_array_type
from rules_core._base.errors import UnsupportedError
from rules_core._base.opaque_modules import COMPILERS

from .pullback import Pullback
from .sparse import is_sparse

# The optree namespace of classes registered as containers of tangents; globally
# registered classes are containers too.
NAMESPACE = "rules_core"

__all__ = [
    "NAMESPACE",
    "Structure",
    "entry_path",
    "field_names",
    "slots_of",
    "structure",
]


@final
class Structure:
    """One container, without the containers inside it.

    Attributes:
        primal: The class of the container, the `P` of `Tangent(P, …)`.
        names: Positions, keys or field names, one per entry.
        values: The entries.
        keyed: `"position"` (tuple, list), `"key"` (dict) or `"field"` (classes).
        mutable: Whether fields of the container may be assigned (instances of mutable
            classes), so that its tangent is a `MutableTangent`.

    Your own class may define `__tangent_structure__`, which returns its structure or
    None:

    >>> from rules_core import Structure, has_tangent, zero_tangent
    >>> class Angle:
    ...     def __init__(self, degrees):
    ...         self.degrees = degrees
    ...
    ...     def __tangent_structure__(self):
    ...         def build(values):
    ...             return Angle(*values)
    ...
    ...         return Structure(Angle, "field", ["degrees"], [self.degrees], build)
    >>> zero_tangent(Angle(30.0))
    Tangent(Angle, degrees=0.0)
    """

    __slots__ = ("_build", "_shell", "keyed", "mutable", "names", "primal", "values")

    def __init__(
        self,
        primal: Any,
        keyed: str,
        names: Iterable[Hashable],
        values: Iterable[Any],
        build: Callable[..., Any],
        shell: Callable[[], Any] | None = None,
    ) -> None:
        self.primal, self.keyed = primal, keyed
        self.names, self.values = tuple(names), tuple(values)
        self.mutable = shell is not None
        self._build, self._shell = build, shell

    def rebuild(self, values: Sequence[Any]) -> Any:
        """A container of this structure with other entries.

        Instances are copied and their fields set, so that a class need not accept its
        own fields; tuples and registered classes are constructed.
        """
        if self._shell is None:
            return self._build(values)
        return self.fill(self.shell(), values)

    def shell(self) -> Any:
        """A copy of a mutable instance, for `fill` to complete: for cycles."""
        return None if self._shell is None else self._shell()

    def fill(self, shell: Any, values: Sequence[Any]) -> Any:
        """Set the entries of a copy made by `shell`, and return it."""
        self._build(shell, values)
        return shell

    def paths(self, path: str) -> Iterator[str]:
        """The entries as Python expressions, in order."""
        for name in self.names:
            yield entry_path(path, self.keyed, name)


def entry_path(path: str, keyed: str, name: object) -> str:
    """One entry as a Python expression: `x[0]`, `x['w']`, `x.scale`."""
    return f"{path}.{name}" if keyed == "field" else f"{path}[{name!r}]"


def structure(x: Any) -> Structure | None:
    """The structure of `x`; None if `x` is a leaf (arrays, numbers, opaque objects).

    Containers are tuples, lists, dicts, named tuples, dataclasses, classes registered
    with optree (globally or under the namespace `"rules_core"`), functions that close
    over variables, bound methods, `functools.partial`, pullbacks and tangents, and all
    other instances of Python classes, those of `collections` included. Other objects of
    the standard library, enumerations, exceptions, classes and modules are leaves.

    >>> from rules_core import structure
    >>> level = structure({"w": 1.0, "b": 2.0})
    >>> level.names, level.values, level.rebuild([3.0, 4.0])
    (('w', 'b'), (1.0, 2.0), {'w': 3.0, 'b': 4.0})
    """
    cls = type(x)
    if cls in _ATOMS or is_array_type(cls):
        return None
    if cls is FunctionType:  # for speed: every call of a rule
        return _from_function(x)
    for base, describe in _BY_BASE:
        if isinstance(x, base):
            return describe(x)
    hook = getattr(cls, "__tangent_structure__", None)
    if hook is not None:
        described = hook(x)
        if not isinstance(described, Structure | None):
            message = (
                f"__tangent_structure__ of {cls.__qualname__} must return a Structure "
                f"or None, but got {described!r}."
            )
            raise UnsupportedError(message)
        return described
    if (entry := _registered(cls)) is not None:
        return _from_optree(x, entry)
    if hasattr(cls, "__dataclass_fields__"):
        return _from_dataclass(x)
    if is_sparse(x):
        return _from_sparse(x)
    return None if _opaque(x) else _from_instance(x)


def field_names(primal: Any) -> tuple[str, ...] | None:
    """The fields that every instance of a class has; None if unknown."""
    if hasattr(primal, "_fields") and issubclass(primal, tuple):
        return tuple(primal._fields)
    if primal is partial:
        return _PARTIAL
    if hasattr(primal, "__dataclass_fields__"):
        return _dataclass_fields(primal)
    return None


_ATOMS = frozenset({
    bool, int, float, complex, str, bytes, bytearray, type(None), type, range, slice,
    set, frozenset, type(Ellipsis), type(NotImplemented), memoryview, object,
})  # fmt: skip


_PARTIAL = ("func", "args", "keywords")


def _from_tuple(x: Any) -> Structure:
    cls = type(x)
    if hasattr(cls, "_fields"):
        make = cls._make if hasattr(cls, "_make") else _like_tuple(x)
        return Structure(cls, "field", cls._fields, tuple.__iter__(x), make)
    entries = x if cls is tuple else tuple(tuple.__iter__(x))
    return Structure(cls, "position", range(len(entries)), entries, cls)


def _like_tuple(x: Any) -> Any:
    """Makes results of `scipy.stats`, whose classes have fields but no `_make`."""

    def build(values: Sequence[Any]) -> Any:
        result = tuple.__new__(type(x), values)
        vars(result).update(vars(x))
        return result

    return build


def _from_list(x: Any) -> Structure:
    def build(values: Sequence[Any]) -> Any:
        if type(x) is list:
            return list(values)
        result = _copy(x)
        list.__setitem__(result, slice(None), values)
        return result

    entries = x if type(x) is list else list(list.__iter__(x))
    return Structure(type(x), "position", range(len(entries)), entries, build)


# A user's class may redefine its access: use the methods of the base classes.
_DICTS: tuple[Any, ...] = (OrderedDict, dict, MappingProxyType)


def _from_dict(x: Any) -> Structure:
    def build(values: Sequence[Any]) -> Any:
        entries = dict(zip(keys, values, strict=True))
        if type(x) is dict:
            return entries
        if isinstance(x, MappingProxyType):
            return MappingProxyType(entries)
        result = _copy(x)
        dict.update(result, entries)  # its own may add, as Counter's does
        return result

    base = next(base for base in _DICTS if isinstance(x, base))
    keys = base.keys(x)
    return Structure(type(x), "key", keys, base.values(x), build)


def _from_deque(x: Any) -> Structure:
    def build(values: Sequence[Any]) -> Any:
        return type(x)(values, x.maxlen)

    return Structure(type(x), "position", range(len(x)), x, build)


def _from_partial(x: Any) -> Structure:
    def build(values: Sequence[Any]) -> Any:
        func, args, keywords = values
        return type(x)(func, *args, **keywords)

    return Structure(type(x), "field", _PARTIAL, (x.func, x.args, x.keywords), build)


def _from_function(x: FunctionType) -> Structure | None:
    if x.__closure__ is None:
        return None
    cells = [
        (name, cell.cell_contents)
        for name, cell in zip(x.__code__.co_freevars, x.__closure__, strict=True)
        if _is_filled(cell)
    ]
    if not cells:
        return None
    names, values = zip(*cells, strict=True)

    def build(values: Sequence[Any]) -> FunctionType:
        return _with_cells(x, dict(zip(names, values, strict=True)))

    return Structure(FunctionType, "field", names, values, build)


def _is_filled(cell: CellType) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True


def _with_cells(f: FunctionType, contents: dict[str, Any]) -> FunctionType:
    cells = tuple(
        CellType(contents[name]) if name in contents else CellType()
        for name in f.__code__.co_freevars
    )
    result = FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, cells)
    result.__kwdefaults__ = f.__kwdefaults__
    result.__qualname__ = f.__qualname__
    result.__dict__.update(f.__dict__)
    return result


def _from_method(x: Any) -> Structure:
    def build(values: Sequence[Any]) -> Any:
        return MethodType(x.__func__, values[0])

    return Structure(type(x), "field", ("__self__",), (x.__self__,), build)


def _from_builtin(x: Any) -> Structure | None:
    owner = x.__self__
    if owner is None or isinstance(owner, (ModuleType, type)):
        return None

    def build(values: Sequence[Any]) -> Any:
        return getattr(values[0], x.__name__)

    return Structure(type(x), "field", ("__self__",), (owner,), build)


def _from_pullback(x: Pullback) -> Structure:
    def build(values: Sequence[Any]) -> Pullback:
        return Pullback(x.fn, *values)

    residuals = x.residuals
    return Structure(Pullback, "position", range(len(residuals)), residuals, build)


def _leaf(_x: Any) -> None:
    return None


def _from_instance(x: Any) -> Structure | None:
    names = tuple(_attributes(x))
    if not names:
        return None
    values = [getattr(x, name) for name in names]
    return Structure(type(x), "field", names, values, _filler(names), lambda: _shell(x))


def _from_sparse(x: Any) -> Structure | None:
    """The stored numbers of a sparse matrix; None for formats of Python lists."""
    data: Any = getattr(x, "data", None)
    if not is_array_type(type(data)) or data.dtype.kind not in "fc":
        return None
    names = ("data",)
    return Structure(
        type(x), "field", names, (data,), _filler(names), lambda: _shell(x)
    )


_BY_BASE: tuple[tuple[Any, Callable[[Any], Structure | None]], ...] = (
    (tuple, _from_tuple),
    (list, _from_list),
    ((dict, MappingProxyType), _from_dict),
    (MethodType, _from_method),
    ((BuiltinMethodType, MethodWrapperType), _from_builtin),
    (SimpleNamespace, _from_instance),
    (deque, _from_deque),
    (partial, _from_partial),
    (Pullback, _from_pullback),
    (
        (type, ModuleType, BaseException, str, bytes, int, float, complex, frozenset),
        _leaf,
    ),
)


def _registered(cls: type) -> Any:
    """The entry of a class in optree's registry, if optree is imported."""
    optree = sys.modules.get("optree")
    if optree is None:
        return None
    return optree.register_pytree_node.get(cls, namespace=NAMESPACE)


def _from_optree(x: Any, entry: Any) -> Structure:
    children, metadata, *more = entry.flatten_func(x)
    children = tuple(children)
    names = tuple(more[0]) if more and more[0] is not None else ()

    def build(values: Sequence[Any]) -> Any:
        return entry.unflatten_func(metadata, tuple(values))

    if names and all(isinstance(name, str) for name in names):
        return Structure(type(x), "field", names, children, build)
    return Structure(type(x), "position", range(len(children)), children, build)


def _dataclass_fields(cls: Any) -> tuple[str, ...]:
    from dataclasses import fields

    return tuple(field.name for field in fields(cls))


def _from_dataclass(x: Any) -> Structure:
    cls = type(x)
    names = [name for name in _dataclass_fields(cls) if hasattr(x, name)]
    values = [getattr(x, name) for name in names]
    if cls.__dataclass_params__.frozen:
        return Structure(cls, "field", names, values, _setter(names, lambda: _shell(x)))
    return Structure(cls, "field", names, values, _filler(names), lambda: _shell(x))


def _setter(names: Sequence[str], shell: Callable[[], Any]) -> Callable[..., Any]:
    fill = _filler(names)

    def build(values: Sequence[Any]) -> Any:
        result = shell()
        fill(result, values)
        return result

    return build


def _filler(names: Sequence[str]) -> Callable[..., None]:
    def fill(result: Any, values: Sequence[Any]) -> None:
        for name, value in zip(names, values, strict=True):
            object.__setattr__(result, name, value)  # frozen classes reject setattr

    return fill


def _opaque(x: Any) -> bool:
    """Whether an instance is never a container of numbers."""
    root = type(x).__module__.partition(".")[0]
    standard = root in sys.stdlib_module_names and root != "collections"
    # A function that numba has compiled leads to all that numba knows, and what its
    # lists and dicts hold is out of reach.
    return standard or root in COMPILERS or _is_enumeration(x)


def _is_enumeration(x: Any) -> bool:
    enum = sys.modules.get("enum")
    return enum is not None and isinstance(x, enum.Enum)


def _attributes(x: Any) -> Iterator[str]:
    for cls in reversed(type(x).__mro__):
        for slot in slots_of(cls):
            if hasattr(x, slot):
                yield slot
    attributes = getattr(x, "__dict__", None)
    if not isinstance(attributes, dict):  # a class may answer every name
        return
    for name in attributes:
        if not name.startswith("__"):  # not metadata, as of functions
            yield name


def slots_of(cls: type) -> Iterator[str]:
    """The attributes that a class declares in `__slots__`."""
    slots = cls.__dict__.get("__slots__", ())
    for slot in (slots,) if isinstance(slots, str) else slots:
        if slot in ("__dict__", "__weakref__"):
            continue
        private = slot.startswith("__") and not slot.endswith("__")
        yield f"_{cls.__name__.lstrip('_')}{slot}" if private else slot


def _copy(x: Any) -> Any:
    from copy import copy

    return copy(x)


def _shell(x: Any) -> Any:
    """An instance with equal attributes; a `__copy__` of its class may do more."""
    cls: Any = type(x)
    if not hasattr(cls, "__copy__") or cls.__new__ is not object.__new__:
        return _copy(x)
    made = object.__new__(cls)
    names = tuple(_attributes(x))
    _filler(names)(made, [getattr(x, name) for name in names])
    return made
