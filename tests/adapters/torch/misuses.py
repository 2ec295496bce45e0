"""Primitives and calls that do what they must not, for `test_texts`."""

from __future__ import annotations

import numpy as np
import torch
from torch.func import jvp, vmap

import rules_core as rc
from rules_core import NoTangent

X = torch.tensor([1.0, 2.0])


def leaf():
    return X.clone().requires_grad_()


def run_backward(f, *args):
    return f(leaf(), *args).sum().backward()


def product(answer):
    """A product whose pullback answers what it is told."""

    @rc.primitive
    def product(x, y):
        return x * y

    @rc.rrule.define(product)
    def product_rrule(x, y):
        return x * y, lambda dy: answer(dy)

    return product


def pushed(answer):
    """The double of a tensor, whose frule answers what it is told."""

    @rc.primitive
    def double(x):
        return 2 * x

    @rc.frule.define(double)
    def double_frule(tangents, x):
        return answer(2 * x, tangents[1])

    return double


def captures(make):
    """A cube whose pullback captures what is made of `x`."""

    @rc.primitive
    def cube(x):
        return x * x * x

    @rc.rrule.define(cube)
    def cube_rrule(x):
        kept = make(x)

        def cube_pullback(dy):
            return NoTangent(), dy * kept

        return x * x * x, cube_pullback

    return cube


def loop(x):
    kept = [x]
    kept.append(kept)
    return kept


def with_numpy_rule(kind):
    @rc.primitive(host=True, elementwise=True)
    def power(x):
        return x * x

    if kind == "rrule":

        @rc.rrule.define(power, host=True)
        def power_rrule(x):
            return x * x, lambda dy: (NoTangent(), 2 * dy * x)

    else:

        @rc.frule.define(power, host=True)
        def power_frule(tangents, x):
            return x * x, 2 * x * tangents[1]

    return power


def hides_in_numpy():
    @rc.primitive(host=True, elementwise=True)
    def power(x):
        return x * x

    @rc.rrule.define(power, host=True)
    def power_rrule(x):
        kept = iter([x])
        return x * x, lambda dy: (NoTangent(), 2 * dy * next(kept))

    return power


def shifted():
    @rc.primitive
    def shifted(x, *, by):
        return x + by

    @rc.rrule.define(shifted)
    def shifted_rrule(x, *, by):
        return x + by, lambda dy: (NoTangent(), dy)

    @rc.frule.define(shifted)
    def shifted_frule(tangents, x, *, by):
        return x + by, tangents[1]

    return shifted


def asks_for_memory():
    @rc.primitive
    def sine(x):
        return torch.sin(x)

    @rc.rrule.define(sine)
    def sine_rrule(x):
        return torch.sin(x), lambda dy: (NoTangent(), dy * np.cos(x))

    return sine


def applies_itself():
    @rc.primitive
    def rolled(x):
        return torch.roll(x, 1)

    @rc.frule.define(rolled)
    def rolled_frule(tangents, x):
        return rolled(x), rolled(tangents[1])

    return rolled


def bare(**flags):
    @rc.primitive(host=True, **flags)
    def sorted_(x):
        return np.sort(x)

    rc.opt_out(rc.rrule, sorted_, object)
    return sorted_


def promises(shape, dtype="float32"):
    @rc.primitive(host=True)
    def part(x):
        return x[:1]

    @rc.shape_rule.define(part)
    def part_shape(x):
        return rc.ShapeDtype(shape, dtype)

    return part


def generator_beside(x):
    @rc.primitive
    def first(box, x):
        return next(box) * x

    return first((t for t in [x]), x)


def reads_outside(x):
    weight = torch.tensor(3.0, requires_grad=True)

    @rc.primitive
    def scaled(x):
        return weight * x

    rc.scalar_rule(scaled, lambda y, x: (3.0,))
    return scaled(x)


def applied_method(x):
    @rc.primitive
    def applied(f, x):
        return f(x)

    def applied_rrule(f, x):
        return f(x), lambda dy: (NoTangent(), NoTangent(), dy)

    rc.rrule.define(applied)(applied_rrule)
    return applied(torch.tensor(3.0, requires_grad=True).mul, x)


def differentiates_a_keyword():
    f, by = shifted(), leaf()
    return f(X, by=by).sum().backward()


def pushes_a_keyword():
    f = shifted()
    return jvp(lambda by: f(X, by=by), (X,), (X,))


def operates(f):
    """The operator that stands for a host function while a compiler traces."""
    torch.compiler.reset()
    return torch.compile(f, backend="aot_eager")(X)


def penalty(f):
    x = leaf()
    (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return first.sum().backward()


def kept_vjp():
    @rc.primitive
    def kept(x):
        return torch.sin(x)

    @rc.rrule.define(kept)
    def kept_rrule(x):
        y, back = torch.func.vjp(torch.sin, x)
        return y, lambda dy: (NoTangent(), back(dy)[0])

    return kept


def own_graph(x):
    with torch.enable_grad():
        return x.detach().requires_grad_().sin()


def exports_a_transform():
    f = product(lambda dy: (NoTangent(), dy, dy))

    class Inside(torch.nn.Module):
        def forward(self, x):
            return vmap(lambda u: f(u, u))(x)

    return torch.export.export(Inside(), (X,), strict=False)


def compiles_a_numpy_rule():
    f = with_numpy_rule("rrule")
    torch.compiler.reset()
    return torch.compile(f, backend="aot_eager", fullgraph=True)(leaf())
