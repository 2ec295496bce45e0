"""A small forward-mode AD without rules of its own, for second-order checks.

Whether a rule can be differentiated again depends on its body, so the tester must
differentiate the body. A `Dual` is an array with a tangent. An array function applied
to it that is linear in each of its arguments is evaluated at the tangents; any other is
differentiated by finite differences, one function at a time; a primitive uses its rule.
A value that the body detaches (a stopped gradient, a mask on `dy == 0`, a
cached array) has no tangent here, as in a framework, while the body as a whole still
has the correct value: the tester detects this difference.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, final

import numpy as np

from rules_core import Primitive, UnsupportedError, frule, rrule, structure
from rules_core._primitives.find_host import LOCAL

from ._differences import Vector, differentiate_along
from ._leaf import TINY, spans_of
from ._modes import Mode, Pull, Push
from ._space import Space
from ._subject import Subject
from ._tolerance import largest

__all__ = ["Dual", "LeavesArrayCode", "coordinates_of", "dual_point", "tangent_of"]


class LeavesArrayCode(TypeError):
    """A body turns an array into a value that no framework could differentiate."""


@final
class Dual:
    """An array and its tangent, of equal shape and dtype.

    Attributes:
        primal: A NumPy array with a floating dtype.
        tangent: Its tangent.
    """

    __slots__ = ("primal", "tangent")
    __array_priority__ = 1000

    def __init__(self, primal: Any, tangent: Any) -> None:
        self.primal, self.tangent = np.asarray(primal), np.asarray(tangent)

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return namespace

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kw: Any) -> Any:
        name = ufunc.__name__ if method == "__call__" else ""
        return apply(getattr(ufunc, method), args, kw, name)

    def __array_function__(self, f: Any, _types: Any, args: Any, kw: Any) -> Any:
        return apply(f, args, kw, f.__name__)

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        message = "an array is converted to NumPy"
        raise LeavesArrayCode(message)

    def _number(self) -> NoReturn:
        message = "an array is converted to a Python number"
        raise LeavesArrayCode(message)

    __float__ = __complex__ = __int__ = __index__ = _number
    item = tolist = _number

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        message = "an array is written to"
        raise LeavesArrayCode(message)

    def __bool__(self) -> bool:
        return bool(self.primal)

    def __hash__(self) -> int:
        return id(self)

    def __len__(self) -> int:
        return len(self.primal)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self.primal)))

    def __getitem__(self, key: Any) -> Any:
        return apply(lambda x: x[key], (self,), {}, "getitem")

    def __getattr__(self, name: str) -> Any:
        """Methods and views by their NumPy names."""
        if name.startswith("_"):
            raise AttributeError(name)
        value = getattr(self.primal, name)
        if callable(value):
            return lambda *args, **kw: apply(_method(name), (self, *args), kw, name)
        if isinstance(value, np.ndarray):
            return apply(lambda x: getattr(x, name), (self,), {}, name)
        return value

    def __repr__(self) -> str:
        return f"Dual({self.primal!r}, {self.tangent!r})"


def _method(name: str) -> Callable[..., Any]:
    return lambda x, *args, **kw: getattr(x, name)(*args, **kw)


_OPERATORS = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul",
)  # fmt: skip
_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")


def _operator(name: str) -> Callable[..., Any]:
    def run(*operands: Any) -> Any:
        return apply(_method(name), operands, {}, name)

    return run


for _name in _OPERATORS:
    setattr(Dual, f"__{_name}__", _operator(f"__{_name}__"))
    setattr(Dual, f"__r{_name}__", _operator(f"__r{_name}__"))
for _name in (*_COMPARISONS, "neg", "pos", "abs"):
    setattr(Dual, f"__{_name}__", _operator(f"__{_name}__"))


# Functions, methods, operators and attributes that are linear in all arguments at once;
# in the first alone; in each argument.
SUMS = {"add", "subtract", "__add__", "__radd__", "__sub__", "__rsub__"}
# Of `numpy.sum` before `initial`.
PLACES_OF_SUM = 5
QUOTIENTS = {"divide", "true_divide", "__truediv__"}
LINEAR = {
    "__matmul__", "__mul__", "__neg__", "__pos__", "__rmatmul__", "__rmul__",
    "broadcast_to", "conj", "conjugate", "cumsum", "cumulative_sum", "diagonal", "dot",
    "einsum", "expand_dims", "flatten", "flip", "getitem", "imag", "inner", "matmul",
    "matrix_transpose", "mean", "moveaxis", "mT", "multiply", "negative", "outer",
    "permute_dims", "positive", "ravel", "real", "repeat", "reshape", "roll", "squeeze",
    "sum", "swapaxes", "T", "take", "tensordot", "tile", "trace", "transpose", "tril",
    "triu", "vdot", "vecdot",
}  # fmt: skip
# Keywords that leave them linear: no `initial`, no `prepend`.
SHAPING = {"axis", "axes", "keepdims", "shape", "k", "offset", "optimize", "copy"}


class _Namespace:
    """NumPy's array-API namespace, its functions accepting duals."""

    def __init__(self, module: Any = None) -> None:
        self._module = module
        self.__name__ = __name__

    def __getattr__(self, name: str) -> Any:
        module = self._module
        if module is None:
            import array_api_compat.numpy as module
        value = getattr(module, name)
        if isinstance(value, types.ModuleType):
            return _Namespace(value)
        if callable(value) and not isinstance(value, type):
            return lambda *args, **kw: apply(value, args, kw, name)
        return value


