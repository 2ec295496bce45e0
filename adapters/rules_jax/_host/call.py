"""Calling NumPy from JAX: one primitive, `host_call`, with batching and clear refusals.

Where nothing is traced NumPy is called directly. Where JAX compiles, the primitive is
lowered to a native call of the function's loop if it has one and the program is for a
CPU, and to `jax.pure_callback` otherwise. It has no derivative of its own: the rules of
the function it calls are applied one level up, and an error names what reaches it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import partial
from itertools import compress
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import rules_core as rc
from rules_core.extend import Reads
from rules_jax import _compat
from rules_jax._errors import for_callback
from rules_jax._values.jax_primitive import register
from rules_jax._values.owned_caches import kept_by_owner
from rules_jax._values.placement import aligned_spec, gathered, resharded, to_device
from rules_jax._values.project import RuleOutputError
from rules_jax._values.taylor import support_taylor

from .lent_arrays import call_lent
from .native.loops import Undeclared

__all__ = ["HostFunction", "host_call", "host_call_p", "result_types", "run_host"]


@_compat.held_weakly
class HostFunction:
    """A NumPy function of flat lists of arrays, with what JAX has to know about it.

    Args:
        name: For messages.
        run: `run(arrays) -> arrays`.
        promise: `promise(avals) -> avals`: shapes and dtypes of the results.
        elementwise: Whether arrays with a further leading axis are one call.
        batch: `batch(size, batched, arrays) -> arrays` with the axis first, or None
            where it declines; or None.
        refusal: Why it cannot be differentiated, and the cure.
        owned: Whether the arrays that it returns are unknown to everybody else.
        native: `native(avals, promised, size, batched) -> NativeCall`, which raises
            `Undeclared` for a call that must go by callback; or None.
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "batch",
        "elementwise",
        "name",
        "native",
        "owned",
        "promise",
        "refusal",
        "run",
        "transposed",
    )

    def __init__(
        self,
        name: str,
        run: Callable[[list[Any]], Sequence[Any]],
        promise: Callable[[Sequence[Any]], Sequence[Any]],
        *,
        elementwise: bool = False,
        batch: Callable[..., Sequence[Any] | None] | None = None,
        refusal: str = "",
        owned: bool = False,
        native: Callable[..., Any] | None = None,
    ) -> None:
        self.name, self.run, self.promise = name, run, promise
        self.elementwise, self.batch, self.refusal = elementwise, batch, refusal
        self.owned, self.native = owned, native

    def check(self, results: Sequence[Any], avals: Sequence[Any]) -> list[Any]:
        """Results as arrays of the promised types; an error names any other."""
        if len(results) != len(avals):
            if self.elementwise and len(avals) == 1:
                raise RuleOutputError(_several_text(self.name, len(results)))
            message = (
                f"host function {self.name} must return {len(avals)} arrays as its "
                f"shape rule promises, but got {len(results)}. Correct one of the two."
            )
            raise RuleOutputError(message)
        pairs = zip(results, avals, strict=True)
        return [self._fit(i, x, aval) for i, (x, aval) in enumerate(pairs)]

    def _fit(self, i: int, result: Any, aval: Any) -> Any:
        x = np.asarray(result)
        if x.shape != tuple(aval.shape):
            message = (
                f"host function {self.name}: output {i} has shape {x.shape}, but its "
                f"shape rule promises {tuple(aval.shape)}. Correct one of the two."
            )
            raise RuleOutputError(message)
        if x.dtype == aval.dtype:
            return x
        if not _castable(x.dtype, aval.dtype):
            message = (
                f"host function {self.name}: output {i} has dtype {x.dtype}, which is "
                f"not cast to the promised {aval.dtype}. Correct its shape rule, or "
                "convert in the function."
            )
            raise RuleOutputError(message)
        return x.astype(aval.dtype)


def _several_text(name: str, count: int) -> str:
    return (
        f"host function {name} is declared elementwise=True, which promises one array "
        f"unless it is a ufunc, but returned {count}. Leave elementwise out, and add a "
        "shape_rule and a batch_rule."
    )


def _castable(have: Any, want: Any) -> bool:
    """Whether a result may be cast: to another width or to a wider kind."""
    kinds = (jnp.bool_, jnp.integer, jnp.floating, jnp.complexfloating)
    rank = [
        i for d in (have, want) for i, k in enumerate(kinds) if jnp.issubdtype(d, k)
    ]
    return len(rank) == 2 and rank[0] <= rank[1]


host_call_p = _compat.Primitive("host_call")
host_call_p.multiple_results = True


# What functions read that the calls traced now will run: facts, and a name.
_LATER: ContextVar[tuple[tuple[Reads, str], ...]] = ContextVar("later", default=())


