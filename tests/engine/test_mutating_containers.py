"""Mutating rules that write numbers into lists, dicts and objects."""

from collections import OrderedDict, defaultdict, deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import (
    CoDual,
    Dual,
    NoFData,
    NoRData,
    UnsupportedProgram,
    frule_mutating,
    grad,
    jacfwd,
    jvp,
    rrule_mutating,
)
from rules_autodiff.testing import check_program
from rules_core import NoTangent
from tests.engine.wrong_mutating import isolated_mutating_rules

A = np.array([0.5, -1.0, 2.0])


class Box:
    def __init__(self, v):
        self.v = v


class Slotted:
    __slots__ = ("v",)

    def __init__(self, v):
        self.v = v


@dataclass
class Record:
    v: float
    name: str = "record"


class Stubborn:
    """Its own setting of attributes would spoil whoever uses it."""

    def __init__(self, v):
        object.__setattr__(self, "v", v)

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)


class Growing(list):
    pass


def attribute(owner):
    return owner.v


def set_attribute(owner, value):
    owner.v = value


def item(key):
    def get(owner):
        return owner[key]

    def put(owner, value):
        owner[key] = value

    return get, put


def deep(owner):
    return owner[1].v["w"]


def set_deep(owner, value):
    owner[1].v["w"] = value


def inside(owner):
    return owner[0][1]


def set_inside(owner, value):
    owner[0] = (owner[0][0], value)


ATTRIBUTE = attribute, set_attribute
PLACES = {
    "object": (Box, *ATTRIBUTE),
    "slots": (Slotted, *ATTRIBUTE),
    "dataclass": (Record, *ATTRIBUTE),
    "own setattr": (Stubborn, *ATTRIBUTE),
    "list": (lambda x: [1, x, "name"], *item(1)),
    "list from the end": (lambda x: [1, x], *item(-1)),
    "subclass of list": (lambda x: Growing([x, 2.0]), *item(0)),
    "deque": (lambda x: deque([x, 2.0], 5), *item(0)),
    "dict": (lambda x: {"w": x, "b": 3}, *item("w")),
    "ordered dict": (lambda x: OrderedDict(w=x), *item("w")),
    "defaultdict": (lambda x: defaultdict(float, w=x), *item("w")),
    "nested": (lambda x: [3.0, Box({"w": x})], deep, set_deep),
    "tuple in a list": (lambda x: [(2.0 * x, x), 1.0], inside, set_inside),
}


@pytest.fixture(autouse=True)
def _isolated():
    with isolated_mutating_rules():
        yield


def kernel_of(get, put):
    """`owner.v *= x`, with its rules: both the old entry and `x` have a derivative."""

    def kernel(owner, x):
        put(owner, get(owner) * x)

    @rrule_mutating.define(kernel)
    def kernel_rule(f, owner, x):
        old, factor = get(owner.primal), x.primal
        put(owner.primal, old * factor)

        def kernel_pullback(dy):
            ct = get(owner.fdata)
            put(owner.fdata, ct * factor)
            put(owner.primal, old)
            return NoRData(), NoRData(), ct * old

        return CoDual(None, NoFData()), kernel_pullback

    @frule_mutating.define(kernel)
    def kernel_frule(f, owner, x):
        old, dold = get(owner.primal), get(owner.tangent)
        put(owner.tangent, dold * x.primal + old * x.tangent)
        put(owner.primal, old * x.primal)
        return Dual(None, NoTangent())

    return kernel


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("place", PLACES)
def test_an_entry_that_is_read_and_written(place):
    build, get, put = PLACES[place]
    kernel = kernel_of(get, put)

    def program(x, y):
        owner = build(x * 2.0)
        first = get(owner)
        kernel(owner, y)
        kernel(owner, x)
        return get(owner) * get(owner) * first

    check_program(program, 1.5, -0.7, second=True)
    assert grad(program)(1.5, -0.7) == pytest.approx(40 * 1.5**4 * 0.7**2)


