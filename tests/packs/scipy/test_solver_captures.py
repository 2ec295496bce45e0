"""How functions of solvers get values that are differentiated, in JAX and PyTorch."""

import numpy as np
import pytest

import rules_core as rc
from rules_scipy import integrate, optimize

jax = pytest.importorskip("jax")
torch = pytest.importorskip("torch")

SOLVERS = {
    "brentq": lambda f: optimize.brentq(f, 0.0, 9.0),
    "newton": lambda f: optimize.newton(f, 1.5),
    "fsolve": lambda f: optimize.fsolve(f, np.array([1.5]))[0],
    "quad": lambda f: integrate.quad(f, 0.0, 1.0)[0],
}


class Holder:
    k = 0.0

    def by_class(self, x):
        return x * x - Holder.k


def by_default(a):
    return lambda x, a=a: x * x - a


def by_keyword(a):
    def f(x, *, a=a):
        return x * x - a

    return f


def by_default_and_closure(a):
    return lambda x, half=a * 0.5: x * x - half - a * 0.5


def by_global(a):
    globals()["NUMBER"] = a
    return lambda x: x * x - NUMBER


NUMBER = 0.0


def by_class(a):
    Holder.k = a
    return Holder().by_class


def by_memo(a):
    memo = {}

    def f(x):
        if "a" not in memo:
            memo["a"] = a * 1.0
        return x * x - memo["a"]

    return f


def backward(f):
    x = torch.tensor(4.0, dtype=torch.float64, requires_grad=True)
    return torch.autograd.grad(f(x), x)[0]


MODES = {
    "jax": lambda f: jax.grad(f)(4.0),
    "jax jit": lambda f: jax.jit(jax.grad(f))(4.0),
    "torch": backward,
    "torch.func": lambda f: torch.func.grad(f)(torch.tensor(4.0, dtype=torch.float64)),
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("form", [by_default, by_keyword, by_default_and_closure])
def test_defaults_are_differentiated(form, solver, mode):
    found = MODES[mode](lambda a: SOLVERS[solver](form(a)))
    assert float(found) == pytest.approx(-1.0 if solver == "quad" else 0.25, rel=1e-5)


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("form", [by_global, by_class])
def test_what_is_read_from_outside_is_named(form, solver, mode):
    if (solver, mode) == ("newton", "jax jit"):  # SciPy's start is compared in JAX
        return
    name = "NUMBER" if form is by_global else r"Holder\.k"
    with pytest.raises(rc.UnsupportedError, match=f"{solver}: the .*as {name}.*args"):
        MODES[mode](lambda a: SOLVERS[solver](form(a)))


@pytest.mark.parametrize("mode", ["torch", "torch.func"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_tensor_that_is_kept_is_refused(solver, mode):
    with pytest.raises(rc.UnsupportedError, match="keeps a tensor"):
        MODES[mode](lambda a: SOLVERS[solver](by_memo(a)))


def test_a_memo_of_constants_stays_as_it_is():
    """SciPy's runs keep nothing outside."""
    f = by_memo(torch.tensor(4.0, dtype=torch.float64))
    assert float(SOLVERS["brentq"](f)) == pytest.approx(2.0)
    assert f.__closure__[1].cell_contents == {}


class Node:
    """Refers to another one."""


def test_objects_that_contain_each_other_in_torch():
    one, other = Node(), Node()
    one.next, other.next, one.slope = other, one, 2.0

    def loss(t):
        def equation(x):
            return x**3 * one.slope - t

        return optimize.root(equation, torch.ones(2, dtype=torch.float64)).x.sum()

    t = torch.tensor([1.5, 2.0], dtype=torch.float64, requires_grad=True)
    loss(t).backward()
    root = (t.detach() / 2.0) ** (1 / 3)
    torch.testing.assert_close(t.grad, 1 / (6.0 * root**2))
