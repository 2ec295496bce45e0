"""How a call of a host function is made by its loop: casts, alignment, or why not.

A native call computes what the call from NumPy does, bit for bit. Where that is not
certain, it is declined, and compiled code calls back into Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np
from jax import dtypes

from .available import library
from .c_functions import is_c_function, loop_of_c_function
from .library import RANK, Library, register
from .loops import Loop, Undeclared
from .ufunc_loops import loop_of_ufunc

__all__ = ["Constant", "NativeCall", "native_call"]


@final
class Constant:
    """A number among the arguments that is known when the call is compiled.

    Raises:
        Undeclared: It is no number.
    """

    def __init__(self, value: Any) -> None:
        if type(value) not in (bool, int, float, complex) and not isinstance(
            value, np.generic
        ):
            message = f"an argument is a {type(value).__name__}"
            raise Undeclared(message)
        self.value = value

    @property
    def given(self) -> Any:
        """The form that NumPy's promotion takes: Python numbers adapt to arrays."""
        kind = type(self.value)
        return kind if kind in (int, float, complex) else np.asarray(self.value).dtype


@final
class NativeCall:
    """A call that compiled code makes by a loop.

    Args:
        loop: The loop.
        operands: For each input the place of its array, or a `Constant`.
        lifts: For each input the rank to which its batched array is brought.
        out: Types of the results.
        found: The handler.
    """

    def __init__(
        self,
        loop: Loop,
        operands: Sequence[int | Constant],
        lifts: Sequence[int],
        out: Sequence[Any],
        found: Library,
    ) -> None:
        self.loop, self.operands, self.lifts = loop, tuple(operands), tuple(lifts)
        self.out, self.found = tuple(out), found

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        """Results from traced arrays."""
        self.loop.add_to(self.found)
        target = register(self.found, self.loop.name)
        inputs = [
            _lifted(_converted(x, arrays, dtype), rank)
            for x, dtype, rank in zip(
                self.operands, self.loop.dtypes, self.lifts, strict=False
            )
        ]
        made = [
            jax.ShapeDtypeStruct(x.shape, dtype)
            for x, dtype in zip(self.out, self.loop.results, strict=True)
        ]
        call = jax.ffi.ffi_call(target, made)
        results = call(*inputs, key=np.int64(self.loop.key), name=self.loop.name)
        pairs = zip(results, self.out, strict=True)
        return [jax.lax.convert_element_type(y, x.dtype) for y, x in pairs]


def _converted(operand: int | Constant, arrays: Sequence[Any], dtype: Any) -> Any:
    if isinstance(operand, Constant):
        return jnp.asarray(np.asarray(operand.value, dtype))
    return jax.lax.convert_element_type(arrays[operand], dtype)


def _lifted(x: Any, rank: int) -> Any:
    """Axes of length one behind the batch axis."""
    if x.ndim >= rank:
        return x
    return x.reshape((*x.shape[:1], *(1,) * (rank - x.ndim), *x.shape[1:]))


def native_call(
    function: Any,
    name: str,
    operands: Sequence[Any],
    avals: Sequence[Any],
    promised: Sequence[Any],
    size: int | None,
    batched: Sequence[bool],
) -> NativeCall:
    """The native call that computes a function's call from NumPy.

    Args:
        function: A ufunc, or a C function.
        name: Of the host function.
        operands: For each argument the place of its array, or a number.
        avals: Types of the arrays.
        promised: Types of the results, with the batch axis in front.
        size: Length of the batch axis, or None.
        batched: Which arrays have the batch axis in front.

    Raises:
        Undeclared: It goes by callback; the text says why.
    """
    found = library()
    if isinstance(found, str):
        raise Undeclared(found)
    given = [x.given if isinstance(x, Constant) else avals[x].dtype for x in operands]
    loop = _loop(function, name, tuple(given), found)
    if len(operands) != loop.nin or len(promised) != loop.nout:
        message = (
            f"its loop takes {loop.nin} arrays and makes {loop.nout}, but the call has "
            f"{len(operands)} and {len(promised)}"
        )
        raise Undeclared(message)
    _check_conversions(loop, operands, given, avals, promised)
    lifts = _lifts(loop, operands, avals, batched) if size is not None else None
    call = NativeCall(loop, operands, lifts or [0] * loop.nin, promised, found)
    _check_shapes(call, avals)
    return call


