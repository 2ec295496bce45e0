"""Functions that a differentiated program makes, and keeps where others find them."""

# ruff: noqa: PLW0603  (the global variables are what is tested)

import functools

import numpy as np
import pytest
from scipy.integrate import quad

from rules_autodiff import UnsupportedProgram, grad, hessian, jvp, show

X, H = 1.5, 1e-5
KEPT = ALSO = None


def slope(f, x):
    return (f(x + H) - f(x - H)) / (2 * H)


class Holder:
    """A class with an attribute."""

    f = None


TABLE: dict[str, object] = {}
ROW: list[object] = [None]


def made(k):
    return lambda t: k * t * t


def made_by_def(k):
    def inner(t):
        return k * t * t

    return inner


def pair(k):
    return (lambda t: k * t * t), (lambda t: k * t)  # two on one line


def nested(k):
    def middle(a):
        return lambda t: k * a * t * t

    return middle(1.0)


def doubled(f):
    @functools.wraps(f)
    def wrapper(*args):
        return 2.0 * f(*args)

    return wrapper


MAKERS = {
    "lambda": made,
    "def": made_by_def,
    "first of a line": lambda k: pair(k)[0],
    "nested": nested,
    "wrapped": lambda k: doubled(made(k)),
    "partial": lambda k: functools.partial(made_by_def(k)),
}


def kept_as_global(make, x):
    global KEPT
    KEPT = make(2.0)
    return quad(lambda t: KEPT(t) * x + KEPT(x), 0, 1)[0] + KEPT(x)


def kept_in_class(make, x):
    Holder.f = staticmethod(make(2.0))
    return quad(lambda t: Holder.f(t) * x, 0, 1)[0] + Holder.f(x)


def kept_in_dict(make, x):
    TABLE["f"] = make(2.0)
    return quad(lambda t: TABLE["f"](t) * x, 0, 1)[0] + TABLE["f"](x)


def kept_in_list(make, x):
    ROW[0] = make(2.0)
    return quad(lambda t: ROW[0](t) * x, 0, 1)[0] + ROW[0](x)


def kept_twice(make, x):
    global KEPT, ALSO
    KEPT = ALSO = make(2.0)
    return quad(lambda t: KEPT(t) * ALSO(x), 0, 1)[0]


def handed_over(make, x):
    global KEPT
    KEPT = make(2.0)
    return quad(KEPT, 0, x)[0]


KEEPERS = (
    kept_as_global, kept_in_class, kept_in_dict, kept_in_list, kept_twice, handed_over,
)  # fmt: skip


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("keep", KEEPERS, ids=lambda f: f.__name__)
def test_a_solver_calls_it(keep, make):
    def program(x):
        return keep(MAKERS[make], x)

    wanted = slope(program, X)
    found = grad(program)(X), grad(program)(X), jvp(program, (X,), (1.0,))[1]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def later(x):
    return quad(lambda t: KEPT(t) * x, 0, 1)[0] + KEPT(x) * x


@pytest.mark.covering(every=6)
@pytest.mark.parametrize("make", MAKERS)
def test_another_program_calls_it_later(make):
    def program(x):
        global KEPT
        KEPT = MAKERS[make](2.0)
        return x * 1.0

    assert grad(program, tier="tape")(X) == 1.0
    wanted = slope(later, X)
    np.testing.assert_allclose([grad(later)(X) for _ in range(3)], wanted, rtol=1e-6)


@pytest.mark.full
def test_second_derivatives():
    kept_as_global(made, X)
    np.testing.assert_allclose(hessian(later)(X), slope(grad(later), X), rtol=1e-6)


def keep_a_product(x):
    global KEPT
    KEPT = made(2.0)
    return KEPT(x)


def test_it_is_differentiated_itself():
    assert jvp(keep_a_product, (X,), (1.0,)) == (4.5, 6.0)
    assert grad(KEPT)(X) == 6.0
    assert show(KEPT) == "lambda t: _ad.mul(_ad.mul(k, t), t)"
    with pytest.raises(UnsupportedProgram, match="make it outside"):
        grad(KEPT, tier="straight")(X)


def power(n):
    return lambda t: t if n < 1 else t * KEPT(n - 1)(t)


def keep_powers(x):
    global KEPT
    KEPT = power
    return quad(lambda t: KEPT(2)(t) * x, 0, 1)[0] + KEPT(2)(x)


def test_it_makes_others():
    wanted = slope(keep_powers, X)
    np.testing.assert_allclose(grad(keep_powers)(X), wanted, rtol=1e-6)
