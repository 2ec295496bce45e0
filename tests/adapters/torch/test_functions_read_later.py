"""A function that a pullback calls again reads what it read in the forward pass."""

import pytest
import torch

import rules_core as rc
from rules_scipy import integrate, optimize
from tests import ways_of_reading
from tests.adapters import later

ERROR = "must read at the pullback"
P = 0.3
FULL = pytest.mark.full


@pytest.fixture(autouse=True)
def _as_before():
    later.as_before()
    yield
    later.as_before()


def at(x):
    return torch.tensor(x, dtype=torch.float64)


def backward(f):
    """The derivative at P, to be asked for later."""
    p = at(P).requires_grad_()
    y = f(p)
    return lambda: torch.autograd.grad(y, p, retain_graph=True)[0]


def recorded_twice(f):
    p = at(P).requires_grad_()
    slope = torch.autograd.grad(f(p), p, create_graph=True)[0]
    return lambda: torch.autograd.grad(slope, p, retain_graph=True)[0]


def by_func(f):
    y, pullback = torch.func.vjp(f, at(P))
    return lambda: pullback(torch.ones_like(y))[0]


def known(f):
    return later.slope(lambda x: f(at(x)), P)


def close(x, y, tolerance=1e-3):
    return abs(float(x) - float(y)) <= tolerance * (1 + abs(float(y)))


@pytest.mark.parametrize("solver", later.CHOSEN)
@pytest.mark.parametrize("kind", later.READS)
@pytest.mark.parametrize("way", [backward, pytest.param(by_func, marks=FULL)])
def test_what_was_changed_before_the_pullback_is_an_error(way, kind, solver):
    read, change = later.READS[kind]
    run = later.SOLVERS[solver]

    def program(p):
        return run(torch, read, p)

    pull = way(program)
    assert close(pull(), known(program))
    change(0.5)
    with pytest.raises(rc.UnsupportedError, match=ERROR):
        pull()
    if kind != "function":  # which is another one
        change(2.0)
        assert close(pull(), known(program))


@FULL
@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("solver", later.SOLVERS)
@pytest.mark.parametrize("kind", later.READS)
def test_second_derivatives(kind, solver):
    read, change = later.READS[kind]
    run = later.SOLVERS[solver]
    pull = recorded_twice(lambda p: run(torch, read, p))
    first = pull()
    change(0.5)
    with pytest.raises(rc.UnsupportedError, match=ERROR):
        pull()
    if kind != "function":
        change(2.0)
        assert close(pull(), first, 1e-9)


@pytest.mark.parametrize("program", later.RIGHT)
def test_loops_that_assign_what_a_function_captures(program):
    def run(p):
        return program(torch, p)

    for way in (backward, by_func):
        assert close(way(run)(), known(run), 1e-6)


@pytest.mark.parametrize("program", later.WRITTEN)
def test_loops_that_write_to_what_a_function_captures(program):
    def run(p):
        return program(torch, p)

    assert close(backward(run)(), known(run), 1e-6)


def test_a_write_to_what_a_function_without_tensors_captures():
    scale = [2.0]

    def run(p):
        return integrate.quad(lambda x, p: torch.exp(-p * scale[0] * x), 0, 1, (p,))[0]

    pull = backward(run)
    scale[0] = 0.5
    with pytest.raises(rc.UnsupportedError, match="reads scale"):
        pull()


def test_the_error_names_function_place_and_remedy():
    def model(x, p):
        return torch.exp(-later.number * p * x)

    pull = backward(lambda p: integrate.quad(model, 0.0, 1.0, args=(p,))[0])
    later.READS["number"][1](0.5)
    text = r"integral: .*model reads later\.number, which was changed.* argument"
    with pytest.raises(rc.UnsupportedError, match=text):
        pull()


def test_counters_and_caches_of_the_function_are_its_own():
    calls, seen = [0], {}

    def f(x, p):
        calls[0] += 1
        seen[len(seen)] = 0
        return x**3 + x - p

    def run(p):
        return optimize.brentq(f, 0.0, 1.0, args=(p,))

    first, second = backward(run), backward(run)
    for pull in (second, first, first):
        assert close(pull(), known(run), 1e-6)


