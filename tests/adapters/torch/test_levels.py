"""One tensor as an argument at several levels of `torch.func`."""

from types import SimpleNamespace

import pytest
import torch

import rules_core as rc
from rules_core import NoTangent, rrule
from tests.adapters.levels import PROGRAMS, STYLES, made, plain

TORCH = SimpleNamespace(
    grad=torch.func.grad,
    vjp=torch.func.vjp,
    jvp=torch.func.jvp,
    jacrev=torch.func.jacrev,
    vmap=torch.func.vmap,
    ones=torch.ones,
)
POINTS = {
    "number": torch.tensor(3.0, dtype=torch.float64),
    "vector": torch.tensor([1.5, -2.0], dtype=torch.float64),
}
SECONDS = {
    "same": lambda x: x,
    "clone": torch.clone,
    "view": lambda x: x.view(x.shape),
    "parameter": torch.nn.Parameter,
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("host", [False, True])
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("point", POINTS)
def test_each_level_has_its_own_derivative(style, host, point):
    f = made(style, host=host)
    x = POINTS[point]
    for name, program in PROGRAMS.items():
        for second, of in SECONDS.items():
            y = of(x)
            expected = program(TORCH, plain, x, y)
            found = program(TORCH, f, x, y)
            torch.testing.assert_close(found, expected, msg=f"{name}, {second}")


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("style", STYLES)
def test_parameter_and_data_are_one_tensor(style):
    f, w = made(style, host=False), torch.nn.Parameter(POINTS["vector"])
    for program in PROGRAMS.values():
        torch.testing.assert_close(program(TORCH, f, w, w), program(TORCH, plain, w, w))


@pytest.mark.parametrize("style", ["closure", "Pullback", "frule"])
def test_compiled(style):
    f, x = made(style, host=False), POINTS["vector"]

    def program(f):
        return lambda x: PROGRAMS["argnums 1, 0"](TORCH, f, x, x)

    found = torch.compile(program(f), backend="aot_eager")(x)
    torch.testing.assert_close(found, program(plain)(x))


def test_a_captured_constant_is_no_argument():
    x = POINTS["number"]

    @rc.primitive
    def scaled(a):
        return a * x

    @rrule.define(scaled)
    def scaled_rrule(a):
        return scaled(a), lambda dy: (NoTangent(), x * dy)

    grad = torch.func.grad
    assert grad(scaled)(x) == x
    assert grad(grad(scaled))(x) == 0


def test_a_returned_constant_is_no_argument():
    x = POINTS["number"]

    @rc.primitive
    def constant(a):
        return x

    @rrule.define(constant)
    def constant_rrule(a):
        return x, lambda dy: (NoTangent(), 0 * dy)

    assert torch.func.grad(constant)(x) == 0
    assert torch.func.jvp(constant, (x,), (x,)) == (x, 0)
