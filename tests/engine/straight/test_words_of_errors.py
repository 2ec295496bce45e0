"""Why a program is not written out, in words of the program."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import special

import rules_autodiff as ad


@dataclasses.dataclass
class Data:
    a: Any
    b: Any


class Named(NamedTuple):
    a: Any
    b: Any


class Plain:
    def __init__(self, a, b):
        self.a, self.b = a, b


def loss(p):
    return p.a * np.sum(p.b**2)


def beside(x, p):
    return p.a * np.sum(x**2)


def inside(d):
    return d["p"].a * 2.0


X = np.array([1.0, 2.0])
CALLS = {
    "grad": lambda p, t: ad.grad(loss, tier=t)(p),
    "value_and_grad": lambda p, t: ad.value_and_grad(loss, tier=t)(p),
    "jvp": lambda p, t: ad.jvp(loss, (p,), (p,), tier=t),
    "vjp": lambda p, t: ad.vjp(loss, p, tier=t),
    "linearize": lambda p, t: ad.linearize(loss, p, tier=t),
    "jacfwd": lambda p, t: ad.jacfwd(loss, tier=t)(p),
    "hessian": lambda p, t: ad.hessian(loss, tier=t)(p),
    "beside": lambda p, t: ad.grad(beside, tier=t)(X, p),
    "jvp beside": lambda p, t: ad.jvp(beside, (X, p), (X, None), tier=t),
    "inside": lambda p, t: ad.grad(inside, tier=t)({"p": p}),
    "vjp inside": lambda p, t: ad.vjp(inside, {"p": p}, tier=t),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("cls", [Data, Named, Plain])
def test_instances_as_arguments(cls, call):
    with pytest.raises(ad.UnsupportedProgram) as caught:
        call(cls(2.0, X), "straight")
    assert (
        f"it has an argument of class {cls.__name__}, and takes real numbers, arrays "
        "of float64, and tuples, lists and dicts of these: pass those of its fields "
        "that it reads. Use tier='auto'"
    ) in str(caught.value)


OTHERS = {
    "float32": (np.ones(2, np.float32), "an array of float32 with 1 axes"),
    "no axes": (np.ones(()), "an array of float64 with 0 axes"),
    "complex": (1.0j, "class complex, and takes real numbers, arrays of float64, and "),
    "tuple": ((1.0, 2.0), "a tuple has a tangent: pass its entries as arguments. "),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_arguments(name):
    x, words = OTHERS[name]
    with pytest.raises(ad.UnsupportedProgram) as caught:
        ad.jvp(
            lambda x, y: y,
            (x, 1.0),
            (x if name == "tuple" else None, 1.0),
            tier="straight",
        )
    assert words in str(caught.value)
    assert "its fields" not in str(caught.value)


def sorted_squares(x):
    y = x + 1.0
    return np.sum(np.sort(y) ** 2)


def of_a_rule(x):
    y = special.gammaln(x)
    return np.sum(y)


def by_a_helper(x):
    return 2.0 * of_a_rule(x)


SECOND = {
    "sort": (sorted_squares, "sorted_squares", "np.sum(np.sort(y) ** 2)"),
    "rule": (of_a_rule, "of_a_rule", "y = special.gammaln(x)"),
    "helper": (by_a_helper, "of_a_rule", "y = special.gammaln(x)"),
}


@pytest.mark.parametrize("name", SECOND)
@pytest.mark.parametrize("tier", ["straight", "compiled"])
def test_second_derivatives_name_a_line_of_the_program(name, tier):
    f, function, text = SECOND[name]
    if tier == "compiled":
        pytest.importorskip("numba")  # of the extra `compiled`
    with pytest.raises(ad.UnsupportedProgram) as caught:
        ad.hessian(f, tier=tier)(X)
    message = str(caught.value)
    assert "in its second derivative, " in message
    assert f"({function}, line " in message
    assert f"{text})" in message
    assert not any(word in message for word in ("<tangent", "forward", "*args", "__p"))
    assert np.isfinite(ad.hessian(f)(X)).all()


def made_inside(x):
    p = Data(x[0], x)
    return p.a * np.sum(p.b)


def reduced(x):
    return np.logaddexp.reduce(x)


LINES = {
    "dataclass": (
        made_inside,
        "the __init__ of Data has no source code, as that of a dataclass: define it in "
        "the class (made_inside, line ",
    ),
    "method of a ufunc": (
        reduced,
        "numpy.logaddexp.reduce is not written out (reduced,",
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_what_a_line_needs(name):
    f, words = LINES[name]
    with pytest.raises(ad.UnsupportedProgram) as caught:
        ad.grad(f, tier="straight")(X)
    assert words in str(caught.value)


def test_functions_without_a_module():
    def program(x):
        return x if isinstance(x, type(print)) else print(x)

    program.__module__ = None
    with pytest.raises(ad.UnsupportedProgram, match=r"\(program, line "):
        ad.grad(program, tier="straight")(2.0)
