"""Which rule runs under which transformation of JAX, and that it is the right one.

The rules are wrong on purpose: 2 times the truth is the frule, 3 times the rrule.
"""

from functools import partial
from itertools import product

import jax
import jax.numpy as jnp
import pytest

X = 0.7
COS = float(jnp.cos(X))
SIN = float(jnp.sin(X))


def scan(f, x):
    return jax.lax.scan(lambda c, _: (c, f(c)), x, None, length=1)[1][0]


def switch(f, x):
    return jax.lax.switch(jnp.asarray(1), [jnp.cos, f], x)


WRAPPERS = {
    "plain": lambda f: f,
    "jit": jax.jit,
    "checkpoint": jax.checkpoint,
    "checkpoint_dots": partial(
        jax.checkpoint, policy=jax.checkpoint_policies.dots_saveable
    ),
    "checkpoint_everything": partial(
        jax.checkpoint, policy=jax.checkpoint_policies.everything_saveable
    ),
    "jit_checkpoint": lambda f: jax.jit(jax.checkpoint(f)),
    "checkpoint_jit": lambda f: jax.checkpoint(jax.jit(f)),
    "vmap": lambda f: lambda x: jax.vmap(f)(x[None])[0],
    "vmap_out": lambda f: (
        lambda x: jax.vmap(f, in_axes=1, out_axes=1)(x[None, None])[0, 0]
    ),
    "vmap_name": lambda f: lambda x: jax.vmap(f, axis_name="i")(x[None])[0],
    "vmap_vmap": lambda f: lambda x: jax.vmap(jax.vmap(f))(x[None, None])[0, 0],
    "vmap_jit": lambda f: lambda x: jax.vmap(jax.jit(f))(x[None])[0],
    "scan": lambda f: partial(scan, f),
    "scan_checkpoint": lambda f: partial(scan, jax.checkpoint(f)),
    "scan_vmap": lambda f: lambda x: scan(jax.vmap(f), x[None])[0],
    "fori": lambda f: lambda x: jax.lax.fori_loop(0, 1, lambda _, c: f(c), x),
    "cond": lambda f: lambda x: jax.lax.cond(x > 0, f, jnp.cos, x),
    "switch": lambda f: partial(switch, f),
    "map": lambda f: lambda x: jax.lax.map(f, x[None])[0],
    "map_batch": lambda f: lambda x: jax.lax.map(f, x[None], batch_size=1)[0],
    "closure_convert": lambda f: lambda x: _closure_convert(f, x),
}


def _closure_convert(f, x):
    converted, consts = jax.closure_convert(f, x)
    return converted(x, *consts)


KINDS = ("generic", "host")
RULES = ("both", "rrule", "frule")


pytestmark = pytest.mark.covering(strength=1)


@pytest.fixture(params=[*product(RULES, KINDS, WRAPPERS)], ids="-".join)
def case(request):
    return request.param


@pytest.fixture
def wrapped(case, marked):
    rules, kind, name = case
    made = marked(frule=rules != "rrule", rrule=rules != "frule", host=kind == "host")
    return WRAPPERS[name](made.f)


@pytest.fixture
def forward(case):
    return 3 if case[0] == "rrule" else 2


@pytest.fixture
def reverse(case):
    return 2 if case[0] == "frule" else 3


def ratio(found, truth):
    return pytest.approx(float(found) / truth, rel=1e-12)


@pytest.mark.covering(every=18)
def test_value(wrapped):
    assert ratio(wrapped(jnp.asarray(X)), SIN) == 1


def test_reverse(wrapped, reverse):
    assert ratio(jax.grad(wrapped)(jnp.asarray(X)), COS) == reverse


def test_forward(wrapped, forward):
    _, moved = jax.jvp(wrapped, (jnp.asarray(X),), (jnp.asarray(1.0),))
    assert ratio(moved, COS) == forward


@pytest.mark.covering(every=18)
def test_compiled_reverse(wrapped, reverse):
    assert ratio(jax.jit(jax.grad(wrapped))(jnp.asarray(X)), COS) == reverse


@pytest.mark.covering(every=50)
def test_second_order(wrapped, forward, reverse):
    x = jnp.asarray(X)
    assert ratio(jax.grad(jax.grad(wrapped))(x), -SIN) == reverse
    assert ratio(jax.jacfwd(jax.jacrev(wrapped))(x), -SIN) == reverse
    assert ratio(jax.jacrev(jax.jacfwd(wrapped))(x), -SIN) == forward
    assert ratio(jax.jacfwd(jax.jacfwd(wrapped))(x), -SIN) == forward


@pytest.mark.covering(every=18)
def test_linearize(wrapped, forward, reverse):
    y, linear = jax.linearize(wrapped, jnp.asarray(X))
    assert ratio(y, SIN) == 1
    assert ratio(linear(1.0), COS) == forward
    (back,) = jax.linear_transpose(linear, jnp.asarray(X))(jnp.asarray(1.0))
    assert ratio(back, COS) == reverse


@pytest.mark.covering(every=18)
def test_vjp_of_a_batch_of_cotangents(wrapped, reverse):
    _, pullback = jax.vjp(wrapped, jnp.asarray(X))
    (found,) = jax.vmap(pullback)(jnp.array([1.0, 2.0]))
    assert ratio(found[1], 2 * COS) == reverse


@pytest.mark.covering(every=36)
def test_jacobians_under_jit(wrapped, forward, reverse):
    assert ratio(jax.jit(jax.jacfwd(wrapped))(jnp.asarray(X)), COS) == forward
    assert ratio(jax.jit(jax.jacrev(wrapped))(jnp.asarray(X)), COS) == reverse
