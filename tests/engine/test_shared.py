"""Containers and instances that stand in several places at once."""

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import grad, hvp, jacfwd, jvp, linearize, vjp
from rules_autodiff.testing import check_program
from rules_core import MutableTangent, NoTangent
from rules_core.testing import isolated_rules


class Cell:
    def __init__(self, v):
        self.v = v


def rows_as_array(a):
    row = [a, a * a]
    return np.array([row, row])


def rows_as_blocks(a):
    row = [np.array([[a]]), np.array([[a * a]])]
    return np.block([row, row])


def rows_as_tuples(a):
    row = (a, a * a)
    return np.stack([row, row]), np.concatenate([row, row])


def weighted(rows):
    """A function that is known by its rule alone."""
    return sum(sum(row) * (i + 1) for i, row in enumerate(rows))


@rc.rrule.define(weighted)
def weighted_rrule(rows):
    def weighted_pullback(dy):
        return NoTangent(), [[dy * (i + 1) for _ in r] for i, r in enumerate(rows)]

    return weighted(rows), weighted_pullback


def rows_of_a_rule(a):
    row = [a, a * a]
    both = (row, row)
    return weighted([row, row]) + weighted(both)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize(
    "f", [rows_as_array, rows_as_blocks, rows_as_tuples, rows_of_a_rule]
)
def test_one_row_twice_as_an_argument(f):
    """Each place has a cotangent of its own, and they add up."""
    check_program(f, 1.3, second=True)


RESULTS = {
    "list": lambda a: [[a * a]] * 2,
    "tuple": lambda a: ((a * a,),) * 2,
    "dict": lambda a: [{"k": a * a}] * 2,
    "array": lambda a: [np.array([a * a])] * 2,
}


@pytest.mark.parametrize("kind", RESULTS)
def test_one_container_twice_in_the_result(kind):
    parts = {"list": lambda v: [v], "tuple": lambda v: (v,), "dict": lambda v: {"k": v}}
    part = parts.get(kind, lambda v: np.array([v]))
    y, pullback = vjp(RESULTS[kind], 3.0)
    assert y[0] is y[1]
    assert pullback(type(y)([part(1.0), part(10.0)])) == (66.0,)
    assert pullback(type(y)([part(10.0), part(1.0)])) == (66.0,)


@pytest.mark.parametrize("kind", RESULTS)
def test_programs_with_such_results_are_checked(kind):
    check_program(RESULTS[kind], 3.0, second=True)


def pair(a):
    cell = Cell(a * a)
    return cell, [cell]


def test_an_instance_twice_in_the_result():
    """It has one tangent; the same object in both places is that tangent, once."""
    _, pullback = vjp(pair, 3.0)
    dy, other = MutableTangent(Cell, v=1.0), MutableTangent(Cell, v=10.0)
    assert pullback((dy, [dy])) == (6.0,)
    assert pullback((dy, None)) == (6.0,)
    assert pullback((dy, [other])) == (66.0,)


def product(one, other):
    return one[0].v * other[0].v


def by_callback(one, other):
    return product(one, other)


@rc.rrule.define(by_callback, config=rc.RuleConfig[rc.HasReverseMode])
def by_callback_rrule(config, one, other):
    return rc.rrule_via_ad(config, product, one, other)


def product_of_itself(a):
    cell = Cell(a * a)
    return by_callback([cell], [cell])


def test_an_instance_in_two_arguments_of_a_derived_rule():
    """The derived pullback gives its one tangent in both places."""
    assert grad(product_of_itself)(2.0) == 32.0
    assert grad(grad(product_of_itself))(2.0) == 48.0
    assert jvp(grad(product_of_itself), (2.0,), (1.0,)) == (32.0, 48.0)


class Ring:
    def __init__(self, v):
        self.v = v
        self.me = self


def test_an_instance_that_holds_itself_in_the_result():
    dy = jvp(lambda a: Ring(a * a), (3.0,), (1.0,))[1]
    assert dy.v == 6.0
    assert dy.me is dy
    assert linearize(lambda a: Ring(a * a), 3.0)[1](1.0).v == 6.0


def test_an_instance_in_two_arguments_has_one_tangent():
    """Two that disagree have no meaning: the last, or their sum, would be a guess."""
    cell = Cell(2.0)
    dx = MutableTangent(Cell, v=1.0)
    args = [cell], [cell]
    assert jvp(product, args, ([dx], [dx])) == (4.0, 4.0)
    assert linearize(product, *args)[1]([dx], [dx]) == 4.0
    other = [MutableTangent(Cell, v=0.0)]
    calls = {
        "jvp": lambda: jvp(product, args, ([dx], other)),
        "f_jvp": lambda: linearize(product, *args)[1]([dx], other),
        "hvp": lambda: hvp(product, args, ([dx], other)),
    }
    for name, call in calls.items():
        with pytest.raises(TypeError, match=f"^{name}: an instance of Cell .* got two"):
            call()


def clipped(a):
    return 3.0 * a


@rc.rrule.define(clipped)
def clipped_rrule(a):
    return 3.0 * a, lambda dy: (NoTangent(), float(np.clip(3.0 * dy, -1.0, 1.0)))


def test_a_map_that_is_not_linear_is_refused_for_shared_instances_too():
    cell = Cell(2.0)
    dx = MutableTangent(Cell, v=1.0)
    f_jvp = linearize(lambda p, q: clipped(p[0].v) * q[0].v, [cell], [cell])[1]
    with pytest.raises(rc.UnsupportedError, match="must be linear"):
        f_jvp([dx], [dx])


def test_hvp_wants_one_tangent_for_each_primal():
    with pytest.raises(TypeError, match="hvp: .* each of the 2 primals, but got 1"):
        hvp(lambda x, y: x * y, (1.0, 2.0), (1.0,))


def held(cell):
    return [cell], {"a": cell}, (cell, [cell]), [cell, cell], Pair(cell, cell)


class Pair:
    def __init__(self, left, right):
        self.left, self.right = left, right


def first(x):
    """The cell that a container holds."""
    if isinstance(x, Cell):
        return x
    if isinstance(x, Pair):
        return x.left
    return first(x["a"] if isinstance(x, dict) else x[-1])


def multiplied(one, other):
    return first(one).v * first(other).v


def reverse_by_ad(f):
    @rc.rrule.define(f, config=rc.RuleConfig[rc.HasReverseMode])
    def shared_rrule(config, one, other):
        return rc.rrule_via_ad(config, multiplied, one, other)


def forward_by_ad(f):
    @rc.frule.define(f, config=rc.RuleConfig[rc.HasForwardsMode])
    def shared_frule(config, tangents, one, other):
        return rc.frule_via_ad(config, tangents, multiplied, one, other)


WAYS = {
    "jvp": lambda f, a: jvp(f, (a,), (1.0,))[1],
    "grad": lambda f, a: grad(f)(a),
    "linearize": lambda f, a: linearize(f, a)[1](1.0),
    "jacfwd": lambda f, a: jacfwd(f)(a),
    "vjp": lambda f, a: vjp(f, a)[1](1.0)[0],
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("define", [reverse_by_ad, forward_by_ad])
@pytest.mark.parametrize("left", range(5))
@pytest.mark.parametrize("right", range(5))
def test_an_instance_in_several_places_of_a_ruled_call(left, right, define, way):
    """One variable, whatever holds it, in every mode and by either rule."""

    def ruled(one, other):
        return multiplied(one, other)

    def program(a):
        places = held(Cell(a * a))
        return ruled(places[left], places[right])

    with isolated_rules():
        define(ruled)
        assert float(WAYS[way](program, 2.0)) == pytest.approx(32.0)
