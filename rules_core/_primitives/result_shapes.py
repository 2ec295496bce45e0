"""Shape rules in short form: `out="x"`, `out=("n", 3)`, `out="(m,n),(n)->(m)"`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

from rules_core._base.arrays import ShapeDtype
from rules_core._base.errors import PrimitiveError, RuleDefinitionError
from rules_core._dispatch.table import Table
from rules_core._tangents.structure import structure

from .shape_and_batch_rules import broadcast, numpy_dtype, result_dtype

__all__ = ["declared_shapes"]

_CORE = r"\(\s*(?:\w+\s*(?:,\s*\w+\s*)*)?\)"
_LIST = rf"\s*{_CORE}\s*(?:,\s*{_CORE}\s*)*"
_SIGNATURE = re.compile(rf"{_LIST}->{_LIST}")
_FORMS = (
    'the name of an argument, a shape such as ("n", 3), a signature such as '
    '"(m,n),(n)->(m)", a dtype for a number, ShapeDtype(shape, dtype), a callable, or '
    "a tuple, list or dict of these"
)


class _Call(NamedTuple):
    """One call: arguments by position and name, and the sizes known so far."""

    args: tuple[Any, ...]
    named: dict[str, Any]
    sizes: dict[str, int]


Result = Callable[[_Call], Any]


def declared_shapes(out: Any, primitive: Any) -> Callable[..., Any]:
    """The shape rule that `out` stands for.

    Args:
        out: The result in short form, as in `rules_core.primitive`.
        primitive: The primitive, for its name, its arguments and its flags.

    Raises:
        RuleDefinitionError: `out` has no such form, or names an unknown argument.
    """
    reader = _Reader(primitive.table, vectorized=primitive.vectorized)
    if primitive.elementwise:
        message = (
            "out must not be given with elementwise=True, which says that results "
            "broadcast and are floating. Leave one of them out; vectorized=True says "
            "that a batch is one call."
        )
        raise reader.error(message)
    if callable(out) and not isinstance(out, type):
        return cast("Callable[..., Any]", out)
    result, binder = reader.read(out), primitive.table.binder

    def declared_shape(*args: Any, **kw: Any) -> Any:
        args, kw = binder(args, kw)
        named = {**dict(zip(binder.names or (), args, strict=False)), **kw}
        return result(_Call(args, named, {}))

    return declared_shape


class _Reader:
    """Reads `out` once, at the declaration."""

    def __init__(self, table: Table, *, vectorized: bool) -> None:
        self.table, self.vectorized = table, vectorized
        self.label = f"primitive {table.label}"

    def read(self, out: Any) -> Result:
        if isinstance(out, str):
            return self._signature(out) if "->" in out else self._like(out)
        if _is_described(out):
            shape = self._shape(tuple(out.shape))
            return lambda call: ShapeDtype(shape(call), out.dtype)
        if isinstance(out, dict):
            parts = {key: self._entry(item) for key, item in out.items()}
            return lambda call: {key: part(call) for key, part in parts.items()}
        if isinstance(out, (tuple, list)):
            return self._sequence(out)
        if isinstance(out, type) or _is_dtype(out):
            return lambda _call: ShapeDtype((), numpy_dtype(out))
        if structure(out) is not None:
            return self._instance(out)
        message = f"out must be {_FORMS}, but got {out!r}."
        raise self.error(message)

    def _sequence(self, out: Any) -> Result:
        if isinstance(out, tuple) and all(isinstance(n, (int, str)) for n in out):
            shape = self._shape(out)
            return lambda call: ShapeDtype(shape(call), _dtype_of(call.args))
        kind, items = type(out), [self._entry(item) for item in out]

        def results(call: _Call) -> Any:
            found = [item(call) for item in items]
            return kind(*found) if hasattr(kind, "_fields") else kind(found)

        return results

    def _entry(self, out: Any) -> Result:
        """An entry of a container: a result, or a constant."""
        if isinstance(out, (int, float, complex, type(None))):
            return lambda _call: out
        return self.read(out)

    def _instance(self, out: Any) -> Result:
        level = structure(out)
        assert level is not None
        values = level.values
        items = [self._entry(x) if _has_shapes(x) else None for x in values]

        def results(call: _Call) -> Any:
            pairs = zip(values, items, strict=True)
            return level.rebuild([x if i is None else i(call) for x, i in pairs])

        return results

    def _like(self, name: str) -> Result:
        self._check_name(name, "Name one of them, or write a signature.")
        return lambda call: _described(self._argument(name, call))

    def _argument(self, name: str, call: _Call) -> Any:
        if name not in call.named:
            message = (
                f"{self.label}: out names the argument {name!r}, so each call must "
                f"give it, but got {', '.join(call.named) or 'none'}. Pass {name!r}."
            )
            raise PrimitiveError(message)
        return call.named[name]

    def _shape(
        self, shape: tuple[Any, ...], known: frozenset[str] = frozenset()
    ) -> Callable[[_Call], tuple[int, ...]]:
        entries = [_number(n) for n in shape]
        cure = "To name the axes of arguments write a signature: '(m,n),(n)->(m)'."
        if known:
            cure = "Name an axis that stands left of the arrow, or an integer argument."
        for n in entries:
            if isinstance(n, str) and n not in known:
                self._check_name(n, cure)
        return lambda call: tuple([self._size(n, call) for n in entries])

    def _size(self, n: Any, call: _Call) -> Any:
        if not isinstance(n, str):
            return n
        if n in call.sizes:
            return call.sizes[n]
        size = self._argument(n, call)
        if isinstance(size, bool) or not hasattr(size, "__index__"):
            message = (
                f"{self.label}: out names the size {n!r}, so argument {n!r} must be "
                f"an integer, but got {_shown(size)}. Pass an int, or give the shape "
                "by a signature or a callable."
            )
            raise PrimitiveError(message)
        return size

    def _signature(self, text: str) -> Result:
        if not _SIGNATURE.fullmatch(text):
            message = (
                f"out must be a signature such as '(m,n),(n)->(m)', but got {text!r}."
            )
            raise self.error(message)
        inputs, outputs = (_cores(part) for part in text.split("->"))
        self._check_count(text, len(inputs))
        known = frozenset(n for core in inputs for n in core if isinstance(n, str))
        shapes = [self._shape(core, known) for core in outputs]

        def results(call: _Call) -> Any:
            loop = self._match(text, inputs, call)
            dtype = _dtype_of(call.args)
            found = tuple([ShapeDtype((*loop, *s(call)), dtype) for s in shapes])
            return found if len(found) > 1 else found[0]

        return results

    def _match(
        self, text: str, inputs: Sequence[tuple[Any, ...]], call: _Call
    ) -> tuple[int, ...]:
        """Learn the sizes from the arguments; the result is their leading axes."""
        loops = []
        for i, core in enumerate(inputs):
            shape = _shape_of(call.args[i]) if i < len(call.args) else None
            if shape is None and not core:  # None, a string, …
                continue
            more = -1 if shape is None else len(shape) - len(core)
            if shape is None or more < 0 or (more and not self.vectorized):
                raise self._mismatch(text, i, core, call)
            for n, size in zip(core, shape[more:], strict=True):
                known = call.sizes.setdefault(n, size) if isinstance(n, str) else n
                if known != size:
                    raise self._mismatch(text, i, core, call)
            loops.append(shape[:more])
        return broadcast(loops)

    def _mismatch(
        self, text: str, i: int, core: tuple[Any, ...], call: _Call
    ) -> PrimitiveError:
        known = ", ".join(f"{n}={call.sizes[n]}" for n in core if n in call.sizes)
        where = f" with {known}" if known else ""
        got, cure = "no such argument", ""
        if i < len(call.args):
            got = _shown(call.args[i])
            if len(_shape_of(call.args[i]) or ()) > len(core) and not self.vectorized:
                cure = ", or declare vectorized=True for leading axes"
        return PrimitiveError(
            f"{self.label}: by out={text!r} argument {self._name(i)!r} must have the "
            f"shape ({', '.join(map(str, core))}){where}, but got {got}. Correct the "
            f"call or the signature{cure}."
        )

    def _name(self, i: int) -> str:
        names = self.table.binder.names or ()
        return names[i] if i < len(names) else str(i)

    def _check_count(self, text: str, count: int) -> None:
        names = self.table.binder.names
        if names is None or self.table.binder.variadic or count <= len(names):
            return
        message = (
            f"out={text!r} must describe no more arguments than there are "
            f"({', '.join(names)}), but got {count}."
        )
        raise self.error(message)

    def _check_name(self, name: str, cure: str) -> None:
        parameters = self.table.binder.parameters
        if self.table.binder.names is not None and (
            parameters is None or name in parameters
        ):
            return
        has = "" if parameters is None else ", ".join(sorted(parameters))
        message = (
            f"out must name an argument ({has or 'there are no names'}), but got "
            f"{name!r}. {cure}"
        )
        raise self.error(message)

    def error(self, text: str) -> RuleDefinitionError:
        return RuleDefinitionError(f"{self.label}: {text}")


def _cores(part: str) -> list[tuple[Any, ...]]:
    return [tuple(map(_number, re.findall(r"\w+", c))) for c in re.findall(_CORE, part)]


def _number(n: Any) -> Any:
    return int(n) if isinstance(n, str) and n.isdigit() else n


def _is_described(x: Any) -> bool:
    return hasattr(x, "shape") and hasattr(x, "dtype") and not isinstance(x, type)


def _has_shapes(x: Any) -> bool:
    """Whether a field of an instance describes results; others are constants."""
    return _is_described(x) or (not callable(x) and structure(x) is not None)


def _is_dtype(x: Any) -> bool:
    return type(x).__name__.lower().endswith("dtype")


def _shape_of(x: Any) -> tuple[int, ...] | None:
    if isinstance(x, (int, float, complex)):
        return ()
    return tuple(x.shape) if _is_described(x) else None


def _described(x: Any) -> Any:
    """A result like an argument; a container is described entry by entry."""
    if isinstance(x, (int, float, complex)):
        return ShapeDtype((), numpy_dtype(type(x)))
    if isinstance(x, (tuple, list)):
        return type(x)(map(_described, x))
    return x


def _dtype_of(args: Sequence[Any]) -> Any:
    arrays = [numpy_dtype(a.dtype) for a in args if _is_described(a)]
    if any(isinstance(a, complex) for a in args):
        arrays.append(numpy_dtype("complex64"))
    return result_dtype(arrays)


def _shown(x: Any) -> str:
    if _is_described(x):
        return f"an array of shape {tuple(x.shape)}"
    return f"{type(x).__name__} {x!r}"
