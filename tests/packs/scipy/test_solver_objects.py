"""Values that the functions of solvers read in their classes, and by methods.

Each program solves `x² = a`, or integrates `x² - a`, and gets `a` to the function by
another way. The derivative is that of the closed form, or an error.
"""

import functools
import types
from typing import ClassVar

import numpy as np
import pytest
from scipy import integrate, optimize

import rules_core as rc
from rules_autodiff import UnsupportedProgram, grad, jacfwd, jvp


class Meta(type):
    top = 0.0

    def __call__(cls, x):
        return x * x - cls.k


class OfClass:
    """Reads attributes of classes."""

    k, array = 0.0, np.zeros(1)
    entries: ClassVar[dict[str, float]] = {}

    def __init__(self, w=None):
        self.w = w
        if w is not None:
            self.entries["a"] = w
            self.array[0] = w

    def by_self(self, x):
        return x * x - self.k

    def by_type(self, x):
        return x * x - type(self).k

    def by_class(self, x):
        return x * x - self.__class__.k

    def by_dict(self, x):
        return x * x - vars(type(self).__mro__[-2])["k"]

    def in_entries(self, x):
        return x * x - self.entries["a"]

    def in_array(self, x):
        return x * x - self.array[0]

    @classmethod
    def of_class(cls, x):
        return x * x - cls.k

    def __call__(self, x):
        return x * x - self.k

    def partly(self, x):
        return x * x - self.k + 0.0 * self.w


class Derived(OfClass):
    pass


class Called(metaclass=Meta):
    k = 0.0

    def by_metaclass(self, x):
        return x * x - type(self).top


class OfGlobal:
    """Reads a global by what Python calls itself."""

    def __init__(self, w=0.0):
        self.w = w

    def value(self):
        return NUMBER

    @property
    def shown(self):
        return NUMBER

    @functools.cached_property
    def cached(self):
        return NUMBER

    def __getitem__(self, i):
        return NUMBER

    def __mul__(self, other):
        return NUMBER * other

    def __iter__(self):
        return iter([NUMBER])

    def __enter__(self):
        return NUMBER

    def __exit__(self, *_error):
        return None

    def __getattr__(self, name):
        if name == "missing":
            return NUMBER
        raise AttributeError(name)

    def by_call(self, x):
        return x * x - self.value() + 0.0 * self.w

    def by_name(self, x):
        return x * x - getattr(self, "".join(["val", "ue"]))() + 0.0 * self.w

    def by_property(self, x):
        return x * x - self.shown + 0.0 * self.w

    def by_cached(self, x):
        return x * x - self.cached + 0.0 * self.w

    def by_item(self, x):
        return x * x - self[0] + 0.0 * self.w

    def by_product(self, x):
        return x * x - self * 1.0 + 0.0 * self.w

    def by_loop(self, x):
        for number in self:
            x = x * x - number
        return x + 0.0 * self.w

    def by_with(self, x):
        with self as number:
            return x * x - number + 0.0 * self.w

    def by_missing(self, x):
        return x * x - self.missing + 0.0 * self.w

    def __call__(self, x):
        return x * x - self.value() + 0.0 * self.w


NUMBER = 0.0


def stored(a):
    """Where the objects read it."""
    global NUMBER  # noqa: PLW0603  (globals are tested)
    NUMBER = a
    OfClass.k = Called.k = Meta.top = a


