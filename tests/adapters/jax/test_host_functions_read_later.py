"""Host functions that JAX runs later read what they read when they were called."""

import jax
import jax.numpy as jnp
import pytest
import torch

import rules_core as rc
from rules_jax import to_jax
from rules_torch import from_torch
from tests.adapters import host_later, later
from tests.adapters.host_later import P

READS, CHANGED = "must read at the pullback", "must (be|read) at the pullback"
# JAX raises its own for an error of a callback.
ERRORS = (rc.UnsupportedError, jax.errors.JaxRuntimeError, ValueError)
FULL = pytest.mark.full


@pytest.fixture(autouse=True)
def _as_before():
    later.as_before()
    host_later.setting.k = 2.0
    with jax.enable_x64(True):
        yield
    later.as_before()


def wrapped(f):
    return to_jax(f, host=True, out=lambda u, *_: u)


def by_vjp(f):
    y, pullback = jax.vjp(f, P)
    return lambda: float(pullback(jnp.ones_like(y))[0])


def by_linearize(f):
    _, push = jax.linearize(f, P)
    return lambda: float(push(1.0))


def by_jit(f):
    """Of a program that was traced, and runs again."""
    slope = jax.jit(jax.grad(f))
    return lambda: float(slope(P))


def curved(f):
    return by_vjp(jax.grad(f))


def curved_by_jit(f):
    return by_jit(jax.grad(f))


FIRST = [by_vjp, by_linearize, by_jit]
SECOND = [curved, curved_by_jit]


def check_error(pull, change, known, error):
    """Right, an error after a change, right after it was undone."""
    assert pull() == pytest.approx(known)
    change(0.5)
    with pytest.raises(ERRORS, match=error):
        pull()
    change(2.0)
    assert pull() == pytest.approx(known)


@pytest.mark.parametrize("program", host_later.RIGHT)
@pytest.mark.parametrize(
    "way",
    [by_vjp, by_jit, *(pytest.param(x, marks=FULL) for x in (by_linearize, *SECOND))],
)
def test_captured_variables_are_put_back(program, way):
    if program is host_later.by_own_state and way in (by_jit, curved_by_jit):
        pytest.skip("a program of jax.jit has no state")
    curve, slope = host_later.power_curve(P), host_later.power_slope(P)
    pull = way(lambda x: program(wrapped, x))
    for _ in range(2):
        assert pull() == pytest.approx(curve if way in SECOND else slope)


@pytest.mark.parametrize("program", host_later.RIGHT[:3])
def test_values_of_jitted_programs(program):
    def run(x):
        return program(wrapped, x)

    for f in (run, jax.jit(run)):
        assert float(f(P)) == pytest.approx(host_later.power_sum(P))
    mapped = jax.jit(jax.vmap(jax.grad(run)))
    assert mapped(jnp.array([P, P]))[1] == pytest.approx(host_later.power_slope(P))


def test_pullbacks_in_any_order():
    k = 1.0
    f = wrapped(lambda u: u**k)
    pulls = []
    for k in host_later.POWERS:
        pulls += [(by_vjp(f), k * P ** (k - 1))]
    k = 7.0
    for pull, known in (*reversed(pulls), *pulls):
        assert pull() == pytest.approx(known)
    assert k == 7.0


@pytest.mark.parametrize(
    ("way", "known"),
    [
        (by_vjp, 6 * P**2),
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
    with pytest.raises(ERRORS, match=READS):
        pull()
    assert way(f)() == pytest.approx(known / 4)


@pytest.mark.parametrize("kind", ["number", "list", "property"])
def test_values_of_jitted_programs_after_a_change(kind):
    f, change = host_later.reading(wrapped, kind)
    value = jax.jit(f)
    assert float(value(P)) == pytest.approx(2 * P**3)
    change(0.5)
    with pytest.raises(ERRORS, match=READS):
        value(P)


@pytest.mark.parametrize("make", host_later.WRITTEN)
@pytest.mark.parametrize(
    ("way", "known"),
    [
        (by_vjp, 6 * P**2),
        (by_jit, 6 * P**2),
        *(pytest.param(way, 12 * P, marks=FULL) for way in SECOND),
    ],
)
def test_arrays_attributes_and_defaults_that_were_changed(make, way, known):
    f, change = make(wrapped)
    change(2.0)
    check_error(way(f), change, known, READS)


@pytest.mark.parametrize("program", host_later.BUFFERS)
def test_numpy_arguments_are_what_they_were_at_the_call(program):
    assert float(jax.jit(program)(P)) == pytest.approx(6 * P)
    for way in FIRST:
        assert way(program)() == pytest.approx(6.0)
    assert curved(lambda x: program(x * x))() == pytest.approx(12.0)


@pytest.mark.parametrize("way", FIRST)
def test_instances_among_arguments(way):
    setting = host_later.Setting()
    pull = way(lambda x: host_later.instance_of_a_solver(x, setting))
    change = lambda k: setattr(setting, "k", k)
    if way is by_jit:  # the solver's function was traced, and is as it was then
        assert pull() == pytest.approx(6 * P**2)
        change(0.5)
        assert pull() == pytest.approx(6 * P**2)
    else:
        check_error(pull, change, 6 * P**2, CHANGED)


@pytest.mark.parametrize("way", FIRST)
def test_adjoints_that_read_a_setting(way):
    change = lambda k: setattr(host_later.setting, "k", k)
    pull = way(host_later.by_setting)
    assert pull() == pytest.approx(2.0)
    if way is by_vjp:
        change(0.5)
        with pytest.raises(ERRORS, match=READS):
            pull()


@pytest.mark.parametrize("way", FIRST)
def test_modules_of_torch_that_were_trained_since(way):
    layer = torch.nn.Linear(1, 1, bias=False, dtype=torch.float64)
    change = layer.weight.data.fill_
    change(2.0)
    f = from_torch(lambda u: layer.weight.detach()[0, 0] * u**3)
    check_error(way(f), change, 6 * P**2, READS)


@pytest.mark.parametrize("f", host_later.COUNTING)
@pytest.mark.parametrize("way", [by_vjp, curved])
def test_values_that_depend_on_what_the_function_changes(f, way):
    with pytest.raises(ERRORS, match="must have at the pullback the value"):
        way(wrapped(f))()
