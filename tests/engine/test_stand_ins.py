"""Objects with texts of their own: nothing in the program meets a stand-in for one."""

import collections
import copy
import functools
import heapq
import logging
import pickle

import pytest

from rules_autodiff import grad, jvp, value_and_grad


class Named:
    """An object with a text, by which nothing else may know it."""

    def __init__(self, v, name="n"):
        self.v, self.name = v, name

    def __repr__(self):
        return f"Named({self.name})"


class Both(Named):
    def __str__(self):
        return self.name


class Formatted(Both):
    def __format__(self, spec):
        return f"{self.name:{spec}}!"


class Equal(Named):
    """With an identity of its own."""

    def __eq__(self, other):
        return isinstance(other, Named) and self.name == other.name

    def __hash__(self):
        return hash(self.name)


class Ordered(Equal):
    def __lt__(self, other):
        return self.v < other.v


def by_hash(one, other, x):
    """The key of the program's own cache."""
    cache = {}
    for node in (one, other):
        cache[hash((node, "v"))] = node.v * x
    return cache[hash((one, "v"))] * 3.0 + cache[hash((other, "v"))]


def by_key(one, other, x):
    cache = {(one, 1): one.v * x, (other, 1): other.v}
    return cache[one, 1] * 2.0 + cache[other, 1] * ((one, 1) in cache)


def by_identity(one, other, x):
    seen = [one, other]
    return x * sum(id(a) == id(b) or a is one for a in seen for b in (one,)) * one.v


def by_place(one, other, x):
    return [one, other].index(other) * x + [one, other, one].count(one) * other.v


def by_class(one, other, x):
    return x * all(isinstance(a, Named) for a in (one, other)) * len({type(one)})


def by_pickle(one, other, x):
    again = pickle.loads(pickle.dumps([type(one), one.name, other.name]))
    return x * (again[0] is type(one)) * len(again) * one.v


def by_copy(one, other, x):
    return copy.copy(one).v * copy.deepcopy(other).v * x


def by_text(one, other, x):
    texts = [f"{one}{other!r}", "%s and %r" % (one, other), f"{one.name}{other}"]  # noqa: UP031
    return sum(map(len, texts)) * x + len(str([one, {"k": other}])) * one.v


def by_text_of_itself(one, other, x):
    knot = [one]
    knot.append(knot)
    return len(str(knot)) * x * other.v


def by_factory(one, other, x):
    table = collections.defaultdict(functools.partial(Named, other.v))
    plain = table.default_factory
    found = table["k"].v * x + table.__getitem__("k").v
    return found * (table.default_factory is plain) * one.v


def by_log(one, other, x):
    """What a handler of the program's is given."""
    given = []
    log = logging.Logger("stand-ins")
    log.addHandler(logging.NullHandler())
    log.addFilter(lambda record: given.extend(record.args) or True)
    log.warning("%s %s", one, other)
    return x * (given[0] is one) + other.v * (given[1] is other)


USES = [
    by_hash, by_key, by_identity, by_place, by_class, by_pickle,
    by_copy, by_text, by_text_of_itself, by_factory, by_log,
]  # fmt: skip


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("cls", [Named, Both, Formatted, Equal, Ordered])
@pytest.mark.parametrize("use", USES, ids=lambda use: use.__name__)
def test_objects_are_what_they_are(use, cls):
    def f(x):
        return use(cls(x, "a"), cls(x * x, "b"), x)

    def constant(x):
        return use(cls(2.0, "a"), cls(3.0, "b"), x)

    for g in (f, constant):
        want = (g(1.3 + 1e-6) - g(1.3 - 1e-6)) / 2e-6
        for _ in range(3):  # also by code written at the second call
            value, slope = value_and_grad(g)(1.3)
            assert value == pytest.approx(g(1.3))
            assert slope == pytest.approx(want, rel=1e-6)
        assert jvp(g, (1.3,), (1.0,))[1] == pytest.approx(want, rel=1e-6)


def test_order():
    def f(x):
        nodes = [Ordered(x * k, str(k)) for k in (3, 1, 2)]
        heapq.heapify(heap := list(nodes))
        first = min(nodes)
        return sorted(nodes)[1].v * heap[0].v + first.v * (first is nodes[1])

    assert grad(f)(1.5) == pytest.approx(4.0 * 1.5 + 1.0)


SPECS = ["", ">8"]


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("cls", [Named, Both, Formatted, Equal])
def test_formats(cls, spec):
    """As `format` does, also where it raises."""

    def f(x):
        return x * len(f"{cls(x):{spec}}") * len(format(cls(x), spec))

    try:
        want = f(1.5)
    except TypeError as error:
        with pytest.raises(TypeError, match="unsupported format string"):
            grad(f)(1.5)
        assert "unsupported format string" in str(error)  # noqa: PT017
    else:
        assert grad(f)(1.5) == pytest.approx(want / 1.5)


def test_what_is_no_mapping_stays_none():
    def f(x):
        return x * len("text" % Named(x))  # noqa: F507, UP031

    for run in (f, grad(f)):
        with pytest.raises(TypeError, match="not all arguments converted"):
            run(1.5)
