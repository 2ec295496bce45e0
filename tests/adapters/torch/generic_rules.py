"""Primitives over array-API functions with generic rules, by NumPy's names.

Each kind of rule that an author may write is among them: partials, adjoints of linear
functions, an rrule with a closure, an rrule with a `Pullback`. Where there is no frule,
forward mode transposes the pullback. `generic.<name>` is the primitive.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import rules_core as rc

__all__ = ["generic"]

generic = SimpleNamespace(linalg=SimpleNamespace(), fft=SimpleNamespace())
space = rc.array_namespace
NONE = rc.NoTangent()


def place(path: str, f: Any) -> Any:
    """The primitive of `f`, as `generic.<path>`."""
    *owners, name = path.split(".")
    f.__name__ = f.__qualname__ = name
    handle = rc.primitive(f)
    setattr(getattr(generic, owners[0]) if owners else generic, name, handle)
    return handle


def conj(x: Any) -> Any:
    return space(x).conj(x)


# -- elementwise: partials of (namespace, result, arguments) ---------------------------


def unary(
    name: str, slope: Any, own: str | None = None, holomorphic: bool = True
) -> None:
    def body(x):
        return getattr(space(x), own or name)(x)

    def partials(y, x):
        return (slope(space(x), y, x),)

    rc.scalar_rule(place(name, body), partials, holomorphic=holomorphic)


def binary(
    name: str, slopes: Any, own: str | None = None, holomorphic: bool = True
) -> None:
    def body(a, b):
        return getattr(space(a, b), own or name)(a, b)

    def partials(y, a, b):
        return slopes(space(a, b), y, a, b)

    rc.scalar_rule(place(name, body), partials, holomorphic=holomorphic)


def share(xp: Any, wins: Any, ties: Any, like: Any) -> Any:
    return xp.astype(wins, like.dtype) + xp.astype(ties, like.dtype) / 2


unary("exp", lambda xp, y, x: y)
unary("expm1", lambda xp, y, x: y + 1)
unary("log", lambda xp, y, x: 1 / x)
unary("log1p", lambda xp, y, x: 1 / (1 + x))
unary("log2", lambda xp, y, x: 1 / (x * 0.6931471805599453))
unary("log10", lambda xp, y, x: 1 / (x * 2.302585092994046))
unary("sqrt", lambda xp, y, x: 0.5 / y)
unary("square", lambda xp, y, x: 2 * x)
unary("reciprocal", lambda xp, y, x: -y * y)
unary("sin", lambda xp, y, x: xp.cos(x))
unary("cos", lambda xp, y, x: -xp.sin(x))
unary("tan", lambda xp, y, x: 1 + y * y)
unary("sinh", lambda xp, y, x: xp.cosh(x))
unary("cosh", lambda xp, y, x: xp.sinh(x))
unary("tanh", lambda xp, y, x: 1 - y * y)
unary("asin", lambda xp, y, x: 1 / xp.sqrt(1 - x * x))
unary("acos", lambda xp, y, x: -1 / xp.sqrt(1 - x * x))
unary("atan", lambda xp, y, x: 1 / (1 + x * x))
unary("asinh", lambda xp, y, x: 1 / xp.sqrt(1 + x * x))
unary("acosh", lambda xp, y, x: 1 / (xp.sqrt(x - 1) * xp.sqrt(x + 1)))
unary("atanh", lambda xp, y, x: 1 / (1 - x * x))
unary("negative", lambda xp, y, x: -1.0)
unary("positive", lambda xp, y, x: 1.0)
for step in ("ceil", "floor", "round", "trunc"):
    unary(step, lambda xp, y, x: rc.ZeroTangent(), holomorphic=False)
binary("add", lambda xp, y, a, b: (1.0, 1.0))
binary("subtract", lambda xp, y, a, b: (1.0, -1.0))
binary("multiply", lambda xp, y, a, b: (b, a))
binary("divide", lambda xp, y, a, b: (1 / b, -y / b))
binary("pow", lambda xp, y, a, b: (b * a ** (b - 1), y * xp.log(a)))
binary(
    "atan2",
    lambda xp, y, a, b: (b / (a * a + b * b), -a / (a * a + b * b)),
    holomorphic=False,
)
binary("hypot", lambda xp, y, a, b: (a / y, b / y), holomorphic=False)
binary("logaddexp", lambda xp, y, a, b: (xp.exp(a - y), xp.exp(b - y)))
binary(
    "copysign",
    lambda xp, y, a, b: (xp.sign(a) * xp.sign(y), rc.ZeroTangent()),
    holomorphic=False,
)
binary("remainder", lambda xp, y, a, b: (1.0, -xp.floor(a / b)), holomorphic=False)
binary("floor_divide", lambda xp, y, a, b: (rc.ZeroTangent(),) * 2, holomorphic=False)
binary("nextafter", lambda xp, y, a, b: (1.0, rc.ZeroTangent()), holomorphic=False)
binary(
    "maximum",
    lambda xp, y, a, b: (share(xp, a > b, a == b, y), share(xp, b > a, a == b, y)),
    holomorphic=False,
)
binary(
    "minimum",
    lambda xp, y, a, b: (share(xp, a < b, a == b, y), share(xp, b < a, a == b, y)),
    holomorphic=False,
)


def absolute(x):
    return space(x).abs(x)


absolute = place("absolute", absolute)


def unit(x: Any) -> Any:
    """x / |x|, zero at zero."""
    xp = space(x)
    size = absolute(x)
    return x / xp.where(size == 0, xp.ones_like(size), size)


@rc.rrule.define(absolute)
def absolute_rrule(x):
    def absolute_pullback(dy):
        return NONE, unit(x) * dy

    return absolute(x), absolute_pullback


# -- linear: adjoints ------------------------------------------------------------------


def linear(path: str, adjoint: Any, argnums: Any = 0) -> Any:
    def declare(body: Any) -> Any:
        handle = place(path, body)
        rc.linear_rule(handle, adjoint, argnums)
        return handle

    return declare


def spread(dy: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    """`dy` over the axes that were summed."""
    xp = space(dy)
    if axis is not None and not keepdims and x.ndim:
        axes = (axis,) if isinstance(axis, int) else axis
        for i in sorted(a % x.ndim for a in axes):
            dy = xp.expand_dims(dy, axis=i)
    return xp.broadcast_to(dy, x.shape)


def sum_adjoint(dy, x, *, axis=None, keepdims=False):
    return spread(dy, x, axis, keepdims)


@linear("sum", sum_adjoint)
def sum_body(x, *, axis=None, keepdims=False):
    return space(x).sum(x, axis=axis, keepdims=keepdims)


def mean_adjoint(dy, x, *, axis=None, keepdims=False):
    count = max(dy.numel(), 1) / max(x.numel(), 1)
    return spread(dy, x, axis, keepdims) * count


@linear("mean", mean_adjoint)
def mean_body(x, *, axis=None, keepdims=False):
    return space(x).mean(x, axis=axis, keepdims=keepdims)


def cumsum_adjoint(dy, x, *, axis=None):
    xp = space(dy)
    back = generic.cumsum(xp.flip(dy, axis=axis), axis=axis)
    return xp.flip(back, axis=axis)


@linear("cumsum", cumsum_adjoint)
def cumsum_body(x, *, axis=None):
    return space(x).cumulative_sum(x, axis=axis)


def as_before(dy, x, *_, **__):
    return space(dy).reshape(dy, x.shape)


@linear("reshape", as_before)
def reshape_body(x, shape):
    return space(x).reshape(x, tuple(shape))


@linear("ravel", as_before)
def ravel_body(x):
    return space(x).reshape(x, (-1,))


@linear("squeeze", as_before)
def squeeze_body(x, *, axis):
    return space(x).squeeze(x, axis=axis)


@linear("expand_dims", as_before)
def expand_dims_body(x, *, axis):
    return space(x).expand_dims(x, axis=axis)


def permute_adjoint(dy, x, axes):
    order = sorted(range(x.ndim), key=lambda i: axes[i] % x.ndim)
    return space(dy).permute_dims(dy, tuple(order))


@linear("permute_dims", permute_adjoint)
def permute_body(x, axes):
    return space(x).permute_dims(x, tuple(axes))


def moveaxis_adjoint(dy, x, source, target):
    return space(dy).moveaxis(dy, target, source)


@linear("moveaxis", moveaxis_adjoint)
def moveaxis_body(x, source, target):
    return space(x).moveaxis(x, source, target)


def turned(dy, x):
    return space(dy).matrix_transpose(dy)


@linear("matrix_transpose", turned)
def matrix_transpose_body(x):
    return space(x).matrix_transpose(x)


def summed_back(dy, x, shape):
    return rc.ProjectTo(x)(dy)


@linear("broadcast_to", summed_back)
def broadcast_to_body(x, shape):
    return space(x).broadcast_to(x, tuple(shape))


def flip_adjoint(dy, x, *, axis=None):
    return space(dy).flip(dy, axis=axis)


@linear("flip", flip_adjoint)
def flip_body(x, *, axis=None):
    return space(x).flip(x, axis=axis)


def roll_adjoint(dy, x, shift, *, axis=None):
    back = -shift if isinstance(shift, int) else tuple(-s for s in shift)
    return space(dy).roll(dy, back, axis=axis)


@linear("roll", roll_adjoint)
def roll_body(x, shift, *, axis=None):
    return space(x).roll(x, shift, axis=axis)


def tril_adjoint(dy, x, k=0):
    return space(dy).tril(dy, k=k)


@linear("tril", tril_adjoint)
def tril_body(x, k=0):
    return space(x).tril(x, k=k)


def triu_adjoint(dy, x, k=0):
    return space(dy).triu(dy, k=k)


@linear("triu", triu_adjoint)
def triu_body(x, k=0):
    return space(x).triu(x, k=k)


def trace_adjoint(dy, x):
    xp = space(dy)
    return dy * xp.eye(x.shape[0], x.shape[1], dtype=dy.dtype)


@linear("trace", trace_adjoint)
def trace_body(x):
    return space(x).linalg.trace(x)


def concat_adjoint(dy, xs, *, axis=0):
    parts, start = [], 0
    for x in xs:
        parts.append(space(dy).moveaxis(dy, axis, 0)[start : start + x.shape[axis]])
        start += x.shape[axis]
    return [space(dy).moveaxis(part, 0, axis) for part in parts]


@linear("concat", concat_adjoint)
def concat_body(xs, *, axis=0):
    (_,) = {x.ndim for x in xs}  # torch's also takes empty vectors of any rank
    return space(*xs).concat(list(xs), axis=axis)


def stack_adjoint(dy, xs, *, axis=0):
    return list(space(dy).unstack(dy, axis=axis))


@linear("stack", stack_adjoint)
def stack_body(xs, *, axis=0):
    return space(*xs).stack(list(xs), axis=axis)


def unstack_adjoint(dys, x, *, axis=0):
    xp = space(x)
    zero = rc.AbstractZero
    whole = [
        xp.zeros_like(xp.moveaxis(x, axis, 0)[0]) if isinstance(dy, zero) else dy
        for dy in dys
    ]
    return xp.stack(whole, axis=axis)


@linear("unstack", unstack_adjoint)
def unstack_body(x, *, axis=0):
    return tuple(space(x).unstack(x, axis=axis))


def where_adjoint(dy, condition, a, b):
    xp = space(dy)
    zero = xp.zeros_like(dy)
    return xp.where(condition, dy, zero), xp.where(condition, zero, dy)


@linear("where", where_adjoint, (1, 2))
def where_body(condition, a, b):
    return space(condition).where(condition, a, b)


def take_adjoint(dy, x, index, *, axis=None):
    xp, axis = space(dy), axis or 0
    hot = xp.astype(index[:, None] == xp.arange(x.shape[axis]), dy.dtype)
    back = xp.tensordot(xp.moveaxis(dy, axis, -1), hot, axes=1)
    return xp.moveaxis(back, -1, axis)


@linear("take", take_adjoint)
def take_body(x, index, *, axis=None):
    return space(x).take(x, index, axis=axis)


def conj_adjoint(dy, x):
    return conj(dy)


@linear("conj", conj_adjoint)
def conj_body(x):
    return space(x).conj(x)