@pytest.mark.parametrize("place", [p for p in PLACES if p != "own setattr"])
def test_containers_that_the_program_is_given(place):
    build, get, put = PLACES[place]
    kernel = kernel_of(get, put)

    def program(owner, x):
        kernel(owner, x)
        return get(owner) ** 2

    check_program(program, build(1.5), -0.7)


def test_entries_that_are_constants_before_or_after():
    kernel = kernel_of(*ATTRIBUTE)

    def program(x):
        box = Box(2.0)
        kernel(box, x)
        kernel(box, 3.0)
        y = box.v
        box.v = 1.0
        kernel(box, 5.0)
        return y * x + box.v

    check_program(program, 4 / 3)
    assert grad(program)(4 / 3) == pytest.approx(16.0)


def test_one_number_in_two_entries():
    kernel = kernel_of(*item(0))

    def program(x):
        y = x * 3.0
        xs = [y, y]
        kernel(xs, x)
        return xs[0] * xs[1] * y

    check_program(program, 1.5)
    assert grad(program)(1.5) == pytest.approx(4 * 27 * 1.5**3)


def swap(xs):
    xs[0], xs[1] = xs[1], xs[0]


def test_entries_that_change_places():
    @rrule_mutating.define(swap)
    def swap_rule(f, xs):
        swap(xs.primal)

        def swap_pullback(_):
            swap(xs.primal)
            swap(xs.fdata)
            return NoRData(), NoRData()

        return CoDual(None, NoFData()), swap_pullback

    @frule_mutating.define(swap)
    def swap_frule(f, xs):
        swap(xs.primal)
        swap(xs.tangent)
        return Dual(None, NoTangent())

    def program(x, a):
        xs = [x, x * x, a]
        swap(xs)
        ys = [a, a * x]
        swap(ys)
        return xs[0] - 3.0 * xs[1] + ys[0][0] * ys[1][1]

    check_program(program, 1.5, A)


def push(xs, x):
    xs.append(3.0 * x)


def define_push(*, pops=True):
    @rrule_mutating.define(push)
    def push_rule(f, xs, x):
        push(xs.primal, x.primal)

        def push_pullback(_):
            xs.primal.pop()
            ct = xs.fdata.pop() if pops else xs.fdata[-1]
            return NoRData(), NoRData(), 3.0 * ct

        return CoDual(None, NoFData()), push_pullback

    @frule_mutating.define(push)
    def push_frule(f, xs, x):
        push(xs.primal, x.primal)
        if pops:
            xs.tangent.append(3.0 * x.tangent)
        return Dual(None, NoTangent())


@pytest.mark.parametrize("kind", [list, deque, Growing])
@pytest.mark.parametrize("start", [(), (2.0,), (1, "name")], ids=str)
def test_lists_that_grow(kind, start):
    define_push()

    def program(x):
        xs = kind(start)
        push(xs, x)
        push(xs, x * x)
        return xs[-1] * xs[-2]

    check_program(program, 1.5)


def test_what_is_appended_to_the_list_alone():
    define_push(pops=False)

    def program(x):
        xs = [x]
        push(xs, x)
        return xs[1]

    with pytest.raises(rc.RuleDefinitionError, match="as many entries"):
        grad(program)(1.5)
    with pytest.raises(rc.RuleDefinitionError, match="as many entries"):
        jvp(program, (1.5,), (1.0,))


class Empty:
    pass


def test_attributes_that_are_new():
    def name(owner, x):
        owner.w = 3.0 * x

    @rrule_mutating.define(name)
    def name_rule(f, owner, x):
        name(owner.primal, x.primal)

        def name_pullback(_):
            del owner.primal.w
            return NoRData(), NoRData(), 3.0 * owner.fdata.w

        return CoDual(None, NoFData()), name_pullback

    @frule_mutating.define(name)
    def name_frule(f, owner, x):
        name(owner.primal, x.primal)
        owner.tangent.w = 3.0 * x.tangent
        return Dual(None, NoTangent())

    def program(x):
        owner = Empty()
        name(owner, x)
        return owner.w * owner.w

    check_program(program, 4 / 3)
    assert grad(program)(4 / 3) == pytest.approx(24.0)


