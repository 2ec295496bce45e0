"""`NoTangent()` for what has a tangent is an error in every host, never a zero."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import rules_core as rc
from rules_autodiff import grad, jvp
from rules_core import NoTangent, ZeroTangent, frule, rrule
from rules_core.testing import isolated_rules


@pytest.fixture(autouse=True)
def _own_rules():
    with isolated_rules():
        yield


def torch_grad(f, x):
    x = torch.tensor(x, requires_grad=True)
    f(x).sum().backward()
    return x.grad


def both(f):
    return lambda *args: f(*args).sum()


HOSTS = {
    "engine": lambda f, x: grad(lambda x: np.sum(f(x)))(np.array(x)),
    "engine number": lambda f, x: grad(lambda x: f(x[0]))(list(x)),
    "engine forward": lambda f, x: jvp(f, (np.array(x),), (np.ones(2),))[1],
    "JAX grad": lambda f, x: jax.grad(both(f))(jnp.array(x)),
    "JAX jit": lambda f, x: jax.jit(jax.grad(both(f)))(jnp.array(x)),
    "JAX jvp": lambda f, x: jax.jvp(f, (jnp.array(x),), (jnp.ones(2),))[1],
    "torch": torch_grad,
    "torch.func": lambda f, x: torch.func.grad(both(f))(torch.tensor(x)),
    "torch.func.jvp": lambda f, x: torch.func.jvp(
        f, (torch.tensor(x),), (torch.ones(2),)
    )[1],
}
POINT = (2.0, 3.0)
hosts = pytest.mark.parametrize("host", HOSTS)


def by_zero(zero, kind, *, host=False):
    """`2 x` with a rule that gives one of the zeros, or None."""

    @rc.primitive(host=host, elementwise=host)
    def double(x):
        return 2 * x

    if kind == "rrule":
        rrule.define(double, host=host)(
            lambda x: (2 * x, lambda dy: (NoTangent(), zero))
        )
    else:
        frule.define(double, host=host)(lambda tangents, x: (2 * x, zero))
    return double


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("kind", ["rrule", "frule"])
@hosts
def test_no_tangent_for_a_number_or_array(host, kind):
    f = by_zero(NoTangent(), kind)
    with pytest.raises(rc.NoTangentError, match=r"ent (of .* )?is NoTangent\(\), but"):
        HOSTS[host](f, POINT)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("kind", ["rrule", "frule"])
@hosts
def test_the_other_zeros_are_zeros(host, kind):
    for zero in (ZeroTangent(), None):
        found = HOSTS[host](by_zero(zero, kind), POINT)
        assert found is None or not np.any(np.asarray(found))


@hosts
def test_the_tangent_of_the_function_taken_for_that_of_the_argument(host):
    @rc.primitive
    def square(x):
        return x * x

    @frule.define(square)
    def square_frule(tangents, x):
        return x * x, 2 * x * tangents[0]

    with pytest.raises(rc.NoTangentError, match=r"tangents\[0\] belongs to the func"):
        HOSTS[host](square, POINT)


@hosts
def test_inside_a_container(host):
    @rc.primitive
    def first(pair):
        return 2 * pair[0]

    @rrule.define(first)
    def first_rrule(pair):
        return 2 * pair[0], lambda dy: (NoTangent(), (NoTangent(), NoTangent()))

    with pytest.raises(rc.NoTangentError, match=r"\[0\] is NoTangent"):
        HOSTS[host](lambda x: first((x, x)), POINT)


class Pair(NamedTuple):
    a: Any
    b: Any


FORMS = {
    "a tuple": lambda a, b: (a, b),
    "a list": lambda a, b: [a, b],
    "a dict": lambda a, b: {"a": a, "b": b},
    "an instance": Pair,
    "a Tangent by place": lambda a, b: rc.Tangent(Pair, a, b),
    "a Tangent of a tuple": lambda a, b: rc.Tangent(tuple, a, b),
    "a Tangent by name": lambda a, b: rc.Tangent(Pair, a=a, b=b),
}


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("form", FORMS)
@hosts
def test_inside_a_named_tuple_in_every_form(host, form):
    @rc.primitive
    def product(p):
        return p.a * p.b

    @rrule.define(product)
    def product_rrule(p):
        return product(p), lambda dy: (NoTangent(), FORMS[form](NoTangent(), p.a * dy))

    with pytest.raises(rc.NoTangentError, match=r"\.a is NoTangent"):
        HOSTS[host](lambda x: product(Pair(x, x)), POINT)


@hosts
def test_where_it_belongs_it_stays(host):
    @rc.primitive
    def power(x, n):
        return x**n

    @rrule.define(power)
    def power_rrule(x, n):
        return x**n, lambda dy: (NoTangent(), n * x ** (n - 1) * dy, NoTangent())

    found = HOSTS[host](lambda x: power(x, 2), POINT)
    plain = HOSTS[host](lambda x: x**2, POINT)
    assert np.allclose(np.asarray(found), np.asarray(plain))


@hosts
def test_a_function_declared_non_differentiable_means_it(host):
    @rc.primitive
    def step(x):
        return x - x % 1

    rc.non_differentiable(step)
    found = HOSTS[host](lambda x: x * step(x), POINT)
    plain = HOSTS[host](lambda x: x * rc.ignore_derivatives(step.fun(x)), POINT)
    assert np.allclose(np.asarray(found), np.asarray(plain))


def test_rules_for_numpy_alone():
    x = torch.tensor(POINT, dtype=torch.float64)
    for kind in ("rrule", "frule"):
        f = by_zero(NoTangent(), kind, host=True)
        mode = "torch" if kind == "rrule" else "torch.func.jvp"
        with pytest.raises(rc.NoTangentError, match=rf"{kind} .* is NoTangent"):
            HOSTS[mode](f, x.tolist())
