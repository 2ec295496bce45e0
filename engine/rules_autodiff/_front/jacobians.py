"""Whole Jacobians and Hessians, for arguments and results of any structure."""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np

from rules_autodiff._boundary.directions import check_differentiable
from rules_autodiff._boundary.whole_results import (
    check_result,
    is_whole,
    rebuilt_result,
    result_leaves,
    tangent_leaves,
)
from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._python.values import INERT, is_float_array, is_number
from rules_autodiff._refusals import name_of, refused
from rules_autodiff._tape.recording import Recording
from rules_autodiff._transforms.derived_function import Argnums, Derived, P, positions
from rules_autodiff.straight._tier.arguments import check_flat
from rules_autodiff.straight._tier.left import PINNED, asked
from rules_autodiff.straight._tier.tier import (
    Left,
    Pass,
    PassWithAux,
    check_plain,
    check_tier,
    not_straight,
)
from rules_core import structure

from .grad import split_aux
from .jvp import HOOKS, forward
from .written_columns import written_blocks, written_hessian

__all__ = ["hessian", "jacfwd", "jacobian", "jacrev"]


def leaves(x: Any) -> list[Any]:
    """The numbers and float arrays of a container, in order."""
    if is_number(x) or is_float_array(x):
        return [x]
    level = None if type(x) in INERT else structure(x)
    return [] if level is None else [leaf for v in level.values for leaf in leaves(v)]


def rebuilt(x: Any, values: Iterator[Any]) -> Any:
    """A container of the structure of `x` with other leaves; None for static leaves."""
    if is_number(x) or is_float_array(x):
        return next(values)
    level = None if type(x) in INERT else structure(x)
    if level is None:
        return None
    return level.rebuild([rebuilt(value, values) for value in level.values])


def basis(x: Any) -> list[Any]:
    """One tangent of `x` per entry of its leaves."""
    tangents = []
    for place, leaf in enumerate(leaves(x)):
        for index in np.ndindex(np.shape(leaf)):
            parts = [zero_of(other) for other in leaves(x)]
            parts[place] = unit(leaf, index)
            tangents.append(rebuilt(x, iter(parts)))
    return tangents


def zero_of(leaf: Any) -> Any:
    if is_number(leaf):
        return type(leaf)(0.0)
    return np.zeros(leaf.shape, leaf.dtype)


def unit(leaf: Any, index: tuple[int, ...]) -> Any:
    if is_number(leaf):
        return type(leaf)(1.0)
    one = np.zeros(leaf.shape, leaf.dtype)
    one[index] = 1.0
    return one


def refuse_complex(x: Any, name: str) -> None:
    if any(np.iscomplexobj(leaf) for leaf in leaves(x)):
        message = (
            f"{name}: arguments and results must be real, but got complex ones, for "
            "which one array does not describe the derivative. Use jvp or vjp."
        )
        raise TypeError(message)


def empty_block(out: Any, x: Any) -> Any:
    dtype = np.asarray(x).dtype if is_whole(out) else np.result_type(out, x)
    return np.zeros(np.shape(out) + np.shape(x), dtype)


