"""Dual numbers of `torch.autograd.forward_ad`, alone and around `torch.func`."""

from __future__ import annotations

import pytest
import torch
from torch.autograd import forward_ad
from torch.func import grad, jacrev, jvp, vmap

import rules_core as rc
from rules_core import NoTangent
from tests.adapters.torch.formulas import KINDS, expo, host_sine, marker, sinmul

X = torch.tensor([0.3, 0.7], dtype=torch.float64)
MAKERS = {"sinmul": sinmul, "expo": expo, "host": host_sine}


def pushed(f, x=X, dx=None):
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, torch.ones_like(x) if dx is None else dx)
        return forward_ad.unpack_dual(f(dual)).tangent


def total(f):
    return lambda x: f(x).sum()


INSIDE = {
    "grad": lambda f: grad(total(f)),
    "vmap": vmap,
    "vmap(grad)": lambda f: vmap(grad(f)),
    "grad(vmap)": lambda f: grad(total(vmap(f))),
    "grad(grad)": lambda f: grad(total(grad(total(f)))),
    "jacrev": jacrev,
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("inside", INSIDE)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", MAKERS)
def test_duals_around_transforms(name, kind, inside):
    made = MAKERS[name](kind)
    transform = INSIDE[inside]
    torch.testing.assert_close(
        pushed(transform(made.f)), pushed(transform(made.native))
    )


@pytest.mark.parametrize(
    ("kind", "scale"), [("both", 3 * 2), ("rrule", 3 * 3), ("frule", 2 * 2)]
)
def test_each_mode_uses_its_own_rule_there(kind, scale):
    mark = marker(kind).f
    slope = pushed(grad(lambda x: (mark(x) ** 2).sum()))
    assert slope.tolist() == [2 * scale] * 2


# Not `torch.func.linearize`: inside of `grad` PyTorch 2.13 reads memory there that
# nobody has written, for its own functions too.
INNER = {
    "duals": lambda f, x: pushed(f, x * 1),
    "jvp": lambda f, x: jvp(f, (x,), (torch.ones_like(x),))[1],
    "duals of grad": lambda f, x: pushed(grad(total(f)), x * 1),
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", MAKERS)
def test_duals_inside_a_transform(name, kind, inner):
    """There they are duals of what the transform wraps."""
    made = MAKERS[name](kind)

    def slope(f):
        return grad(lambda x: INNER[inner](f, x).sum())(X)

    torch.testing.assert_close(slope(made.f), slope(made.native))


VIEWS = {
    "real": lambda z: (z * z.conj()).real,
    "imag": lambda z: (z * z).imag,
    "negative bit": lambda z: (z * z).conj().imag,
    "conjugate bit": lambda z: (z * z).conj(),
    "view_as_real": lambda z: torch.view_as_real(z * z),
    "slice": lambda z: (z * z)[:1],
    "repeated": lambda z: (z * z).sum().expand(3),
}


@pytest.mark.parametrize("name", VIEWS)
def test_results_that_are_views_of_something_inside(name):
    """torch lays out the tangent of a view like that of what it views."""
    fn = VIEWS[name]
    f = rc.primitive(lambda z: fn(z))

    @rc.rrule.define(f)
    def rule(z):
        def pullback(dy):
            return NoTangent(), torch.func.vjp(fn, z)[1](dy)[0]

        return fn(z), pullback

    z = torch.tensor([1 + 1j, 2 - 1j], dtype=torch.complex128)
    dz = torch.tensor([0.3 + 2j, 1j], dtype=torch.complex128)
    torch.testing.assert_close(pushed(f, z, dz), pushed(fn, z, dz))
    torch.testing.assert_close(
        torch.func.jvp(f, (z,), (dz,)), torch.func.jvp(fn, (z,), (dz,))
    )
