"""Arguments of `from_jax` and `from_torch` in containers of every kind, in every host.

Beside the array stands what has none: None, numbers, texts, integers.
"""

import dataclasses
import re
from collections import OrderedDict, namedtuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import rules_autodiff as ra
import rules_core as rc
from rules_jax import from_jax
from rules_torch import from_torch

X = np.array([1.0, 2.0, -0.5])
FIRST = np.cos(X) * X + np.sin(X)
SECOND = np.diag(2 * np.cos(X) - np.sin(X) * X)
Pair = namedtuple("Pair", "a n")


@dataclasses.dataclass
class Plain:
    a: object
    n: object


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Registered:
    n: object
    a: object


@jax.tree_util.register_pytree_node_class
class WithStatic:
    """JAX knows the child by its place, and holds the other field constant."""

    def __init__(self, a, n):
        self.n, self.a = n, a

    def tree_flatten(self):
        return (self.a,), self.n

    @classmethod
    def tree_unflatten(cls, n, children):
        return cls(*children, n)


FORMS = {
    "dict": (lambda x, n: {"n": n, "a": x}, lambda c: (c["a"], c["n"])),
    "list": (lambda x, n: [n, x], lambda c: (c[1], c[0])),
    "nested": (lambda x, n: {"b": [(n, x)]}, lambda c: c["b"][0][::-1]),
    "named": (Pair, lambda c: c),
    "ordered": (lambda x, n: OrderedDict(n=n, a=x), lambda c: (c["a"], c["n"])),
    "instance": (Plain, lambda c: (c.a, c.n)),
    "registered": (lambda x, n: Registered(n, x), lambda c: (c.a, c.n)),
    "with static": (WithStatic, lambda c: (c.a, c.n)),
    "closure": (lambda x, n: lambda: (x, n), lambda c: c()),
}
BESIDE = {"None": None, "float": 1.5, "int": 2, "bool": True, "str": "s"}
MADE = {"jax": (from_jax, jnp), "torch": (from_torch, torch)}


def total(f):
    return lambda x: f(x).sum()


def in_jax(transform):
    def run(f):
        with jax.enable_x64(True):
            return transform(f)(jnp.asarray(X))

    return run


def in_torch(transform):
    return lambda f: transform(f)(torch.tensor(X)).numpy()


TRANSFORMS = {
    "engine, forward": (lambda f: ra.jacfwd(f)(X), np.diag(FIRST)),
    "engine, second": (lambda f: ra.hessian(total(f))(X), SECOND),
    "JAX, forward": (in_jax(lambda f: jax.jacfwd(f)), np.diag(FIRST)),
    "JAX, second": (in_jax(lambda f: jax.hessian(total(f))), SECOND),
    "JAX, vmap": (in_jax(lambda f: jax.jit(jax.vmap(jax.grad(f)))), FIRST),
    "PyTorch, forward": (in_torch(lambda f: torch.func.jacfwd(f)), np.diag(FIRST)),
    "PyTorch, second": (in_torch(lambda f: torch.func.hessian(total(f))), SECOND),
    "PyTorch, vmap": (in_torch(lambda f: torch.vmap(torch.func.grad(f))), FIRST),
}


def foreign(made, read, write=lambda y: y, *, number=False):
    """A function of a container; `number`: it multiplies by what is in it too."""
    wrap, xp = MADE[made]

    def f(c):
        a, n = read(c)
        y = xp.sin(a) * a
        return write(y * n if number else y)

    return wrap(f)


@pytest.mark.covering
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("made", MADE)
def test_containers(made, form, beside, transform):
    if made == "torch" and transform.startswith("JAX") and form == "instance":
        return  # JAX's own limit: the next test
    if form == "closure" and transform == "engine, second":
        return  # an error of the engine, which names the function
    (make, read), n = FORMS[form], BESIDE[beside]
    f = foreign(made, read, number=beside == "float")
    run, known = TRANSFORMS[transform]
    found = run(lambda x: f(make(x, n)))
    np.testing.assert_allclose(found, known * (n if beside == "float" else 1))


