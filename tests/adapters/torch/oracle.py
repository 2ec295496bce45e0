"""Comparing a function with torch's own operator on the samples of its database.

Values, cotangents, tangents and second derivatives (of the pullback, in its point and
in the cotangent), for every sample that the operator's parameters allow.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

__all__ = ["Report", "compare", "database", "moving"]

Tensors = Sequence[Tensor]


@cache
def database() -> dict[str, Any]:
    """Name, with the variant after a dot, to torch's description of an operator."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
    found: dict[str, Any] = {}
    for op in op_db:
        found.setdefault(".".join(filter(None, (op.name, op.variant_test_name))), op)
    return found


def samples(op: Any, dtype: torch.dtype, call: Any) -> Iterator[Any]:
    """The samples whose arguments `call` can take; the same at every run."""
    taken = inspect.signature(call)
    torch.manual_seed(0)
    for sample in op.sample_inputs("cpu", dtype, requires_grad=True):
        try:
            taken.bind(sample.input, *sample.args, **sample.kwargs)
        except TypeError:
            continue
        yield sample.transform(doubled)


def doubled(x: Any) -> Any:
    """Single precision as double: torch sums up weights in the precision they have."""
    if not isinstance(x, Tensor) or x.dtype is not torch.float32:
        return x
    return x.detach().double().requires_grad_(x.requires_grad)


def leaves_of(sample: Any) -> list[Tensor]:
    """The tensors of a sample that have derivatives, each once."""
    everything = pytree.tree_leaves((sample.input, sample.args, sample.kwargs))
    tensors = [x for x in everything if isinstance(x, Tensor) and x.requires_grad]
    return list({id(x): x for x in tensors}.values())


def moving(y: Any) -> list[Tensor]:
    """The tensors of a result that have derivatives."""
    tensors = [t for t in pytree.tree_leaves(y) if isinstance(t, Tensor)]
    return [t for t in tensors if t.is_floating_point() or t.is_complex()]


def of_leaves(f: Callable[..., Any], sample: Any, leaves: Tensors) -> Any:
    """`f` of a sample as a function of its leaves.

    What torch's own tests do to arguments and results that are not unique (symmetric
    matrices, signs of vectors) is done here too.
    """
    order = {id(x): i for i, x in enumerate(leaves)}

    def function(*xs: Tensor) -> tuple[Tensor, ...]:
        def put(x: Any) -> Any:
            return xs[order[id(x)]] if id(x) in order else x

        args, kwargs = pytree.tree_map(
            put, ((sample.input, *sample.args), sample.kwargs)
        )
        return tuple(moving(sample.output_process_fn_grad(f(*args, **kwargs))))

    return function


# -- checks: (function, point, cotangents of the results, tangents of the arguments) ---


def value(f: Any, xs: Tensors, seeds: Tensors, tangents: Tensors) -> Tensors:
    found: Tensors = f(*xs)
    return found


def vjp(f: Any, xs: Tensors, seeds: Tensors, tangents: Tensors) -> Tensors:
    found: Tensors = gradient(f(*xs), xs, seeds)
    return found


def jvp(f: Any, xs: Tensors, seeds: Tensors, tangents: Tensors) -> Tensors:
    plain = tuple(x.detach() for x in xs)
    pushed: Tensors = torch.func.jvp(f, plain, tuple(tangents))[1]
    return pushed


def second(f: Any, xs: Tensors, seeds: Tensors, tangents: Tensors) -> Tensors:
    """The gradient of ⟨pullback(seeds), tangents⟩ in the point and in the seeds."""
    seeds = [dy.clone().requires_grad_() for dy in seeds]
    first = gradient(f(*xs), xs, seeds, create_graph=True)
    return gradient(first, (*xs, *seeds), tangents)


def gradient(ys: Tensors, xs: Tensors, seeds: Tensors, **options: Any) -> list[Tensor]:
    """Cotangents of `xs`; zeros where there is no way to them."""
    kept = [(y, dy) for y, dy in zip(ys, seeds, strict=True) if y.requires_grad]
    found: Sequence[Any] = [None] * len(xs)
    if kept:
        outs, dys = zip(*kept, strict=True)
        found = torch.autograd.grad(outs, xs, dys, allow_unused=True, **options)
    pairs = zip(found, xs, strict=True)
    return [torch.zeros_like(x) if dx is None else dx for dx, x in pairs]


CHECKS = {"value": value, "vjp": vjp, "jvp": jvp, "second": second}


class Report:
    """What the samples of an operator showed.

    Attributes:
        count: How many samples were compared.
        found: Check, or `"refused"`, to the first failure, in words.
    """

    def __init__(self) -> None:
        self.count = 0
        self.found: dict[str, str] = {}

    def note(self, check: str, sample: Any, failure: str | None) -> None:
        if failure is not None:
            kind = "refused" if failure.startswith("UnsupportedError") else check
            self.found.setdefault(kind, f"{sample.summary()}\n{failure}")


def compare(
    op: Any, call: Any, same: Any, dtype: torch.dtype, checks: Sequence[str], most: int
) -> Report:
    """Compare `call` with torch's operator on up to `most` samples.

    `same(op, sample)` says whether both are the same function on a sample.
    """
    report = Report()
    for sample in samples(op, dtype, call):
        if report.count == most:
            break
        if not same(op, sample):
            continue
        report.count += 1
        xs = leaves_of(sample)
        theirs = of_leaves(partial(op.gradcheck_wrapper, op), sample, xs)
        mine = of_leaves(partial(op.gradcheck_wrapper, call), sample, xs)
        seeds = [torch.randn_like(y) for y in theirs(*xs)]
        tangents = [torch.randn_like(x) for x in xs]
        for check in checks:
            failure = difference(CHECKS[check], theirs, mine, (xs, seeds, tangents))
            report.note(check, sample, failure)
    return report


def difference(check: Any, theirs: Any, mine: Any, at: Any) -> str | None:
    """What differs, in words, or None."""
    expected = check(theirs, *at)
    try:
        torch.testing.assert_close(
            list(check(mine, *at)), list(expected), rtol=1e-7, atol=1e-8, equal_nan=True
        )
    except Exception as error:  # whatever it is, it is the answer
        return f"{type(error).__name__}: {error}"
    return None