# By a name: the function of the object, made of `a`.
FUNCTIONS = {
    **{
        name: lambda a, name=name: getattr(OfClass(), name)
        for name in ("by_self", "by_type", "by_class", "by_dict", "of_class")
    },
    "a base's": lambda a: Derived().by_self,
    "a base's method of the class": lambda a: Derived.of_class,
    "in_entries": lambda a: OfClass(a).in_entries,
    "in_array": lambda a: OfClass(a).in_array,
    "partly": lambda a: OfClass(a).partly,
    "a call": lambda a: OfClass(),
    "a call, partly": lambda a: OfClass(a),
    "a class": lambda a: Called,
    "by_metaclass": lambda a: type.__call__(Called).by_metaclass,
    "a partial": lambda a: functools.partial(OfClass.of_class),
    "a method": lambda a: types.MethodType(lambda c, x: x * x - c.k, OfClass),
    **{
        f"{name}, {how}": lambda a, name=name, given=given: getattr(
            OfGlobal(*([a] if given else [])), name
        )
        for name in vars(OfGlobal)
        if name.startswith("by_")
        for how, given in (("alone", False), ("partly", True))
    },
    "a call by a method": lambda a: OfGlobal(),
    "a call by a method, partly": lambda a: OfGlobal(a),
}
SOLVERS = {
    "brentq": lambda f: optimize.brentq(f, 0.0, 9.0),
    "brenth": lambda f: optimize.brenth(f, 0.0, 9.0),
    "newton": lambda f: optimize.newton(f, 1.5),
    "root_scalar": lambda f: optimize.root_scalar(f, bracket=(0.0, 9.0)).root,
    "by keyword": lambda f: optimize.root_scalar(f=f, bracket=(0.0, 9.0)).root,
    "fsolve": lambda f: optimize.fsolve(f, 1.5)[0],
    "root": lambda f: optimize.root(f, [1.5]).x[0],
    "quad": lambda f: integrate.quad(f, 0.0, 1.0)[0],
}
MODES = {
    "reverse": lambda f: grad(f)(4.0),
    "forward": lambda f: jvp(f, (4.0,), (1.0,))[1],
    "reverse of reverse": lambda f: grad(grad(f))(4.0),
    "forward over reverse": lambda f: jacfwd(grad(f))(4.0),
}


def right(solver, mode):
    first, second = (-1.0, 0.0) if solver == "quad" else (0.25, -1.0 / 32.0)
    return first if mode in ("reverse", "forward") else second


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_a_class_or_a_method_reads_is_refused(function, solver, mode):
    def program(a):
        stored(a)
        return SOLVERS[solver](FUNCTIONS[function](a))

    with pytest.raises(UnsupportedProgram):
        MODES[mode](program)


class Own:
    def __init__(self, k):
        self.k, self.inner = k, None

    @property
    def shown(self):
        return self.k

    def f(self, x):
        return x * x - self.shown

    def nested(self, x):
        return x * x - self.inner.shown

    def __call__(self, x):
        return self.f(x)


def nested(a):
    own = Own(0.0)
    own.inner = Own(a)
    return own.nested


CAPTURED = {"a method": lambda a: Own(a).f, "a call": Own, "nested": nested}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("function", CAPTURED)
def test_what_an_instance_holds_has_its_derivative(function, solver, mode):
    found = MODES[mode](lambda a: SOLVERS[solver](CAPTURED[function](a)))
    np.testing.assert_allclose(found, right(solver, mode), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("given", [True, False])
def test_an_object_among_the_arguments(given):
    """Its class holds the value, or it holds it itself."""

    def program(a):
        holder = OfClass()
        if given:
            holder.k = a
        else:
            OfClass.k = a
        f = lambda x, own: x * x - own.k
        return optimize.brentq(f, 0.0, 9.0, args=(holder,))

    if given:
        assert grad(program)(4.0) == pytest.approx(0.25)
        return
    for mode in MODES.values():
        with pytest.raises(UnsupportedProgram):
            mode(program)


# Functions with rules.


def times_class(x, holder):
    return x * holder.k


def times_property(x, holder):
    return x * holder.shown


def times_first(x, holders):
    return x * holders[0].k


for function in (times_class, times_property, times_first):

    @rc.rrule.define(function)
    def product_rrule(x, holder, function=function):
        y = function(x, holder)
        return y, lambda dy: (rc.NoTangent(), dy * y / x, rc.NoTangent())

    @rc.frule.define(function)
    def product_frule(tangents, x, holder, function=function):
        y = function(x, holder)
        return y, tangents[1] * y / x


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("by_argument", [True, False])
def test_a_rule_for_an_object_whose_class_holds_the_value(by_argument, mode):
    holders = {times_class: OfClass(), times_first: [OfClass()]}
    holders[times_property] = OfGlobal()
    for function, holder in holders.items():

        def program(a, function=function, holder=holder):
            stored(a)
            return function(a if by_argument else 2.0, holder)

        with pytest.raises(UnsupportedProgram, match="attribute of (a|the) class"):
            MODES[mode](program)
