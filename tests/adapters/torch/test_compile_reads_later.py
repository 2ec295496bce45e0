"""What functions read in compiled programs, changed before the backward pass."""

import numpy as np
import pytest
import torch

import rules_core as rc
from rules_scipy import integrate
from rules_torch import to_torch

D = torch.float64
READ: dict = {"number": 2.0, "array": np.array([2.0])}


class Weights:
    scale = 2.0

    def __init__(self):
        self.w, self.calls = 2.0, 0


OWN = Weights()


@pytest.fixture(autouse=True)
def _as_before():
    torch.compiler.reset()
    READ["number"], READ["array"][0] = 2.0, 2.0
    OWN.w = Weights.scale = 2.0
    yield
    Weights.scale = 2.0


def assigned():
    k = 2.0

    def change():
        nonlocal k
        k = 5.0

    return (lambda u: k * u**2), change


def captured():
    a = np.array([2.0])
    return (lambda u: a[0] * u**2), lambda: a.fill(5.0)


WAYS = {
    "entry": lambda: (
        lambda u: READ["number"] * u**2,
        lambda: READ.update(number=5.0),
    ),
    "array": lambda: (
        lambda u: READ["array"][0] * u**2,
        lambda: READ["array"].fill(5.0),
    ),
    "attribute": lambda: (lambda u: OWN.w * u**2, lambda: setattr(OWN, "w", 5.0)),
    "class": lambda: (
        lambda u: OWN.scale * u**2,
        lambda: setattr(Weights, "scale", 5.0),
    ),
    "variable": assigned,
    "captured array": captured,
}
DECLARED = {"out": {"out": "u"}, "elementwise": {"elementwise": True}}


def compiled(f):
    return torch.compile(f, backend="aot_eager")


def at(x):
    return torch.tensor([x], dtype=D, requires_grad=True)


@pytest.mark.parametrize("declared", DECLARED)
@pytest.mark.parametrize("way", WAYS)
def test_a_change_before_the_backward_pass_is_an_error(way, declared):
    f, change = WAYS[way]()
    own = to_torch(f, host=True, **DECLARED[declared])
    step, x = compiled(lambda u: own(u).sum()), at(1.5)
    first, second = step(x), step(x)
    first.backward()
    assert x.grad.item() == 6.0
    change()
    with pytest.raises(rc.UnsupportedError, match="must read at the pullback"):
        second.backward()


def test_a_solver():
    step = compiled(
        lambda p: integrate.quad(
            lambda t, p: READ["number"] * t * p**2, 0.0, 1.0, args=(p,)
        )[0]
    )
    p = torch.tensor(1.5, dtype=D, requires_grad=True)
    first, second = step(p), step(p)
    first.backward()
    torch.testing.assert_close(p.grad.item(), 3.0)
    READ["number"] = 5.0
    with pytest.raises(rc.UnsupportedError, match="which was changed since"):
        second.backward()


def test_an_adjoint():
    scaled = rc.linear(
        lambda x: READ["number"] * x,
        adjoint=lambda y: READ["number"] * y,
        host=True,
        out="x",
    )
    step, x = compiled(lambda x: scaled(x).sum()), at(1.0)
    first, second = step(x), step(x)
    first.backward()
    assert x.grad.item() == 2.0
    READ["number"] = 5.0
    with pytest.raises(rc.UnsupportedError, match="which was changed since"):
        second.backward()


def test_what_a_function_changes_itself_is_its_own():
    def counted(u):
        OWN.calls += 1
        return OWN.w * np.sin(u)

    own = to_torch(counted, host=True, out="u")
    step, x = compiled(lambda u: (own(u) ** 2).sum()), at(0.3)
    values = [step(x), step(2.0 * x), step(x)]
    (values[2] + values[0] + values[1]).backward()
    known = 8.0 * np.sin(0.6) + 8.0 * np.sin(1.2)
    assert x.grad.item() == pytest.approx(known, rel=1e-12)
    OWN.w = 5.0
    assert step(x).item() == pytest.approx(25.0 * np.sin(0.3) ** 2)


@pytest.mark.parametrize("transform", ["grad", "jacrev", "batched"])
def test_in_transforms(transform):
    own = to_torch(lambda u: OWN.w * np.sin(u), host=True, elementwise=True)
    x = torch.tensor([0.3, 0.7], dtype=D)
    one = torch.func.grad(lambda u: own(u).sum())
    programs = {
        "grad": one,
        "jacrev": lambda x: torch.func.jacrev(own)(x).sum(0),
        "batched": torch.func.vmap(one),
    }
    given = torch.stack([x, 2.0 * x]) if transform == "batched" else x
    found = compiled(programs[transform])(given)
    torch.testing.assert_close(found, 2.0 * torch.cos(given))