namespace = _Namespace()


def apply(f: Callable[..., Any], args: Any, kw: Any, name: str) -> Any:
    """`f` on duals, anywhere inside its arguments: value and directional derivative."""
    if kw.get("out") is not None:
        message = "an array is written to (out=)"
        raise LeavesArrayCode(message)
    value = _displaced(f, args, kw, 0.0)
    if value is None:  # `np.add.at`, `np.copyto`, `np.fill_diagonal` and similar
        message = "an array is written to"
        raise LeavesArrayCode(message)
    duals = list(_leaves((args, kw)))
    space = _space(value)
    if space is None or not duals:
        return value
    if not all(np.all(np.isfinite(d.tangent)) for d in duals):
        return dual_point(space, np.full(space.dim, np.nan))
    speed = max(largest(d.tangent) for d in duals)
    if speed < TINY:
        return dual_point(space, np.zeros(space.dim))
    if len(duals) == sum(isinstance(x, Dual) for x in args) and kw.keys() <= SHAPING:
        terms = terms_by_linearity(name, args)
        if terms:
            with np.errstate(all="ignore"):
                moves = [space.values(f(*term, **kw)) for term in terms]
            return dual_point(space, np.sum(moves, axis=0))
    steepness = max(largest(d.tangent / spans_of(d.primal)) for d in duals)

    def along(t: float) -> Vector:
        step = t / steepness
        return space.values(_displaced(f, args, kw, step))

    slope = differentiate_along(along, speed / steepness)
    return dual_point(space, np.broadcast_to(slope.value, space.dim) * steepness)


def terms_by_linearity(name: str, args: Sequence[Any]) -> list[list[Any]]:
    """Arguments at which a function's values add up to its directional derivative.

    Empty where it is not known to be linear in each argument that is a `Dual`.

    >>> x = Dual(2.0, 1.0)
    >>> terms_by_linearity("multiply", (x, x))
    [[array(1.), array(2.)], [array(2.), array(1.)]]
    """
    at = [i for i, x in enumerate(args) if isinstance(x, Dual)]
    if name == "sum" and len(args) > PLACES_OF_SUM:  # it begins with a number
        return []
    if name in SUMS:
        return [[tangent_of(x) for x in args]]
    if name not in LINEAR and not (name in QUOTIENTS and at == [0]):
        return []
    plain = _moved(list(args), 0.0)
    return [[*plain[:i], args[i].tangent, *plain[i + 1 :]] for i in at]


def _space(value: Any) -> Space | None:
    """The space of a result; None if it has no tangent."""
    space = Space(value, "y")
    return space if space.dim else None