def _loop(function: Any, name: str, given: tuple[Any, ...], found: Library) -> Loop:
    if getattr(getattr(function, "gufunc_builder", None), "writable_args", None):
        message = "it writes to its arguments"
        raise Undeclared(message)
    ufunc = getattr(function, "ufunc", function)  # what numba.vectorize makes
    if isinstance(ufunc, np.ufunc):
        serial = ufunc is not function  # targets with threads make a bare ufunc
        function = ufunc
        if len(given) != function.nin:
            message = (
                f"it takes {function.nin} arguments, but the call has {len(given)}"
            )
            raise Undeclared(message)
        return loop_of_ufunc(function, given, serial)
    if is_c_function(function):
        return loop_of_c_function(function, name, found)
    message = f"{type(function).__name__} is no ufunc and no C function"
    raise Undeclared(message)


def _check_conversions(
    loop: Loop,
    operands: Sequence[Any],
    given: Sequence[Any],
    avals: Sequence[Any],
    promised: Sequence[Any],
) -> None:
    """Only conversions that XLA computes as NumPy does.

    XLA flushes subnormal numbers to zero, so floating numbers are not converted.
    """
    have = {np.dtype(a.dtype) for a in avals}
    for dtype in {*loop.dtypes} - have:
        if dtypes.canonicalize_dtype(dtype) != dtype:
            message = f"its loop is for {dtype}, and JAX's mode of 64 bits is off"
            raise Undeclared(message)
    for i, (x, has, want) in enumerate(zip(operands, given, loop.dtypes, strict=False)):
        if isinstance(x, Constant):
            _check_constant(x.value, want)
        elif has != want and np.dtype(has).kind not in "biu":
            message = f"NumPy would convert argument {i} from {has} to {want}"
            raise Undeclared(message)
    for made, out in zip(loop.results, promised, strict=True):
        if made != out.dtype and made.kind not in "biu":
            message = f"its loop makes {made}, and the shape rule promises {out.dtype}"
            raise Undeclared(message)


def _check_constant(value: Any, dtype: Any) -> None:
    try:
        np.asarray(value, dtype)
    except (OverflowError, TypeError, ValueError) as error:
        message = f"the constant {value!r} is no {dtype}"
        raise Undeclared(message) from error


def _lifts(
    loop: Loop, operands: Sequence[Any], avals: Sequence[Any], batched: Sequence[bool]
) -> list[int]:
    """Ranks that let batch axes meet, once the core axes are taken away."""

    def loop_rank(i: int, x: Any) -> int:
        if isinstance(x, Constant):
            return 0
        return len(avals[x].shape) - len(loop.cores[i]) - batched[x]

    most = max(loop_rank(i, x) for i, x in enumerate(operands))
    return [
        1 + most + len(loop.cores[i])
        if not isinstance(x, Constant) and batched[x]
        else 0
        for i, x in enumerate(operands)
    ]


def _check_shapes(call: NativeCall, avals: Sequence[Any]) -> None:
    """The promised shapes are those of the loop, which would refuse any other."""
    sizes: dict[Any, int] = {}
    shapes = []
    loop = call.loop
    for i, x in enumerate(call.operands):
        shape: tuple[int, ...] = ()
        if not isinstance(x, Constant):
            shape = tuple(avals[x].shape)
            gap = (1,) * max(call.lifts[i] - len(shape), 0)
            shape = (*shape[:1], *gap, *shape[1:]) if gap else shape
        shapes.append(_loop_shape(shape, loop.cores[i], sizes))
    try:
        common = np.broadcast_shapes(*shapes)
    except ValueError as error:
        raise Undeclared(str(error)) from error
    for core, out in zip(loop.cores[loop.nin :], call.out, strict=True):
        if _loop_shape(tuple(out.shape), core, sizes) != common:
            message = f"the shape rule promises {tuple(out.shape)}, the loop another"
            raise Undeclared(message)
    if len(common) + max(map(len, loop.cores)) > RANK:
        message = f"its arrays have more than {RANK} axes"
        raise Undeclared(message)


def _loop_shape(
    shape: tuple[Any, ...], core: Sequence[Any], sizes: dict[Any, int]
) -> tuple[Any, ...]:
    """The axes before the core axes, whose lengths must agree."""
    split = len(shape) - len(core)
    if split < 0 or not all(isinstance(n, int) for n in shape):
        message = "its arrays have too few axes, or axes of unknown length"
        raise Undeclared(message)
    for name, n in zip(core, shape[split:], strict=True):
        if sizes.setdefault(name, name if isinstance(name, int) else n) != n:
            message = f"lengths of the core axis {name} do not agree"
            raise Undeclared(message)
    return shape[:split]
