"""Tensors and JAX arrays among the arguments of the engine.

They have derivatives, of which it knows nothing: NoTangent would be a wrong answer.
"""

import re

import jax.numpy as jnp
import pytest
import torch

from rules_autodiff import Const, UnsupportedProgram, grad, jacfwd, jvp, linearize, vjp

LIBRARIES = {"torch": (torch.tensor, "torch.Tensor"), "jax": (jnp.asarray, "ArrayImpl")}


def product(x, t):
    return x * float(t)


def text(name):
    return (
        r"An argument to differentiate must be made of numbers and NumPy arrays, but "
        rf"is or holds a value of [\w.]*{re.escape(name)}\. Pass "
        r"numpy\.asarray\(x\) or Const\(x\), or call the program in the other library "
        r"by rules_jax\.to_jax or rules_torch\.to_torch with host=True\."
    )


CALLS = {
    "grad": lambda x: grad(lambda x: x * x)(x),
    "vjp": lambda x: vjp(lambda x: x * x, x),
    "linearize": lambda x: linearize(lambda x: x * x, x),
    "jvp": lambda x: jvp(lambda x: x * x, (x,), (x,)),
    "jacfwd": lambda x: jacfwd(lambda x: x * x)(x),
    "inside a tuple": lambda x: grad(lambda p: product(*p))((2.0, x)),
    "inside a dict": lambda x: grad(lambda p: product(p["a"], p["b"]))({
        "a": 2.0, "b": x
    }),
    "of two": lambda x: vjp(product, 2.0, x),
}  # fmt: skip


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_are_refused(call, library):
    make, name = LIBRARIES[library]
    with pytest.raises(UnsupportedProgram, match=text(name)):
        call(make(3.0))


@pytest.mark.parametrize("library", LIBRARIES)
def test_may_be_constants(library):
    t = LIBRARIES[library][0](3.0)
    assert grad(product)(2.0, t) == 3.0
    assert grad(product)(2.0, t=t) == 3.0
    assert grad(lambda x: product(x, t))(2.0) == 3.0
    assert vjp(product, 2.0, Const(t))[1](1.0)[0] == 3.0
    assert jvp(product, (2.0, t), (1.0, None)) == (6.0, 3.0)


@pytest.mark.parametrize("library", LIBRARIES)
def test_of_integers_have_no_derivative(library):
    n = LIBRARIES[library][0](3)
    assert grad(lambda p: product(*p))((2.0, n))[0] == 3.0