def test_tensors_that_the_function_captures_have_derivatives():
    a, b = at(0.5).requires_grad_(), [at(2.0).requires_grad_()]
    y = integrate.quad(lambda x: torch.exp(-a * b[0] * x), 0.0, 1.0)[0]
    kept, b[0] = b[0], at(7.0)
    found = torch.autograd.grad(y, (a, kept))
    for place, slope in enumerate(found):

        def value(x, place=place):
            given = (x, 2.0) if place == 0 else (0.5, x)
            return (1 - torch.exp(-at(given[0] * given[1]))) / (given[0] * given[1])

        assert close(slope, later.slope(value, (0.5, 2.0)[place]), 1e-6)


@pytest.mark.parametrize("grad", [False, True])
def test_tensors_that_are_written_in_place(grad):
    held = at([2.0])
    later.table["tensor"] = at([2.0])

    def f(x, p):
        scale = held if grad else later.table["tensor"]
        return (torch.exp(-p * scale * x)).sum()

    pull = backward(lambda p: integrate.quad(f, 0.0, 1.0, args=(p,))[0])
    pull()
    (held if grad else later.table["tensor"]).mul_(3.0)
    with pytest.raises((rc.UnsupportedError, RuntimeError), match="change|in-?place"):
        pull()


def test_residuals_of_implicit_functions():
    def solve(p):
        return (p / later.number) ** (1 / 3)

    def residual(x, p):
        return later.number * x**3 - p

    pull = backward(rc.implicit(solve, residual))
    assert close(pull(), known(solve), 1e-6)
    later.READS["number"][1](0.5)
    with pytest.raises(rc.UnsupportedError, match=ERROR):
        pull()


def test_a_constraint_given_as_a_dict():
    limit = {"type": "ineq", "fun": lambda x: x[0] - later.number}

    def run(p):
        found = optimize.minimize(
            lambda x: ((x - p) ** 2).sum(), torch.ones(1) * 3, constraints=[limit]
        )
        return found.fun

    pull = backward(run)
    later.READS["number"][1](0.5)
    with pytest.raises(rc.UnsupportedError, match=ERROR):
        pull()


@pytest.mark.parametrize(
    "name",
    [
        name if name in ways_of_reading.CHOSEN else pytest.param(name, marks=FULL)
        for name in ways_of_reading.WAYS
    ],
)
def test_every_way_of_reading(name, tmp_path):
    with ways_of_reading.program(name, tmp_path) as (f, change):
        pull = backward(
            lambda a: optimize.brentq(lambda x, a: x + f(x, a) - 1, 0.0, 2.0, args=(a,))
        )
        x = optimize.brentq(lambda x: x + (P * x) ** 2 - 1, 0.0, 2.0)
        known = -2 * P * x**2 / (1 + 2 * P**2 * x)
        assert close(pull(), known, 1e-6)
        change()
        if name in ways_of_reading.CAPTURED:
            assert close(pull(), known, 1e-6)
            return
        with pytest.raises(rc.UnsupportedError, match=ERROR):
            pull()


LAZY = {
    "conjugate": lambda z: z.conj(),
    "negative": lambda z: z.conj().imag,  # torch negates it when it is read
}


@pytest.mark.parametrize("kind", LAZY)
def test_values_that_torch_computes_when_they_are_read(kind):
    turned = LAZY[kind]

    @rc.primitive
    def doubled(z):
        return turned(2.0 * z)

    def adjoint(dy, z):
        return 2.0 * (dy.conj() if kind == "conjugate" else dy * 0 - 1j * dy)

    rc.linear_rule(doubled, adjoint)
    z = torch.tensor([1.0 + 2.0j, 0.5 - 1.0j], dtype=torch.complex128)
    y, pullback = torch.func.vjp(doubled, z)
    expected, known = torch.func.vjp(lambda z: turned(2.0 * z), z)
    assert torch.equal(y, expected)
    assert torch.equal(pullback(torch.ones_like(y))[0], known(torch.ones_like(y))[0])
    leaf = z.clone().requires_grad_()
    doubled(leaf).sum().abs().backward()
    other = z.clone().requires_grad_()
    turned(2.0 * other).sum().abs().backward()
    torch.testing.assert_close(leaf.grad, other.grad)