@contextmanager
def run_later(reads: Reads, name: str) -> Iterator[None]:
    """While a call runs or is traced: its functions read what they read before.

    So do they in the callbacks of the host calls that are traced meanwhile.
    """
    token = _LATER.set((*_LATER.get(), (reads, name)))
    try:
        with reads.held(name):
            yield
    finally:
        _LATER.reset(token)


def _as_traced(host: HostFunction) -> HostFunction:
    """A host function whose runs find what was read when it was traced."""
    later = _LATER.get()
    if not later:
        return host
    run, batch = host.run, host.batch

    def run_as_traced(arrays: list[Any]) -> Sequence[Any]:
        with _held(later):
            return run(arrays)

    def batch_as_traced(*args: Any) -> Sequence[Any] | None:
        with _held(later):
            return None if batch is None else batch(*args)

    return HostFunction(
        host.name,
        run_as_traced,
        host.promise,
        elementwise=host.elementwise,
        batch=batch and batch_as_traced,
        refusal=host.refusal,
        owned=host.owned,
        native=host.native,
    )


@contextmanager
def _held(later: Sequence[tuple[Reads, str]]) -> Iterator[None]:
    with ExitStack() as stack:
        for reads, name in later:
            stack.enter_context(reads.held(name))
        yield


def host_call(host: HostFunction, arrays: Sequence[Any]) -> list[Any]:
    """Results of a host function as JAX arrays, whether or not anything is traced."""
    if any(isinstance(x, jax.core.Tracer) for x in arrays):
        host = _as_traced(host)
    return list(host_call_p.bind(*arrays, host=host, size=None, batched=()))


def _promised(
    avals: Sequence[Any], host: HostFunction, size: int | None, batched: Sequence[bool]
) -> list[Any]:
    """Types of the results, with the batch axis in front."""
    if size is None:
        return list(host.promise(avals))
    single = [
        jax.ShapeDtypeStruct(a.shape[1:] if b else a.shape, a.dtype)
        for a, b in zip(avals, batched, strict=True)
    ]
    return [
        jax.ShapeDtypeStruct((size, *a.shape), a.dtype) for a in host.promise(single)
    ]


def run_host(
    host: HostFunction, size: int | None, batched: Sequence[bool], arrays: list[Any]
) -> Sequence[Any]:
    """The function itself, over the whole batch where there is one."""
    if size is None:
        return call_lent(host, host.run, arrays)
    found = None
    if host.batch is not None:
        batch = partial(host.batch, size, batched)
        found = call_lent(host, batch, arrays)
    if found is not None:
        return found
    rows = [
        list(map(np.array, call_lent(host, host.run, _row(arrays, batched, i))))
        for i in range(size)
    ]  # copies: a library may reuse its output buffer
    if not rows:
        return [np.zeros(a.shape, a.dtype) for a in _promised(arrays, host, 0, batched)]
    return [np.stack(column) for column in zip(*rows, strict=True)]


def _row(arrays: Sequence[Any], batched: Sequence[bool], i: int) -> list[Any]:
    return [x[i] if b else x for x, b in zip(arrays, batched, strict=True)]


def result_types(
    host: HostFunction,
    avals: Sequence[Any],
    promised: Sequence[Any],
    batched: Sequence[bool] = (),
) -> list[Any]:
    """Types of the results, with varying axes and shardings, from shapes and dtypes."""
    axis = next((a.sharding.spec[0] for a in compress(avals, batched)), None)
    types = []
    for a in promised:
        spec = [None] * len(a.shape)
        if host.elementwise:
            spec = aligned_spec(a.shape, avals)
        elif batched:
            spec[0] = axis
        types.append(_compat.placed_like(a.shape, a.dtype, avals, spec))
    return types


@host_call_p.def_abstract_eval
def _abstract(*avals: Any, host: HostFunction, size: Any, batched: Any) -> list[Any]:
    promised = _promised(avals, host, size, batched)
    return result_types(host, avals, promised, batched)


def _eager(*arrays: Any, host: HostFunction, size: Any, batched: Any) -> list[Any]:
    avals = _abstract(*map(jax.typeof, arrays), host=host, size=size, batched=batched)
    results = _checked(host, size, batched, avals, arrays)
    pairs = zip(results, avals, strict=True)
    return [to_device(x, arrays, aval, owned=host.owned) for x, aval in pairs]


def _checked(
    host: HostFunction, size: Any, batched: Any, avals: Sequence[Any], arrays: Any
) -> list[Any]:
    given = [np.asarray(x) for x in arrays]
    return host.check(run_host(host, size, batched, given), avals)


