"""Host functions that a pullback runs again read what they read at the value."""

import numpy as np
import pytest
import torch

import rules_core as rc
from rules_jax import from_jax
from rules_torch import to_torch
from tests.adapters import host_later, later
from tests.adapters.host_later import P

READS, CHANGED = "must read at the pullback", "must (be|read) at the pullback"
FULL = pytest.mark.full


@pytest.fixture(autouse=True)
def _as_before():
    later.as_before()
    host_later.setting.k = 2.0
    yield
    later.as_before()


def wrapped(f):
    return to_torch(f, host=True)


def at(x):
    return torch.tensor(x, dtype=torch.float64)


def backward(f):
    """The derivative at P, to be asked for later."""
    p = at(P).requires_grad_()
    y = f(p)
    return lambda: float(torch.autograd.grad(y, p, retain_graph=True)[0])


def recorded_twice(f):
    p = at(P).requires_grad_()
    slope = torch.autograd.grad(f(p), p, create_graph=True)[0]
    return lambda: float(torch.autograd.grad(slope, p, retain_graph=True)[0])


def by_func(f):
    y, pullback = torch.func.vjp(f, at(P))
    return lambda: float(pullback(torch.ones_like(y))[0])


def curved(f):
    """The second derivative by `torch.func`, outside of which all may change."""
    return by_func(torch.func.grad(f))


FIRST = [backward, by_func]
SECOND = [recorded_twice, curved]


def check_error(pull, change, known, error):
    """Right, an error after a change, right after it was undone."""
    assert pull() == pytest.approx(known)
    change(0.5)
    with pytest.raises(rc.UnsupportedError, match=error):
        pull()
    change(2.0)
    assert pull() == pytest.approx(known)


@pytest.mark.parametrize("program", host_later.RIGHT)
def test_captured_variables_are_put_back(program):
    def run(x):
        return program(wrapped, x)

    assert float(run(at(P))) == pytest.approx(host_later.power_sum(P))
    for way in FIRST:
        pull = way(run)
        assert pull() == pytest.approx(host_later.power_slope(P))
        assert pull() == pytest.approx(host_later.power_slope(P))
    for way in SECOND:
        pull = way(run)
        assert pull() == pytest.approx(host_later.power_curve(P))
        assert pull() == pytest.approx(host_later.power_curve(P))


def test_pullbacks_in_any_order():
    k = 1.0
    f = wrapped(lambda u: u**k)
    pulls = []
    for k in host_later.POWERS:
        pulls += [(backward(f), k * P ** (k - 1))]
    k = 7.0
    for pull, known in (*reversed(pulls), *pulls):
        assert pull() == pytest.approx(known)
    assert k == 7.0


@pytest.mark.parametrize(
    ("way", "known"),
    [
        (backward, 6 * P**2),
        *(pytest.param(way, 6 * P**2, marks=FULL) for way in FIRST[1:]),
        *(pytest.param(way, 12 * P, marks=FULL) for way in SECOND),
    ],
)
@pytest.mark.parametrize("kind", later.READS)
def test_places_that_were_changed(kind, way, known):
    f, change = host_later.reading(wrapped, kind)
    pull = way(f)
    assert pull() == pytest.approx(known)
    change(0.5)
    with pytest.raises(rc.UnsupportedError, match=READS):
        pull()
    assert way(f)() == pytest.approx(known / 4)


@pytest.mark.parametrize("make", host_later.WRITTEN)
@pytest.mark.parametrize(
    ("way", "known"),
    [
        (backward, 6 * P**2),
        (by_func, 6 * P**2),
        (recorded_twice, 12 * P),
        pytest.param(curved, 12 * P, marks=FULL),
    ],
)
def test_arrays_attributes_and_defaults_that_were_changed(make, way, known):
    f, change = make(wrapped)
    change(2.0)
    check_error(way(f), change, known, READS)


@pytest.mark.parametrize("program", host_later.BUFFERS)
def test_numpy_arguments_are_what_they_were_at_the_call(program):
    for way in FIRST:
        assert way(program)() == pytest.approx(6.0)
    for way in FIRST:  # the derivative in the derivative
        assert way(lambda x: program(x * x))() == pytest.approx(12 * P)
    for way in SECOND:
        assert way(lambda x: program(x * x))() == pytest.approx(12.0)


def test_numpy_arguments_are_shared_where_no_derivative_is_wanted():
    met = []

    @rc.primitive(host=True)
    def noted(x, w):
        met.append(w)
        return x * w

    @rc.rrule.define(noted)
    def _(x, w):
        return noted(x, w), lambda dy: {"x": dy * w}

    w = np.ones(3)
    noted(at(P), w)
    noted(at(P).requires_grad_(), w)
    assert np.shares_memory(met[0], w)
    assert not np.shares_memory(met[1], w)


@pytest.mark.parametrize("way", FIRST)
def test_instances_among_arguments(way):
    setting = host_later.Setting()
    pull = way(lambda x: host_later.instance_of_a_solver(x, setting))
    check_error(pull, lambda k: setattr(setting, "k", k), 6 * P**2, CHANGED)


@pytest.mark.parametrize("way", [*FIRST, *SECOND])
def test_instances_among_arguments_of_host_functions(way):
    setting = host_later.Setting()
    f = wrapped(lambda u, s: s.k * u**3)
    known = 12 * P if way in SECOND else 6 * P**2
    pull = way(lambda x: f(x, setting))
    check_error(pull, lambda k: setattr(setting, "k", k), known, CHANGED)


@pytest.mark.parametrize("way", FIRST)
def test_adjoints_that_read_a_setting(way):
    pull = way(host_later.by_setting)
    change = lambda k: setattr(host_later.setting, "k", k)
    check_error(pull, change, 2.0, READS)


def test_functions_of_jax_that_read_a_setting():
    f = from_jax(lambda u: host_later.setting.k * u**3)
    change = lambda k: setattr(host_later.setting, "k", k)
    check_error(backward(f), change, 6 * P**2, READS)


def test_what_a_function_counts_is_no_change():
    calls = []

    def logged(u):
        calls.append(1)
        return u**3

    assert backward(wrapped(logged))() == pytest.approx(3 * P**2)
    assert calls == [1]


@pytest.mark.parametrize("f", host_later.COUNTING)
@pytest.mark.parametrize("way", [backward, recorded_twice])
def test_values_that_depend_on_what_the_function_changes(f, way):
    with pytest.raises(
        rc.UnsupportedError, match="must have at the pullback the value"
    ):
        way(wrapped(f))()


CANCELLING = {
    "modulus": lambda x: np.abs(np.exp(1j * x)) ** 2,
    "powers": lambda x: x**3 - x * x * x,
    "inverse": lambda x: x @ np.linalg.inv(x) - np.eye(2),
    "variance": lambda x: np.mean(x * x) - np.mean(x) ** 2 - np.var(x),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", CANCELLING)
def test_second_derivatives_of_what_is_rounding_alone(name, dtype):
    """The value that is compared at the pullback has no digit that is sure."""
    f = to_torch(CANCELLING[name], host=True)
    x = torch.tensor([[0.7, 0.2], [-0.4, 1.3]], dtype=dtype, requires_grad=True)
    [slope] = torch.autograd.grad((f(x) ** 2).sum(), x, create_graph=True)
    [second] = torch.autograd.grad((slope**2).sum(), x)
    limit = 1e3 * torch.finfo(dtype).eps
    assert second.abs().max() < limit