def jacfwd(
    f: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    chunk_size: int | None = None,
    tier: str = "auto",
) -> Derived[P, Any]:
    """The Jacobian by forward mode: one pass that carries a tangent per entry of `x`.

    Args:
        f: A function of real arguments.
        argnums: The position of the argument to differentiate, or a tuple of several.
        has_aux: Whether `f` returns `(y, aux)`; the result is `(jacobian, aux)`.
        chunk_size: The largest number of tangents per pass, to save memory: `f` runs
            once per chunk, and must return equal values each time.
        tier: As in `grad`.

    Returns:
        A function whose result has the structure of `f(x)`, and inside it that of `x`,
        with arrays of shape `y.shape + x.shape`. Integers are constants: zeros.

    Raises:
        UnsupportedProgram: With `chunk_size`, a repeated run of `f` gives another
            value.

    >>> import numpy as np
    >>> from rules_autodiff import jacfwd
    >>> jacfwd(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    check_chunks(chunk_size)
    check_tier(tier, "jacfwd")

    def run_on(below: Any, *args: Any, **kwargs: Any) -> Any:
        active = positions(argnums, args, "jacfwd")
        if tier != "tape" and active:
            try:
                check_plain(below, has_aux=has_aux)
                now = asked(tier)
                found = written_blocks(f, args, kwargs, active, chunk_size, now=now)
                return assembled(found, argnums)
            except Left as error:
                if tier in PINNED:
                    raise not_straight(f, error, HOOKS) from None
        made = forward_blocks(below, f, args, kwargs, active, has_aux, chunk_size)
        blocks, aux = made
        jacobian = assembled(blocks, argnums)
        return (jacobian, aux) if has_aux else jacobian

    return Derived("jacfwd", f, run_on)


def check_chunks(chunk_size: Any) -> None:
    if chunk_size is not None and (type(chunk_size) is not int or chunk_size < 1):
        message = (
            f"jacfwd: chunk_size must be a whole number from 1 on, or None, but got "
            f"{chunk_size!r}."
        )
        raise ValueError(message)


def forward_blocks(
    below: Any,
    f: Any,
    args: Any,
    kwargs: Any,
    active: tuple[int, ...],
    has_aux: bool,
    chunk_size: int | None,
) -> Any:
    """The output, an argument and the block of each pair of their leaves; and aux.

    One pass for all arguments: the function must not run on its own writes. With
    `chunk_size` it runs again, and must return equal values.
    """
    for i in active:
        check_differentiable(args[i], i)
        refuse_complex(args[i], "jacfwd")
    lanes = [lane for i in active for lane in lanes_of(args, i)]
    called = bound_keywords(f, kwargs)
    size = chunk_size or len(lanes) or 1
    chunks = [lanes[k : k + size] for k in range(0, len(lanes), size)] or [lanes]
    passes = in_passes(below, called, args, chunks, has_aux)
    first, tangents = next(passes)
    out, aux = split(first, has_aux)
    check_result(out, "jacfwd")
    refuse_complex(out, "jacfwd")
    dys = chain(tangents, (dy for _, more in passes for dy in more))
    rows = result_leaves(out)
    return [columns(below, out, rows, args[i], dys) for i in active], aux


def in_passes(
    below: Any, f: Any, args: Any, chunks: list[Any], has_aux: bool
) -> Iterator[Any]:
    """The output and the tangents of each chunk of lanes."""
    value = None
    for chunk in chunks:
        out, tangents = forward(below, f, args, chunk, has_aux=has_aux, apart=True)
        if len(chunks) > 1:
            output = held(split(out, has_aux)[0])
            value = output if value is None else value
            if output != value:
                refused("chunks", name_of(f))
        yield out, tangents


def held(x: Any) -> list[Any]:
    """The values of the leaves, for comparison."""
    return [(np.shape(leaf), np.asarray(leaf).tobytes()) for leaf in result_leaves(x)]


def lanes_of(args: Any, i: int) -> list[Any]:
    """A tuple of tangents for each entry of one argument."""
    before, after = [None] * i, [None] * (len(args) - i - 1)
    return [(*before, d, *after) for d in basis(args[i])]


def columns(below: Any, out: Any, rows: list[Any], x: Any, tangents: Any) -> Any:
    """The output, an argument and its blocks, filled from the tangents of its lanes."""
    blocks = [[empty_block(y, leaf) for leaf in leaves(x)] for y in rows]
    for column, leaf in enumerate(leaves(x)):
        for index in np.ndindex(np.shape(leaf)):
            for row, dy in enumerate(leaves_like(out, rows, next(tangents))):
                below.store_item(dy, blocks[row][column], (..., *index))
    return out, x, blocks


def split(out: Any, has_aux: bool) -> tuple[Any, Any]:
    return out if has_aux else (out, None)


def leaves_like(out: Any, rows: list[Any], tangent: Any) -> list[Any]:
    entries = tangent_leaves(out, tangent)
    if len(entries) != len(rows):
        message = "jacfwd: the result must be made of arrays, numbers and containers."
        raise TypeError(message)
    return entries


def bound_keywords(f: Any, kwargs: Any) -> Any:
    if not kwargs:
        return f

    def with_keywords(*args: Any) -> Any:
        return f(*args, **kwargs)

    return with_keywords


def assembled(found: list[Any], argnums: Argnums) -> Any:
    """Blocks in the structure of the output, and inside it that of the arguments."""
    if not found:
        message = "A Jacobian's argnums must name one argument at least, but got ()."
        raise ValueError(message)
    out = found[0][0]
    rows = []
    for row in range(len(result_leaves(out))):
        parts = [rebuilt(x, iter(blocks[row])) for _, x, blocks in found]
        rows.append(tuple(parts) if isinstance(argnums, tuple | list) else parts[0])
    return rebuilt_result(out, iter(rows))


def jacrev(
    f: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    tier: str = "auto",
) -> Derived[P, Any]:
    """The Jacobian by reverse mode: one pass forward, one back per entry of `f(x)`.

    Rows are computed one after the other, so it needs no `chunk_size`.

    Args:
        f: A function of real arguments.
        argnums: The position of the argument to differentiate, or a tuple of several.
        has_aux: Whether `f` returns `(y, aux)`; the result is `(jacobian, aux)`.
        tier: As in `grad`.

    Returns:
        A function whose result has the structure of `f(x)`, and inside it that of `x`,
        with arrays of shape `y.shape + x.shape`. Integers are constants: zeros.

    >>> import numpy as np
    >>> from rules_autodiff import jacrev
    >>> jacrev(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    check_tier(tier, "jacrev")

    def run_on(below: Any, *args: Any, **kwargs: Any) -> Any:
        active = positions(argnums, args, "jacrev")
        if tier != "tape":
            try:
                check_plain(below)
                check_flat([args[i] for i in active])
                return written_rows(f, args, kwargs, argnums, has_aux, tier)
            except Left as error:
                if tier in PINNED:
                    raise not_straight(f, error) from None
        for i in active:
            check_differentiable(args[i], i)
            refuse_complex(args[i], "jacrev")
        recording = Recording(below, f, args, kwargs, active)
        split_aux(recording, has_aux)
        out, aux = split(recording.value(), has_aux)
        blocks = reverse_blocks(below, recording, out, [args[i] for i in active])
        recording.leave()
        jacobian = assembled(blocks, argnums)
        return (jacobian, aux) if has_aux else jacobian

    return Derived("jacrev", f, run_on)


def written_rows(
    f: Any, args: Any, kwargs: Any, argnums: Argnums, has_aux: bool, tier: str
) -> Any:
    """The Jacobian by written code, and what the function returns beside.

    Raises:
        Left: The tape has to do it.
    """
    active = positions(argnums, args, "jacrev")
    run = PassWithAux if has_aux else Pass
    rows = run(f, args, kwargs, active, now=asked(tier))
    blocks = reverse_blocks(PLAIN, rows, rows.output, [args[i] for i in active])
    jacobian = assembled(blocks, argnums)
    return (jacobian, rows.aux) if has_aux else jacobian


def reverse_blocks(
    below: Any, recording: Recording | Pass, out: Any, xs: list[Any]
) -> list[Any]:
    check_result(out, "jacrev")
    refuse_complex(out, "jacrev")
    rows = result_leaves(out)
    shape = [[[empty_block(y, leaf) for leaf in leaves(x)] for y in rows] for x in xs]
    for row, leaf in enumerate(rows):
        for index in () if is_whole(leaf) else np.ndindex(np.shape(leaf)):
            place = result_leaves(recording.output)[row]
            dy = unit(place, index)
            cotangents = recording.pull_leaf(row, dy, below, result_leaves)
            for blocks, dx in zip(shape, cotangents, strict=True):
                for column, part in enumerate(leaves(dx)):
                    below.store_item(part, blocks[row][column], index)
    return [(out, x, blocks) for x, blocks in zip(xs, shape, strict=True)]


jacobian = jacrev


def hessian(
    f: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    chunk_size: int | None = None,
    tier: str = "auto",
) -> Derived[P, Any]:
    """The Hessian of `f`, forward over reverse: `∂²f / ∂x ∂x`.

    Args:
        f: A function with one real number (or several) as its result.
        argnums: The position of the argument to differentiate, or a tuple of several.
        has_aux: Whether `f` returns `(y, aux)`; the result is `(jacobian, aux)`.
        chunk_size: As in `jacfwd`: the number of columns per pass.
        tier: As in `hvp`: generated code computes one column after the other.

    >>> import numpy as np
    >>> from rules_autodiff import hessian
    >>> def f(x):
    ...     return x[0] * x[0] * x[1]
    >>> hessian(f)(np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """
    check_tier(tier, "hessian")
    by_hooks = jacfwd(jacrev(f, argnums, has_aux), argnums, has_aux, chunk_size, "tape")

    def run_on(below: Any, *args: Any, **kwargs: Any) -> Any:
        active = positions(argnums, args, "hessian")
        if tier != "tape" and active:
            try:
                check_plain(below, has_aux=has_aux)
                xs, now = [args[i] for i in active], asked(tier)
                blocks = written_hessian(f, args, kwargs, active, now=now)
                out = tuple(xs) if isinstance(argnums, tuple | list) else xs[0]
                found = [(out, x, row) for x, row in zip(xs, blocks, strict=True)]
                return assembled(found, argnums)
            except Left as error:
                if tier in PINNED:
                    raise not_straight(f, error, HOOKS) from None
        return by_hooks.run_on(below, *args, **kwargs)

    return Derived("hessian", f, run_on)