@kept_by_owner
def _callback(
    host: HostFunction, size: Any, batched: Any, avals: tuple[Any, ...]
) -> Callable[..., Any]:
    """One callback object per signature: JAX keeps what it has been given."""

    def callback(*arrays: Any) -> list[Any]:
        try:
            return _checked(host, size, batched, avals, arrays)
        except Exception as error:
            raise for_callback(host.name, error) from None

    return callback


def _compiled(*arrays: Any, host: HostFunction, size: Any, batched: Any) -> list[Any]:
    promised = tuple(_promised(arrays, host, size, batched))
    callback = _callback(host, size, batched, promised)
    results = jax.pure_callback(callback, list(promised), *map(gathered, arrays))
    avals = _abstract(*map(jax.typeof, arrays), host=host, size=size, batched=batched)
    return list(map(resharded, results, avals))


def _natively(
    arrays: Sequence[Any], host: HostFunction, *call: Any
) -> list[Any] | None:
    """Results of a native call, or None where there is none."""
    if host.native is None:
        return None
    try:
        results: list[Any] = host.native(*call)(list(map(gathered, arrays)))
    except Undeclared:
        return None
    return results


def _compiled_on_cpu(
    *arrays: Any, host: HostFunction, size: Any, batched: Any
) -> list[Any]:
    avals = list(map(jax.typeof, arrays))
    promised = _promised(avals, host, size, batched)
    results = _natively(arrays, host, avals, promised, size, batched)
    if results is None:
        return _compiled(*arrays, host=host, size=size, batched=batched)
    typed = result_types(host, avals, promised, batched)
    return list(map(resharded, results, typed))


def _refuse_export(*, host: HostFunction, **_: Any) -> None:
    message = (
        f"the host function {host.name} runs in this process, natively or by callback: "
        "a program that calls it cannot be exported. Export the parts before and after "
        "the call, or replace the function by one in array-API code."
    )
    raise rc.UnsupportedError(message)


_compat.lower_by_tracing(host_call_p, _compiled, on_export=_refuse_export)
_compat.lower_by_tracing(
    host_call_p, _compiled_on_cpu, on_export=_refuse_export, platform="cpu"
)


def _refuse(*_: Any, host: HostFunction, **__: Any) -> Any:
    raise rc.UnsupportedError(host.refusal)


def _batch(
    axis: Any, arrays: Any, dims: Any, *, host: HostFunction, size: Any, batched: Any
) -> Any:
    if all(dim is None for dim in dims):
        out = host_call_p.bind(*arrays, host=host, size=size, batched=batched)
        return out, [None] * len(out)
    front = [
        x if d is None else jnp.moveaxis(x, d, 0)
        for x, d in zip(arrays, dims, strict=True)
    ]
    mapped = tuple(d is not None for d in dims)
    if host.elementwise:
        out = host_call_p.bind(
            *_one_rank(front, mapped), host=host, size=None, batched=()
        )
    elif size is None:
        out = host_call_p.bind(*front, host=host, size=axis.size, batched=mapped)
    else:
        out = _merged(axis.size, front, mapped, host, size, batched)
    return out, [0] * len(out)


def _one_rank(arrays: Sequence[Any], mapped: Sequence[bool]) -> list[Any]:
    """Axes of length one behind the batch axis, so that broadcasting aligns it."""
    ranks = [x.ndim - m for x, m in zip(arrays, mapped, strict=True)]
    rank = max(ranks)
    return [
        x.reshape(x.shape[:m] + (1,) * (rank - r) + x.shape[m:])
        for x, m, r in zip(arrays, mapped, ranks, strict=True)
    ]


def _merged(
    outer: int,
    arrays: Sequence[Any],
    mapped: tuple[bool, ...],
    host: HostFunction,
    size: int,
    batched: tuple[bool, ...],
) -> list[Any]:
    """A second batch axis makes one long axis with the first: still one call."""
    merged = []
    for x, new, old in zip(arrays, mapped, batched, strict=True):
        if not (new or old):
            merged.append(x)
            continue
        rest = x.shape[new + old :]
        both = x.reshape((outer if new else 1, size if old else 1, *rest))
        full = jnp.broadcast_to(both, (outer, size, *rest))
        merged.append(full.reshape((outer * size, *rest)))
    either = tuple(a or b for a, b in zip(mapped, batched, strict=True))
    out = host_call_p.bind(*merged, host=host, size=outer * size, batched=either)
    return [x.reshape((outer, size, *x.shape[1:])) for x in out]


register(host_call_p, impl=_eager, jvp=_refuse, transpose=_refuse, batch=_batch)
support_taylor(host_call_p)
