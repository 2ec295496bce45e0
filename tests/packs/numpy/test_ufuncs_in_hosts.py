"""NumPy's ufuncs inside JAX and PyTorch, to third order, against the hosts' own."""

from __future__ import annotations

import numpy as np
import pytest

import rules_core as rc
from rules_numpy._declare.partials_in_hosts import IN_HOSTS

# Points where the first three derivatives exist.
POINTS = {"arccosh": (1.7, 2.3)}
AT = (0.37, 0.61)
DIRECTIONS = (0.7, -1.3)
# A few in the normal run; a third derivative costs a second in either host.
USUAL = {"sin", "arctan2", "log1p", "power", "absolute", "logaddexp", "maximum"}
NAMES = [
    pytest.param(f.__name__, marks=() if f.__name__ in USUAL else pytest.mark.nightly)
    for f in sorted(IN_HOSTS, key=lambda f: f.__name__)
]


def in_torch(f):
    torch = pytest.importorskip("torch")
    rules_torch = pytest.importorskip("rules_torch")
    return torch, rules_torch.to_torch(f, host=True, elementwise=True)


def in_jax(f):
    jax = pytest.importorskip("jax")
    rules_jax = pytest.importorskip("rules_jax")
    return jax, rules_jax.to_jax(f, host=True, elementwise=True)


def native(module, f):
    """The host's own function."""
    if f is np.cbrt:
        return lambda x: x ** (1.0 / 3.0)
    return getattr(module, {"power": "pow", "fabs": "abs"}.get(f.__name__, f.__name__))


def along_a_line(h, f):
    """`h` of one number."""
    first, second = POINTS.get(f.__name__, AT)

    def line(t):
        xs = (first + DIRECTIONS[0] * t, second + DIRECTIONS[1] * t)
        return h(*xs[: f.nin])

    return line


@pytest.mark.parametrize("name", NAMES)
def test_torch(name):
    """Reverse over reverse over reverse."""
    f = getattr(np, name)
    torch, ours = in_torch(f)
    zero = torch.tensor(0.0, dtype=torch.float64)

    def orders(h):
        first = torch.func.grad(along_a_line(h, f))
        second = torch.func.grad(first)
        return [g(zero) for g in (first, second, torch.func.grad(second))]

    theirs = native(torch, f)
    torch.testing.assert_close(orders(ours), orders(theirs), rtol=1e-9, atol=1e-12)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", NAMES)
def test_jax(name):
    """Forward over reverse over forward."""
    f = getattr(np, name)
    jax, ours = in_jax(f)

    def orders(h):
        first = jax.jacfwd(along_a_line(h, f))
        second = jax.grad(first)
        return [g(0.0) for g in (first, second, jax.jacfwd(second))]

    theirs = native(jax.numpy, f)
    np.testing.assert_allclose(orders(ours), orders(theirs), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("f", sorted(IN_HOSTS, key=repr))
def test_batches_in_torch(f):
    torch, ours = in_torch(f)
    theirs = native(torch, f)
    first, second = POINTS.get(f.__name__, AT)
    steps = torch.tensor([0.0, 0.1, 0.2], dtype=torch.float64)
    xs = (first + steps, second + steps)[: f.nin]

    def batched(h):
        return torch.vmap(torch.func.grad(h, tuple(range(f.nin))))(*xs)

    torch.testing.assert_close(batched(ours), batched(theirs))


KINKS = {
    np.absolute: (0.0,),
    np.fabs: (0.0,),
    np.hypot: (0.0, 0.0),
    np.maximum: (1.5, 1.5),
    np.minimum: (1.5, 1.5),
    np.power: (0.0, 1.0),
    np.float_power: (0.0, 0.0),
    np.logaddexp: (np.inf, np.inf),
    np.logaddexp2: (-np.inf, -np.inf),
    np.remainder: (-2.3, 0.7),
}


@pytest.mark.parametrize("f", KINKS)
def test_kinks_are_those_of_numpy(f):
    torch, ours = in_torch(f)
    xs = [torch.tensor(x, dtype=torch.float64) for x in KINKS[f]]
    found = torch.func.grad(ours, tuple(range(f.nin)))(*xs)
    _, pullback = rc.rrule(f, *KINKS[f])
    np.testing.assert_allclose(found, pullback(1.0)[1:], atol=1e-15)


def test_equal_infinities_share():
    """As every tie; the sum of the partials of log(eᵃ + eᵇ) is one."""
    for f in (np.logaddexp, np.logaddexp2):
        for x in (np.inf, -np.inf):
            _, pullback = rc.rrule(f, x, x)
            np.testing.assert_allclose(pullback(1.0)[1:], [0.5, 0.5], rtol=1e-15)


@pytest.mark.parametrize("f", [np.sin, np.log, np.divide, np.power, np.arccosh])
def test_complex(f):
    torch, ours = in_torch(f)
    theirs = native(torch, f)
    z = torch.tensor([0.4 + 0.3j, -0.2 + 0.9j], dtype=torch.complex128)

    def second(h):
        def line(t):
            return h(*(z + t * c for c in (0.3, 0.7)[: f.nin])).real.sum()

        return torch.func.grad(torch.func.grad(line))(z.real[0] * 0.0)

    torch.testing.assert_close(second(ours), second(theirs))


def test_the_absolute_value_of_complex_numbers():
    """JAX takes sign(z) for a constant; the second derivative of |z| is none."""
    jax = pytest.importorskip("jax")
    rules_jax = pytest.importorskip("rules_jax")
    number = jax.ShapeDtypeStruct((), float)
    size = rules_jax.to_jax(np.absolute, host=True, out=number)
    found = jax.grad(jax.grad(lambda t: size(0.4 + t + 0.3j)))(0.0)
    np.testing.assert_allclose(found, 0.3**2 / 0.5**3, rtol=1e-12)


@pytest.mark.parametrize("f", [np.power, np.hypot, np.logaddexp, np.arctan2])
def test_numbers_beside_tensors(f):
    torch, ours = in_torch(f)
    x = torch.tensor([0.5, 1.5], dtype=torch.float32)
    for h in (lambda x: ours(x, 3.0), lambda x: ours(2.0, x)):
        found = torch.func.grad(lambda x, h=h: h(x).sum())(x)
        step = 1e-2
        slope = (h(x + step) - h(x - step)) / (2 * step)
        torch.testing.assert_close(found, slope, rtol=1e-3, atol=1e-3)


def test_options_are_refused_in_hosts():
    torch, ours = in_torch(np.sin)
    x = torch.tensor([0.5, 1.5], dtype=torch.float64)
    with pytest.raises(rc.UnsupportedError, match="without options, but got order="):
        torch.func.grad(lambda x: ours(x, order="C").sum())(x)