def _displaced(f: Callable[..., Any], args: Any, kw: Any, step: float) -> Any:
    """`f` with every dual displaced along its tangent."""
    moved = {name: _moved(x, step) for name, x in kw.items()}
    return f(*[_moved(x, step) for x in args], **moved)


def _moved(x: Any, step: float) -> Any:
    """An argument with every dual displaced along its tangent."""
    return replaced(x, lambda d: d.primal + step * d.tangent if step else d.primal)


def replaced(x: Any, change: Callable[[Dual], Any]) -> Any:
    """`x` with every dual inside it changed."""
    if isinstance(x, Dual):
        return change(x)
    level = structure(x)
    if level is None:
        return x
    values = [replaced(value, change) for value in level.values]
    if all(new is old for new, old in zip(values, level.values, strict=True)):
        return x
    return level.rebuild(values)


def _leaves(x: Any) -> Iterator[Dual]:
    if isinstance(x, Dual):
        yield x
        return
    level = structure(x)
    for value in () if level is None else level.values:
        yield from _leaves(value)


def dual_point(space: Space, tangent: Vector) -> Any:
    """The primal of a space with every leaf a `Dual`."""
    at = iter(np.cumsum([leaf.dim for leaf in space.leaves]))

    def dual(leaf: Any) -> Dual:
        end = next(at)
        # In the order of memory in which points are made, which `order="K"` reads.
        array = np.asarray(leaf.primal, order="C")
        move = np.asarray(leaf.decode(tangent[end - leaf.dim : end]))
        return Dual(array, move)

    return space.map(dual)


def tangent_of(x: Any) -> Any:
    """The tangent of an array; zero for a detached array."""
    return x.tangent if isinstance(x, Dual) else np.zeros_like(np.asarray(x))


@final
class DualAdapter:
    """Runs primitives on duals, by their rules."""

    name = "duals"

    def owns(self, cls: type, /) -> bool:
        """Whether `cls` is `Dual`."""
        return cls is Dual

    def call(
        self, primitive: Primitive, args: tuple[Any, ...], kwargs: dict[str, Any], /
    ) -> Any:
        """The rule's value and tangent; a generic body without rule is run as it is."""
        plain, keywords = _moved(args, 0.0), _moved(kwargs, 0.0)
        args, kwargs = primitive.bind(args, kwargs)
        subject = Subject(primitive, plain, keywords, tries=0)
        mode = _mode(subject)
        if mode is None:
            if primitive.host:
                message = f"{primitive!r} has no rule for these arguments"
                raise UnsupportedError(message)
            return primitive.fun(*args, **kwargs)
        moves = [
            coordinates_of(subject.space.part(i), x) for i, x in enumerate(args, 1)
        ]
        mode.missing = {i: "" for i, move in enumerate(moves, 1) if not np.any(move)}
        tangent = _push(mode, np.concatenate([np.zeros(0), *moves]))
        return dual_point(subject.out, tangent)

    def stop_gradient(self, x: Dual, /) -> Any:
        """The array without its tangent."""
        return x.primal

    def cells(self, _level: str, /) -> tuple[()]:
        """None: duals are the tester's own."""
        return ()


def _mode(subject: Subject) -> Mode | None:
    f, args = subject.target(subject.primals)
    if frule.resolve(f, args, subject.kwargs, subject.config) is not None:
        return Push(subject)
    if rrule.resolve(f, args, subject.kwargs, subject.config) is not None:
        return Pull(subject)
    return None


def coordinates_of(space: Space, x: Any) -> Vector:
    """Coordinates of the tangents inside one argument; zero where there is no dual."""
    if next(_leaves(x), None) is None:
        return np.zeros(space.dim)
    ends = space.values(replaced(x, lambda d: d.primal + d.tangent))
    return ends - space.origin


def _push(mode: Mode, v: Vector) -> Vector:
    if isinstance(mode, Push):
        return mode.image(v)
    rows = [mode.image(unit) for unit in np.eye(mode.domain.dim)]
    return np.stack(rows) @ v


LOCAL[Dual] = DualAdapter()
