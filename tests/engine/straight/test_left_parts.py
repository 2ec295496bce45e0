"""Parts of programs that written code leaves to the tape: branches, and calls.

A branch outside of the language begins the program anew on the tape, where it is taken.
A function outside of it is run by a tape of its own, which stops before any effect.
"""

import types
import warnings

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import grad, opaque, overlay, value_and_grad, vjp
from rules_autodiff.straight._unit import unit
from tests.engine.straight.programs import check_refused, check_written, same

X = np.array([0.5, -1.0, 2.0])


@pytest.fixture(autouse=True)
def _at_any_cost(monkeypatch):
    """Tapes of single calls also where one of the whole program would be as quick."""
    monkeypatch.setattr(unit, "WORTH", 0)


def settled(f, *args):
    """The program after two calls, which tell what it asks for."""
    for _ in range(3):
        grad(f)(*args)
    return f


# branches


def warned(x):
    if x < 0:
        warnings.warn("negative", stacklevel=1)
        return x * 3.0
    return x * x


def test_a_branch_is_left_where_it_is_taken():
    check_written(warned, 2.0)
    for _ in range(3):
        with pytest.warns(UserWarning, match="negative") as caught:
            assert grad(warned)(-2.0) == 3.0
        assert len(caught) == 1
    assert grad(warned, tier="straight")(2.0) == 4.0
    with pytest.raises(Exception, match=r"line \d+ is left to the tape: warn"):
        grad(warned, tier="straight")(-2.0)


def both_left(x):
    if x < 0:
        return x * len({*range(3)})
    else:  # noqa: RET505  both ways are left
        return x * len({*range(2)})


def left_in_a_loop(x):
    total = 0.0
    for i in range(4):
        if total > 100.0:
            total = total * len({*range(3)})
            break
        if i > 2:
            continue
        total = total + x * i
    else:
        total = total * 2.0
    return total


def left_in_an_inner_loop(x):
    """The outer loop is left, with other kinds than at its head, after that."""
    total, last = x, 1.0
    for i in range(4):
        if x > 100.0:
            for j in range(2):
                total = total + j
                if total > 200.0:
                    break
                last = {*range(3)}
        if total > 3.0:
            last = total * x
            break
        total = total * (1.0 + i)
        last = i
    return total * last


def left_in_an_unrolled_loop(x):
    total = x
    for k in (1.0, 2.0, x):
        if x > 100.0:
            for m in (1, 2):
                total = total * m * len({*range(3)})
        for v in range(2):
            total = total + k * v
            if total > 50.0:
                break
    return total


def left_within(x):
    if x > 1.0:
        if x > 10.0:  # noqa: SIM108  as a statement
            y = {*range(3)}.pop() * x
        else:
            y = x * x
        y = y * 2.0
    else:
        y = x
    return y


def left_value(x, flag=None):
    """The names of a left branch are of no kind after it."""
    if x > 100.0:  # noqa: SIM108  as a statement
        y = {*range(3)}
    else:
        y = x * 2.0
    return y * x


def test_ways_that_meet():
    check_refused(both_left, 2.0, reason="not in its language")
    inner = left_in_an_inner_loop, left_in_an_unrolled_loop
    for f in (left_in_a_loop, left_within, left_value, *inner):
        check_written(f, 2.0)
    assert grad(left_within)(11.0) == grad(left_within, tier="tape")(11.0)
    assert grad(left_value)(0.5) == 2.0


# calls


def tabled(v, w):
    """Outside of the language: names that are computed."""
    found = {}
    for name in ("one", "other"):
        found[name.upper()] = v * len(name)
    return found["ONE"] * np.sum(w), found["OTHER"]


def pair(x, w):
    one, other = tabled(x, w)
    return one * other + x


def named(x, w):
    return tabled(w=w, v=x)[0] * x


def texts(v, how):
    return getattr(np, f"{how}")(v)


def chosen_by_text(x):
    return texts(x, "sin") * texts(x, "cos") + texts(2, "sin")


def in_a_test(x):
    if texts(2.0, "sin") > 0.5:
        return x * texts(x, "exp")
    return x


def containers(v):
    total = {*()} or sum(part for row in v["rows"] for part in row) * v["by"]
    return [total, (v["by"], 3)]


def given_containers(x):
    total, (by, count) = containers({"rows": ((x, 1.0), (x * x, 2)), "by": x + 1.0})
    return total * by * count


def reads_a_view(w):
    return {"k": w[1:]}["k"], {"w": w}.pop("w")


def handed_back(x):
    part, whole = reads_a_view(x * 2.0)
    return np.sum(part) * np.sum(whole * x)


def of_its_own(w):
    out = {"w": np.zeros(3)}["w"]
    for i in range(3):
        out[i] = w[i] * (i + len({*range(1)}))
    return out


def writes_into_its_own(x):
    y = of_its_own(x)
    z = x * 1.0
    z[0] = 3.0
    return np.sum(y * of_its_own(z))


def constant_call(x):
    return x * texts(0.5, "cos")


CASES = [
    (pair, 2.0, X), (named, 2.0, X), (chosen_by_text, 0.5), (in_a_test, 0.5),
    (given_containers, 0.5), (handed_back, X), (writes_into_its_own, X),
    (constant_call, 0.5),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[f.__name__ for f, *_ in CASES])
