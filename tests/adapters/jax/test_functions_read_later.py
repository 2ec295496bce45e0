"""A function that JAX traces again, for a pullback or later, reads what it read."""

import jax
import jax.numpy as jnp
import pytest

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
    with jax.enable_x64(True):
        yield
    later.as_before()


def known(f):
    return later.slope(lambda x: f(jnp.asarray(x)), P)


def close(x, y, tolerance=1e-3):
    return abs(float(x) - float(y)) <= tolerance * (1 + abs(float(y)))


def by_vjp(f):
    y, pullback = jax.vjp(f, P)
    return lambda: pullback(jnp.ones_like(y))[0]


def twice(f):
    y, pullback = jax.vjp(jax.grad(f), P)
    return lambda: pullback(jnp.ones_like(y))[0]


@pytest.mark.parametrize("solver", later.CHOSEN)
@pytest.mark.parametrize("kind", later.READS)
def test_what_was_changed_before_the_pullback_is_an_error(kind, solver):
    read, change = later.READS[kind]
    run = later.SOLVERS[solver]

    def program(p):
        return run(jnp, read, p)

    pull = by_vjp(program)
    assert close(pull(), known(program))
    change(0.5)
    with pytest.raises(rc.UnsupportedError, match=ERROR):
        pull()
    assert close(by_vjp(program)(), known(program))


@FULL
@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("solver", later.SOLVERS)
@pytest.mark.parametrize("kind", later.READS)
def test_second_derivatives(kind, solver):
    read, change = later.READS[kind]
    run = later.SOLVERS[solver]
    pull = twice(lambda p: run(jnp, read, p))
    pull()
    change(0.5)
    with pytest.raises(rc.UnsupportedError, match=ERROR):
        pull()


@pytest.mark.parametrize("solver", ["root", "quad"])
def test_linearised_functions(solver):
    run = later.SOLVERS[solver]

    def program(p):
        return run(jnp, later.helper, p)

    slope = known(program)
    _, push = jax.linearize(program, P)
    assert close(push(1.0), slope)
    later.READS["helper"][1](0.5)
    try:
        assert close(push(1.0), slope)
    except rc.UnsupportedError as error:
        assert ERROR in str(error)  # noqa: PT017


WAYS = {
    "grad": jax.grad,
    "jitted": lambda f: jax.jit(jax.grad(f)),
    "of jitted": lambda f: jax.grad(jax.jit(f)),
    "forward": jax.jacfwd,
    "batched": lambda f: lambda p: jax.vmap(jax.grad(f))(jnp.asarray([p, p]))[1],
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", later.RIGHT)
def test_loops_that_assign_what_a_function_captures(program, way):
    def run(p):
        return program(jnp, p)

    value = float(run(jnp.asarray(P)))
    for _ in range(2):
        assert close(WAYS[way](run)(P), known(run), 1e-6)
        assert close(jax.jit(run)(P), value, 1e-12)


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", later.WRITTEN)
def test_loops_that_write_to_what_a_function_captures(program, way):
    def run(p):
        return program(jnp, p)

    try:
        found = WAYS[way](run)(P)
    except rc.UnsupportedError as error:
        assert ERROR in str(error)  # noqa: PT017
        assert "reads scale" in str(error)  # noqa: PT017
    else:
        assert close(found, known(run), 1e-6)


def test_a_value_of_a_jitted_program_is_computed_from_what_was_traced():
    def run(p):
        with_two = optimize.brentq(lambda x: x**3 + later.number * x - p, 0.0, 2.0)
        later.READS["number"][1](0.5)
        return with_two

    with pytest.raises(rc.UnsupportedError, match="reads later"):
        jax.jit(run)(P)
    later.as_before()
    assert close(run(jnp.asarray(P)), 0.148, 1e-2)


def test_a_jitted_function_keeps_what_it_was_traced_with():
    def run(p):
        return optimize.brentq(lambda x: x**3 + later.number * x - p, 0.0, 2.0)

    jitted, slope = jax.jit(run), known(run)
    jitted(P)
    later.READS["number"][1](0.5)
    try:
        assert close(jax.grad(jitted)(P), slope, 1e-6)
    except rc.UnsupportedError as error:
        assert ERROR in str(error)  # noqa: PT017


def test_functions_of_equal_form_are_called_with_what_each_captures():
    def run(p, power):
        powers = [power]
        return optimize.brentq(lambda x: x ** powers[0] + x - p, 0.0, 2.0)

    for power in (3, 2, 3):
        assert close(jax.grad(run)(P, power), later.slope(lambda x: run(x, power), P))  # noqa: B023


def test_counters_of_the_function_are_its_own():
    calls = [0]

    def f(x, p):
        calls[0] += 1
        return jnp.exp(-p * x)

    def run(p):
        return integrate.quad(f, 0.0, 1.0, args=(p,))[0]

    first, second = by_vjp(run), by_vjp(run)
    for pull in (second, first, first):
        assert close(pull(), known(run), 1e-6)


def test_residuals_of_implicit_functions():
    def solve(p):
        return (p / later.number) ** (1 / 3)

    def residual(x, p):
        return later.number * x**3 - p

    pull = by_vjp(rc.implicit(solve, residual))
    assert close(pull(), known(solve), 1e-6)
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
        pull = by_vjp(
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
