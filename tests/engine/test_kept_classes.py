"""What a program returns and leaves behind is what a plain call does, class and all."""

import math

import numpy as np
import pytest

from rules_autodiff import grad, jacfwd, jacrev, jvp, linearize, vjp
from rules_autodiff.testing import check_program

X = np.array([1.3, -0.4, 2.1])


class Named(np.ndarray):
    pass


def written(x):
    y = (x * 2.0).view(Named)
    y[0] = 3.0 * x[1]
    return [y, y[1:]]


PROGRAMS = {
    "view": lambda x: x.view(Named),
    "made": lambda x: np.sin(x.view(Named)) * 2.0,
    "sum": lambda x: x.view(Named).sum(),
    "product of an array": math.prod,
    "product of numbers": lambda x: math.prod([x[0], x[1]], start=2),
    "product of Python's": lambda x: math.prod(x.tolist()),
    "product of rows": lambda x: math.prod([x, x[::-1]]),
    "product of nothing": lambda x: math.prod([]) * x,
    "conjugate": lambda x: complex(x[0], x[1]).conjugate(),
    "quotient": lambda x: complex(x[0], x[1]).conjugate() / complex(x[1], 1.0),
    "conjugate of NumPy's": lambda x: (x[0] * 1j + x[1]).conjugate(),
}


def value_of_vjp(f):
    return vjp(f, X)[0]


def value_of_linearize(f):
    return linearize(f, X)[0]


def value_of_jvp(f):
    return jvp(f, (X,), (X,))[0]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("value_of", [value_of_vjp, value_of_linearize, value_of_jvp])
def test_a_value_is_of_its_own_class(value_of, program):
    plain, found = PROGRAMS[program](X), value_of(PROGRAMS[program])
    assert type(found) is type(plain)
    assert np.array_equal(found, plain)


@pytest.mark.parametrize("value_of", [value_of_vjp, value_of_linearize, value_of_jvp])
def test_written_values_are_of_their_own_class(value_of):
    for found, plain in zip(value_of(written), written(X), strict=True):
        assert type(found) is type(plain)
        assert np.array_equal(found, plain)


@pytest.mark.parametrize("zeros", [(), (1,), (0, 2)])
def test_products_have_derivatives_beside_zeros(zeros):
    x = X.copy()
    x[list(zeros)] = 0.0
    check_program(lambda x: math.prod(x) + math.prod([x[1], x[0]], start=x[2]), x)
    check_program(lambda x: math.prod(v * 1.0 for v in x.tolist()), x)


def test_jvp_leaves_what_a_plain_call_leaves_that_raises():
    def program(x, items, table):
        x[0] = 5.0
        items.append(x[1])
        table["k"] = x[2]
        raise ValueError("now")

    def left_by(call):
        given = [X.copy(), [1.0], {"k": 2.0}]
        with pytest.raises(ValueError, match="now"):
            call(*given)
        return given

    def pushed(*given):
        jvp(program, given, (X, [0.0], {"k": 0.0}))

    plain, found = left_by(program), left_by(pushed)
    assert np.array_equal(plain[0], found[0])
    assert plain[1:] == found[1:]


@pytest.mark.parametrize("jacobian", [jacfwd, jacrev])
def test_a_jacobian_by_no_argument_is_an_error_in_words(jacobian):
    with pytest.raises(ValueError, match="argnums must name one argument"):
        jacobian(np.sin, argnums=())(X)
    assert grad(np.sum, argnums=())(X) == ()
