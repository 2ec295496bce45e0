"""A function that a rule calls back reads at the pullback what it read at the value."""

from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import odeint, quad, solve_ivp
from scipy.optimize import brentq, minimize, root

import rules_core as rc
from rules_autodiff import grad, vjp
from tests import ways_of_reading

number, listed, held, table = 2.0, [2.0], np.array([2.0, 1.0]), {"k": 2.0}
whole, text = 2, "two"
module, thing = ModuleType("settings"), SimpleNamespace(k=2.0)
vars(module)["k"] = 2.0


class Class:
    k = 2.0

    @classmethod
    def told(cls):
        return cls.k


class Thing:
    def __init__(self):
        self.k, self.inner = 2.0, SimpleNamespace(k=2.0)

    @property
    def shown(self):
        return self.k

    def told(self):
        return self.k

    def __call__(self):
        return self.k


thing_of_class = Thing()


def constant(k):
    return lambda: k


chosen = constant(2.0)


def choose(k):
    global chosen  # noqa: PLW0603
    chosen = constant(k)


def helper():
    return number


def set_number(k):
    global number  # noqa: PLW0603
    number = k


def set_whole(k):
    global whole  # noqa: PLW0603
    whole = int(k)


def set_text(k):
    global text  # noqa: PLW0603
    text = "two" if k == 2.0 else "half"


def set_thing(k):
    thing_of_class.k = k


READS = {
    "number": (lambda: number, set_number),
    "helper": (lambda: helper(), set_number),
    "list": (lambda: listed[0], lambda k: listed.__setitem__(0, k)),
    "array": (lambda: held[0], lambda k: held.__setitem__(0, k)),
    "dict": (lambda: table["k"], lambda k: table.__setitem__("k", k)),
    "module": (lambda: module.k, lambda k: setattr(module, "k", k)),
    "class": (lambda: Class.k, lambda k: setattr(Class, "k", k)),
    "instance": (lambda: thing.k, lambda k: setattr(thing, "k", k)),
    "function": (lambda: chosen(), choose),
    "property": (lambda: thing_of_class.shown, set_thing),
    "method": (lambda: thing_of_class.told(), set_thing),
    "call": (lambda: thing_of_class(), set_thing),
    "getattr": (lambda: getattr(thing_of_class, "k"), set_thing),  # noqa: B009
    "whole number": (lambda: whole if whole == 2 else 0.5, set_whole),
    "text": (lambda: {"two": 2.0, "half": 0.5}[text], set_text),
    "class method": (Class.told, lambda k: setattr(Class, "k", k)),
    "two steps": (
        lambda: thing_of_class.inner.k,
        lambda k: setattr(thing_of_class.inner, "k", k),
    ),
}


@pytest.fixture(autouse=True)
def _as_before():
    yield
    for _, change in READS.values():
        change(2.0)


def solved(read, p):
    def f(t, y):
        return read() * p * y

    return solve_ivp(f, (0, 0.5), [1.0], rtol=1e-8, atol=1e-10).y[0, -1]


