"""`numpy.polynomial` and `poly1d` are plain Python, which the engine follows."""

import numpy as np
import numpy.polynomial as families
import pytest

from rules_autodiff import grad, hessian
from rules_autodiff.testing import check_program

FAMILIES = {
    "poly": families.polynomial,
    "cheb": families.chebyshev,
    "leg": families.legendre,
    "lag": families.laguerre,
    "herm": families.hermite,
    "herme": families.hermite_e,
}
C = np.array([0.4, -1.3, 0.7, 1.1])
ROOTS = np.array([0.3, -0.8, 1.4])
X = np.array([-0.9, -0.2, 0.35, 0.8, 0.6])
PLANE = C[:, None] * np.array([1.0, -0.4, 0.9])
SPACE = PLANE[:, :, None] * np.array([0.7, 1.2])
# By the end of the name: a call, and the arguments it is differentiated at.
CALLS = {
    "add": (lambda f, c, d: f(c, d), (C, ROOTS)),
    "sub": (lambda f, c, d: f(c, d), (C, ROOTS)),
    "mul": (lambda f, c, d: f(c, d), (C, ROOTS)),
    "mulx": (lambda f, c: f(c), (C,)),
    "div": (lambda f, c, d: np.concatenate(f(c, d)), (C, ROOTS)),
    "pow": (lambda f, c: f(c, 3), (C,)),
    "val": (lambda f, x, c: f(x, c), (X, C)),
    "val2d": (lambda f, x, c: f(x, x[::-1], c), (X, PLANE)),
    "val3d": (lambda f, x, c: f(x, x[::-1], 0.5 * x, c), (X, SPACE)),
    "valnd": (lambda f, x, c: f((x, x[::-1]), c), (X, PLANE)),
    "grid2d": (lambda f, x, c: f(x, x[:2], c), (X, PLANE)),
    "grid3d": (lambda f, x, c: f(x[:2], x[1:3], x[2:4], c), (X, SPACE)),
    "der": (lambda f, c: f(c, 2, 1.5), (C,)),
    "int": (lambda f, c: f(c, 2, [0.3, 0.2], 0.5, 1.5), (C,)),
    "vander": (lambda f, x: f(x, 3), (X,)),
    "vander2d": (lambda f, x: f(x, x[::-1], [2, 1]), (X,)),
    "vander3d": (lambda f, x: f(x, x[::-1], 0.5 * x, [1, 2, 1]), (X,)),
    "fromroots": (lambda f, r: f(r), (ROOTS,)),
    "roots": (lambda f, r: f(r), (np.array([-0.6, 0.5, 1.3, 0.2]),)),
    "line": (lambda f, c: f(c[0], c[1]), (C,)),
    "fit": (lambda f, x, y: f(x, y, 2), (X, np.sin(X))),
    "companion": (lambda f, c: f(c), (C,)),
    "2poly": (lambda f, c: f(c), (C,)),
    "poly2": (lambda f, c: f(c), (C,)),
    "weight": (lambda f, x: f(0.5 * x), (X,)),
    "valfromroots": (lambda f, x, r: f(x, r), (X, ROOTS)),
    "trim": (lambda f, c: f(c), (C,)),
}
# Numbers that depend on no float.
CONSTANT = ("gauss", "pts1", "pts2", "domain", "zero", "one", "x")


def call_of(prefix, name):
    own = name.removeprefix(prefix)
    if name.startswith("poly2"):
        return CALLS["poly2"]
    return CALLS.get(name) or CALLS.get(own)


def functions():
    for prefix, module in FAMILIES.items():
        for name in module.__all__:
            f = getattr(module, name)
            if callable(f) and not isinstance(f, type):
                yield prefix, name


FOUND = [(p, n) for p, n in functions() if n.removeprefix(p) not in CONSTANT]
OTHER = {"chebinterpolate"}  # which calls a function of the user


@pytest.mark.covering(every=6)
@pytest.mark.parametrize(("prefix", "name"), [x for x in FOUND if x[1] not in OTHER])
def test_every_function(prefix, name):
    f = getattr(FAMILIES[prefix], name)
    call, args = call_of(prefix, name)

    def program(*args):
        y = call(f, *args)
        return np.sum(y * np.cos(np.arange(np.size(y)).reshape(np.shape(y))))

    check_program(program, *args)


def test_a_function_of_the_user():
    def program(a):
        found = families.chebyshev.chebinterpolate(lambda x: np.exp(a * x), 3)
        return np.sum(found * found)

    check_program(program, 0.7)


CLASSES = ["Polynomial", "Chebyshev", "Legendre", "Laguerre", "Hermite", "HermiteE"]
USES = {
    "value": lambda p: p(0.3),
    "values": lambda p: np.sum(p(X) ** 2),
    "sum": lambda p: (p + 2.0 * p - 1.0)(0.3),
    "product": lambda p: (p * p)(0.3),
    "power": lambda p: (p**2)(0.3),
    "derivative": lambda p: p.deriv()(0.3),
    "integral": lambda p: p.integ(lbnd=-1.0)(0.4),
    "coefficients": lambda p: np.sum(p.coef**3),
    "composed": lambda p: p(p(0.3)),
    "cut": lambda p: p.cutdeg(2)(0.5),
    "converted": lambda p: p.convert(kind=families.Polynomial)(0.3),
    "iterated": lambda p: sum(c * c for c in p),
}


@pytest.mark.covering(every=6)
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("name", CLASSES)
def test_classes(name, use):
    cls, used = getattr(families, name), USES[use]
    check_program(lambda c: used(cls(c)), C)


@pytest.mark.parametrize("name", CLASSES)
def test_classes_of_constants(name):
    p = getattr(families, name)(C, domain=[-2.0, 1.0])
    check_program(lambda x: np.sum(p(x) ** 2), X)


def test_a_fit():
    def program(y):
        p = families.Polynomial.fit(X, y, 2)
        return p(0.1) + np.sum(p.convert().coef ** 2)

    check_program(program, np.sin(X))
    assert hessian(program)(np.sin(X)).shape == (5, 5)
    assert grad(program)(np.sin(X)).shape == (5,)


OLD = {
    "value": lambda p: p(0.3),
    "values": lambda p: np.sum(p(X) ** 2),
    "by polyval": lambda p: np.polyval(p, 0.3),
    "derivative": lambda p: p.deriv()(0.3),
    "integral": lambda p: p.integ(k=0.5)(0.4),
    "sum": lambda p: (2.0 * p + 1.0)(0.3),
    "product": lambda p: (p * p)(0.3),
    "power": lambda p: (p**2)(0.3),
    "coefficients": lambda p: np.sum(p.coeffs**3),
    "entry": lambda p: p[1] * p[2],
}


@pytest.mark.parametrize("use", OLD)
def test_poly1d(use):
    used = OLD[use]
    check_program(lambda c: used(np.poly1d(c)), C)
    check_program(lambda r: used(np.poly1d(r, True)), ROOTS)


def test_poly1d_of_constants():
    p = np.poly1d(C)
    check_program(lambda x: np.sum(p(x) ** 2), X)
    check_program(lambda y: np.poly1d(np.polyfit(X, y, 2))(0.3), np.sin(X))
