"""Every way in which a value can be active, in every transform: right or an error.

All ways compute `sin(x) y`; what torch itself finds for that is the reference.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import func
from torch.autograd import forward_ad

import rules_core as rc
from rules_core import NoTangent
from rules_torch import KeywordDerivativeError

POINT = (torch.tensor([0.3, -0.7]).double(), torch.tensor([1.5, 2.5]).double())
KINDS = ("rrule", "frule", "both", "host", "host both", "derived", "NumPy rules")


def plain(x, y):
    return torch.sin(x) * y


def scalars(call):
    return lambda x, y: call(x, y).sum()


def backward(call, x, y):
    x, y = x.clone().requires_grad_(), y.clone().requires_grad_()
    call(x, y).sum().backward()
    return x.grad, y.grad


def autograd_grad(call, x, y):
    x, y = x.clone().requires_grad_(), y.clone().requires_grad_()
    return torch.autograd.grad(call(x, y).sum(), (x, y))


def create_graph(call, x, y):
    x, y = x.clone().requires_grad_(), y.clone().requires_grad_()
    dx, dy = torch.autograd.grad(call(x, y).sum(), (x, y), create_graph=True)
    return torch.autograd.grad((dx * dx * dy).sum(), (x, y))


def duals(call, x, y):
    with forward_ad.dual_level():
        pair = forward_ad.make_dual(x, x + 1), forward_ad.make_dual(y, y * 2)
        return forward_ad.unpack_dual(call(*pair)).tangent


def jacobian(create, vectorize=True, **options):
    def run(call, x, y):
        found = torch.autograd.functional.jacobian(
            call, (x, y), create_graph=create, vectorize=vectorize, **options
        )
        return [dx.detach() for dx in found]

    return run


def differentiated_jacobian(call, x, y):
    """The gradient of a Jacobian of the older vmap, whose tensors hide histories."""
    x, y = x.clone().requires_grad_(), y.clone().requires_grad_()
    blocks = torch.autograd.functional.jacobian(
        call, (x, y), create_graph=True, vectorize=True
    )
    total = sum((block**2 * torch.arange(1.0, 3.0)).sum() for block in blocks)
    return torch.autograd.grad(total, (x, y))


BOTH = (0, 1)
DIFFERENTIATED = "functional.jacobian, differentiated"
TRANSFORMS = {
    "backward": backward,
    "autograd.grad": autograd_grad,
    "create_graph": create_graph,
    "func.grad": lambda call, x, y: func.grad(scalars(call), BOTH)(x, y),
    "func.grad of one": lambda call, x, y: func.grad(lambda y: call(x, y).sum())(y),
    "func.vjp": lambda call, x, y: func.vjp(call, x, y)[1](x + 1),
    "jvp": lambda call, x, y: func.jvp(call, (x, y), (x + 1, y * 2))[1],
    "jvp of one": lambda call, x, y: func.jvp(lambda y: call(x, y), (y,), (x,))[1],
    "jacrev": lambda call, x, y: func.jacrev(call, BOTH)(x, y),
    "jacfwd": lambda call, x, y: func.jacfwd(call, BOTH)(x, y),
    "hessian": lambda call, x, y: func.hessian(scalars(call), BOTH)(x, y),
    "jacrev twice": lambda call, x, y: func.jacrev(
        func.jacrev(scalars(call), BOTH), BOTH
    )(x, y),
    "dual numbers": duals,
    "vmap(grad)": lambda call, x, y: func.vmap(func.grad(scalars(call), BOTH))(x, y),
    "vmap(jvp)": lambda call, x, y: func.vmap(
        lambda x, y: func.jvp(call, (x, y), (x, y))[1]
    )(x, y),
    "grad(vmap)": lambda call, x, y: func.grad(scalars(func.vmap(call)), BOTH)(x, y),
    "functional.jacobian": jacobian(create=True),
    DIFFERENTIATED: differentiated_jacobian,
    "functional.jacobian, forward": jacobian(create=False, strategy="forward-mode"),
}


def positional(sin):
    def body(x, y):
        return sin(x) * y

    return body


def listed(sin):
    def body(xs):
        return sin(xs[0]) * xs[1]

    return body


def keyed(sin):
    def body(ys, x):
        return sin(x) * ys["y"]

    return body


def called(sin):
    def body(get, x):
        return sin(x) * get()

    return body


def keyword(sin):
    def body(x, *, z):
        return sin(x) * z

    return body


def keywords(sin):
    def body(*, u, z):
        return sin(u) * z

    return body


def keyword_list(sin):
    def body(x, *, zs):
        return sin(x) * zs[0]

    return body


FUNCTION = type(lambda: None)


class Way(NamedTuple):
    """How `x` and `y` are handed to a function.

    Attributes:
        body: Makes the function out of a sine.
        spell: Positional and keyword arguments out of `x` and `y`.
        read: `x` and `y` out of those arguments.
        moved: Their tangents out of those of the positional arguments.
        cotangents: Those of the positional arguments out of `dx` and `dy`.
    """

    body: Any
    spell: Any
    read: Any
    moved: Any
    cotangents: Any


def pairs(*items):
    return items


WAYS = {
    "positional": Way(positional, lambda x, y: ((x, y), {}), pairs, pairs, pairs),
    "by name": Way(positional, lambda x, y: ((x,), {"y": y}), pairs, pairs, pairs),
    "list": Way(
        listed,
        lambda x, y: (([x, y],), {}),
        tuple,
        tuple,
        lambda dx, dy: ([dx, dy],),
    ),
    "dict": Way(
        keyed,
        lambda x, y: (({"y": y}, x), {}),
        lambda ys, x: (x, ys["y"]),
        lambda dys, dx: (dx, zero_or(dys, "y")),
        lambda dx, dy: ({"y": dy}, dx),
    ),
    "captured": Way(
        called,
        lambda x, y: ((lambda: y, x), {}),
        lambda get, x: (x, get()),
        lambda dget, dx: (dx, zero_or(dget, "y")),
        lambda dx, dy: (rc.Tangent(FUNCTION, y=dy), dx),
    ),
    "keyword": Way(
        keyword,
        lambda x, y: ((x,), {"z": y}),
        lambda x, *, z: (x, z),
        lambda dx: (dx, 0),
        lambda dx, _: (dx,),
    ),
    "keyword alone": Way(
        keywords,
        lambda x, y: ((), {"u": x, "z": y}),
        lambda *, u, z: (u, z),
        lambda: (0, 0),
        lambda *_: (),
    ),
    "keyword list": Way(
        keyword_list,
        lambda x, y: ((x,), {"zs": [y]}),
        lambda x, *, zs: (x, zs[0]),
        lambda dx: (dx, 0),
        lambda dx, _: (dx,),
    ),
}


def zero_or(tangent, name):
    """An entry of the tangent of a container."""
    return 0 if isinstance(tangent, rc.AbstractZero) else tangent[name]


RULES = {"rrule": "r", "frule": "f", "host": "r", "derived": ""}


@cache
def function(way, kind):
    """`sin(x) y`, its arguments handed over in a way, with rules of a kind."""
    numpy_only = kind == "NumPy rules"
    host = numpy_only or "host" in kind or kind == "derived"
    way = WAYS[way]
    f = rc.primitive(way.body(np.sin if host else torch.sin), host=host)
    primal, library = (f.fun, np) if numpy_only else (f, torch)

    def body_rrule(*args, **kw):
        x, y = way.read(*args, **kw)

        def body_pullback(dy):
            dxs = way.cotangents(dy * y * library.cos(x), dy * library.sin(x))
            return NoTangent(), *dxs

        return primal(*args, **kw), body_pullback

    def body_frule(tangents, *args, **kw):
        x, y = way.read(*args, **kw)
        dx, dy = way.moved(*tangents[1:])
        return primal(*args, **kw), dx * y * library.cos(x) + library.sin(x) * dy

    rules = RULES.get(kind, "rf")
    if "r" in rules:
        rc.rrule.define(f, host=numpy_only)(body_rrule)
    if "f" in rules:
        rc.frule.define(f, host=numpy_only)(body_frule)

    def call(x, y):
        args, kwargs = way.spell(x, y)
        return f(*args, **kwargs)

    return call


# Second derivatives of rules in NumPy. Under `create_graph` there may be one.
REFUSED = {
    ("NumPy rules", transform)
    for transform in ("create_graph", "hessian", "jacrev twice", DIFFERENTIATED)
}


@pytest.mark.covering
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
def test_a_derivative_is_right_or_an_error(way, kind, transform):
    run = TRANSFORMS[transform]
    call = function(way, kind)
    if "keyword" in way:
        with pytest.raises(KeywordDerivativeError, match="keyword-only argument '[zu]"):
            run(call, *POINT)
        return
    expected = run(plain, *POINT)
    try:
        found = run(call, *POINT)
    except rc.UnsupportedError:
        assert (kind, transform) in REFUSED
        return
    torch.testing.assert_close(found, expected)
