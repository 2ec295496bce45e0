"""Leaks, threads, checks of JAX, memory over many calls and many primitives."""

import gc
import resource
import threading
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent
from tests.growth import growth

X = jnp.asarray(0.7)
COS = float(jnp.cos(X))

DERIVATIVES = {
    "grad": jax.grad,
    "jacfwd": jax.jacfwd,
    "jit(grad)": lambda f: jax.jit(jax.grad(f)),
    "grad(jit)": lambda f: jax.grad(jax.jit(f)),
    "grad(checkpoint)": lambda f: jax.grad(jax.checkpoint(f)),
    "vmap(grad)": lambda f: lambda x: jax.vmap(jax.grad(f))(x[None])[0],
    "grad(vmap)": lambda f: jax.grad(lambda x: jax.vmap(f)(x[None])[0]),
    "grad(scan)": lambda f: jax.grad(
        lambda x: jax.lax.scan(lambda c, _: (f(c), None), x, None, length=1)[0]
    ),
    "hessian": jax.hessian,
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("host", [False, True])
@pytest.mark.parametrize("name", list(DERIVATIVES))
def test_no_tracer_leaks(marked, name, host):
    f = marked(host=host).f
    with jax.checking_leaks():
        DERIVATIVES[name](f)(X)


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("option", ["jax_enable_checks", "jax_debug_nans"])
@pytest.mark.parametrize("host", [False, True])
def test_with_checks_of_jax(marked, option, host):
    f = marked(host=host).f
    previous = getattr(jax.config, option)
    jax.config.update(option, True)
    try:
        for derivative in DERIVATIVES.values():
            derivative(f)(X)
    finally:
        jax.config.update(option, previous)


def test_debug_nans_points_into_the_rule():
    @rc.primitive
    def f(x):
        return x * 1.0

    @rc.rrule.define(f)
    def f_rrule(x):
        return f(x), lambda dy: (NoTangent(), (x - x) / (x - x) * dy)

    with jax.debug_nans(True), pytest.raises(FloatingPointError, match="nan"):
        jax.grad(f)(X)


def test_threads(marked):
    f = marked().f
    wrong = []

    def work(i):
        for derivative in DERIVATIVES.values():
            found = derivative(f)(X + 0 * i)
            if not np.isfinite(found):
                wrong.append(found)
        moved = jax.jit(jax.vmap(jax.grad(f)))(jnp.full(i + 1, X))
        if not np.allclose(moved, 3 * COS):
            wrong.append(moved)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def fresh(host):
    flags = {"host": True, "elementwise": True} if host else {}

    def body(x):
        return np.sin(x) if host else jnp.sin(x)

    f = rc.primitive(body, **flags)

    @rc.rrule.define(f)
    def body_rrule(x):
        return f(x), lambda dy: (NoTangent(), dy * jnp.cos(x))

    return f


USED = {
    "call": lambda f: f(X),
    "grad": lambda f: jax.grad(f)(X),
    "jvp": lambda f: jax.jvp(f, (X,), (X,)),
    "vmap": lambda f: jax.vmap(f)(jnp.ones(2)),
    "vmap(grad)": lambda f: jax.vmap(jax.grad(f))(jnp.ones(2)),
    "grad(grad)": lambda f: jax.grad(jax.grad(f))(X),
    "jit(grad)": lambda f: jax.jit(jax.grad(f))(X),
    "jit of a function": lambda f: jax.jit(lambda x: f(x) + 1.0)(X),
}


@pytest.mark.covering(every=9)
@pytest.mark.parametrize("host", [False, True])
@pytest.mark.parametrize("way", USED)
def test_primitives_are_collected(way, host):
    """Nothing of the adapter holds them, and nothing of JAX but what it compiled."""
    dead = []
    for _ in range(3):
        f = fresh(host)
        jax.block_until_ready(USED[way](f))
        dead.append(weakref.ref(f.fun))
        del f
    if host:
        jax.clear_caches()
    gc.collect()
    alive = sum(ref() is not None for ref in dead)
    assert alive <= host  # JAX's thread may still hold the last callback


@pytest.mark.slow
def test_no_growth_over_many_calls(marked):
    step = jax.jit(jax.value_and_grad(marked().f))
    assert growth(lambda: step(X), 1500) < 15_000


@pytest.mark.full
@pytest.mark.slow
def test_no_growth_over_many_eager_calls(marked):
    f = marked().f
    g = marked(host=True).f
    assert growth(lambda: (f(X), g(X), jax.grad(f)(X)), 80) < 8_000


MANY = {
    "jit(value_and_grad)": lambda marked: jax.jit(jax.value_and_grad(marked().f)),
    "jit(grad) of a host function": lambda marked: jax.jit(
        jax.grad(marked(host=True).f)
    ),
    "eager": lambda marked: marked().f,
    "eager host": lambda marked: marked(host=True).f,
}


@pytest.mark.nightly
@pytest.mark.parametrize("make", MANY.values(), ids=MANY)
def test_no_growth_over_a_hundred_thousand_calls(marked, make):
    """Neither of Python's memory nor of the process."""
    step = make(marked)
    step(X)
    resident = peak_memory()
    assert growth(lambda: step(X), 20_000) < 20_000
    assert peak_memory() - resident < 40e6


def peak_memory():
    """In bytes; Linux counts kilobytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@pytest.mark.nightly
@pytest.mark.parametrize("host", [False, True])
def test_no_growth_over_a_thousand_primitives(host):
    refs = []
    for i in range(1000):
        f = fresh(host)
        assert float(jax.grad(f)(X)) == pytest.approx(COS)
        if i < 500:
            refs.append(weakref.ref(f.fun))
    gc.collect()
    assert sum(ref() is not None for ref in refs) == 0


def test_a_rule_defined_again_is_used(marked):
    """Eager calls look the rules up each time; compiled ones keep what they traced."""

    @rc.primitive
    def f(x):
        return x * 1.0

    def define(scale):
        @rc.rrule.define(f)
        def f_rrule(x):
            return f(x), lambda dy: (NoTangent(), scale * dy)

    define(2.0)
    assert jax.grad(f)(X) == 2
    define(5.0)
    assert jax.grad(f)(X) == 5


class Held:
    """Something that a pullback captures."""


@pytest.mark.parametrize(
    "wrap", [lambda f: f, jax.checkpoint], ids=["plain", "checkpoint"]
)
def test_what_a_pullback_captured_is_freed(wrap):
    held = []

    @rc.primitive
    def f(x):
        return x * 1.0

    @rc.rrule.define(f)
    def f_rrule(x):
        token = Held()
        held.append(weakref.ref(token))

        def f_pullback(dy):
            assert token is not None
            return NoTangent(), dy

        return f(x), f_pullback

    for _ in range(5):
        jax.grad(wrap(f))(X)
    gc.collect()
    assert [ref() for ref in held] == [None] * len(held)