def fill(owner, x):
    owner.a *= x


@dataclass
class Layer:
    a: np.ndarray
    c: float


def test_arrays_in_objects():
    @rrule_mutating.define(fill)
    def fill_rule(f, owner, x):
        before = owner.primal.a.copy()
        fill(owner.primal, x.primal)

        def fill_pullback(_):
            owner.primal.a[...] = before
            ct = float(owner.fdata.a @ before)
            owner.fdata.a[...] *= x.primal
            return NoRData(), NoRData(), ct

        return CoDual(None, NoFData()), fill_pullback

    @frule_mutating.define(fill)
    def fill_frule(f, owner, x):
        owner.tangent.a[...] *= x.primal
        owner.tangent.a[...] += owner.primal.a * x.tangent
        fill(owner.primal, x.primal)
        return Dual(None, NoTangent())

    def program(layer, x):
        view = layer.a[1:]
        fill(layer, x)
        fill(layer, layer.c)
        return view @ view * layer.c

    check_program(program, Layer(A.copy(), 0.3), 1.5)


def renew(owner, x):
    owner.a = np.full(3, x)


def test_a_new_array_in_an_object_is_refused():
    @rrule_mutating.define(renew)
    def renew_rule(f, owner, x):
        renew(owner.primal, x.primal)
        return CoDual(None, NoFData()), None

    @frule_mutating.define(renew)
    def renew_frule(f, owner, x):
        renew(owner.primal, x.primal)
        owner.tangent.a = np.full(3, x.tangent)
        return Dual(None, NoTangent())

    def program(x):
        layer = Layer(A.copy(), 1.0)
        renew(layer, x)
        return layer.a @ layer.a

    with pytest.raises(rc.RuleDefinitionError, match="entry 'a' is a new ndarray"):
        grad(program)(1.5)
    with pytest.raises(rc.RuleDefinitionError, match="entry 'a' is a new ndarray"):
        jvp(program, (1.5,), (1.0,))


def test_another_array_in_the_place_of_a_shadow_is_refused():
    @frule_mutating.define(fill)
    def fill_frule(f, owner, x):
        owner.tangent.a = owner.tangent.a * x.primal
        fill(owner.primal, x.primal)
        return Dual(None, NoTangent())

    @rrule_mutating.define(fill)
    def fill_rule(f, owner, x):
        fill(owner.primal, x.primal)

        def fill_pullback(_):
            owner.primal.a /= x.primal
            owner.fdata.a = owner.fdata.a * x.primal
            return NoRData(), NoRData(), 0.0

        return CoDual(None, NoFData()), fill_pullback

    def program(a):
        layer = Layer(a * 1.0, 1.0)
        fill(layer, 2.0)
        return layer.a @ layer.a

    for differentiate in (grad(program), lambda a: jvp(program, (a,), (a,))):
        with pytest.raises(rc.RuleDefinitionError, match="put another object"):
            differentiate(A)


def test_several_tangents_at_once():
    """A rule that writes into a container is not run twice; others are."""
    define_push()

    def writes(a):
        xs: list[Any] = []
        push(xs, 2.0)
        return xs[0] * a

    with pytest.raises(UnsupportedProgram):
        jacfwd(writes)(A)


def pair(t):
    return t[0] * float(t[1].sum())


def test_rdata_of_a_tuple():
    """Mooncake's rules say `NoRData` where an entry of a tuple has an address."""

    @rrule_mutating.define(pair)
    def pair_rule(f, t):
        def pair_pullback(dy):
            t.fdata[1][...] += dy * t.primal[0]
            return NoRData(), (dy * float(t.primal[1].sum()), NoRData())

        return CoDual(pair(t.primal), NoFData()), pair_pullback

    def program(x, a):
        return pair((x * x, a * 2.0)) * x

    check_program(program, 1.5, A, forward=False)


def test_infinite_numbers_beside_the_one_that_is_written():
    kernel = kernel_of(*item(0))

    def program(x):
        xs = [x, float("inf")]
        kernel(xs, 2.0)
        return xs[0]

    assert grad(program)(1.5) == 2.0