SOLVERS = {
    "solve_ivp": solved,
    "quad": lambda read, p: quad(lambda x: np.exp(-read() * p * x), 0, 1)[0],
    "root": lambda read, p: root(lambda x: x**3 + read() * x - p, [1.0]).x[0],
    "brentq": lambda read, p: brentq(lambda x: x**3 + read() * x - p, -5, 5),
    "minimize": lambda read, p: minimize(
        lambda x: (read() * x[0] - p) ** 2 + x[0] ** 4, [1.0], tol=1e-10
    ).x[0],
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", READS)
def test_what_was_changed_before_the_pullback_is_an_error(kind, solver):
    read, change = READS[kind]
    program = SOLVERS[solver]
    _, pullback = vjp(lambda p: program(read, p), 0.3)
    known = [program(read, 0.3 + h) for h in (1e-5, -1e-5)]
    slope = (known[0] - known[1]) / 2e-5
    assert np.isclose(pullback(1.0)[0], slope, rtol=1e-3)
    change(0.5)
    with pytest.raises(rc.UnsupportedError, match="read at the pullback"):
        pullback(1.0)


def test_a_program_that_changes_a_global_between_two_solutions():
    def program(p):
        global number  # noqa: PLW0603
        number = 2.0
        first = solved(helper, p)
        number = 0.5
        return first * solved(helper, p)

    with pytest.raises(rc.UnsupportedError, match="reads number"):
        grad(program)(0.3)


def test_what_a_function_captures_may_change():
    def program(p):
        k, w = 2.0, np.array([1.0])
        first = solved(lambda: k * w[0], p)
        k = p
        w[0] = 3.0
        return first * solved(lambda: k * w[0], p)

    known = (program(0.3 + 1e-5) - program(0.3 - 1e-5)) / 2e-5
    assert np.isclose(grad(program)(0.3), known, rtol=1e-6)


def test_a_rule_of_a_user():
    def twice(f, x):
        return f(f(x))

    @rc.rrule.define(twice)
    def twice_rrule(f, x):
        y = f(x)

        def pullback(dz):
            return rc.NoTangent(), rc.NoTangent(), number**2 * dz

        return f(y), pullback

    def scale(x):
        return number * x

    _, pullback = vjp(lambda x: twice(scale, x), 1.0)
    assert pullback(1.0)[0] == 4.0
    set_number(3.0)
    with pytest.raises(rc.UnsupportedError, match="reads number"):
        pullback(1.0)


def test_odeint_with_an_array_among_its_arguments():
    """Its function gets arrays over memory of C, which lifted helpers must not meet."""

    def program(p):
        return odeint(lambda y, t, q: -q[0] * y, [1.0], [0, 0.5, 1], args=(p,))[-1, 0]

    for _ in range(3):
        assert np.isclose(grad(program)(np.array([0.5]))[0], -np.exp(-0.5))


class Node:
    def __init__(self, *inner):
        self.inner, self.parent, self.k = inner, None, 2.0
        for node in inner:
            node.parent = self

    def told(self):
        return self.k


tree, dates = Node(Node(), Node()), np.array(["2020-01-01"], "M8[D]")
objects: list[object] = []
empty = np.array(1.0)
objects.append(objects)
chain: list[object] = []
for _ in range(300):
    chain = [chain]
READABLE = {
    "chain": lambda: 2.0 * len(chain),
    "cycle of instances": lambda: tree.told(),
    "list in itself": lambda: 2.0 * len(objects),
    "dates": lambda: 2.0 * (dates[0] < dates[0] + 1),
    "array without axes": lambda: 2.0 + 0.0 * empty.size,
}


@pytest.mark.parametrize("kind", READABLE)
def test_what_is_hard_to_look_into(kind):
    read = READABLE[kind]
    _, pullback = vjp(lambda p: quad(lambda x: x * p * read(), 0, 1)[0], 0.3)
    known = quad(lambda x: x * read(), 0, 1)[0]
    assert np.isclose(pullback(1.0)[0], known)


# Programs that the engine does not differentiate.
UNREAD = ("cachedprop", "eval", "dcdefault", "dcpost", "inspectsrc")


@pytest.mark.parametrize(
    "name",
    [
        name
        if name in ways_of_reading.CHOSEN
        else pytest.param(name, marks=pytest.mark.full)
        for name in ways_of_reading.WAYS
        if name not in UNREAD
    ],
)
def test_every_way_of_reading(name, tmp_path):
    with ways_of_reading.program(name, tmp_path) as (f, change):
        _, pullback = vjp(lambda a: brentq(lambda x: x + f(x, a) - 1, 0.0, 2.0), 1.3)
        known = pullback(1.0)[0]
        x = brentq(lambda x: x + (1.3 * x) ** 2 - 1, 0.0, 2.0)
        assert np.isclose(known, -2 * 1.3 * x**2 / (1 + 2 * 1.3**2 * x))
        change()
        with pytest.raises(rc.UnsupportedError, match="read at the pullback"):
            pullback(1.0)


IN_PROGRAMS = (
    "environ", "errstate", "file by path", "configparser", "genstate", "time_dispatch",
)  # fmt: skip


@pytest.mark.parametrize("name", IN_PROGRAMS)
def test_a_change_between_two_solutions_of_a_program(name, tmp_path):
    with ways_of_reading.program(name, tmp_path) as (f, change):

        def program(a):
            first = quad(lambda t: f(t, a), 0, 1)[0]
            change()
            return first + quad(lambda t: f(t, a), 0, 1)[0]

        with pytest.raises(rc.UnsupportedError, match="read at the pullback"):
            grad(program)(1.3)