def test_a_call_is_run_by_a_tape_of_its_own(case):
    f, *args = case
    settled(f, *args)
    check_written(f, *args)
    value, pullback = vjp(f, *args, tier="straight")
    first, second = pullback(np.ones_like(value) * 1.0), pullback(1.0)
    for one, other in zip(first, second, strict=True):
        same(one, other)


# attributes that code computes


class Counting:
    reads = 0


class Computing(type):
    def __getattr__(cls, name):
        return counted()

    @property
    def factor(cls):
        return counted()


class Descriptor:
    def __get__(self, instance, owner):
        return counted()


class Made(metaclass=Computing):
    pass


class Described:
    scale = Descriptor()


def counted():
    Counting.reads += 1
    return 2.0


LAZY = types.ModuleType("lazy")
vars(LAZY)["__getattr__"] = lambda name: counted()
COMPUTED = {
    "metaclass": lambda: Made.scale,
    "property of a metaclass": lambda: Made.factor,
    "descriptor": lambda: Described.scale,
    "module": lambda: LAZY.scale,
}


@pytest.mark.parametrize("name", COMPUTED)
def test_a_branch_that_is_not_taken_computes_no_attribute(name):
    read = COMPUTED[name]

    def program(x):
        return x * 2.0 if x < 5.0 else x * read()

    before = Counting.reads
    found = [grad(program)(1.5 + k) for k in range(4)]
    assert (found, Counting.reads) == ([2.0] * 4, before)


# what is asked of the tape


def same_objects(v, w):
    return 1.0 if v is w else 2.0


def asks_for_identity(x):
    y = x * 1.0
    y[0] = 3.0
    return np.sum(x * y) * same_objects(y, y) * same_objects(x, x)


def test_identity_is_the_tapes():
    for _ in range(4):
        value, found = value_and_grad(asks_for_identity)(X)
        expected = value_and_grad(asks_for_identity, tier="tape")(X)
        assert value == expected[0]
        np.testing.assert_array_equal(found, expected[1])


def raises(v):
    if v > 3.0:
        message = f"too large: {v}"
        raise ValueError(message)
    return v * len({1})


def may_raise(x):
    return raises(x) * x


def test_an_error_is_the_programs_own():
    settled(may_raise, 2.0)
    assert grad(may_raise, tier="straight")(2.0) == 4.0
    with pytest.raises(ValueError, match=r"too large: 4\.0") as caught:
        grad(may_raise)(4.0)
    names = [entry.name for entry in caught.traceback]
    assert names.count("raises") == 1


def of_several_kinds(v):
    return v if len({*range(int(v))}) > 2 else int(v)


def by_kind(x):
    return of_several_kinds(x) * x


def test_another_kind_than_before():
    settled(by_kind, 5.0)
    assert grad(by_kind)(5.0) == 10.0
    assert grad(by_kind)(1.5) == 1.0
    assert grad(by_kind)(5.0) == 10.0


@pytest.mark.usefixtures("alone")
def test_rules_that_come_later():
    def inner(v):
        return v * len({1})

    def outer(x):
        return inner(x) * x

    settled(outer, 2.0)
    assert grad(outer, tier="straight")(2.0) == 4.0
    rc.scalar_rule(inner, lambda y, v: (10.0,))
    assert grad(outer)(2.0) == 22.0


def test_declarations_that_come_later():
    def inner(v):
        return v * len({1})

    def outer(x):
        return inner(x) * x

    settled(outer, 2.0)

    @overlay(inner)
    def inner_overlay(v):
        return v * 3.0

    assert grad(outer)(2.0) == 12.0

    def other(v):
        return v * len({1})

    def around(x):
        return other(x) * x

    settled(around, 2.0)
    opaque(other)
    with pytest.raises(Exception, match="must have a rule"):
        grad(around)(2.0)


def strong(v, w):
    return {"v": v}["v"] * w


def infinite(x, y):
    """The derivative by `y` is infinite, and does not count."""
    return strong(x, 0.0 * np.sqrt(y)) + x


def test_strong_zeros():
    with np.errstate(all="ignore"):
        for _ in range(4):
            found = grad(infinite, (0, 1))(2.0, 0.0)
            assert found == grad(infinite, (0, 1), tier="tape")(2.0, 0.0)


def test_new_closures_share_what_was_written():
    def made(factor):
        def inner(v):
            return {"v": v}["v"] * factor

        def program(x):
            return inner(x) * x

        return program

    for factor in (1.0, 2.0, 3.0, 4.0):
        assert grad(made(factor))(3.0) == 6.0 * factor
    assert grad(made(5.0), tier="straight")(3.0) == 30.0


# tuples as results


def several(x, y):
    z = x * y
    return z, np.sum(z), x, y * 2.0


def alone(x):
    return (x * 2.0,)


@pytest.mark.parametrize("dy", [0.0, 1.0])
def test_tuples_are_results(dy):
    value, pullback = vjp(several, X, 3.0, tier="straight")
    expected, by_tape = vjp(several, X, 3.0, tier="tape")
    for one, other in zip(value, expected, strict=True):
        assert type(one) is type(other)
        np.testing.assert_array_equal(one, other)
    cotangent = np.ones(3), 2.0, dy * np.ones(3), dy
    for _ in range(2):
        for one, other in zip(pullback(cotangent), by_tape(cotangent), strict=True):
            same(one, other)
    (one,), back = vjp(alone, 2.0, tier="straight")
    assert (one, back((3.0,))) == (4.0, (6.0,))