def test_classes_that_jax_does_not_know_are_an_error_there():
    f = foreign("torch", FORMS["instance"][1])
    with pytest.raises(rc.UnsupportedError, match=r"register_dataclass"):
        jax.grad(lambda x: f(Plain(x, None)).sum())(jnp.asarray(X))


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("form", ["dict", "named", "ordered", "registered"])
@pytest.mark.parametrize("made", MADE)
def test_results(made, form, transform):
    make, read = FORMS[form]
    f = foreign(made, lambda x: (x, None), lambda y: make(y, None))
    run, known = TRANSFORMS[transform]
    np.testing.assert_allclose(run(lambda x: read(f(x))[0]), known)


CONSTANTS = {**BESIDE, "complex": 1j, "array": np.array([3.0, 4.0])}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("constant", CONSTANTS)
@pytest.mark.parametrize("made", MADE)
def test_constants_in_results(made, constant, transform):
    beside = CONSTANTS[constant]
    f = foreign(made, lambda x: (x, None), lambda y: {"b": [beside], "y": y})
    run, known = TRANSFORMS[transform]
    np.testing.assert_allclose(run(lambda x: f(x)["y"]), known)
    found = f(X)["b"][0]
    assert np.all(found == beside)


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("number", [1.5, 2])
@pytest.mark.parametrize("made", MADE)
def test_results_of_constants_alone(made, number, transform):
    """A part of the result depends on no argument that has a derivative."""
    wrap, xp = MADE[made]
    f = wrap(lambda a, b: (a * a, xp.sin(b) * b * a, None))

    def product(x):
        square, y, _ = f(number, x)
        return square * y

    run, known = TRANSFORMS[transform]
    np.testing.assert_allclose(run(product), known * number**3)


READS = {"item": lambda x: x.sum().item(), "numpy": lambda x: x.numpy()}


@pytest.mark.parametrize("way", READS)
def test_numbers_that_depend_on_the_arguments_are_an_error(way):
    """PyTorch holds them constant: the derivative would be 0."""
    read = READS[way]
    f = from_torch(lambda x: (read(x.detach()), x * x))
    with pytest.raises((rc.UnsupportedError, RuntimeError)):
        ra.jacfwd(lambda x: f(x)[0] * 1.0)(X)
    with pytest.raises((rc.UnsupportedError, RuntimeError)):
        ra.grad(lambda x: np.sum(f(x)[0] * np.ones(3)))(X)


def test_a_number_that_depends_on_the_data_is_an_error_where_jax_traces():
    f = from_torch(lambda x: (x.sum().item(), x * x))
    with pytest.raises(rc.UnsupportedError, match=r"without item\(\)"):
        jax.jit(f)(jnp.asarray(X))


@pytest.mark.parametrize("host", ["engine", "PyTorch"])
def test_static_fields_are_constants_with_an_error_and_no_zero(host):
    f = from_jax(lambda c: jnp.sin(c.a) * c.n)
    text = re.escape("a static field of a class is that of a constant there")
    if host == "engine":
        backward, forward, n = ra.grad, ra.jacfwd, 1.5
    else:
        backward, forward, n = torch.func.grad, torch.func.jacfwd, torch.tensor(1.5)
    with pytest.raises(rc.DerivativeNotImplemented, match=text):
        backward(lambda n: f(WithStatic(X, n)).sum())(n)
    with pytest.raises(rc.UnsupportedError, match=text):
        forward(lambda n: f(WithStatic(X, n)).sum())(n)


def test_two_children_of_a_class_may_be_one_array():
    f = from_jax(lambda c: c.n * jnp.sin(c.a))
    found = ra.grad(lambda x: f(Registered(x, x)).sum())(X)
    np.testing.assert_allclose(found, FIRST)


@pytest.mark.parametrize("made", MADE)
def test_python_numbers_alone(made):
    wrap, xp = MADE[made]
    f = wrap(lambda x, k=2.0: xp.sin(x) * k)
    np.testing.assert_allclose(f(0.5), 2 * np.sin(0.5))
    np.testing.assert_allclose(f(0.5, k=1.0), np.sin(0.5))
    np.testing.assert_allclose(rc.rrule(f, 0.5)[1](1.0)[1], 2 * np.cos(0.5))
    np.testing.assert_allclose(ra.grad(ra.grad(f))(0.5), -2 * np.sin(0.5))
